"""This task solves the puzzle of the node's identity when the strategy asks for more work than was done.

The hashing runs on a thread in small steps, so that the node goes on meanwhile; the result is kept in a file.
"""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path

from dht.clock import system_clock
from dht.identity.puzzle import NONCE_BYTES, STEP_TRIES, solve, work_of
from dht.local_faults import FaultSite, LocalFaults, keep_file, write_atomically

log = logging.getLogger(__name__)

KEEP_AGAIN_S = 60.0  # between two tries to write a file that was refused


class PuzzleFile:
    """Keeps the solution in a file; `path` None keeps nothing. Both calls block and belong on a thread."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def load(self) -> int:
        """Return the nonce that was found last, 0 where there is none. Whether it will do, `work_of` says."""
        try:
            nonce = int(self._path.read_text("ascii")) if self._path is not None else 0
        except FileNotFoundError:
            return 0
        except (OSError, ValueError) as error:
            log.warning("solved puzzle ignored path=%s reason=%s", self._path, error)
            return 0
        return nonce if 0 <= nonce < 1 << 8 * NONCE_BYTES else 0

    def save(self, nonce: int) -> None:
        """Replace the file, whole or not at all; raises OSError."""
        if self._path is not None:
            write_atomically(self._path, _line(nonce))

    def keep(self, nonce: int, faults: LocalFaults) -> bool:
        """Replace the file, and tell whether that is done; `faults` learns what the machine refuses."""
        return keep_file(self._path, _line(nonce), FaultSite.PUZZLE, faults)


def _line(nonce: int) -> bytes:
    return f"{nonce}\n".encode()


class PuzzleSolver:
    """Solves the puzzle of one public key; `solved` gets each nonce that is found, and at once the one on file."""

    def __init__(
        self,
        public_key: bytes,
        file: PuzzleFile,
        executor: Executor,
        solved: Callable[[int], None],
        faults: LocalFaults | None = None,
    ) -> None:
        """`faults`: who is told when the file is refused; it is written again every KEEP_AGAIN_S."""
        self._public_key, self._faults = public_key, faults or LocalFaults(system_clock)
        self._file = file
        self._executor = executor
        self._solved = solved
        self._nonce = file.load()
        self._bits = 0
        self._wanted = asyncio.Event()
        solved(self._nonce)

    def want(self, bits: int) -> None:
        """Look for so many bits of work, unless they were found already."""
        self._bits = bits
        if work_of(self._public_key, self._nonce) < bits:
            self._wanted.set()

    async def run(self) -> None:
        """Solve whenever more work is wanted, until cancelled."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            log.info("identity puzzle is being solved bits=%d tries=%d on average", self._bits, 1 << self._bits)
            await self._solve()

    async def _solve(self) -> None:
        loop, first = asyncio.get_running_loop(), 0
        found: int | None = None
        while found is None:
            found = await loop.run_in_executor(self._executor, solve, self._public_key, self._bits, first)
            first += STEP_TRIES
        self._nonce = found
        self._solved(found)
        log.info("identity puzzle solved bits=%d tries=%d", work_of(self._public_key, found), found + 1)
        while True:
            if await loop.run_in_executor(self._executor, self._file.keep, found, self._faults):
                return
            await asyncio.sleep(KEEP_AGAIN_S)
