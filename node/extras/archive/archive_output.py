"""Writes the file of any format: counts and hashes its bytes, and keeps out pages that may not be copied.

Pure, but for the stream that it writes to.
"""

from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from typing import IO

import msgspec

from node.captures.capture import Capture


class ExportSummary(msgspec.Struct, frozen=True):
    """Says what a format wrote."""

    captures: int
    content_bytes: int
    forbidden: int  # left out, because their authors forbid copies
    file_bytes: int
    file_digest: bytes  # SHA-256 of the file
    unfit: int = 0  # left out, because the format cannot tell what they are


class ArchiveOutput:
    """A stream that only grows, as zipfile and pyarrow take it, too; whoever opened the stream below closes that."""

    closed = False

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self._digest = sha256()
        self._bytes = self._captures = self._content_bytes = self._forbidden = self._unfit = 0

    def write(self, data: bytes) -> int:
        """Write all of some bytes."""
        self._out.write(data)
        self._digest.update(data)
        self._bytes += len(data)
        return len(data)

    def tell(self) -> int:
        """Return how many bytes were written."""
        return self._bytes

    def flush(self) -> None:
        """Pass on to the stream below what waits in memory."""
        self._out.flush()

    def close(self) -> None:
        """Pass on what waits, as `flush` does."""
        self.flush()

    def allowed(
        self, captures: Iterable[Capture], fits: Callable[[Capture], bool] = lambda capture: True
    ) -> Iterator[Capture]:
        """Yield the captures that may be copied and that the format can tell, and count them and the others."""
        for capture in captures:
            if capture.noarchive:
                self._forbidden += 1
                continue
            if not fits(capture):
                self._unfit += 1
                continue
            self._captures += 1
            self._content_bytes += len(capture.content)
            yield capture

    def summary(self) -> ExportSummary:
        """Say what was written; the file must be complete."""
        digest = self._digest.digest()
        return ExportSummary(self._captures, self._content_bytes, self._forbidden, self._bytes, digest, self._unfit)


def digest_text(digest: bytes) -> str:
    """Return a SHA-256 as archives name it."""
    return f"sha256:{digest.hex()}"
