"""Keeps what site owners ask this node's operator to remove, who have neither a node nor a file on their site.

Anybody may ask, and nothing is proved: the operator decides. The newest requests are kept, in a small file of the data
directory.
"""

import asyncio
from pathlib import Path

import msgspec

from dht import counted, refused, write_atomically
from node.config.kept_file import read_kept

MAX_ASKED = 100
MAX_PREFIX, MAX_WHY, MAX_CONTACT = 500, 600, 100  # characters
MAX_BYTES = 1 << 20  # of the file: all requests with the longest texts fit, each character as four bytes


class AskedRemoval(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One request: a host, or how the addresses of the pages begin; the reason; how to reach who asks, "" not told; and
    when that was (Unix seconds)."""

    prefix: str
    why: str
    contact: str
    at: float


_decoder = msgspec.json.Decoder(tuple[AskedRemoval, ...])


class AskedRemovals:
    """Holds the requests that wait for the operator, the newest first. Blocks while it is made, on one small file."""

    def __init__(self, path: Path | None) -> None:
        """Raise BadDataDir where the file cannot be read. `path` None: requests last until the node stops."""
        self._path, self._writing = path, asyncio.Lock()
        remedy = "mend it, or delete it and what site owners asked"
        self.waiting = read_kept(path, _decoder.decode, MAX_BYTES, remedy) or ()

    @property
    def need(self) -> str:
        """Say what the operator is asked, "" where nobody asks."""
        count = counted(len(self.waiting), "request")
        return f"{count} to remove pages: decide on the owner's page, `dse-node open`" if self.waiting else ""

    async def add(self, asked: AskedRemoval) -> None:
        """Keep a request instead of an earlier one for the same pages; the oldest one makes room. It is on the disk
        afterwards; raises MachineRefuses."""
        async with self._writing:
            await self._write((asked, *self._without(asked.prefix))[:MAX_ASKED])

    async def dismiss(self, prefix: str) -> None:
        """Forget the request for these pages; raises MachineRefuses."""
        async with self._writing:
            await self._write(self._without(prefix))

    def _without(self, prefix: str) -> tuple[AskedRemoval, ...]:
        return tuple(each for each in self.waiting if each.prefix != prefix)

    async def _write(self, waiting: tuple[AskedRemoval, ...]) -> None:
        try:
            if self._path is not None:
                await asyncio.to_thread(write_atomically, self._path, msgspec.json.encode(waiting))
        except OSError as error:
            raise refused(self._path, error) from None
        self.waiting = waiting
