"""The peer cache keeps the last signed heartbeats of all known peers in one small file.

With it a node finds its network again without any bootstrap peer. It is only a cache: whatever is wrong with the file
costs a log line, never a start. Heartbeats are verified again on loading.
"""

import logging
from collections.abc import Iterable
from math import isfinite
from pathlib import Path

import msgspec

from dht.atomic_file import write_atomically
from dht.keys import NodeId
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
