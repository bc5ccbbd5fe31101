"""Several files change together, whatever happens; temporary files belong to live writers only."""

from __future__ import annotations

import itertools
import json
import multiprocessing
import os
import threading
import time
from pathlib import Path

import pytest

from prunedbpe._support.atomic_files import atomic_write, atomic_writes, write_together
from prunedbpe._support.commit import commit, finish_interrupted_commit, read_together
from prunedbpe._support.temporary_files import JOURNAL, open_temporary, remove_leftovers
from prunedbpe.errors import FormatError

OLD = {"a": b"old a", "b": b"old b"}
NEW = {"a": b"new a", "b": b"new b"}


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def interrupted(folder: Path, monkeypatch: pytest.MonkeyPatch, renames: int) -> None:
    """Replace OLD by NEW, and die after some renames."""
    write_together(folder, OLD)
    original, done = Path.replace, []

    def replace(source: Path, target: Path) -> Path:
        if len(done) == renames:
            raise KeyboardInterrupt
        done.append(target)
        return original(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", replace)
        with pytest.raises(KeyboardInterrupt):
            write_together(folder, NEW)


def test_an_error_before_the_first_rename_takes_all_back(tmp_path, monkeypatch):
    interrupted(tmp_path, monkeypatch, 0)
    assert files(tmp_path) == OLD


def test_the_next_reader_finishes(tmp_path, monkeypatch):
    interrupted(tmp_path, monkeypatch, 1)
    assert JOURNAL in files(tmp_path)
    finish_interrupted_commit(tmp_path)
    assert files(tmp_path) == NEW
    finish_interrupted_commit(tmp_path)
    assert files(tmp_path) == NEW


def test_the_next_writer_finishes_even_of_another_file(tmp_path, monkeypatch):
    interrupted(tmp_path, monkeypatch, 1)
    with atomic_write(tmp_path / "b") as file:
        file.write(b"newest b")
    assert files(tmp_path) == {"a": b"new a", "b": b"newest b"}


@pytest.mark.parametrize("content", ["", "{", '{"format": "prunedbpe commit", "version": 1, "ren'])
def test_a_journal_that_is_cut_short_is_no_commit(tmp_path, content):
    write_together(tmp_path, OLD)
    (tmp_path / JOURNAL).write_text(content)
    finish_interrupted_commit(tmp_path)
    assert files(tmp_path) == OLD


@pytest.mark.parametrize(
    "content",
    [
        5,
        {"format": "x"},
        {"format": "prunedbpe commit", "version": 2, "renames": {}, "removals": []},
        {"format": "prunedbpe commit", "version": 1, "renames": {"x": "../a"}, "removals": []},
        {"format": "prunedbpe commit", "version": 1, "renames": {}, "removals": ["/etc/passwd"]},
        {"format": "prunedbpe commit", "version": 1, "renames": {}, "removals": [5]},
    ],
)
def test_a_journal_of_something_else_is_refused(tmp_path, content):
    (tmp_path / JOURNAL).write_text(json.dumps(content))
    with pytest.raises(FormatError, match=r"\.prunedbpe\.commit"):
        finish_interrupted_commit(tmp_path)


def test_a_folder_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    interrupted(tmp_path, monkeypatch, 1)

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(FormatError, match=r"\.prunedbpe\.commit.*Permission denied") as caught:
        finish_interrupted_commit(tmp_path)
    assert "permission to write" in str(caught.value.hint)


def test_where_nothing_can_be_written_a_journal_cut_short_is_ignored(tmp_path, monkeypatch):
    write_together(tmp_path, OLD)
    (tmp_path / JOURNAL).write_text("{")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "unlink", refuse)
    finish_interrupted_commit(tmp_path)
    assert files(tmp_path) == {**OLD, JOURNAL: b"{"}


def test_a_missing_folder_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        commit(tmp_path / "none", {"x": "y"})


def test_removals_belong_to_the_set(tmp_path):
    write_together(tmp_path, OLD)
    with atomic_writes(tmp_path / "a", removing=[tmp_path / "b", tmp_path / "c"]) as (file,):
        file.write(b"alone")
    assert files(tmp_path) == {"a": b"alone"}


def test_a_folder_in_the_way_is_found_first(tmp_path):
    (tmp_path / "b").mkdir()
    with pytest.raises(IsADirectoryError, match="b"):
        write_together(tmp_path, NEW)
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


def test_temporary_files_of_dead_writers_are_removed(tmp_path):
    target = tmp_path / "a"
    for number in range(3):
        (tmp_path / f".a.{number}.tmp").write_bytes(b"left")
    (tmp_path / ".other.0.tmp").write_bytes(b"left")
    with atomic_write(target) as file:
        file.write(b"new")
    assert files(tmp_path) == {".other.0.tmp": b"left", "a": b"new"}


def _write_and_die(target: Path) -> None:
    open_temporary(target).write(b"half")
    os._exit(1)


def test_a_process_that_dies_leaves_one_that_is_removed(tmp_path):
    target = tmp_path / "a"
    process = multiprocessing.get_context("fork").Process(target=_write_and_die, args=(target,))
    process.start()
    process.join()
    assert files(tmp_path) == {".a.0.tmp": b"half"}
    remove_leftovers(target)
    assert not files(tmp_path)


def test_temporary_files_of_live_writers_stay(tmp_path):
    target = tmp_path / "a"
    with atomic_write(target) as first:
        first.write(b"first")
        with atomic_write(target) as second:
            second.write(b"second")
        assert target.read_bytes() == b"second"
    assert files(tmp_path) == {"a": b"first"}


def test_temporary_files_of_a_commit_are_not_leftovers(tmp_path, monkeypatch):
    interrupted(tmp_path, monkeypatch, 1)
    remove_leftovers(tmp_path / "b")
    finish_interrupted_commit(tmp_path)
    assert files(tmp_path) == NEW


def test_writers_and_readers_at_once(tmp_path):
    """Eight threads replace the set; readers that finish commits never break one."""
    failures = []

    def work(number: int) -> None:
        try:
            for _ in range(30):
                write_together(tmp_path, dict.fromkeys("abc", b"%d" % number))
                finish_interrupted_commit(tmp_path)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(set(files(tmp_path).values())) == 1 and len(files(tmp_path)) == 3


def test_commit_needs_nothing_to_remove(tmp_path):
    (tmp_path / "x").write_bytes(b"1")
    commit(tmp_path, {"x": "y"})
    assert files(tmp_path) == {"y": b"1"}


def test_reading_while_another_thread_replaces(tmp_path):
    """A reader sees one set, never files of two."""
    names = ["a", "b", "c"]

    def write(value: int) -> None:
        write_together(tmp_path, {name: str(value).encode() for name in names})

    def read() -> list[bytes]:
        found = []
        for name in names:
            found.append((tmp_path / name).read_bytes())
            time.sleep(0.001)  # long enough for a commit in between
        return found

    write(0)
    is_over = threading.Event()

    def keep_writing() -> None:
        for value in itertools.count(1):
            if is_over.is_set():
                return
            write(value)
            time.sleep(0.01)  # and for a reader to be done in between

    writer = threading.Thread(target=keep_writing)
    writer.start()
    try:
        for _ in range(100):
            assert len(set(read_together(tmp_path, names, read))) == 1
    finally:
        is_over.set()
        writer.join()


def test_an_error_of_reading_is_raised(tmp_path):
    def fail() -> None:
        raise FormatError("wrong")

    with pytest.raises(FormatError, match="wrong"):
        read_together(tmp_path, ["a"], fail)
