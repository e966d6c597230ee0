"""Two small files that a node keeps over restarts: its peers' heartbeats, and the farewells of a small network.

- With the peer cache a node finds its network again without any bootstrap peer. Heartbeats are verified again on
  loading.
- The farewell file keeps an ended farewell from counting again. A node writes only farewells that it has verified.

A file that does not decode counts as empty: that costs a log line, never a start.
"""

import logging
from collections.abc import Iterable
from math import isfinite
from pathlib import Path

import msgspec

from dht.keys import NodeId
from dht.local_faults import FaultSite, LocalFaults, refused, write_atomically
from dht.membership.farewell_book import Parting
from dht.membership.member_table import MEMBER_LIMIT
from dht.wire.heartbeat import HEARTBEAT_LIMIT_BYTES

log = logging.getLogger(__name__)

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

    def save(self, heartbeats: Iterable[bytes], vanished: Iterable[tuple[bytes, float]] = ()) -> None:
        """Replace the file, whole or not at all; raises OSError."""
        kept = PeerFile(FORMAT, tuple(heartbeats)[:MEMBER_LIMIT], tuple(vanished))
        write_atomically(self.path, msgspec.msgpack.encode(kept))


log = logging.getLogger(__name__)


class FarewellFile:
    """The file of one node; `path` None keeps nothing. Its calls block and belong on a thread."""

    def __init__(self, path: Path | None, faults: LocalFaults) -> None:
        self._path, self._faults = path, faults

    def load(self) -> tuple[Parting, ...]:
        """Return what was kept, nothing where there is none."""
        try:
            data = self._path.read_bytes() if self._path is not None else b"\x90"
            return msgspec.msgpack.decode(data, type=tuple[Parting, ...])
        except FileNotFoundError:
            return ()
        except (OSError, msgspec.DecodeError) as error:
            log.warning("farewells ignored path=%s reason=%s", self._path, error)
            return ()

    def write(self, partings: tuple[Parting, ...]) -> bool:
        """Keep these, and tell whether that is done, which it is not where the machine refuses."""
        if self._path is None:
            return True
        try:
            write_atomically(self._path, msgspec.msgpack.encode(partings))
        except OSError as error:
            self._faults.begin(FaultSite.FAREWELLS, refused(self._path, error))
            return False
        self._faults.end(FaultSite.FAREWELLS)
        return True
