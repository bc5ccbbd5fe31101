"""The audit counts what encoding emits; reallocated slots are worth what it says."""

from __future__ import annotations

from collections import Counter
from itertools import chain

import pytest
from cli_helpers import make_text

import prunedbpe
from prunedbpe import reference
from prunedbpe.analysis.auditing import audit, reallocate_slots
from prunedbpe.exchange.recovered_merges import imported_tokenizer, merges_of_ranks
from prunedbpe.pretokenizers import Pretokenizer
from prunedbpe.pretokenizers.foreign_cut import ForeignCut

HOME = make_text(seed=1, lines=80).splitlines()
AWAY = [f"{line} und mehr" for line in make_text(seed=2, lines=80).splitlines()]


@pytest.fixture(scope="module", params=["0", "40%", "imported"])
def tok(request):
    if request.param != "imported":
        return prunedbpe.train(iter(HOME), vocab_size=330, threshold=request.param)
    standard = prunedbpe.train(iter(HOME), vocab_size=330, threshold=0, pretokenizer="gpt2")
    ranks = {string: 400 - i for i, string in enumerate(standard.vocabulary.strings)}
    priority = {string: i for i, string in enumerate(standard.vocabulary.strings)}
    priority[b" zzz"] = len(priority)
    priority[b" und"] = len(priority)
    ranks |= {b" zzz": 410, b" und": 411}
    return imported_tokenizer(
        merges_of_ranks(priority),
        ranks,
        {"<end>": 0},
        ForeignCut(Pretokenizer("gpt2")),
        whole_chunks=True,
        origin={},
    )


@pytest.mark.parametrize("segmentation", [None, "shortest"])
@pytest.mark.parametrize("texts", [HOME, AWAY], ids=["home", "away"])
def test_uses_are_what_encoding_emits(tok, texts, segmentation):
    found = audit(tok, iter(texts), segmentation=segmentation, hardly=6)
    emitted = Counter(chain.from_iterable(tok.encode_batch(texts, segmentation=segmentation)))
    fewest = tok.encode_batch(texts, segmentation="shortest")
    assert found.segmentation == (segmentation or tok.segmentation)
    assert found.shortest == sum(map(len, fewest)) <= found.tokens
    assert found.text_bytes == sum(len(text.encode()) for text in texts)
    assert {use.token_id: use.uses for use in found.uses if use.uses} == dict(emitted)
    assert found.tokens == sum(emitted.values())
    assert all(tok.token_bytes(use.token_id) == use.spelled for use in found.uses)
    assert {use.token_id for use in found.never} == {
        use.token_id for use in found.learned if use.token_id not in emitted
    }
    assert all(0 < use.uses < 6 for use in found.hardly_seen)
    assert found.freed[0].slots == len(found.never)
    assert found.freed[0].tokens == found.tokens  # what nobody uses costs nothing


def test_slots_freed_with_the_fewest_tokens(tok):
    found = audit(tok, iter(AWAY), segmentation="shortest", thresholds=[5])
    left = [use.spelled for use in found.uses if len(use.spelled) == 1 or use.uses >= 5]
    chunks = [c.encode() for text in AWAY for c in prunedbpe.pretokenize(text, tok.pretokenizer)]
    [freed] = found.freed
    assert freed.slots == len(found.uses) - len(left) > 0
    assert freed.tokens == sum(len(reference.shortest(chunk, left)) for chunk in chunks)


@pytest.mark.parametrize("segmentation", [None, "shortest"])
@pytest.mark.parametrize("threshold", ["auto", 2])
def test_reallocated_slots_shorten_the_text(tok, threshold, segmentation):
    before = audit(tok, iter(AWAY), segmentation=segmentation)
    new, ids, report = reallocate_slots(
        tok, iter(AWAY), threshold=threshold, segmentation=segmentation
    )
    assert new.segmentation == before.segmentation
    assert report.tokens == sum(map(len, new.encode_batch(AWAY)))
    assert report.tokens < before.tokens
    assert (report.kept, report.new) == (len(ids.kept), len(ids.new))
    assert new.vocab_size <= len(before.uses) + len(tok.special_tokens)
    for new_id, old_id in ids.kept.items():
        assert new.vocab_bytes()[new_id] == tok.vocab_bytes()[old_id]
    for new_id, parts in ids.new.items():
        assert b"".join(tok.token_bytes(part) for part in parts) == new.vocab_bytes()[new_id]


def test_as_settings_and_lines(tok, tmp_path):
    found = audit(tok, iter(AWAY))
    settings = found.as_settings(examples=3)
    assert settings["never"] == len(found.never)
    assert len(settings["examples"]["never"]) <= 3
    found.write_uses(tmp_path / "uses.jsonl")
    assert len((tmp_path / "uses.jsonl").read_text("utf-8").splitlines()) == len(found.uses)


def test_final_share():
    """`th` is built four times, and three of them become `the`."""
    merges = prunedbpe.learn(
        prunedbpe.ChunkCounts.from_mapping({b"the": 3, b"th": 1}, Pretokenizer("paper")), 2
    )
    standard = prunedbpe.prune(merges, 258, threshold=0, special_tokens=())
    found = audit(standard, iter(["the", "the", "the", "th"]))
    shares = {use.spelled: (use.uses, use.built, use.final_share) for use in found.learned}
    assert shares == {b"th": (1, 4, 0.25), b"the": (3, 3, 1.0)}
    assert found.uses[97].final_share is None


def test_the_gain_on_held_out_text(tok):
    held_out = prunedbpe.count(iter(AWAY[::2]), pretokenizer=tok.pretokenizer)
    new, _, report = reallocate_slots(tok, iter(AWAY[1::2]), held_out=held_out)
    assert report.held_out_before == sum(map(len, tok.encode_batch(AWAY[::2])))
    assert report.held_out_tokens == sum(map(len, new.encode_batch(AWAY[::2])))
