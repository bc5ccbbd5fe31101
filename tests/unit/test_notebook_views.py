"""Results in a notebook: one line as text, a table as HTML, columns as Arrow data."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pyarrow as pa
import pytest

import prunedbpe
from prunedbpe import ChunkCounts, Corpus, Shard
from prunedbpe._support.notebook_view import view, view_table
from prunedbpe.analysis.auditing import audit
from prunedbpe.analysis.comparison import compare
from prunedbpe.analysis.evaluation import EvaluationResult, evaluate
from prunedbpe.analysis.retargeting import id_map
from prunedbpe.analysis.sweeping import SweepResult
from prunedbpe.exchange.huggingface_export import write_huggingface

HOSTILE = "<script>alert('x')</script>&amp;\"><img src=x onerror=y>"
TEXTS = [f"the cat in the hat {HOSTILE} 中文 中国", f"that hat \u202egnp.exe {HOSTILE}"] * 3


@pytest.fixture(scope="module")
def counts():
    return prunedbpe.count(Corpus.from_texts(TEXTS))


@pytest.fixture(scope="module")
def merges(counts):
    return prunedbpe.learn(counts, 30)


@pytest.fixture(scope="module")
def results(counts, merges):
    """One of everything that a notebook shows."""
    special = (HOSTILE, "<_EOS_>")
    tok = prunedbpe.prune(merges, 268, threshold=0, special_tokens=special)
    pruned = prunedbpe.prune(merges, 268, threshold=3, special_tokens=special)
    assert pruned.vocabulary.internal_count
    empty = ChunkCounts.empty()
    return {
        "tokenizer": pruned,
        "vocabulary": pruned.vocabulary,
        "merges": merges,
        "no merges": prunedbpe.learn(counts, 0),
        "counts": counts,
        "no counts": empty,
        "sweep": prunedbpe.sweep(merges, [270, 280], [0, 3, 1000], corpora={HOSTILE: counts}),
        "evaluation": evaluate(
            {HOSTILE: tok, "pruned": pruned}, {HOSTILE: Corpus.from_texts(TEXTS)}, bootstrap=5
        ),
        "audit": audit(pruned, iter(TEXTS)),
        "comparison": compare(tok, pruned, merges.applied),
        "id map": id_map(tok, pruned),
        "applied": merges.applied,
        "sources": prunedbpe.count_by_source(Corpus.from_texts(TEXTS)),
        "corpus": Corpus.from_texts(TEXTS),
        "learner": prunedbpe.Learner(counts),
    }


NAMES = [
    *("tokenizer", "vocabulary", "merges", "no merges", "counts", "no counts", "sweep"),
    *("evaluation", "audit", "comparison"),
]


def test_every_repr_is_one_line(results):
    for name, result in results.items():
        assert len(repr(result)) < 150 and "\n" not in repr(result), name
        assert "0x" not in repr(result), name


def test_reprs(results):
    assert repr(results["merges"]).startswith("MergeTable(merges=30, corpus_bytes=")
    assert repr(results["sweep"]) == "SweepResult(cells=12, sizes=2, thresholds=3, corpora=2)"
    assert repr(results["evaluation"]) == "EvaluationResult(rows=2, tokenizers=2, corpora=1)"
    assert repr(results["vocabulary"]).startswith("Vocabulary(vocab_size=268, merges=")


def test_the_repr_of_a_part_names_it(tmp_path):
    tmp_path.joinpath("a.txt").write_text("one\ntwo\n")
    corpus = Corpus(tmp_path, shard=Shard(0, 2))
    assert "shard=Shard(index=0, count=2)" in repr(corpus)
    assert "shard=Shard(index=0, count=2)" in repr(prunedbpe.count(corpus))


class _Checker(HTMLParser):
    """Collects tags and text; every tag must be closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.attributes, self.text = [], set(), set(), ""

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def parsed(html: str) -> _Checker:
    checker = _Checker()
    checker.feed(html)
    checker.close()
    assert checker.open == []
    return checker


