"""Retargeting: another visible vocabulary out of the same merges, and the map between the ids."""

from __future__ import annotations

import json

import numpy as np
import pytest
from cli_helpers import make_text
from hypothesis import given
from hypothesis import strategies as st
from strategies import documents

import prunedbpe
from prunedbpe import Corpus, id_map, learn, prune, retarget
from prunedbpe.analysis.retargeting import IdMap
from prunedbpe.errors import FormatError, InsufficientCandidatesError, RunMismatchError

TEXTS = make_text(1, 1500).splitlines()
DOMAIN = make_text(2, 600).splitlines()


@pytest.fixture(scope="module")
def merges():
    return learn(prunedbpe.count(Corpus.from_texts([*TEXTS, *DOMAIN])), 900)


@pytest.fixture(scope="module")
def retargeted(merges):
    return retarget(merges, prunedbpe.count(Corpus.from_texts(DOMAIN)), 500)


def spelled(tokenizer, ids):
    return b"".join(tokenizer.token_bytes(token_id) for token_id in ids)


def check_map(base, other):
    found = id_map(base, other)
    assert sorted([*found.kept, *found.new]) == list(range(other.vocab_size))
    assert sorted([*found.kept.values(), *found.dropped]) == list(range(base.vocab_size))
    for token_id, base_id in found.kept.items():
        assert other.token_bytes(token_id) == base.token_bytes(base_id)
    for token_id, base_ids in found.new.items():
        assert len(base_ids) > 1 and max(base_ids) < base.vocab_size
        assert spelled(base, base_ids) == other.token_bytes(token_id)
    return found


def test_the_domain_is_as_long_as_the_algebra_says(merges, retargeted):
    facts = retargeted.training["retargeted"]
    assert facts["domain_length"] == sum(map(retargeted.count_tokens, DOMAIN))
    standard = prune(merges, 500, threshold=0)
    assert facts["domain_standard_length"] == sum(map(standard.count_tokens, DOMAIN))
    assert facts["domain_length"] < facts["domain_standard_length"]
    assert retargeted.training["encoded_length"] == sum(
        map(retargeted.count_tokens, [*TEXTS, *DOMAIN])
    )
    assert retargeted.vocab_size == 500


def test_counts_or_what_the_merges_do_to_them(merges, retargeted):
    applied = prunedbpe.replay(merges, prunedbpe.count(Corpus.from_texts(DOMAIN)))
    assert retarget(merges, applied, 500).vocab_bytes() == retargeted.vocab_bytes()


@pytest.mark.parametrize("threshold", [0, "40%", "auto"])
def test_kept_new_and_dropped_are_all_ids_there_are(merges, retargeted, threshold):
    base = prune(merges, 450, threshold=threshold)
    found = check_map(base, retargeted)
    assert found.new and found.dropped
    check_map(retargeted, base)


@given(documents(), documents(3), st.integers(0, 30), st.integers(0, 30))
def test_the_map_of_any_two_vocabularies(texts, domain, size, other_size):
    merges = learn(prunedbpe.count(Corpus.from_texts(texts)), 60)
    size, other_size = min(size, len(merges)), min(other_size, len(merges))
    base = prune(merges, 260 + size, threshold="auto")
    counts = prunedbpe.count(Corpus.from_texts(domain))
    other = retarget(merges, counts, 260 + other_size)
    check_map(base, other)
    length = other.training["retargeted"]["domain_length"]
    assert length == sum(map(other.count_tokens, domain))
    assert length <= other.training["retargeted"]["domain_standard_length"]


def test_special_tokens_are_kept_by_name(merges):
    base = prune(merges, 400, special_tokens=("<a>", "<b>"))
    other = prune(merges, 400, special_tokens=("<b>", "<c>"))
    found = id_map(base, other)
    assert found.kept[398] == 399
    assert spelled(base, found.new[399]) == b"<c>"
    assert 398 in found.dropped


def test_the_map_as_a_file(merges, retargeted, tmp_path):
    found = id_map(prune(merges, 500, threshold=0), retargeted)
    found.save(tmp_path / "map.json")
    read = json.loads((tmp_path / "map.json").read_text(encoding="utf-8"))
    assert read["kept"] == {str(i): base for i, base in found.kept.items()}
    assert read["new"] == {str(i): base for i, base in found.new.items()}
    assert read["dropped"] == found.dropped


def test_slicing_an_embedding_matrix(merges, retargeted):
    base = prune(merges, 500, threshold=0)
    found = id_map(base, retargeted)
    matrix = np.random.default_rng(0).normal(size=(base.vocab_size, 8))
    sliced = np.empty((retargeted.vocab_size, 8))
    sliced[list(found.kept)] = matrix[list(found.kept.values())]
    for token_id, base_ids in found.new.items():
        sliced[token_id] = matrix[base_ids].mean(axis=0)
    assert np.array_equal(sliced[97], matrix[97])


def test_what_does_not_belong_together_is_refused(merges, retargeted):
    others = learn(prunedbpe.count(Corpus.from_texts(DOMAIN)), 300)
    with pytest.raises(RunMismatchError, match=r"not one merge list: rank \d+ spells"):
        id_map(prune(others, 400, threshold=0), retargeted)
    with pytest.raises(InsufficientCandidatesError, match="900 merges were learned"):
        retarget(merges, merges.applied, 5000)


def test_the_map_is_read_back(merges, retargeted, tmp_path):
    found = id_map(prune(merges, 450, threshold=0), retargeted)
    found.save(tmp_path / "map.json")
    assert IdMap.load(tmp_path / "map.json") == found
    broken = found.as_settings()
    broken["dropped"] = broken["dropped"][1:]
    (tmp_path / "map.json").write_text(json.dumps(broken))
    with pytest.raises(FormatError, match=r"map\.json.*base ids with gaps"):
        IdMap.load(tmp_path / "map.json")


def test_rows_of_a_bfloat16_file(tmp_path):
    """Without PyTorch: 1.0 and 3.0 are kept, 2.0 is their mean; the rest stays as it is."""
    header = {
        "wte.weight": {"dtype": "BF16", "shape": [2, 1], "data_offsets": [0, 4]},
        "other": {"dtype": "U8", "shape": [3], "data_offsets": [4, 7]},
    }
    text = json.dumps(header).encode()
    data = np.array([0x3F80, 0x4040], "<u2").tobytes() + b"abc"
    (tmp_path / "old").mkdir()
    path = tmp_path / "old" / "model.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    (tmp_path / "old" / "config.json").write_text('{"vocab_size": 2, "eos_token_id": 1}')
    ids = IdMap({0: 1, 1: 0}, {2: [0, 1]}, [])
    assert prunedbpe.retarget_checkpoint(path.parent, ids, tmp_path / "new") == ["wte.weight"]
    written = (tmp_path / "new" / "model.safetensors").read_bytes()
    assert written.endswith(np.array([0x4040, 0x3F80, 0x4000], "<u2").tobytes() + b"abc")
    config = json.loads((tmp_path / "new" / "config.json").read_text())
    assert config == {"vocab_size": 3, "eos_token_id": 0}
