"""What a fast tokenizer of transformers does around its model, for a tokenizer that replaces it.

In: the settings of its backend, as in ``tokenizer.json``. Out: the special tokens that a call adds
to one text and to two, how offsets are trimmed, and how truncation cuts. A step that is not
reproduced is refused by name. ``tokenizer_config.json`` keeps the rules.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from prunedbpe._support.json_values import JsonValue, shown
from prunedbpe.errors import NotExactError, SettingsError
from prunedbpe.exchange.byte_alphabet import from_byte_alphabet
from prunedbpe.integrations.token_spans import Span
from prunedbpe.types import Settings

Part = tuple[str | int, int]
"""A text, ``"A"`` or ``"B"``, or the id of a special token; and its token type."""

Template = tuple[Part, ...]
"""The parts that a call puts together."""

_ONE: Template = (("A", 0),)
_TWO: Template = (("A", 0), ("B", 1))


@dataclass(frozen=True)
class OriginalRules:
    """The rules of the original.

    Attributes:
        vocab_size: Tokens of its model, without added tokens.
        single: What a call with one text is put together from.
        pair: What a call with two texts is put together from.
        trims_offsets: Offsets leave out spaces at the ends of a token.
        keeps_first_space: They do not leave out a single space that a text begins with.
        other_tokens: Tokens of its model that it finds in no text, because they are not written in
            the byte alphabet, by id. They have names, and decoding spells them.
        cleans_up: ``clean_up_tokenization_spaces`` has an effect; transformers ignores it for BPE.
    """

    vocab_size: int
    single: Template = _ONE
    pair: Template = _TWO
    trims_offsets: bool = False
    keeps_first_space: bool = False
    cleans_up: bool = False
    other_tokens: dict[int, str] = field(default_factory=dict)

    @classmethod
    def of_backend(cls, backend: Settings) -> OriginalRules:
        """Read the rules from the contents of a ``tokenizer.json``.

        Raises:
            NotExactError: A step is not supported; the message names it.
        """
        settings = JsonValue(backend)
        _check_decoder(settings["decoder"])
        model = settings["model"]
        is_bpe = not model["type"] or model["type"].text() == "BPE"
        vocab = model["vocab"].value
        names = vocab if is_bpe else {}  # an import refuses other pieces of a Unigram model
        added = {token["content"].text() for token in settings["added_tokens"].items()}
        others = {i: name for name, i in names.items() if from_byte_alphabet(name) is None}
        found: Settings = {
            "vocab_size": len(vocab),
            "cleans_up": not is_bpe,
            "other_tokens": {i: name for i, name in others.items() if name not in added},
        }
        processor = settings["post_processor"]
        steps = [processor] if processor else []
        if processor and processor["type"].text() == "Sequence":
            steps = list(processor["processors"].items())
        kinds = [step["type"].text() for step in steps]
        if kinds not in ([], ["ByteLevel"], *([k] for k in _READERS)) and (
            len(kinds) != 2 or kinds[0] != "ByteLevel" or kinds[1] not in _READERS
        ):
            raise NotExactError(f"post_processor {shown(', '.join(kinds))} is not supported")
        for step, kind in zip(steps, kinds, strict=True):
            found |= _byte_level(step) if kind == "ByteLevel" else _READERS[kind](step)
        return cls(**found)

    def describe(self) -> Settings:
        """Return what :meth:`from_settings` reads."""
        parts = {name: [list(part) for part in getattr(self, name)] for name in ("single", "pair")}
        others = {str(token_id): name for token_id, name in self.other_tokens.items()}
        return {**asdict(self), **parts, "other_tokens": others}

    @classmethod
    def from_settings(cls, settings: Settings) -> OriginalRules:
        """Return the rules that :meth:`describe` described."""
        fields = JsonValue(settings, "original_rules")
        return cls(
            fields["vocab_size"].integer(),
            tuple(map(_part, fields["single"].items())),
            tuple(map(_part, fields["pair"].items())),
            fields["trims_offsets"].flag(),
            fields["keeps_first_space"].flag(),
            fields["cleans_up"].flag(),
            {int(i): name for i, name in fields["other_tokens"].object().items()},
        )

    def assemble(
        self, ids: list[int], pair: list[int] | None, *, add_special: bool = True
    ) -> tuple[list[int], list[int]]:
        """Return the ids of a row and the token type of each.

        >>> rules = OriginalRules(300, single=((1, 0), ("A", 0)))
        >>> rules.assemble([7, 8], None)
        ([1, 7, 8], [0, 0, 0])
        >>> rules.assemble([7], [8, 9])
        ([7, 8, 9], [0, 1, 1])
        """
        texts = {"A": ids, "B": pair or []}
        row: list[int] = []
        types: list[int] = []
        for content, kind in self.single if pair is None else self.pair:
            if isinstance(content, str):
                row += texts[content]
            elif add_special:
                row.append(content)
            types += [kind] * (len(row) - len(types))
        return row, types

    def trim(self, span: Span, spaces: tuple[int, int], is_first: bool) -> Span:
        """Return the characters that offsets name for a token.

        Args:
            span: All characters of the token.
            spaces: How many spaces it begins and ends with.
            is_first: Whether it is the first token of its text that truncation left.

        >>> OriginalRules(300, trims_offsets=True).trim((4, 9), (1, 0), False)
        (5, 9)
        """
        if not self.trims_offsets:
            return span
        begin, end = span
        first, last = spaces
        if not (self.keeps_first_space and first == 1 and (is_first or begin == 0)):
            begin = min(begin + first, end)
        return begin, max(end - last, begin) if end >= last else end


def truncated_lengths(first: int, second: int, limit: int) -> tuple[int, int]:
    """Return how many tokens of two texts ``longest_first`` leaves.

    >>> truncated_lengths(9, 3, 8)
    (5, 3)
    >>> truncated_lengths(9, 8, 7)
    (4, 3)
    """
    if first + second <= limit:
        return first, second
    short, long = sorted((first, second))
    long = short if short > limit else max(short, limit - short)
    if short + long > limit:
        short = limit // 2
        long = short + limit % 2
    return (long, short) if first > second else (short, long)


def windows(length: int, limit: int, stride: int, side: str) -> list[tuple[int, int]]:
    """Return the windows of at most ``limit`` tokens that truncation cuts; the first one stays.

    >>> windows(7, 3, 1, "right")
    [(0, 3), (2, 5), (4, 7)]
    >>> windows(7, 3, 1, "left")
    [(4, 7), (2, 5), (0, 3)]
    """
    if length <= limit:
        return [(0, length)]
    if limit <= 0:
        return [(0, 0), (0, length)]
    if stride >= limit:
        raise SettingsError(
            f"stride {stride} is not below the {limit} tokens that max_length leaves for the text"
        )
    spans = []
    for begin in range(0, length, limit - stride):
        end = min(begin + limit, length)
        spans.append((begin, end) if side == "right" else (length - end, length - begin))
        if end == length:
            break
    return spans


def _part(entry: JsonValue) -> Part:
    match entry.value:
        case [("A" | "B") | int() as content, int() as kind]:
            return content, kind
    raise entry.error("a text or an id, and a token type")


def _check_decoder(decoder: JsonValue) -> None:
    kind = decoder["type"].text() if decoder else "none"
    if kind == "Sequence":
        steps = list(decoder["decoders"].items())
        kind = ", ".join(step["type"].text() for step in steps)
    if kind != "ByteLevel":
        raise NotExactError(f"decoder {shown(kind)} is not supported: only ByteLevel is")


def _byte_level(step: JsonValue) -> Settings:
    trims = step["trim_offsets"].flag(default=True)
    keeps = step["add_prefix_space"].flag(default=True)
    return {"trims_offsets": trims, "keeps_first_space": trims and keeps}


def _template(step: JsonValue) -> Settings:
    tokens = step["special_tokens"]

    def read(parts: JsonValue) -> Template:
        template: list[Part] = []
        for part in parts.items():
            sequence, special = part["Sequence"], part["SpecialToken"]
            if sequence:
                template.append((sequence["id"].text(), sequence["type_id"].integer()))
                continue
            kind = special["type_id"].integer()
            ids = tokens[special["id"].text()]["ids"].items()
            template += [(token_id.integer(), kind) for token_id in ids]
        return tuple(template)

    single, pair = read(step["single"]), read(step["pair"])
    for template, texts in ((single, ["A"]), (pair, ["A", "B"])):
        if [content for content, _ in template if isinstance(content, str)] != texts:
            raise NotExactError(
                f"post_processor TemplateProcessing puts texts together as {shown(template)}, not "
                f"{' and '.join(texts)} once each"
            )
    return {"single": single, "pair": pair}


def _bert(step: JsonValue) -> Settings:
    (_, cls), (_, sep) = step["cls"].value, step["sep"].value
    single: Template = ((cls, 0), ("A", 0), (sep, 0))
    return {"single": single, "pair": (*single, ("B", 1), (sep, 1))}


def _roberta(step: JsonValue) -> Settings:
    (_, cls), (_, sep) = step["cls"].value, step["sep"].value
    single: Template = ((cls, 0), ("A", 0), (sep, 0))
    return {"single": single, "pair": (*single, (sep, 0), ("B", 0), (sep, 0)), **_byte_level(step)}


_READERS = {
    "TemplateProcessing": _template,
    "BertProcessing": _bert,
    "RobertaProcessing": _roberta,
}
"""The steps that add special tokens."""
