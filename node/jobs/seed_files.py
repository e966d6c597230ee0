"""Reads seeds from a file: one URL a line, OPML, bookmarks of a browser, or the addresses of a WARC's responses.

It is read piece by piece, so that a file may be larger than the memory, and so may what a compressed one holds.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import IO

from dht import InputError
from node.extras import SEED_READERS, added

MAX_LINE_BYTES = 16_384  # a longer line is no URL
MAX_LIST_BYTES = 16 << 20  # of bookmarks, which are read at once: 100,000 of them
START_BYTES = 512
_MARKED_UP = re.compile(rb"<!DOCTYPE NETSCAPE-Bookmark|<opml[\s>]", re.I)
_ADDRESS = re.compile(r"""\s(?:href|xmlUrl|htmlUrl)\s*=\s*["']([^"'<>\s]+)["']""", re.I)
GZIP = b"\x1f\x8b"


@dataclass(eq=False)
class BadSeedFile(InputError):
    """A file cannot be read as seeds."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}; give one URL a line, OPML, bookmarks as HTML, or a .warc[.gz]"


def read_seeds(path: Path) -> Iterator[str]:
    """Yield the URLs of a file, in order, as they stand there; raises BadSeedFile. Empty lines and those that begin
    with # are skipped."""
    try:
        with path.open("rb") as file:
            start = file.peek(START_BYTES)[:START_BYTES]
            ending = next((end for end in SEED_READERS if path.name.lower().endswith(end)), "")
            if ending or start.startswith(b"WARC/"):
                yield from _archived(path, ending or ".warc")
            elif start.startswith(GZIP):
                raise BadSeedFile(str(path), "is compressed, but its name does not end in .warc.gz")
            elif _MARKED_UP.search(start):
                yield from _marked_up(path, file.read(MAX_LIST_BYTES + 1))
            else:
                for number, line in enumerate(iter(lambda: file.readline(MAX_LINE_BYTES), b""), 1):
                    yield from _line(path, number, line)
    except OSError as error:
        raise BadSeedFile(str(path), (error.strerror or str(error)).lower()) from None


def _marked_up(path: Path, raw: bytes) -> Iterator[str]:
    """Yield the web addresses of an OPML file or of bookmarks, each once."""
    if len(raw) > MAX_LIST_BYTES:
        raise BadSeedFile(str(path), f"has more than {MAX_LIST_BYTES >> 20} MB, which no list of bookmarks has")
    found = (unescape(address) for address in _ADDRESS.findall(raw.decode(errors="replace")))
    yield from dict.fromkeys(address for address in found if address.startswith(("http://", "https://")))


def _line(path: Path, number: int, line: bytes) -> Iterator[str]:
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
    except UnicodeDecodeError:
        raise BadSeedFile(str(path), f"line {number} is not text in UTF-8") from None
    if len(line) >= MAX_LINE_BYTES:
        raise BadSeedFile(str(path), f"line {number} is longer than {MAX_LINE_BYTES} bytes")
    if text and not text.startswith("#"):
        yield text


def _archived(path: Path, ending: str) -> Iterator[str]:
    addresses: Callable[[IO[bytes]], Iterator[str]] = added(SEED_READERS[ending])
    with path.open("rb") as file:
        try:
            yield from addresses(file)
        except ValueError as error:
            raise BadSeedFile(str(path), f"is no WARC ({error})") from None
