"""A tokenizer for transformers (extra ``transformers``).

``import prunedbpe.integrations.transformers`` registers :class:`PrunedBPETokenizer` with
``AutoTokenizer``. A saved folder has ``vocab.txt``, ``inter_vocab.txt``, ``prunedbpe.json`` and
``tokenizer_config.json``. Its ``tokenizer.json`` holds no tokenizer, because a stock class would
silently encode wrong ids with it: it makes such a class fail with the reason and the remedy.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from prunedbpe.errors import MissingExtraError, SettingsError
from prunedbpe.exchange.byte_alphabet import from_byte_alphabet, to_byte_alphabet
from prunedbpe.exchange.special_roles import usual_roles
from prunedbpe.integrations.call_inputs import CallOptions
from prunedbpe.integrations.marked_chats import encode_marked_chats
from prunedbpe.integrations.original_rules import OriginalRules
from prunedbpe.integrations.token_spans import normalizer_of
from prunedbpe.integrations.token_tables import TokenTables
from prunedbpe.tokenizer import Tokenizer

try:
    from transformers import AutoTokenizer, BatchEncoding, PreTrainedConfig, PreTrainedTokenizer

    from prunedbpe.integrations.plain_encoding import encode_one, encode_plain, is_plain
    from prunedbpe.integrations.row_encoding import encode_rows
except ImportError as error:
    raise MissingExtraError("transformers", "transformers", "PrunedBPETokenizer") from error

REMOTE_MODULE = "tokenization_prunedbpe"
_REMEDY = (
    "this tokenizer needs the package prunedbpe: run pip install 'prunedbpe[transformers]', then "
    "import prunedbpe.integrations.transformers or pass trust_remote_code=True"
)
_REMOTE_CODE = f'''"""Find the tokenizer class in the installed package prunedbpe."""

try:
    from prunedbpe.integrations.transformers import PrunedBPETokenizer
except ImportError as error:
    raise ImportError(
        "{_REMEDY}"
    ) from error

__all__ = ["PrunedBPETokenizer"]
'''
# A file of an unknown version: the library tokenizers quotes it when it refuses the file.
_STOCK_FILE = {"version": _REMEDY, "added_tokens": [], "model": {"type": "prunedbpe"}}


class PrunedBPETokenizer(PreTrainedTokenizer):
    """A :class:`~prunedbpe.tokenizer.Tokenizer` with the interface of transformers.

    Args:
        vocab_file: ``vocab.txt`` of a saved tokenizer; the other files are in the same folder.
        special_tokens_pattern: The special tokens that ``add_special_tokens`` adds: ``"none"``,
            ``"bos"``, ``"eos"``, ``"bos_eos"``, ``"cls_sep"``.
        **kwargs: ``tokenizer``, a tokenizer instead of files; ``original_rules``, what the
            tokenizer that this one replaces does around its model, as
            :meth:`OriginalRules.describe` returns it; and the arguments of
            ``PreTrainedTokenizer``: ``eos_token``, ``model_max_length``, ...
    """

    vocab_files_names = {  # noqa: RUF012 (declared by the base class)
        "vocab_file": "vocab.txt",
        "internal_vocab_file": "inter_vocab.txt",
        "settings_file": "prunedbpe.json",
    }
    model_input_names = ["input_ids", "attention_mask"]  # noqa: RUF012
    _auto_map = {"AutoTokenizer": [f"{REMOTE_MODULE}.PrunedBPETokenizer", None]}  # noqa: RUF012

    add_prefix_space = False
    """Words of a text that is split into words get no space, as by GPT-2's tokenizer."""

    def __init__(
        self,
        vocab_file: str | None = None,
        *,
        special_tokens_pattern: str = "none",
        **kwargs: Any,
    ) -> None:
        for name in (*self.vocab_files_names, "tokenizer_file"):
            kwargs.pop(name, None)
        tokenizer: Tokenizer | None = kwargs.pop("tokenizer", None)
        if tokenizer is None:
            if vocab_file is None:
                raise SettingsError(
                    "no tokenizer given",
                    hint="use from_pretrained(folder), or pass tokenizer=Tokenizer.load(folder)",
                )
            tokenizer = Tokenizer.load(Path(vocab_file).parent)
        self._tok = tokenizer
        rules = kwargs.pop("original_rules", None)
        self._rules = OriginalRules.from_settings(rules) if rules else None
        self._prepare()
        for token_id, token in (kwargs.get("added_tokens_decoder") or {}).items():
            self._make_room(str(token), int(token_id))
        kwargs.setdefault("clean_up_tokenization_spaces", False)
        kwargs.pop("auto_map", None)
        if self._rules:
            super().__init__(special_tokens_pattern="none", **kwargs)
            self.init_kwargs["original_rules"] = self._rules.describe()
            return
        known = tokenizer.special_tokens
        for role, usual in usual_roles(known).items():
            kwargs.setdefault(role, usual)
        named = {str(kwargs.get(role)) for role in (*self.SPECIAL_TOKENS_ATTRIBUTES,)}
        extra = [str(token) for token in kwargs.get("extra_special_tokens") or ()]
        extra += [name for name in known if name not in named and name not in extra]
        if extra:
            kwargs["extra_special_tokens"] = extra
        super().__init__(special_tokens_pattern=special_tokens_pattern, **kwargs)
        self.init_kwargs["special_tokens_pattern"] = special_tokens_pattern

    def _prepare(self) -> None:
        """Name every token. The names follow from the tokenizer alone and are not pickled."""
        # datasets leaves the attribute of this name out when it hashes a tokenizer.
        self.cache: dict[str, TokenTables] = {}
        special = {int(token_id): text for text, token_id in self._tok.special_tokens.items()}
        self._names: list[str] = []
        others = self._rules.other_tokens if self._rules else {}
        strings = self._tok.vocab_bytes()
        strings += [b""] * (max(others, default=-1) + 1 - len(strings))
        for token_id, spelled in enumerate(strings):
            name = special.get(token_id) or others.get(token_id) or to_byte_alphabet(spelled)
            if not spelled and token_id not in others:
                name = f"<unused id {token_id}>"
            elif token_id not in special and name in self._tok.special_tokens:
                name += " (learned)"  # unique: no other name holds a space
            self._names.append(name)
        self._base_vocab = {name: token_id for token_id, name in enumerate(self._names)}
        if self._rules:  # the original has no tokens for these ids
            self._base_vocab = {
                name: i
                for name, i in self._base_vocab.items()
                if not name.startswith("<unused id ")
            }

    def _make_room(self, text: str, token_id: int | None = None) -> None:
        """Rename a token whose name in the byte alphabet is the text of an added token.

        The byte E9 has the name ``é``. An added token ``é`` is a different token, but without this
        the base class would confuse the two.
        """
        holder = self._base_vocab.get(text)
        if holder is None or holder == token_id or self._rules:
            return  # Hugging Face tokenizers do confuse them
        if self._tok.vocabulary.bytes_by_id[holder] != text.encode():
            del self._base_vocab[text]
            self._names[holder] = f"{text} (bytes)"
            self._base_vocab[self._names[holder]] = holder

    def _add_tokens(self, new_tokens: Any, special_tokens: bool = False) -> int:
        if self._rules and new_tokens and len(self) <= max(self.get_vocab().values()):
            raise SettingsError(
                "the original has unused ids, so new tokens might get other ids than from it",
                hint="add the tokens to the original, then accelerate it",
            )
        for token in new_tokens or ():
            self._make_room(str(token))
        added: int = super()._add_tokens(new_tokens, special_tokens)
        self.cache.clear()
        return added

    @classmethod
    def from_tokenizer(cls, tokenizer: Tokenizer, **kwargs: Any) -> PrunedBPETokenizer:
        """Wrap a tokenizer."""
        return cls(tokenizer=tokenizer, **kwargs)

    @property
    def tokenizer(self) -> Tokenizer:
        """The wrapped tokenizer."""
        return self._tok

    @property
    def rules(self) -> OriginalRules | None:
        """What the replaced tokenizer does around its model, see ``prunedbpe.accelerate``."""
        return self._rules

    @property
    def token_tables(self) -> TokenTables:
        """Tables that follow from the tokens, see :meth:`__setattr__`."""
        tables = self.cache.get("tables")
        if tables is None:
            added = dict(self._added_tokens_decoder)
            special = {i for i in self.all_special_ids if i is not None}
            if self._rules:
                special = {i for i, token in added.items() if token.special}
            tables = TokenTables(
                self._tok.vocab_bytes(),
                added,
                special,
                self.build_inputs_with_special_tokens,
                self.create_token_type_ids_from_sequences,
                normalizer_of(self._tok),
                by_alphabet=self._rules is not None,
                others=self._rules.other_tokens if self._rules else {},
            )
            self.cache["tables"] = tables
        return tables

    def __setattr__(self, key: str, value: Any) -> None:
        if key in ("add_bos_token", "add_eos_token"):
            raise SettingsError(
                f"{key} cannot be set here",
                hint="set it on the original, then accelerate it; or pass special_tokens_pattern",
            )
        if "token" in key:  # a special token, or how they are added
            self.cache.clear()
        super().__setattr__(key, value)

    def add_special_tokens(self, *args: Any, **kwargs: Any) -> int:
        """Add special tokens, as the base class does."""
        added: int = super().add_special_tokens(*args, **kwargs)
        self.cache.clear()
        return added

    # Pickles omit derived and unordered state: datasets hashes them to find its caches.

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        for name in ("_names", "_base_vocab", "cache", "tokens_trie"):
            state.pop(name, None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        from transformers.tokenization_python import Trie

        self._prepare()
        self.tokens_trie = Trie()
        for token_id, token in self._added_tokens_decoder.items():
            self._make_room(str(token), token_id)
        self._update_trie()

    # Vocabulary

    @property
    def vocab_size(self) -> int:
        """Number of tokens of the tokenizer, without later additions.

        Special tokens are included, unless the tokenizer replaces another that does not.
        """
        return self._rules.vocab_size if self._rules else self._tok.vocab_size

    def get_vocab(self) -> dict[str, int]:
        """Return the id of every token, later additions included."""
        return {**self._base_vocab, **self._added_tokens_encoder}

    def token_bytes(self) -> list[bytes]:
        """Return the bytes of every id, later additions included; an unused id has none."""
        return list(self.token_tables.spelled)

    def _convert_token_to_id(self, token: str) -> int | None:
        token_id = self._base_vocab.get(token)
        unknown = self._special_tokens_map.get("unk_token")
        if token_id is None and unknown is not None and str(unknown) != token:
            return self.convert_tokens_to_ids(str(unknown))
        return token_id

    def _convert_id_to_token(self, index: int) -> str | None:
        name = self._names[index] if 0 <= index < len(self._names) else None
        return name if name in self._base_vocab else None

    def save_vocabulary(
        self, save_directory: str, filename_prefix: str | None = None
    ) -> tuple[str, ...]:
        """Write the tokenizer's files, the module that ``trust_remote_code`` loads, and a notice.

        The notice is a ``tokenizer.json`` that stock classes refuse.
        """
        if filename_prefix:
            raise SettingsError(
                "filename_prefix is not supported", hint="use one folder per tokenizer"
            )
        self._tok.save(save_directory)
        module = Path(save_directory, f"{REMOTE_MODULE}.py")
        module.write_text(_REMOTE_CODE, "utf-8")
        notice = Path(save_directory, "tokenizer.json")
        notice.write_text(json.dumps(_STOCK_FILE, indent=1) + "\n", "utf-8")
        files = [os.path.join(save_directory, name) for name in self.vocab_files_names.values()]  # noqa: PTH118
        return (*files, str(module), str(notice))

    # Encoding

    def _tokenize(self, text: str, **kwargs: Any) -> list[str]:
        return [self._names[i] for i in self._tok.encode(text, surrogates="replace")]

    def tokenize(
        self, text: Any, pair: Any = None, add_special_tokens: bool = False, **kwargs: Any
    ) -> list[str]:
        """Return the tokens of a text as strings."""
        if self._rules is None:
            return super().tokenize(text, pair=pair, **kwargs)
        return self._encode_plus(
            text, pair, add_special_tokens=add_special_tokens, **kwargs
        ).tokens()

    def _encode_without_added_tokens(self, text: str) -> list[int]:
        return self._tok.encode(text, surrogates="replace")

    def build_inputs_with_special_tokens(
        self, token_ids_0: list[int], token_ids_1: list[int] | None = None
    ) -> list[int]:
        """Return the ids of one text or two with special tokens."""
        if self._rules is None:
            return super().build_inputs_with_special_tokens(token_ids_0, token_ids_1)
        return self._rules.assemble(token_ids_0, token_ids_1)[0]

    def create_token_type_ids_from_sequences(
        self, token_ids_0: list[int], token_ids_1: list[int] | None = None
    ) -> list[int]:
        """Return the token types of what :meth:`build_inputs_with_special_tokens` returns."""
        if self._rules is None:
            return super().create_token_type_ids_from_sequences(token_ids_0, token_ids_1)
        return self._rules.assemble(token_ids_0, token_ids_1)[1]

    def get_special_tokens_mask(
        self,
        token_ids_0: list[int],
        token_ids_1: list[int] | None = None,
        already_has_special_tokens: bool = False,
    ) -> list[int]:
        """Return 1 for every special token, 0 for every token of a text."""
        if self._rules is None or already_has_special_tokens:
            return super().get_special_tokens_mask(
                token_ids_0, token_ids_1, already_has_special_tokens
            )
        second = None if token_ids_1 is None else [-1] * len(token_ids_1)
        built = self._rules.assemble([-1] * len(token_ids_0), second)[0]
        return [int(token_id != -1) for token_id in built]

    def __call__(self, text: Any = None, *args: Any, **kwargs: Any) -> BatchEncoding:
        """Encode texts, with the options of transformers. A text without options is quick."""
        if type(text) is str and not args and not kwargs:
            encoding = encode_one(self, text)
            if encoding is not None:
                return encoding
        return super().__call__(text, *args, **kwargs)

    def _encode_plus(self, text: Any, text_pair: Any = None, **given: Any) -> BatchEncoding:
        options = CallOptions.of(self, given)
        if options.sanitize_control_tokens:
            text = encode_marked_chats(self, text)
        if is_plain(text, text_pair, options):
            return encode_plain(self, text, options)
        return encode_rows(self, text, text_pair, options)

    # Decoding

    def decode(self, token_ids: Any, skip_special_tokens: bool = False, **kwargs: Any) -> Any:
        """Return the text of ids, or a list of texts if there are several lists of ids."""
        if type(token_ids) is not list:  # an array, a tensor, a tuple, one id
            return super().decode(token_ids, skip_special_tokens, **kwargs)
        clean = kwargs.pop("clean_up_tokenization_spaces", None)
        if token_ids and isinstance(token_ids[0], (list, tuple)):
            return [self._decode(ids, skip_special_tokens, clean) for ids in token_ids]
        return self._decode(token_ids, skip_special_tokens, clean)

    def _decode(
        self,
        token_ids: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        **kwargs: Any,
    ) -> str:
        ids = [token_ids] if isinstance(token_ids, int) else token_ids
        text = self.token_tables.decode(ids, skip_special_tokens)
        if self._rules and clean_up_tokenization_spaces is None:
            clean_up_tokenization_spaces = self.clean_up_tokenization_spaces
        if clean_up_tokenization_spaces and (
            self._rules is None
            or self._rules.cleans_up
            or self.clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output
        ):
            text = self.clean_up_tokenization(text)
        return text

    def convert_tokens_to_string(self, tokens: Iterable[str]) -> str:
        """Return the text of tokens given as strings."""
        parts = []
        for token in tokens:
            token_id = None if self._rules else self._base_vocab.get(token)
            if token_id is not None:
                parts.append(self._tok.vocabulary.bytes_by_id[token_id])
            else:
                is_text = token in self._added_tokens_encoder and self._rules is None
                spelled = None if is_text else from_byte_alphabet(token)
                parts.append(token.encode() if spelled is None else spelled)
        return b"".join(parts).decode("utf-8", "replace")


class PrunedBPEConfig(PreTrainedConfig):
    """A config for ``AutoTokenizer.register``, which requires one."""

    model_type = "prunedbpe"


AutoTokenizer.register(PrunedBPEConfig, slow_tokenizer_class=PrunedBPETokenizer, exist_ok=True)
