"""A table from token ids to bytes, for programs that only decode. Exact for every vocabulary.

No library looks for a file of this name. Under a known name a stock library might load the table as
a whole tokenizer and silently encode wrong ids.
"""

from __future__ import annotations

import base64
from pathlib import Path

from prunedbpe._support.atomic_files import write_json
from prunedbpe.tokenizer import Tokenizer

DECODE_TABLE_FILE = "prunedbpe-decode-only.json"


def write_decode_table(tokenizer: Tokenizer, folder: str | Path) -> Path:
    """Write ``prunedbpe-decode-only.json``: the bytes of every visible id, in base64.

    Returns:
        The path of the file.
    """
    vocabulary = tokenizer.vocabulary
    path = Path(folder) / DECODE_TABLE_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    strings = vocabulary.bytes_by_id[: vocabulary.vocab_size]
    write_json(
        path,
        {
            "format": "prunedbpe decode table",
            "version": 1,
            "note": "decodes ids; does not describe how to encode",
            "special_tokens": vocabulary.special_ids,
            "tokens": [base64.b64encode(string).decode() for string in strings],
        },
    )
    return path
