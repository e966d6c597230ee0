"""A node remembers its peers from one run to the next: when the cache of them is read and written.

So it finds its network again without any bootstrap peer. Heartbeats are verified again on loading. A file that does not
decode counts as empty: that costs a log line, never a start.
"""

import asyncio
import logging
from collections.abc import Iterable
from concurrent.futures import Executor
from math import isfinite
from pathlib import Path

import msgspec

from dht.clock import Clock, Now, system_clock
from dht.keys import NodeId
from dht.local_faults import FaultSite, LocalFaults, keep_file
from dht.membership.member_table import MEMBER_LIMIT
from dht.ownership.votes import MAJORITY_MEMBERS
from dht.protocol.engine import ProtocolEngine
from dht.wire.heartbeat import HEARTBEAT_LIMIT_BYTES

log = logging.getLogger(__name__)

NAME = "peers.bin"
CACHE_S = 60.0  # between two writes of the peer cache, where anything is new
CACHE_ANYWAY = 10  # of these, it is written though nobody came or went: heartbeats age
SOON_S = 1.0  # after a member came to a small network: a node that forgot it would count too few members

FORMAT = 1
FILE_LIMIT_BYTES = MEMBER_LIMIT * (HEARTBEAT_LIMIT_BYTES + 20 + 32)
ID_BYTES = 20


class PeerFile(msgspec.Struct, frozen=True, array_like=True):
    """The content of the file: its format, raw heartbeats, and the vanished members with their last signs of life."""

    format: int
    heartbeats: tuple[bytes, ...]
    vanished: tuple[tuple[bytes, float], ...] = ()


class PeerCache:
    """The file at `path`; both calls block and belong on a thread. `vanished`: members that `load` found noted so."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.vanished: tuple[tuple[NodeId, float], ...] = ()

    def load(self) -> tuple[bytes, ...]:
        """Return the saved heartbeats."""
        found = self._read()
        self.vanished = tuple(
            (NodeId(peer), at) for peer, at in found.vanished if len(peer) == ID_BYTES and isfinite(at)
        )
        return found.heartbeats

    def _read(self) -> PeerFile:
        try:
            if self.path.stat().st_size > FILE_LIMIT_BYTES:
                raise msgspec.DecodeError("too large")
            found = msgspec.msgpack.decode(self.path.read_bytes(), type=PeerFile)
        except FileNotFoundError:
            return PeerFile(FORMAT, ())
        except (OSError, msgspec.DecodeError) as error:
            log.warning("peer cache ignored path=%s reason=%s", self.path, error)
            return PeerFile(FORMAT, ())
        return found if found.format == FORMAT else PeerFile(FORMAT, ())

    def save(self, heartbeats: Iterable[bytes], vanished: Iterable[tuple[bytes, float]], faults: LocalFaults) -> bool:
        """Replace the file, and tell whether that is done, which it is not where the machine refuses."""
        kept = PeerFile(FORMAT, tuple(heartbeats)[:MEMBER_LIMIT], tuple(vanished))
        return keep_file(self.path, msgspec.msgpack.encode(kept), FaultSite.PEERS, faults)


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
        """Write the peers down every minute, where anything is new, and at once when a small network grows, until
        cancelled."""
        loop, rounds, kept, known = asyncio.get_running_loop(), 0, -1, frozenset[NodeId]()
        while self._cache is not None:
            until = loop.time() + CACHE_S
            while (left_s := until - loop.time()) > 0:
                await asyncio.sleep(min(SOON_S, left_s))
                few = self._members.members(self._clock())
                if len(few) <= MAJORITY_MEMBERS and not known.issuperset(few):
                    break
            rounds, known = rounds + 1, frozenset(self._members.members(self._clock()))
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
        return cache.save(heartbeats, vanished, self._faults)

    def _heartbeats(self) -> list[bytes]:
        """Return what the file is to hold: members, and those that a strategy made this node forget. In the next run
        they need no names."""
        members, own = self._members, self._core.own.raw
        raws = [known.opened.raw for peer, known in members.known() if members.admission.is_lasting(peer)]
        raws += [each.raw for each in self._core.intake.dropped(self._clock())]
        return [own, *raws] if raws and own and self._core.intake.note_member() else raws
