"""Native core of prunedbpe: the loops over the corpus."""

from collections.abc import Sequence
from typing import Annotated, Final

import numpy
import numpy.typing
from numpy.typing import NDArray
from typing_extensions import Buffer


def make_room(size: int) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
    """Uninitialised memory for a text, in huge pages."""

def find_invalid_utf8(text: Buffer | numpy.typing.NDArray[numpy.uint8], threads: int = 1) -> int:
    """Offset of the first sequence that is not UTF-8, or -1."""

def split_lines(text: Buffer | numpy.typing.NDArray[numpy.uint8], threads: int = 1) -> numpy.typing.NDArray[numpy.int64]:
    """
    Spans of the lines that are not empty, without their terminators: one row begin, end per line.
    """

def chunk_ends(text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], name: str) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """
    End offset in bytes of every chunk that a built-in pretokenizer cuts from UTF-8 text.
    """

def unicode_version() -> str:
    """Version of the Unicode data that the built-in pretokenizers use."""

def code_point_flags() -> Annotated[NDArray[numpy.uint16], dict(shape=(None,))]:
    """Class flags of every code point; unicode_tables.hpp explains them."""

class ChunkCounter:
    """Collects chunk counts; one owner."""

    def __init__(self, threads: int, by_source: bool = False) -> None: ...

    MAX_SOURCES: int = 1024

    def add_documents(self, pretokenizer: str, text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], documents: Annotated[NDArray[numpy.int64], dict(shape=(None, 2), order='C', device='cpu', writable=False)], sources: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None:
        """
        Cut the documents of a batch and count their chunks; `sources` holds the source of each document.
        """

    def add_chunks(self, text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], source: int = 0) -> None:
        """Count chunks that the caller has cut: chunk i ends at ends[i]."""

    def add_counts(self, bytes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], first_positions: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], shift: int, source: int = 0) -> None:
        """
        Add the table of a corpus part that starts `shift` bytes into the corpus.
        """

    def add_source_counts(self, bytes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], first_positions: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cell_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cell_sources: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], cell_counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], shift: int) -> None:
        """As add_counts, for a table that is divided by source."""

    def regroup(self, groups: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Join sources: what was counted for source i now belongs to groups[i]."""

    @property
    def position(self) -> int:
        """Bytes of all documents added so far."""

    @property
    def memory(self) -> int:
        """Bytes held."""

    def drain(self) -> DrainedCounts:
        """
        Take out what was counted, by hash bucket, and leave the counter empty.
        """

    def finish(self) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """
        The table in order of first appearance: bytes, offsets, counts, first positions.
        """

    def finish_by_source(self) -> tuple[tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """
        The table, and a sparse matrix of chunks and sources: offsets, sources, counts.
        """

class DrainedCounts:
    """Tables taken out of a ChunkCounter."""

    BUCKETS: int = 256

    def bucket(self, bucket: int) -> tuple[tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """
        The chunks of one hash bucket, as finish_by_source returns them; without cells if not divided by source.
        """

def find_wrong_row(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], first_positions: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[int, str] | None:
    """The first invalid row of a table and what is wrong with it, or None."""

def count_bytes(bytes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """How often each of the 256 bytes occurs in the corpus."""

class Learner:
    """Learns merges step by step; one owner."""

    def __init__(self, bytes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], merges: Annotated[NDArray[numpy.uint32], dict(shape=(None, 2), order='C', device='cpu', writable=False)] | None, threads: int, split_from: int | None = None, narrow_slots: int = 18446744073709551615) -> None:
        """
        The last two are for tests: when merges are split between threads, and when positions take 64 bits.
        """

    def advance(self, merge_count: int, seconds: float) -> int:
        """
        Learn up to this many more merges, or for about this long; returns how many were learned.
        """

    @property
    def exhausted(self) -> bool:
        """Whether learning has run out of pairs that occur twice."""

    def learned(self) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None, 2), writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)]]:
        """Copies of the merges learned so far: pairs, frequencies, applied."""

    @property
    def memory(self) -> int:
        """Bytes held by the learner's structures."""

def find_wrong_merge(merges: Annotated[NDArray[numpy.uint32], dict(shape=(None, 2), order='C', device='cpu', writable=False)], frequencies: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], applied: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[int, str] | None:
    """The first invalid merge and the name of its invalid part, or None."""

def replay(merges: Annotated[NDArray[numpy.uint32], dict(shape=(None, 2), order='C', device='cpu', writable=False)], bytes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """How often each merge is applied on a corpus."""

def hide_cheapest(merges: Annotated[NDArray[numpy.uint32], dict(shape=(None, 2), order='C', device='cpu', writable=False)], exposure: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], exponent: float, price: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], count: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
    """Ranks of the tokens to hide, the cheapest first."""

def tally_by_source(ids: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], source_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], sources: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], source_counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], source_count: int, token_count: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """
    By token, then by source: its occurrences in a corpus whose chunk i is cut into ids[offsets[i]:offsets[i + 1]].
    """

