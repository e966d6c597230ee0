"""The long memory of peers: their last signed heartbeats in one small file, so that a node finds its network again
without any bootstrap peer.

Only a cache: whatever is wrong with the file costs a log line, never a start. Heartbeats are verified again on loading.
"""

import logging
import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from dht.members import MEMBER_LIMIT
from dht.records import HEARTBEAT_LIMIT_BYTES

log = logging.getLogger(__name__)

FORMAT = 1
FILE_LIMIT_BYTES = MEMBER_LIMIT * (HEARTBEAT_LIMIT_BYTES + 8)


class PeerFile(msgspec.Struct, frozen=True, array_like=True):
    """What lies in the file: its format, raw heartbeats."""

    format: int
    heartbeats: tuple[bytes, ...]


class PeerCache:
    """The file at `path`; both calls block and belong on a thread."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> tuple[bytes, ...]:
        """The heartbeats that were saved last; none where there is no file or it is damaged."""
        try:
            if self._path.stat().st_size > FILE_LIMIT_BYTES:
                raise msgspec.DecodeError("too large")
            found = msgspec.msgpack.decode(self._path.read_bytes(), type=PeerFile)
        except FileNotFoundError:
            return ()
        except (OSError, msgspec.DecodeError) as error:
            log.warning("peer cache ignored path=%s reason=%s", self._path, error)
            return ()
        return found.heartbeats if found.format == FORMAT else ()

    def save(self, heartbeats: Iterable[bytes]) -> None:
        """Replace the file, whole or not at all; raises OSError."""
        draft = self._path.with_name(self._path.name + ".new")
        draft.write_bytes(msgspec.msgpack.encode(PeerFile(FORMAT, tuple(heartbeats)[:MEMBER_LIMIT])))
        os.replace(draft, self._path)
