"""Take over a tokenizer of transformers: the same ids and settings, encoded by this library.

In: a fast tokenizer (``PreTrainedTokenizerFast`` or a subclass), or a folder or file that
transformers loads as one. Out: a :class:`PrunedBPETokenizer` that takes its place, after both gave
the same results for a sample. What cannot be reproduced is refused by name.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prunedbpe.errors import FormatError, MissingExtraError, NotExactError, PrunedBPEError
from prunedbpe.exchange.huggingface_import import huggingface_of
from prunedbpe.integrations.original_rules import OriginalRules
from prunedbpe.integrations.original_sample import differences, sample_texts
from prunedbpe.types import Settings

if TYPE_CHECKING:
    from prunedbpe.integrations.transformers import PrunedBPETokenizer

# Where a tokenizer class of a model may differ from the general one.
_BEHAVIOUR = (
    *("__call__", "_encode_plus", "encode", "tokenize", "prepare_for_tokenization", "pad", "_pad"),
    *("decode", "_decode", "batch_decode", "convert_tokens_to_string", "clean_up_tokenization"),
    *("convert_ids_to_tokens", "convert_tokens_to_ids", "apply_chat_template", "get_vocab"),
    *("build_inputs_with_special_tokens", "create_token_type_ids_from_sequences"),
    *("get_special_tokens_mask", "num_special_tokens_to_add", "set_truncation_and_padding"),
)
# What the original was built from; it is here in another form.
_SOURCES = (
    *("vocab", "merges", "vocab_file", "merges_file", "tokenizer_file", "tokenizer_object"),
    *("backend", "is_local", "local_files_only", "files_loaded", "add_bos_token", "add_eos_token"),
    *("additional_special_tokens", "spm_file", "tokenizer_truncation", "tokenizer_padding"),
)
_SETTINGS = (
    *("model_max_length", "padding_side", "truncation_side", "model_input_names"),
    *("clean_up_tokenization_spaces", "split_special_tokens", "chat_template", "name_or_path"),
    *("response_template", "chat_control_tokens"),
    "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output",
)
_HINT = "go on with the original, which is unchanged"


def accelerate(tokenizer: Any, *, sample: Iterable[str] = ()) -> PrunedBPETokenizer:
    """Return a tokenizer for transformers that takes the place of an existing one.

    It gives the same ids, masks, offsets and texts, and has the same special tokens, chat template
    and settings. It does not follow later changes of the original.

    Args:
        tokenizer: A fast tokenizer of transformers, a folder or a name for
            ``AutoTokenizer.from_pretrained``, or a ``tokenizer.json``, which alone has no settings
            of ``tokenizer_config.json``.
        sample: Texts to compare both tokenizers on, besides those that are always compared.

    Raises:
        NotExactError: The original has a feature that is not reproduced, or a result differs; the
            message names it. The original stays as it was.
        FormatError: Transformers cannot load the folder or file.

    >>> from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    >>> from transformers import PreTrainedTokenizerFast
    >>> vocab = {name: i for i, name in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    >>> model = models.BPE({**vocab, "at": 256, "hat": 257}, [("a", "t"), ("h", "at")])
    >>> original = Tokenizer(model)
    >>> original.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    >>> original.decoder = decoders.ByteLevel()
    >>> fast = accelerate(PreTrainedTokenizerFast(tokenizer_object=original, eos_token="<end>"))
    >>> fast("a hat<end>")["input_ids"]
    [64, 220, 257, 258]
    """
    try:
        import transformers
    except ImportError as error:
        raise MissingExtraError("transformers", "transformers", "accelerate()") from error
    from prunedbpe.integrations.transformers import PrunedBPETokenizer

    original = _load(transformers, tokenizer) if isinstance(tokenizer, (str, Path)) else tokenizer
    if isinstance(original, PrunedBPETokenizer):
        return original
    _check_class(transformers, original)
    with _unchanged(original.backend_tokenizer):
        backend = json.loads(original.backend_tokenizer.to_str())
        try:
            made = _take_over(original, backend)
        except PrunedBPEError as error:
            raise NotExactError(f"cannot accelerate: {error.message}", hint=_HINT) from error
        for name, theirs, ours in differences(original, made, sample_texts(original, sample)):
            raise NotExactError(
                f"cannot accelerate: {name} would differ: {ours!r:.200} instead of {theirs!r:.200}",
                hint=_HINT,
            )
    return made


def _load(transformers: Any, path: str | Path) -> Any:
    try:
        if Path(path).is_file():
            return transformers.PreTrainedTokenizerFast(tokenizer_file=str(path))
        return transformers.AutoTokenizer.from_pretrained(str(path))
    except Exception as error:  # its library raises bare exceptions for damaged files
        raise FormatError(f"{path}: transformers cannot load a tokenizer: {error}") from error


def _check_class(transformers: Any, original: Any) -> None:
    """Refuse what is not a fast tokenizer, and classes with a behaviour of their own."""
    general = transformers.PreTrainedTokenizerFast
    name = type(original).__name__
    if not isinstance(original, general):
        raise NotExactError(f"cannot accelerate: {name} is not a fast tokenizer", hint=_HINT)
    for base in type(original).__mro__[: type(original).__mro__.index(general)]:
        for method in _BEHAVIOUR:
            if method in vars(base):
                raise NotExactError(
                    f"cannot accelerate: {base.__name__}.{method} is not reproduced", hint=_HINT
                )


@contextmanager
def _unchanged(backend: Any) -> Iterator[None]:
    """Restore the settings that calls of the original change in its backend."""
    truncation, padding = backend.truncation, backend.padding
    splits = backend.encode_special_tokens
    try:
        yield
    finally:
        backend.encode_special_tokens = splits
        backend.no_truncation()
        if truncation is not None:
            backend.enable_truncation(**truncation)
        backend.no_padding()
        if padding is not None:
            backend.enable_padding(**padding)


def _take_over(original: Any, backend: Settings) -> PrunedBPETokenizer:
    from prunedbpe.integrations.transformers import PrunedBPETokenizer

    rules = OriginalRules.of_backend(backend)
    # How added tokens match is the business of the class for transformers, not of the tokenizer.
    flags = ("lstrip", "rstrip", "single_word", "normalized")
    plain = dict.fromkeys(flags, False)
    added = [{**token, **plain} for token in backend.get("added_tokens") or ()]
    imported = huggingface_of({**backend, "added_tokens": added}, Path("tokenizer.json"))
    given = {k: v for k, v in copy.deepcopy(original.init_kwargs).items() if k not in _SOURCES}
    given |= {name: copy.deepcopy(getattr(original, name, None)) for name in _SETTINGS}
    for name in ("response_template", "chat_control_tokens"):
        if given[name] is None:
            del given[name]
    usual = PrunedBPETokenizer.SPECIAL_TOKENS_ATTRIBUTES
    roles = {role: original._special_tokens_map.get(role) for role in usual}
    of_model = {
        role: token
        for role, token in original._special_tokens_map.items()
        if role not in usual and token is not None
    }
    for role in of_model:
        given.pop(role, None)
    made = PrunedBPETokenizer(
        **{
            **given,
            **roles,
            "extra_special_tokens": list(original._extra_special_tokens),
            "model_specific_special_tokens": of_model,
            "added_tokens_decoder": dict(original.added_tokens_decoder),
            "tokenizer": imported,
            "original_rules": rules.describe(),
        }
    )
    made._processor_class = original._processor_class
    made._pad_token_type_id = original.pad_token_type_id
    return made