@pytest.mark.parametrize("name", NAMES)
def test_html_is_whole_and_holds_nothing_of_the_tokens(results, name):
    html = results[name]._repr_html_()
    found = parsed(html)
    allowed = {"div", "b", "span", "table", "caption", "thead", "tbody", "tr", "th", "td", "code"}
    assert found.tags <= allowed
    assert found.attributes <= {"style", "scope"}
    assert "\u202e" not in html, "a change of direction would reorder what follows"
    colours = set(re.findall(r"(?:background|[; \"]color): ([^;\"]+)", html))
    assert colours <= {"transparent", "inherit"}


def test_hostile_names_are_shown_as_text(results):
    for name in ("tokenizer", "vocabulary", "sweep", "evaluation"):
        assert HOSTILE in parsed(results[name]._repr_html_()).text


def test_cells():
    html = view("<i>", {"a<b": 1234567, "none": None}, view_table("", ["x"], [[b"\xe4"], [True]]))
    found = parsed(html)
    assert found.text.startswith("<i>a<b 1,234,567")
    assert "b'\\xe4'" in found.text and "yes" in found.text and "none" not in found.text


def test_columns_without_a_value_are_left_out():
    html = view_table("", ["corpus", "source"], [["a", None], ["b", None]])
    assert parsed(html).text == "corpusab"
    assert parsed(view_table("", ["corpus"], [])).text == "corpus"


@pytest.mark.parametrize("name", [name for name in NAMES if name != "tokenizer"])
def test_arrow(results, name):
    result = results[name]
    table = result.to_arrow()
    assert pa.RecordBatchReader.from_stream(result).read_all().equals(table)
    assert not any(pa.types.is_null(kind) for kind in table.schema.types)


def test_arrow_tables_hold_the_results(results, merges):
    tok = results["tokenizer"]
    rows = tok.vocabulary.to_arrow().to_pylist()
    assert [row["token_id"] for row in rows] == list(range(len(rows)))
    assert [row["bytes"] for row in rows] == tok.vocabulary.bytes_by_id
    for row in rows:
        assert row["rank"] == tok.rank(row["token_id"])
        assert row["visible"] == tok.is_visible(row["token_id"])
        assert row["special"] == (row["token_id"] in tok.special_tokens.values())
        if row["left"] is not None:
            spelled = [tok.vocabulary.strings[row[side]] for side in ("left", "right")]
            assert b"".join(spelled) == row["bytes"]
    table = merges.to_arrow()
    assert table["applied"].to_pylist() == merges.applied.replacements.tolist()
    assert table["bytes"].to_pylist() == merges.token_bytes[256:]
    assert results["sweep"].to_arrow().to_pylist() == [c.as_row() for c in results["sweep"]]
    [first, second] = results["evaluation"].to_arrow().to_pylist()
    row = results["evaluation"][1]
    assert (first["reduction"], second["tokens"]) == (0.0, row.tokens)
    assert (second["reduction_low"], second["reduction_high"]) == row.reduction_interval
    assert second["seen_under_10"] == row.spread.seen_under[10]
    assert set(second) == set(row.as_row())
    uses = results["audit"].to_arrow()
    assert sum(uses["uses"].to_pylist()) == results["audit"].tokens
    changes = results["comparison"].to_arrow()["change"].to_pylist()
    assert changes.count("hidden") == len(results["comparison"].hidden) > 0


def test_an_imported_vocabulary(results, tmp_path):
    tok = prunedbpe.prune(results["merges"], 270, threshold=0)
    write_huggingface(tok, tmp_path / "tokenizer.json")
    imported = prunedbpe.import_tokenizer(tmp_path)
    assert repr(imported.vocabulary).startswith("ForeignVocabulary(vocab_size=270, ")
    parsed(imported._repr_html_())
    rows = imported.vocabulary.to_arrow().to_pylist()
    assert {row["bytes"]: row["token_id"] for row in rows if not row["special"]} == {
        string: i for i, string in enumerate(tok.vocab_bytes()[:266])
    }


def test_no_rows():
    for empty in (SweepResult(), EvaluationResult()):
        assert empty.to_arrow().num_rows == 0
        parsed(empty._repr_html_())
