"""Texts and streams of the language-model study: nothing lost, nothing counted twice."""

from __future__ import annotations

import numpy as np
import pytest

import prunedbpe
from prunedbpe.errors import PrunedBPEError
from studies.language_model.streams import (
    check_bytes,
    make_stream,
    measuring_rows,
    padded,
    training_rows,
)
from studies.language_model.texts import LONGEST_MEASURED, SHORTEST_DOCUMENT, read_documents


@pytest.fixture(scope="module", params=["rank", "shortest"])
def tokenizer(request, texts):
    corpus = (document.text for document in texts.train)
    return prunedbpe.train(corpus, 400, threshold="40%", segmentation=request.param)


@pytest.fixture(scope="module")
def stream(tokenizer, texts):
    return make_stream(tokenizer, texts.held_out)


def test_texts_are_divided_and_none_is_lost(corpus, texts):
    documents = list(read_documents([corpus]))
    assert {document.part for document in documents} == {"code", "pages"}
    short = [document.part for document in documents if len(document.data) < SHORTEST_DOCUMENT]
    assert len(short) == len(set(short))  # at most the last of each file
    read = sum(document.data.count("中文".encode()) for document in documents)
    files = [path.read_bytes() for path in corpus.glob("*/*")]
    assert read == sum(data.count("中文".encode()) for data in files)
    train = {document.digest for document in texts.train}
    assert len(train) + len(texts.held_out) == len({document.digest for document in documents})
    assert not train & {document.digest for document in texts.held_out}
    assert all(len(document.data) <= LONGEST_MEASURED for document in texts.held_out)


def test_order_depends_on_the_seed_alone(texts):
    first, again, other = texts.in_order(1), texts.in_order(1), texts.in_order(2)
    assert first == again != other
    assert sorted(map(hash, first)) == sorted(map(hash, other))


def test_token_bytes_add_up_to_every_document(stream, texts):
    for i, document in enumerate(texts.held_out):
        begin, end = stream.starts[i], stream.starts[i + 1]
        assert stream.ids[begin] == stream.separator
        assert stream.sizes[begin:end].sum() == len(document.data)
    assert (stream.ids == stream.separator).sum() == len(texts.held_out)


def test_changed_text_is_refused(texts):
    ends = np.cumsum([0, *(len(document.data) for document in texts.held_out)])
    ends[2:] += 1
    with pytest.raises(PrunedBPEError, match="document 1 has"):
        check_bytes(ends, texts.held_out)


@pytest.mark.parametrize("context", ["tokens", "bytes"])
@pytest.mark.parametrize("length", [64, 400, 10**6])
def test_every_token_is_scored_once(stream, context, length):
    scored = np.zeros(len(stream.ids), int)
    for row in measuring_rows(stream, context, length):
        scored[row.scored : row.end] += 1
        within = stream.ids[row.begin : row.end]
        assert (within != stream.separator).all()  # no row leaves its document
        spanned = row.end - row.begin
        if context == "bytes":
            spanned = stream.places[row.end - 1] - stream.places[row.begin]
        assert spanned <= length
    assert (scored == (stream.ids != stream.separator)).all()


@pytest.mark.parametrize("context", ["tokens", "bytes"])
def test_training_rows_cover_the_text(stream, context):
    end = int(stream.starts[-1])
    rows = training_rows(stream, 0, end, context, 40)
    assert [row.begin for row in rows] == [1, *(row.end for row in rows[:-1])]
    assert rows[-1].end == end


def test_padding_and_separators_do_not_count(stream):
    rows = training_rows(stream, 0, int(stream.starts[-1]), "bytes", 40)[:20]
    ids, targets = padded(stream, rows, -100)
    for row, read, predicted in zip(rows, ids, targets, strict=True):
        length = row.end - row.begin
        assert (read[:length] == stream.ids[row.begin - 1 : row.end - 1]).all()
        expected = stream.ids[row.begin : row.end]
        counted = expected != stream.separator
        assert (predicted[:length][counted] == expected[counted]).all()
        assert (predicted[:length][~counted] == -100).all()
        assert (predicted[length:] == -100).all()
