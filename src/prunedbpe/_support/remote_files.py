"""Files at URLs, through fsspec: ``s3://``, ``gs://``, ``hf://``, ``http://``, ``memory://``.

The extra ``remote`` installs fsspec. Most file systems need a package of their own, such as s3fs or
gcsfs, which users choose and configure themselves. Whatever a file system raises becomes an
:class:`OSError` with a number, a reason and the URL, as for a local file.
"""

from __future__ import annotations

import errno
import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from prunedbpe.errors import MissingExtraError, PrunedBPEError, SettingsError

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_GLOB = re.compile(r"[*?[]")
_WEB_GLOB = re.compile(r"[*[]")  # a question mark begins a query


def is_url(text: str) -> bool:
    """Whether an input is a URL, and not the path of a local file.

    >>> is_url("s3://bucket/a.txt"), is_url("file:///a.txt"), is_url("a.txt"), is_url("C://a.txt")
    (True, True, False, False)
    """
    return _URL.match(text) is not None


def is_glob(text: str) -> bool:
    """Whether a path or URL contains ``*``, ``?`` or ``[``.

    >>> is_glob("texts/*.txt"), is_glob("http://host/*.txt"), is_glob("http://host/a.txt?raw=1")
    (True, True, False)
    """
    return (_WEB_GLOB if _is_web(text) else _GLOB).search(text) is not None


def name_of(url: str) -> str:
    """The part of a URL that names the file: without the query of a web address.

    >>> name_of("https://host/a.jsonl.gz?download=1"), name_of("s3://bucket/what?.txt")
    ('https://host/a.jsonl.gz', 's3://bucket/what?.txt')
    """
    return re.split("[?#]", url, maxsplit=1)[0] if _is_web(url) else url


@dataclass(frozen=True)
class RemoteFile:
    """A file at a URL and its size in bytes."""

    url: str
    size: int


def open_url(url: str, *, read_ahead: bool = True) -> BinaryIO:
    """Open a file for reading, with ``seek``.

    Args:
        url: The file.
        read_ahead: Whether to fetch large blocks in advance; best when all of it is read.

    Raises:
        MissingExtraError: fsspec is not installed.
        OSError: The file is missing or cannot be opened.
        SettingsError: The protocol is unknown, or its package is not installed.
    """
    files, path = _file_system(url)
    with _naming(url):
        options = {} if read_ahead else {"cache_type": "none"}
        return cast("BinaryIO", _Reader(url, files, files.open(path, "rb", **options)))


@contextmanager
def create_url(url: str) -> Iterator[BinaryIO]:
    """Open a file for writing, in a folder that need not exist; others see it when it is complete.

    Raises the errors of :func:`open_url`.
    """
    files, path = _file_system(url)
    with _naming(url):
        parent = files._parent(path)
        if parent:
            files.makedirs(parent, exist_ok=True)
        file = files.open(path, "wb", autocommit=False)
    try:
        with file:
            yield cast("BinaryIO", file)
    except BaseException:
        file.discard()
        raise
    with _naming(url):
        file.commit()


def exists(url: str) -> bool:
    """Whether there is a file or folder. Raises the errors of :func:`open_url`."""
    return _info(url) is not None


def file_size(url: str) -> int:
    """Bytes of a file. Raises the errors of :func:`open_url`."""
    files, path = _file_system(url)
    with _naming(url):
        return _size(files, files.info(path))


def version_of(url: str) -> str:
    """Return a text that changes with the file, as far as the file system tells."""
    files, path = _file_system(url)
    with _naming(url):
        return str(files.ukey(path))


def remove(url: str) -> None:
    """Remove a file. Raises the errors of :func:`open_url`."""
    files, path = _file_system(url)
    with _naming(url):
        files.rm_file(path)


def remove_folder(url: str) -> None:
    """Remove a folder and all that is in it. Raises the errors of :func:`open_url`."""
    files, path = _file_system(url)
    with _naming(url):
        files.rm(path, recursive=True)


