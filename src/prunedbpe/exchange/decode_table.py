"""A table from token ids to bytes, for programs that only decode: exact for every vocabulary.

Its name is one that no library looks for, because whoever loaded it as a whole tokenizer would
encode wrongly without a word.
"""

from __future__ import annotations

import base64
from pathlib import Path

from prunedbpe._support.atomic_files import write_json
from prunedbpe.exchange.exactness import HasVocabulary

DECODE_TABLE_FILE = "prunedbpe-decode-only.json"


def write_decode_table(tokenizer: HasVocabulary, folder: str | Path) -> Path:
    """Write ``prunedbpe-decode-only.json`` into a folder: base64 of what every visible id spells.

    Returns:
        The path of the file.
    """
    vocabulary = tokenizer.vocabulary
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / DECODE_TABLE_FILE
    write_json(
        path,
        {
            "format": "prunedbpe decode table",
            "version": 1,
            "note": "decodes ids; says nothing about how to encode",
            "special_tokens": vocabulary.special_ids,
            "tokens": [
                base64.b64encode(string).decode()
                for string in vocabulary.bytes_by_id[: vocabulary.vocab_size]
            ],
        },
    )
    return path
