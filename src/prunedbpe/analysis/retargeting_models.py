"""Retarget a model: in memory (PyTorch), or a folder with safetensors files, without PyTorch.

In: the model, and the map between the ids of its tokenizer and the new one. Out: the model for the
new tokenizer, whose rows :mod:`prunedbpe.analysis.embedding_rows` chooses. Tied weights stay tied,
types stay as they are, and the configuration gets the new size and the new ids of special tokens.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prunedbpe._support.atomic_files import write_json
from prunedbpe._support.input_files import read_json
from prunedbpe._support.safetensors_files import SafetensorsFile
from prunedbpe.analysis.embedding_rows import (
    map_config,
    map_rows,
    map_special_ids,
    row_count,
    tensors_with_rows,
)
from prunedbpe.analysis.retargeting import IdMap
from prunedbpe.errors import FormatError, MissingExtraError, SettingsError
from prunedbpe.types import Settings

_INDEX = "model.safetensors.index.json"
_CONFIGS = ("config.json", "generation_config.json")
_TOKENIZER_FILES = (
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
    "vocab.json", "merges.txt", "vocab.txt", "inter_vocab.txt", "prunedbpe.json", "*.model",
    "*.tiktoken", "chat_template.*",
)  # fmt: skip
_OTHER_WEIGHTS = ("*.bin", "*.pt", "*.pth", "*.gguf", "*.h5", "*.msgpack", "*.onnx")


def retarget_model(
    model: Any,
    ids: IdMap,
    *,
    tensors: Sequence[str] | None = None,
    pad_to_multiple_of: int = 1,
) -> Any:
    """Give a PyTorch model the vocabulary of a retargeted tokenizer, in place.

    Args:
        model: A model of transformers, or any module of PyTorch.
        ids: The map from :func:`prunedbpe.id_map`, or :meth:`IdMap.load`.
        tensors: Names of the parameters that have a row for each token; by default those that
            transformers knows, or that have a usual name.
        pad_to_multiple_of: The number of rows is a multiple of it.

    Returns:
        The model.

    Raises:
        SettingsError: The parameters are unknown, or have fewer rows than the base tokenizer ids.
        MissingExtraError: PyTorch is not installed.
    """
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError("torch", "transformers", "a model in memory") from error
    rows = row_count(ids, pad_to_multiple_of)
    parameters = dict(model.named_parameters(remove_duplicate=False))
    config = getattr(model, "config", None)
    if tensors is None and hasattr(model, "get_input_embeddings"):
        tensors = _names_in_transformers(model, parameters)
        vocab_size = len(parameters[tensors[0]])
    elif tensors is not None:
        unknown = [name for name in tensors if name not in parameters]
        if unknown or not tensors:
            raise SettingsError(
                f"the model has no parameter {unknown[0]!r}" if unknown else "no tensors are named",
                hint="name parameters as model.named_parameters() does",
            )
        vocab_size = len(parameters[tensors[0]])
    else:
        vocab_size = _vocab_size_of(model, parameters)
    shapes = {name: tuple(parameter.shape) for name, parameter in parameters.items()}
    renewed: dict[int, Any] = {}
    for name in tensors_with_rows(shapes, vocab_size, tensors):
        old = parameters[name]
        if id(old) not in renewed:  # tied weights are one parameter under two names
            values = map_rows(
                old.detach().float().cpu().numpy(), ids, pad_to_multiple_of=pad_to_multiple_of
            )
            data = torch.from_numpy(values).to(old.device, old.dtype)
            renewed[id(old)] = torch.nn.Parameter(data, requires_grad=old.requires_grad)
        path, _, attribute = name.rpartition(".")
        module = model.get_submodule(path)
        setattr(module, attribute, renewed[id(old)])
        _resize(module, rows)
    if config is not None:
        _update_config(model, ids, rows)
    return model


def _names_in_transformers(model: Any, parameters: dict[str, Any]) -> list[str]:
    """Return the names of the weights of input embedding and output layer, and of its bias."""
    modules = {id(module): path for path, module in model.named_modules()}
    names = []
    for module in (model.get_input_embeddings(), model.get_output_embeddings()):
        for attribute in ("weight", "bias"):
            path = modules.get(id(module))
            name = f"{path}.{attribute}" if path else attribute
            if path is not None and name in parameters:
                names.append(name)
    if not names:
        raise SettingsError(
            f"{type(model).__name__} has no embedding that transformers knows",
            hint="name the parameters with tensors",
        )
    # Some models keep a bias of the output twice, in the head and above it: one parameter.
    known = {id(parameters[name]) for name in names}
    names += [name for name in parameters if id(parameters[name]) in known and name not in names]
    return names


def _vocab_size_of(model: Any, parameters: dict[str, Any]) -> int:
    """Return the number of rows of the first parameter with a usual name."""
    shapes = {name: tuple(parameter.shape) for name, parameter in parameters.items()}
    for name, shape in shapes.items():
        try:
            tensors_with_rows({name: shape}, shape[0] if shape else 0, None)
        except SettingsError:
            continue
        return int(shape[0])
    raise SettingsError(
        f"{type(model).__name__} has no parameter with a usual name for a row per token",
        hint=f"name them with tensors, among {', '.join(parameters)}",
    )


def _resize(module: Any, rows: int) -> None:
    for attribute in ("num_embeddings", "out_features", "vocab_size"):
        if hasattr(module, attribute):
            setattr(module, attribute, rows)


def _update_config(model: Any, ids: IdMap, rows: int) -> None:
    new_ids = {base: token_id for token_id, base in ids.kept.items()}
    text = model.config.get_text_config()
    text.vocab_size = rows
    configs = [text, model.config, getattr(model, "generation_config", None)]
    for config in {id(config): config for config in configs if config is not None}.values():
        for key, value in list(vars(config).items()):
            if key.endswith(("_token_id", "_token_ids", "suppress_tokens")):
                setattr(config, key, map_special_ids(key, value, new_ids))
    if hasattr(model, "vocab_size") and isinstance(model.vocab_size, int):
        model.vocab_size = rows


def retarget_checkpoint(
    folder: str | Path,
    ids: IdMap,
    output: str | Path,
    *,
    tensors: Sequence[str] | None = None,
    pad_to_multiple_of: int = 1,
) -> list[str]:
    """Write the model of a folder with the vocabulary of a retargeted tokenizer.

    Reads ``config.json`` and ``model.safetensors``, or its shards, and needs neither PyTorch nor
    transformers. Memory holds one embedding matrix. Other files are copied, but tokenizer files and
    weights in other formats are not: they belong to the base tokenizer. Save the new tokenizer into
    the folder.

    Args:
        folder: The model.
        ids: The map from :func:`prunedbpe.id_map`, or :meth:`IdMap.load`.
        output: Another folder.
        tensors: Names of the tensors that have a row for each token; by default those with a usual
            name.
        pad_to_multiple_of: The number of rows is a multiple of it.

    Returns:
        The names of the changed tensors.

    Raises:
        FormatError: A file is missing or damaged.
        SettingsError: The tensors are unknown, or have fewer rows than the base tokenizer ids.
    """
    folder, output = Path(folder), Path(output)
    if output.resolve() == folder.resolve():
        raise SettingsError(f"{output}: is the model itself", hint="write to another folder")
    config = read_json(folder / "config.json")
    files = _weight_files(folder)
    shapes = {name: shape for file in files.values() for name, shape in file.shapes.items()}
    rows = row_count(ids, pad_to_multiple_of)
    changed = tensors_with_rows(shapes, _vocab_size_in(config, folder), tensors)
    output.mkdir(parents=True, exist_ok=True)
    total = 0
    for name, file in files.items():
        values = {
            tensor: map_rows(file.floats(tensor), ids, pad_to_multiple_of=pad_to_multiple_of)
            for tensor in changed
            if tensor in file.shapes
        }
        total += file.copy_with(output / name, values)
    if (folder / _INDEX).is_file():
        index = read_json(folder / _INDEX)
        index["metadata"] = {**index.get("metadata", {}), "total_size": total}
        write_json(output / _INDEX, index)
    for name in _CONFIGS:
        if (folder / name).is_file():
            write_json(output / name, map_config(read_json(folder / name), ids, rows))
    _copy_others(folder, output, {*files, *_CONFIGS, _INDEX})
    return changed


def _weight_files(folder: Path) -> dict[str, SafetensorsFile]:
    if (folder / _INDEX).is_file():
        names = sorted(set(read_json(folder / _INDEX)["weight_map"].values()))
    else:
        names = ["model.safetensors"]
    for name in names:
        if Path(name).name != name or not (folder / name).is_file():
            raise FormatError(
                f"{folder / name}: no such file",
                hint="save the model with model.save_pretrained(folder), as safetensors",
            )
    return {name: SafetensorsFile(folder / name) for name in names}


def _vocab_size_in(config: Settings, folder: Path) -> int:
    for part in (config, config.get("text_config") or {}):
        if type(part.get("vocab_size")) is int:
            return int(part["vocab_size"])
    raise FormatError(f"{folder / 'config.json'}: names no vocab_size")


def _copy_others(folder: Path, output: Path, done: set[str]) -> None:
    left_out = (*_TOKENIZER_FILES, *_OTHER_WEIGHTS, "*.safetensors")
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.name not in done and not any(map(path.match, left_out)):
            shutil.copyfile(path, output / path.name)