def list_files(url: str) -> list[RemoteFile]:
    """Find the files that a URL stands for: itself, all below a folder, or those a glob matches.

    Hidden files are left out, except a file that is named itself. The files of a folder or glob are
    sorted by the bytes of their URL.

    Raises:
        FileNotFoundError: There is no such file or folder, or no file matches.
        MissingExtraError: fsspec is not installed.
        OSError: The file system cannot be read.
        SettingsError: The protocol is unknown, or its package is not installed.
    """
    files, path = _file_system(url)
    # Web servers have no folders. An address that ends with a slash means the links of its page.
    info = None if _is_web(url) and url.endswith("/") else _info(url)
    with _naming(url):
        if info is not None and info["type"] != "directory":
            return [RemoteFile(url, _size(files, info))]
        inside, *archive = url.split("::")  # zip://*.txt::s3://bucket/a.zip
        if info is not None or inside.endswith("/"):
            root = inside.rstrip("/") + "/"
            found = files.find(path, detail=True)
        elif is_glob(inside):
            root = inside[: _GLOB.search(inside).start()]  # type: ignore[union-attr]
            root = root[: root.rindex("/") + 1]
            found = files.glob(path, detail=True)
        else:
            raise FileNotFoundError(url)
        base = files._strip_protocol(root).rstrip("/") + "/"
        listed = {
            "::".join([_url_of(files, name, root, base), *archive]): details
            for name, details in found.items()
            if details["type"] == "file" and not _is_hidden(name, base)
        }
        if not listed and info is None and is_glob(url):
            raise FileNotFoundError(errno.ENOENT, "no file matches", url)
        return [
            RemoteFile(name, _size(files, listed[name])) for name in sorted(listed, key=os.fsencode)
        ]


def _is_web(url: str) -> bool:
    return url.startswith(("http://", "https://"))


def _is_hidden(name: str, base: str) -> bool:
    inside = name.removeprefix(base)
    return any(part.startswith(".") for part in inside.split("/"))


def _url_of(files: Any, name: str, root: str, base: str) -> str:
    """The URL of a file in a listing, spelled like the URL that was given."""
    if not name.startswith(base):
        return str(files.unstrip_protocol(name))
    return root + name[len(base) :]


def _size(files: Any, info: Any) -> int:
    size = info.get("size")
    if size is None:  # listings of web servers have none
        size = files.info(info["name"]).get("size")
    if size is None:
        raise OSError(errno.EIO, "the server does not tell its size", info["name"])
    return int(size)


def _info(url: str) -> Any:
    """What the file system knows about a file or folder; ``None`` if there is none."""
    files, path = _file_system(url)
    files.invalidate_cache()  # others may have written since the last listing
    try:
        with _naming(url):
            return files.info(path)
    except FileNotFoundError:
        return None


def _file_system(url: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError as error:
        raise MissingExtraError("fsspec", "remote", f"reading or writing {url}") from error
    try:
        with _naming(url):
            return cast("tuple[Any, str]", fsspec.core.url_to_fs(url))
    except OSError as error:
        if isinstance(error.__cause__, ImportError):
            raise SettingsError(
                f"{url}: {error.__cause__}",
                hint="install the package that fsspec needs for this file system",
            ) from error
        if isinstance(error.__cause__, ValueError):
            raise SettingsError(
                f"{url}: {error.__cause__}",
                hint="give a local path, or a URL that fsspec knows, such as s3://bucket/texts/",
            ) from error
        raise


@contextmanager
def _naming(url: str) -> Iterator[None]:
    """Turn what a file system raises into an :class:`OSError` that names the URL."""
    try:
        yield
    except PrunedBPEError:
        raise
    except FileNotFoundError as error:
        reason = error.strerror or "no such file or folder"
        if error.__cause__ is not None:  # a server that cannot be reached
            reason += f" ({error.__cause__})"
        raise FileNotFoundError(errno.ENOENT, reason, url) from error
    except OSError as error:
        raise OSError(error.errno or errno.EIO, error.strerror or str(error), url) from error
    except Exception as error:  # each package has its own
        raise OSError(errno.EIO, f"{type(error).__name__}: {error}", url) from error


class _Reader(io.RawIOBase):
    """A file of fsspec as one of Python's, with its errors."""

    def __init__(self, url: str, files: Any, file: Any) -> None:
        self._url = url
        self._files = files  # that of an archive closes its files when nobody holds it
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        end = 0
        with _naming(self._url):
            while end < len(room) and (data := self._file.read(len(room) - end)):
                room[end : end + len(data)] = data
                end += len(data)
        return end

    def seek(self, position: int, whence: int = os.SEEK_SET) -> int:
        with _naming(self._url):
            return int(self._file.seek(position, whence))

    def tell(self) -> int:
        with _naming(self._url):
            return int(self._file.tell())

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()
