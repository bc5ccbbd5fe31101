"""Make a multilingual corpus, one text file per language, from Debian packages.

    apt-get update
    python3 benchmarks/make_multilingual.py multi --cache packages --halves

Goes in: the help pages of LibreOffice and the translated messages of LibreOffice and Firefox, as
Debian packages them. Missing packages are fetched into the cache with ``apt-get download``, and
``dpkg-deb`` reads them; nothing is installed. Comes out: ``multi/LANGUAGE.txt``, one paragraph per
line, NFC, without duplicate lines, about 2 MB each. Lines that are also English are left out of
every other language, because many translations are incomplete. With ``--halves``, the even lines
of each language are written to ``multi-even`` and the odd ones to ``multi-odd``. It takes a minute
and 140 MB of downloads. The same packages give the same bytes.
"""

from __future__ import annotations

import argparse
import html
import io
import re
import struct
import subprocess
import sys
import tarfile
import unicodedata
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

ENGLISH = "en-us"
WITH_HELP = (
    *("ca", "cs", "da", "de", "dz", "el", "es", "et", "eu", "fi", "fr", "gl", "hi", "hu", "id"),
    *("it", "ja", "km", "ko", "nl", "om", "pl", "pt-br", "ru", "sk", "sl", "sv", "tr", "vi"),
    *("zh-cn", "zh-tw"),
)
MESSAGES_ONLY = (
    *("am", "ar", "bg", "bn", "fa", "gu", "he", "ka", "kk", "kn", "lt", "ml", "mr", "ne", "or"),
    *("pa-in", "ro", "si", "ta", "te", "th", "ug", "uk"),
)
BROWSER_ONLY = {"hy": "hy-am", "my": "my", "ur": "ur"}
"""Languages without LibreOffice packages, and what Firefox's packages call them."""

PARAGRAPH = re.compile(r"<(p|h[1-6]|pre)\b[^>]*>(.*?)</\1>", re.DOTALL)
TAG = re.compile(r"<[^>]*>")
PROPERTY = re.compile(r"^\s*\.?[\w.-]+\s*=\s*(\S.*)$", re.MULTILINE)
"""A message of a ``.properties`` or ``.ftl`` file, on one line."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path, help="folder for LANGUAGE.txt")
    parser.add_argument("--cache", type=Path, default=Path("packages"), help="folder for packages")
    parser.add_argument("--megabytes", type=float, default=2.0, help="most text per language")
    parser.add_argument("--halves", action="store_true", help="also write OUT-even and OUT-odd")
    arguments = parser.parse_args()

    languages = packages_by_language()
    download({name for names in languages.values() for name in names}, arguments.cache)
    english = dict.fromkeys(lines_of(languages.pop(ENGLISH), arguments.cache))
    write(arguments, ENGLISH, list(english))
    for language, packages in languages.items():
        lines = dict.fromkeys(lines_of(packages, arguments.cache))
        write(arguments, language, [line for line in lines if line not in english])


def packages_by_language() -> dict[str, list[str]]:
    """The packages of each language; English holds the originals of all of them."""
    found = {
        ENGLISH: ["libreoffice-help-en-us", "libreoffice-l10n-en-gb", "firefox-esr-l10n-en-gb"]
    }
    for language in WITH_HELP:
        found[language] = [f"libreoffice-help-{language}", f"libreoffice-l10n-{language}"]
    for language in MESSAGES_ONLY:
        found[language] = [f"libreoffice-l10n-{language}"]
    for language, package in BROWSER_ONLY.items():
        found[language] = [f"firefox-esr-l10n-{package}"]
    return found


def download(packages: set[str], cache: Path) -> None:
    """Fetch the packages that the cache does not hold."""
    cache.mkdir(parents=True, exist_ok=True)
    missing = [name for name in sorted(packages) if not any(cache.glob(f"{name}_*.deb"))]
    if missing and subprocess.run(["apt-get", "-q", "download", *missing], cwd=cache).returncode:
        sys.exit("apt-get cannot download the packages; run 'apt-get update' and try again")


def lines_of(packages: Iterable[str], cache: Path) -> Iterator[str]:
    """All paragraphs of the packages, normalised, in the order of the file names."""
    for package in packages:
        for name, data in sorted(files_of(max(cache.glob(f"{package}_*.deb")))):
            for paragraph in paragraphs(name, data, english="-en-" in package):
                line = unicodedata.normalize("NFC", " ".join(paragraph.split()))
                if any(map(str.isalpha, line)):
                    yield line


def files_of(package: Path) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the files of a package that hold text."""
    command = ["dpkg-deb", "--fsys-tarfile", str(package)]
    archive = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        for member in files:
            if member.name.endswith((".html", ".mo", ".xpi")) and member.isfile():
                content = files.extractfile(member)
                assert content is not None, "a regular file has content"
                yield member.name, content.read()


def paragraphs(name: str, data: bytes, *, english: bool) -> Iterator[str]:
    """The paragraphs of a help page, or the messages of a catalogue or a language pack."""
    if name.endswith(".html"):
        page = data.decode().partition('id="DisplayArea"')[2]
        for found in PARAGRAPH.finditer(page):
            yield html.unescape(TAG.sub("", found[2]))
    elif name.endswith(".mo"):
        for original, translated in messages(data):
            # The letter of a keyboard shortcut is marked by "~" or "_".
            yield from re.sub("[~_]", "", original if english else translated).split("\0")
    else:
        with zipfile.ZipFile(io.BytesIO(data)) as pack:
            for member in sorted(pack.namelist()):
                if member.endswith((".ftl", ".properties")):
                    yield from PROPERTY.findall(pack.read(member).decode())


def messages(data: bytes) -> Iterator[tuple[str, str]]:
    """Originals and translations in a ``.mo`` file; ``\\0`` separates plural forms.

    The file is two tables of lengths and offsets, of the originals and of the translations.
    """
    count, originals, translations = struct.unpack_from("<3I", data, 8)

    def text(table: int, row: int) -> str:
        length, offset = struct.unpack_from("<2I", data, table + 8 * row)
        return data[offset : offset + length].decode()

    for row in range(1, count):  # the first is the header
        yield text(originals, row).partition("\4")[2], text(translations, row)


def write(arguments: argparse.Namespace, language: str, lines: list[str]) -> None:
    """Write a language; of a longer text, lines at equal distances, so that all of it is heard."""
    size = sum(len(line.encode()) + 1 for line in lines)
    share = min(1.0, arguments.megabytes * 1e6 / size)
    kept = [line for row, line in enumerate(lines) if int((row + 1) * share) > int(row * share)]
    parts = {"": kept}
    if arguments.halves:
        parts |= {"-even": kept[::2], "-odd": kept[1::2]}
    for suffix, part in parts.items():
        folder = arguments.out.with_name(arguments.out.name + suffix)
        folder.mkdir(parents=True, exist_ok=True)
        text = "".join(line + "\n" for line in part)
        (folder / f"{language}.txt").write_text(text, encoding="utf-8")
    print(f"{language:6} {size / 1e6:6.2f} MB, kept {len(kept)} of {len(lines)} lines", flush=True)


if __name__ == "__main__":
    main()
