"""Files are whole or absent; errors name them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from prunedbpe._support.atomic_files import atomic_write, atomic_writes, write_json, write_together
from prunedbpe._support.digests import digest_arrays, digest_file
from prunedbpe._support.input_files import read_json
from prunedbpe.errors import FormatError


def test_file_appears_only_when_complete(tmp_path: Path) -> None:
    goal = tmp_path / "a.bin"
    with atomic_write(goal) as file:
        file.write(b"abc")
        assert not goal.exists()
    assert goal.read_bytes() == b"abc"
    assert list(tmp_path.iterdir()) == [goal]


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt])
def test_failure_keeps_the_old_file(tmp_path: Path, failure: type[BaseException]) -> None:
    goal = tmp_path / "a.bin"
    goal.write_bytes(b"old")
    with pytest.raises(failure), atomic_write(goal) as file:
        file.write(b"new")
        raise failure
    assert goal.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [goal]


def test_files_written_together_appear_together_the_last_one_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    appeared = []
    rename = Path.replace

    def note(self: Path, target: Path) -> Path:
        appeared.append(target.name)
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", note)
    contents = {"b": b"1", "a": b"22", "settings": b""}
    write_together(tmp_path / "new" / "folder", contents)
    assert appeared == ["b", "a", "settings"]
    found = {path.name: path.read_bytes() for path in (tmp_path / "new" / "folder").iterdir()}
    assert found == contents


def test_failure_of_one_keeps_all_old_files(tmp_path: Path) -> None:
    goals = [tmp_path / "a", tmp_path / "b"]
    for goal in goals:
        goal.write_bytes(b"old")
    with pytest.raises(RuntimeError), atomic_writes(*goals) as files:
        files[0].write(b"new")
        raise RuntimeError
    assert [goal.read_bytes() for goal in goals] == [b"old", b"old"]
    assert sorted(tmp_path.iterdir()) == goals


def test_missing_folder_is_an_ordinary_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), atomic_write(tmp_path / "none" / "a.bin"):
        pass


def test_permissions_follow_the_umask(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    with atomic_write(tmp_path / "atomic"):
        pass
    assert (tmp_path / "atomic").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_json_round_trip(tmp_path: Path) -> None:
    value = {"text": "中文", "numbers": [1, 2.5, None], "name of a file": "a\udcff"}
    write_json(tmp_path / "a.json", value)
    assert read_json(tmp_path / "a.json") == value


def test_json_errors_name_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    with pytest.raises(FormatError, match=r"a\.json: no such file"):
        read_json(path)
    path.write_text('{\n"a": 1,\n?}')
    with pytest.raises(FormatError, match=r"a\.json, line 3: not JSON"):
        read_json(path)
    path.write_bytes(b'{"\xff"')
    with pytest.raises(FormatError, match="not UTF-8 at byte 2"):
        read_json(path)
    with pytest.raises(ValueError, match="JSON"):
        write_json(path, float("nan"))


def test_digests(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_bytes(b"x" * 3_000_000)
    b.write_bytes(b"x" * 3_000_000)
    assert digest_file(a) == digest_file(b)
    b.write_bytes(b"x" * 3_000_001)
    assert digest_file(a) != digest_file(b)
    one, two = np.arange(6, dtype=np.uint32), np.arange(6, dtype=np.uint32).reshape(3, 2)
    assert digest_arrays(one) != digest_arrays(two)
    assert digest_arrays(two) == digest_arrays(np.asfortranarray(two))
    assert digest_arrays(one[:0]) != digest_arrays(one[:0], one[:0])
