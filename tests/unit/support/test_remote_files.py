"""Files at URLs: listings, sizes, and errors that name the URL."""

from __future__ import annotations

import sys
import uuid

import pytest

from prunedbpe._support.remote_files import (
    RemoteFile,
    create_url,
    exists,
    file_size,
    is_url,
    list_files,
    open_url,
    remove,
    version_of,
)
from prunedbpe.errors import MissingExtraError, SettingsError

fsspec = pytest.importorskip("fsspec")


@pytest.fixture
def folder():
    root = f"memory://{uuid.uuid4().hex}"
    for name in ("b.txt", "a/é.txt", "a/z.txt", "a-b.txt", "a/.hidden.txt", ".git/c.txt"):
        with create_url(f"{root}/{name}") as file:
            file.write(name.encode())
    yield root
    fsspec.filesystem("memory").rm(root, recursive=True)


@pytest.mark.parametrize("text", ["a.txt", "/a//b", "C://a", "://a", "a text: s3://x", "-", ""])
def test_paths_are_not_urls(text):
    assert not is_url(text)


def test_write_read_remove(folder):
    url = f"{folder}/new/deep/x.bin"
    assert not exists(url)
    with create_url(url) as file:
        file.write(b"0123456789")
    assert exists(url) and exists(f"{folder}/new") and file_size(url) == 10
    before = version_of(url)
    with open_url(url) as file:
        assert file.read(3) == b"012"
        assert (file.seek(8), file.tell(), file.read(), file.read()) == (8, 8, b"89", b"")
    with create_url(url) as file:
        file.write(b"other")
    assert version_of(url) != before
    remove(url)
    assert not exists(url)
    with pytest.raises(FileNotFoundError, match=url):
        open_url(url)


def test_listings(folder):
    names = ["a-b.txt", "a/z.txt", "a/é.txt", "b.txt"]
    expected = [RemoteFile(f"{folder}/{name}", len(name.encode())) for name in names]
    assert list_files(folder) == list_files(f"{folder}/") == expected
    assert list_files(f"{folder}/**/*.txt") == expected
    assert list_files(f"{folder}/*.txt") == [expected[0], expected[3]]
    assert list_files(f"{folder}/a/?.txt") == expected[1:3]
    assert list_files(f"{folder}/a/.hidden.txt")[0].size == 13
    for missing in ("none", "none/*.txt", "a/x*.txt"):
        with pytest.raises(FileNotFoundError, match=missing.replace("*", r"\*")):
            list_files(f"{folder}/{missing}")


def test_a_name_with_glob_characters(folder):
    with create_url(f"{folder}/a[1]*.txt") as file:
        file.write(b"literal")
    assert [file.url for file in list_files(f"{folder}/a[1]*.txt")] == [f"{folder}/a[1]*.txt"]


def test_files_of_an_archive(folder, tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("in/b.txt", "b")
        archive.writestr("in/a.txt", "a")
    chain = f"::file://{tmp_path}/a.zip"
    expected = [f"zip://in/a.txt{chain}", f"zip://in/b.txt{chain}"]
    assert [file.url for file in list_files(f"zip://in/*.txt{chain}")] == expected
    with open_url(expected[1]) as file:
        assert file.read() == b"b"


def test_errors_name_the_url(monkeypatch):
    with pytest.raises(SettingsError, match="nonsense://bucket/a"):
        open_url("nonsense://bucket/a")
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(SettingsError, match=r"s3://bucket/a: .*s3fs"):
        exists("s3://bucket/a")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(MissingExtraError, match=r"prunedbpe\[remote\]"):
        exists("memory://a")


def test_errors_of_a_file_system_are_os_errors(folder, monkeypatch):
    class ServerError(Exception):
        pass

    def fail(*_args, **_kwargs):
        raise ServerError("try later")

    with open_url(f"{folder}/b.txt") as file:
        monkeypatch.setattr(file._file, "read", fail, raising=False)
        with pytest.raises(OSError, match="ServerError: try later") as raised:
            file.read(1)
    assert raised.value.filename == f"{folder}/b.txt" and raised.value.errno
    monkeypatch.setattr(fsspec.filesystem("memory"), "info", fail)
    with pytest.raises(OSError, match="try later"):
        exists(f"{folder}/b.txt")
