"""Reads seeds from a file: one URL a line, or a WARC, of which the addresses of all responses are taken.

It is read piece by piece, so that a file may be larger than the memory, and so may what a compressed one holds.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from dht import InputError
from node.extras import SEED_READERS, added

MAX_LINE_BYTES = 16_384  # a longer line is no URL
GZIP = b"\x1f\x8b"


@dataclass(eq=False)
class BadSeedFile(InputError):
    """A file cannot be read as seeds."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}; give a text with one URL a line, or a .warc or .warc.gz"


def read_seeds(path: Path) -> Iterator[str]:
    """Yield the URLs of a file, in order, as they stand there; raises BadSeedFile. Empty lines and those that begin
    with # are skipped."""
    try:
        with path.open("rb") as file:
            start = file.peek(8)[:8]
            ending = next((end for end in SEED_READERS if path.name.lower().endswith(end)), "")
            if ending or start.startswith(b"WARC/"):
                yield from _archived(path, ending or ".warc")
            elif start.startswith(GZIP):
                raise BadSeedFile(str(path), "is compressed, but its name does not end in .warc.gz")
            else:
                for number, line in enumerate(iter(lambda: file.readline(MAX_LINE_BYTES), b""), 1):
                    yield from _line(path, number, line)
    except OSError as error:
        raise BadSeedFile(str(path), (error.strerror or str(error)).lower()) from None


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
