"""The peer cache keeps the last signed heartbeats of all known peers in one small file.

With it a node finds its network again without any bootstrap peer. It is only a cache: whatever is wrong with the file
costs a log line, never a start. Heartbeats are verified again on loading.
"""

import logging
import os
from collections.abc import Iterable
from math import inf, isfinite
from pathlib import Path

import msgspec

from dht.membership.member_table import MEMBER_LIMIT
from dht.wire.heartbeat import HEARTBEAT_LIMIT_BYTES

log = logging.getLogger(__name__)

FORMAT = 1
FILE_LIMIT_BYTES = MEMBER_LIMIT * (HEARTBEAT_LIMIT_BYTES + 20)


class PeerFile(msgspec.Struct, frozen=True, array_like=True):
    """What lies in the file: its format, raw heartbeats, when each of their authors was first heard of (wall time)."""

    format: int
    heartbeats: tuple[bytes, ...]
    since: tuple[float, ...] = ()


class PeerCache:
    """The file at `path`; both calls block and belong on a thread."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> tuple[tuple[bytes, float], ...]:
        """Return the saved heartbeats, each with the wall time at which its author was first heard of. The time is inf
        where an older file does not say it."""
        found = self._read()
        sound = len(found.since) == len(found.heartbeats) and all(map(isfinite, found.since))
        return tuple(zip(found.heartbeats, found.since if sound else (inf,) * len(found.heartbeats), strict=True))

    def _read(self) -> PeerFile:
        try:
            if self._path.stat().st_size > FILE_LIMIT_BYTES:
                raise msgspec.DecodeError("too large")
            found = msgspec.msgpack.decode(self._path.read_bytes(), type=PeerFile)
        except FileNotFoundError:
            return PeerFile(FORMAT, ())
        except (OSError, msgspec.DecodeError) as error:
            log.warning("peer cache ignored path=%s reason=%s", self._path, error)
            return PeerFile(FORMAT, ())
        return found if found.format == FORMAT else PeerFile(FORMAT, ())

    def save(self, heartbeats: Iterable[bytes], since: Iterable[float] = ()) -> None:
        """Replace the file, whole or not at all; raises OSError. `since`: an instant for each, as in `load`."""
        draft = self._path.with_name(self._path.name + ".new")
        kept = PeerFile(FORMAT, tuple(heartbeats)[:MEMBER_LIMIT], tuple(since)[:MEMBER_LIMIT])
        draft.write_bytes(msgspec.msgpack.encode(kept))
        os.replace(draft, self._path)
