"""A node remembers its peers from one run to the next: when the cache of them is read and written."""

import asyncio
from concurrent.futures import Executor
from pathlib import Path

from dht.clock import Clock, Now, system_clock
from dht.keys import NodeId
from dht.local_faults import FaultSite, LocalFaults, refused
from dht.membership.kept_files import PeerCache
from dht.protocol.engine import ProtocolEngine

NAME = "peers.bin"
CACHE_S = 60.0  # between two writes of the peer cache, where anything is new
CACHE_ANYWAY = 10  # of these, it is written though nobody came or went: heartbeats age


def has_met_peers(folder: Path) -> bool:
    """Tell whether the node that keeps its overlay's files here remembers other members. Blocks on one small file."""
    return bool(PeerCache(folder / NAME).load())


class PeerCacheFile:
    """Keeps the peers of a node in a file from one run to the next; `folder` None keeps nothing."""

    def __init__(
        self,
        core: ProtocolEngine,
        folder: Path | None,
        executor: Executor,
        faults: LocalFaults | None = None,
        clock: Clock = system_clock,
    ) -> None:
        """`faults`: who is told when the file is refused; it is written again a minute later."""
        self._members, self._core, self._executor = core.members, core, executor
        self._faults, self._clock = faults or LocalFaults(clock), clock
        self._cache = PeerCache(folder / NAME) if folder is not None else None

    def recall(self, now: Now) -> int:
        """Take the peers of an earlier run as members, not live yet, and return how many. Blocks on one small file."""
        heartbeats = self._cache.load() if self._cache is not None else ()
        if self._cache is not None:
            self._members.vanished.restore(self._cache.vanished)
        self._core.remember(now, heartbeats)
        return len(heartbeats)

    async def run(self) -> None:
        """Write the peers down every minute, where anything is new, until cancelled."""
        loop, rounds, kept = asyncio.get_running_loop(), 0, -1
        while self._cache is not None:
            await asyncio.sleep(CACHE_S)
            rounds += 1
            if kept != self._members.version or rounds % CACHE_ANYWAY == 0:
                version, heartbeats, vanished = (
                    self._members.version,
                    self._heartbeats(),
                    self._members.vanished.items(),
                )
                done = await loop.run_in_executor(self._executor, self._write, self._cache, heartbeats, vanished)
                kept = version if done else -1

    def save(self) -> None:
        """Write the peers down now; blocks on one small file."""
        if self._cache is not None:
            self._write(self._cache, self._heartbeats(), self._members.vanished.items())

    def _write(self, cache: PeerCache, heartbeats: list[bytes], vanished: tuple[tuple[NodeId, float], ...]) -> bool:
        """Write, and tell whether that is done, which it is not where the machine refuses."""
        if not heartbeats:
            return True  # all have been silent for too long; what the file has is still a way back
        try:
            cache.save(heartbeats, vanished)
        except OSError as error:
            self._faults.begin(FaultSite.PEERS, refused(cache.path, error))
            return False
        self._faults.end(FaultSite.PEERS)
        return True

    def _heartbeats(self) -> list[bytes]:
        """Return what the file is to hold: members, and those that a strategy made this node forget. In the next run
        they need no names."""
        members, own = self._members, self._core.own.raw
        raws = [known.opened.raw for peer, known in members.known() if members.admission.is_lasting(peer)]
        raws += [each.raw for each in self._core.dropped(self._clock())]
        return [own, *raws] if raws and own and members.admission.is_member(members.own) else raws
