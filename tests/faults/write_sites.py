"""The places where a node writes, behind one protocol: write the thing of a number, and tell what a start finds."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from dht import FaultSite, LocalFaults, MachineRefuses
from dht.identity.puzzle_solver import PuzzleFile
from dht.leases.lease_service import VoteNote
from dht.overlay.peer_cache_file import PeerCacheFile
from dht.strategy.document import SignedStrategy
from dht.strategy.history import StrategyHistory
from node.extras.simulation.forming import form
from node.extras.simulation.swarm import Swarm
from store import Kind, RecordStore, StoreConfig
from tests.dht.strategy.test_history import after, network
from tests.store.support import StillClock, draft, random_draft, records

THREAD = ThreadPoolExecutor(1)
SMALL = StoreConfig(reserve_bytes=0, segment_bytes=20_000)


class WriteSite(Protocol):
    """One place that writes into a folder. `write` tells whether the thing is safe, and raises nothing."""

    site: FaultSite

    def __init__(self, folder: Path, clock: StillClock, faults: LocalFaults) -> None: ...
    async def write(self, number: int) -> bool: ...
    async def try_again(self) -> None: ...
    def close(self) -> None: ...
    def found(self) -> set[int]: ...


class Segments:
    """Documents in the store: one is safe when `put` returns."""

    site = FaultSite.STORE

    def __init__(self, folder: Path, clock: StillClock, faults: LocalFaults) -> None:
        self.store = RecordStore.open(folder / "store", SMALL, clock, faults)
        self.written = dict[int, bytes]()

    async def write(self, number: int) -> bool:
        (record,) = records(random_draft(number, 3000))
        self.written[number] = record.content or b""
        try:
            return await self.store.put([record]) == 1
        except MachineRefuses:
            return False

    async def try_again(self) -> None:
        await self.store.try_again()

    def close(self) -> None:
        self.store.close()

    def found(self) -> set[int]:
        found = {n: self.store.find(Kind.DOCUMENT, draft(n).id) for n in range(100)}
        return {n for n, r in found.items() if r is not None and r.content in (self.written.get(n), r.content)}


class Debts(Segments):
    """Rows of the catalog that are no records: what is owed to others lies there."""

    async def write(self, number: int) -> bool:
        row = (b"peer", 1, number.to_bytes(4, "big"), b"", 0, 0.0, 1, bytes(3000))
        try:
            await self.store.tables.change(lambda base: base.execute("INSERT INTO owed VALUES (?,?,?,?,?,?,?,?)", row))
        except MachineRefuses:
            return False
        return True

    def found(self) -> set[int]:
        return {int.from_bytes(id, "big") for (id,) in self.store.tables.query("SELECT id FROM owed")}


class Votes:
    """The note of votes: once it is there it stands for all of them."""

    site = FaultSite.VOTES

    def __init__(self, folder: Path, clock: StillClock, faults: LocalFaults) -> None:
        self.note = VoteNote(folder / "votes.json", faults)

    async def write(self, number: int) -> bool:
        return self.note.write()

    async def try_again(self) -> None:
        self.note.write()

    def close(self) -> None: ...

    def found(self) -> set[int]:
        return set(range(1000)) if self.note.exists() else set()


class Peers:
    """The peer cache, whole or not."""

    site = FaultSite.PEERS

    def __init__(self, folder: Path, clock: StillClock, faults: LocalFaults) -> None:
        self.swarm = Swarm(1)
        self.swarm.add(4)
        form(self.swarm)
        self.cache = PeerCacheFile(self.swarm.bees[0].core, folder, THREAD, faults)
        self.faults = faults

    async def write(self, number: int) -> bool:
        self.cache.save()
        return not any(fault.site == self.site for fault in self.faults.present())

    async def try_again(self) -> None:
        self.cache.save()

    def close(self) -> None: ...

    def found(self) -> set[int]:
        swarm = Swarm(2)
        swarm.add(1)
        self.cache._core = swarm.bees[0].core
        return set(range(100)) if self.cache.recall(self.swarm.now) == 4 else set()


class Strategies:
    """The chain of strategies; a version that is not on disk is asked for again."""

    site = FaultSite.STRATEGY

    def __init__(self, folder: Path, clock: StillClock, faults: LocalFaults) -> None:
        self.history, self.faults = StrategyHistory(network(), folder / "strategy", faults), faults

    async def write(self, number: int) -> bool:
        self.history.adopt(after(self._newest(), self.history.newest.version + 1))
        return not any(fault.site == self.site for fault in self.faults.present())

    async def try_again(self) -> None:
        self.history.write_what_waits()

    def close(self) -> None: ...

    def found(self) -> set[int]:
        return set(range(self.history.newest.version - 1))

    def _newest(self) -> SignedStrategy:
        newest = self.history.signed(self.history.newest.version)
        assert newest is not None
        return newest


class Puzzle:
    """The solved puzzle."""

    site = FaultSite.PUZZLE

    def __init__(self, folder: Path, clock: StillClock, faults: LocalFaults) -> None:
        self.file, self.faults = PuzzleFile(folder / "identity.puzzle"), faults

    async def write(self, number: int) -> bool:
        return self.file.keep(number, self.faults)

    async def try_again(self) -> None:
        self.file.keep(99, self.faults)

    def close(self) -> None: ...

    def found(self) -> set[int]:
        return set(range(self.file.load() + 1))


SITES = (Segments, Debts, Votes, Peers, Strategies, Puzzle)
