"""Keeps in a small file which traps the crawler has learned, so that a start does not learn them anew."""

import asyncio
import logging
from pathlib import Path

from crawl import TrapLearning
from dht import write_atomically

log = logging.getLogger(__name__)

WRITE_EVERY_S = 600.0
MAX_BYTES = 16 << 20  # 500 sites with the longest patterns


class TrapFile:
    """Reads what was learned when it is made, which blocks. `path`: None keeps it for this run alone.

    A file that cannot be read or written costs what was learned, and a line of log."""

    def __init__(self, path: Path | None, traps: TrapLearning) -> None:
        self._path, self._traps, self._written = path, traps, b""
        if path is None:
            return
        try:
            with path.open("rb") as file:
                self._written = file.read(MAX_BYTES + 1)
            if len(self._written) > MAX_BYTES:
                raise ValueError(f"is longer than {MAX_BYTES} bytes")
            traps.load(self._written)
        except FileNotFoundError:
            pass
        except (OSError, ValueError) as error:
            log.warning("traps of sites are learned anew path=%s: %s", path, error)

    async def run(self) -> None:
        """Write what was learned every ten minutes, until cancelled."""
        while True:
            await asyncio.sleep(WRITE_EVERY_S)
            await asyncio.to_thread(self._write, self._traps.dump())

    def close(self) -> None:
        """Write what was learned."""
        self._write(self._traps.dump())

    def _write(self, data: bytes) -> None:
        if self._path is None or data == self._written:
            return
        try:
            write_atomically(self._path, data)
            self._written = data
        except OSError as error:
            log.warning("traps of sites are not written path=%s: %s", self._path, error)
