"""An identity costs work: a nonce for which a hash of public key and nonce begins with enough zero bits.

Pure: values only. Whoever wants an id that lies near a point tries keys until one does, and solves the puzzle for each
identity that it uses; a node solves it once. Checking costs one hash. Sources: Back 2002 (Hashcash); Baumgart & Mies
2007 (S/Kademlia: crypto puzzles bound to node ids).

This task solves the puzzle of the node's identity when the strategy asks for more work than was done.

The hashing runs on a thread in small steps, so that the node goes on meanwhile; the result is kept in a file.
"""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Executor
from hashlib import blake2b
from pathlib import Path

from dht.clock import system_clock
from dht.local_faults import FaultSite, LocalFaults, keep_file, write_atomically

log = logging.getLogger(__name__)

PERSON = b"dse-node puzzle"
HASH_BITS = 64  # of which the strategy may ask 28
NONCE_BYTES = 8
STEP_TRIES = 20_000  # some 15 ms: whoever waits for the interpreter's lock meanwhile hardly notices


def work_of(public_key: bytes, nonce: int) -> int:
    """Count the leading zero bits of BLAKE2b-8(public key ‖ nonce, 8 bytes big-endian)."""
    data = public_key + nonce.to_bytes(NONCE_BYTES, "big")
    digest = blake2b(data, digest_size=HASH_BITS // 8, person=PERSON).digest()
    return HASH_BITS - int.from_bytes(digest, "big").bit_length()


def solve(public_key: bytes, bits: int, first: int = 0, tries: int = STEP_TRIES) -> int | None:
    """Find the least nonce from `first` on with that many bits of work; None where `tries` were not enough."""
    begun = blake2b(public_key, digest_size=HASH_BITS // 8, person=PERSON)
    limit = (1 << HASH_BITS - bits).to_bytes(HASH_BITS // 8 + 1, "big")
    for nonce in range(first, first + tries):
        state = begun.copy()
        state.update(nonce.to_bytes(NONCE_BYTES, "big"))
        if b"\0" + state.digest() < limit:
            return nonce
    return None


def solve_all(public_key: bytes, bits: int) -> int:
    """Find the least nonce with that many bits of work; takes 2**bits tries on average."""
    first = 0
    while (found := solve(public_key, bits, first)) is None:
        first += STEP_TRIES
    return found


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