class FewestTokens:
    """
    The fewest tokens of a corpus under a visible set that changes; one owner.
    """

    def __init__(self, bytes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], source_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], sources: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], source_counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], source_count: int, strings: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], string_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> None: ...

    def flip(self, ranks: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Show the hidden ones among these tokens and hide the visible ones, once `settle` is done.
        """

    def settle(self, seconds: float) -> bool:
        """Work on the last flip for about this long; returns whether it is done."""

    def losses(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)]:
        """
        By rank, then by source: how many more tokens the corpus has without a visible token.
        """

    def loss_values(self, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], exponent: float) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """By rank: the sum of weight * loss ^ exponent over the sources."""

    def gains(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """
        By rank, then by source: how many fewer tokens the corpus has with a hidden token.
        """

    def lengths(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)]:
        """By source: its fewest tokens."""

    @property
    def memory(self) -> int:
        """Bytes held."""

class LowerBound:
    """
    A lower bound on the tokens of any choice of visible tokens; one owner.
    """

    def __init__(self, bytes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], strings: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], string_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], required: int, threads: int) -> None: ...

    def start_at(self, price: float) -> None:
        """
        Replace the multipliers by those with which every token is worth this many tokens.
        """

    def ascend(self, heat: float) -> None:
        """Take one step towards better multipliers."""

    def evaluate(self) -> int:
        """The bound that the present multipliers prove, in 1/unit."""

    def evaluate_any(self) -> int:
        """The same if every substring is a candidate."""

    def unlisted(self, most: int) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """
        Substrings that would improve `evaluate_any` as candidates, as bytes and offsets.
        """

    def add(self, strings: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], string_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Add candidates."""

    def multipliers(self) -> Annotated[NDArray[numpy.uint16], dict(shape=(None,), writable=False)]:
        """By edge: chunk by chunk, by place, by length."""

    def set_multipliers(self, multipliers: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Replace the multipliers."""

    @property
    def best(self) -> int:
        """The best bound so far, in 1/unit."""

    @property
    def price(self) -> float:
        """What one more visible token would save, about."""

    @property
    def candidate_count(self) -> int: ...

    @property
    def memory(self) -> int:
        """Bytes held."""

    unit: Final[int] = ...
    """(arg: object, /) -> int"""

def find_late_part(merges: Annotated[NDArray[numpy.uint32], dict(shape=(None, 2), order='C', device='cpu', writable=False)]) -> int | None:
    """
    Index of the first merge with a part that is not made before it, or None.
    """

def find_unreachable(merges: Annotated[NDArray[numpy.uint32], dict(shape=(None, 2), order='C', device='cpu', writable=False)]) -> int | None:
    """The lowest rank whose own bytes do not merge into it, or None."""

def spell(merges: Annotated[NDArray[numpy.uint32], dict(shape=(None, 2), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
    """The bytes of every rank, flat, and offsets."""

def assign_token_ids(visible: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], special_count: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
    """Token id of every rank."""

def expand_internal(merges: Annotated[NDArray[numpy.uint32], dict(shape=(None, 2), order='C', device='cpu', writable=False)], visible: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], token_ids: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
    """The visible ids that stand for each rank, flat, and offsets."""

def read_vocabulary(visible_file: bytes, internal_file: bytes) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None, 2))], Annotated[NDArray[numpy.bool_], dict(shape=(None,))], list[bytes]] | None:
    """
    Merges, visibility and special tokens of two vocabulary files, or None if anything is unusual.
    """

def write_vocabulary(merges: Annotated[NDArray[numpy.uint32], dict(shape=(None, 2), order='C', device='cpu', writable=False)], visible: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], special_tokens: Sequence[bytes]) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,), writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None,), writable=False)]]:
    """The visible and the internal vocabulary file, as bytes."""

class Encoder:
    """Text to token ids; immutable, shared between threads."""

    def __init__(self, merges: Annotated[NDArray[numpy.uint32], dict(shape=(None, 2), order='C', device='cpu', writable=False)], expansion_ids: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], expansion_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], pretokenizer: str, whole_chunks: dict = {}) -> None: ...

    def encode(self, text: str) -> list[int]:
        """Token ids as a list."""

    def encode_to_array(self, text: str, dropout: float, seed: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """Token ids as an array."""

    def encode_chunks(self, text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], dropout: float, seed: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """Token ids of a text that the caller has cut: chunk i ends at ends[i]."""

    def encode_batch(self, texts: list, dropout: float, seed: int, threads: int) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """Flat token ids of all texts, and offsets."""

    def encode_batch_to_lists(self, texts: list, dropout: float, seed: int, threads: int) -> list[list[int]]:
        """Token ids of all texts, a list for each."""

    def encode_documents(self, text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], documents: Annotated[NDArray[numpy.int64], dict(shape=(None, 2), order='C', device='cpu', writable=False)], threads: int) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """Flat token ids of a batch of documents, and offsets."""

class Decoder:
    """Token ids to bytes; immutable, shared between threads."""

    def __init__(self, bytes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def decode(self, ids: object) -> bytes:
        """The bytes of a list of tokens."""

    def decode_array(self, ids: object) -> bytes:
        """The bytes of an array of tokens."""

    def decode_text(self, ids: object, errors: str) -> str:
        """The text of a list of tokens."""

    def decode_array_text(self, ids: object, errors: str) -> str:
        """The text of an array of tokens."""

class ShortestEncoder:
    """Text to the fewest visible tokens; immutable, shared between threads."""

    def __init__(self, strings: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], pretokenizer: str) -> None: ...

    def encode(self, text: str) -> list[int]:
        """Token ids as a list."""

    def encode_to_array(self, text: str) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """Token ids as an array."""

    def encode_chunks(self, text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """Token ids of a text that the caller has cut: chunk i ends at ends[i]."""

    def encode_batch(self, texts: list, threads: int) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """Flat token ids of all texts, and offsets."""

    def encode_documents(self, text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], documents: Annotated[NDArray[numpy.int64], dict(shape=(None, 2), order='C', device='cpu', writable=False)], threads: int) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """Flat token ids of a batch of documents, and offsets."""

    def chunk_lengths(self, bytes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """The fewest tokens of every chunk, each counted once."""

    def total_length(self, bytes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> int:
        """The fewest tokens of a corpus."""

    def token_counts(self, bytes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """How often each token id stands in a corpus."""

class PickyLearner:
    """Learns Picky BPE step by step; one owner."""

    def __init__(self, bytes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], numerator: int, denominator: int) -> None: ...

    def advance(self, steps: int, required: int) -> int:
        """
        Merge up to `steps` more pairs, until `required` learned tokens are present.
        """

    def learned(self) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)]]:
        """Flat events, parts of the splits, and the change of length by event."""

    @property
    def present_count(self) -> int:
        """Learned tokens in the vocabulary now."""

class PickyEncoder:
    """Replays merges and splits; immutable."""

    def __init__(self, events: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], parts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def encode_chunks(self, text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """Tokens of a text that the caller has cut: chunk i ends at ends[i]."""

    def changes(self, bytes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """By event, how many tokens longer it makes a corpus."""

class GreedTokLearner:
    """Chooses GreedTok's tokens step by step; one owner."""

    def __init__(self, bytes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], least_frequency: int) -> None: ...

    def advance(self, steps: int) -> int:
        """Take up to `steps` more tokens."""

    def chosen(self) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,), writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)]]:
        """
        Flat tokens, where each begins, and how much shorter each made the corpus.
        """

def greedtok_scores(tokens: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], token_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], bytes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """
    By token, how much shorter it makes a corpus when the tokens cover it in this order.
    """
