"""Tells the network with how much room this node takes part, and remembers it over restarts."""

import logging
from pathlib import Path

import msgspec

from dht import MachineRefuses, OwnRoom, RoomReading, first_room, next_room, write_atomically
from node.app.environment import NodeEnvironment
from store import Replicator

log = logging.getLogger(__name__)

MAX_FILE_BYTES = 4096


class RoomKeeper:
    """Follows the quota and the disk of one node."""

    def __init__(self, env: NodeEnvironment, replicator: Replicator) -> None:
        self._overlay, self._store, self._clock = env.member.overlay, env.machine.store, env.machine.clock
        self._replicator, self._path = replicator, env.machine.files.room
        self._refused_count = 0
        self._own = _read(self._path)
        if self._own is not None:
            self._overlay.take_part_with(self._own.said)

    def decide(self) -> None:
        """Decide anew, and say what changed."""
        try:
            reading = self._reading()
        except MachineRefuses:
            return  # a disk that cannot be read is told elsewhere
        before = self._own
        self._own = first_room(reading) if before is None else next_room(before, reading, self._clock().wall)
        if self._own == before:
            return
        if before is None or self._own.said != before.said:
            log.info("takes part with room step=%d from_hour=%d", self._own.step, self._own.from_hour)
            self._overlay.take_part_with(self._own.said)
        self._write(self._own)

    def _reading(self) -> RoomReading:
        room, unit = self._store.room, self._overlay.view.strategy.room_unit
        before, self._refused_count = self._refused_count, room.refused_count
        return RoomReading(
            room.quota_bytes,
            room.capacity_bytes,
            room.used_bytes,
            unit,
            is_handing_over=self._replicator.is_handing_over,
            is_refusing=room.refused_count > before,
        )

    def _write(self, own: OwnRoom) -> None:
        if self._path is None:
            return
        try:
            write_atomically(self._path, msgspec.json.encode(own))
        except OSError as error:
            log.warning("the room is not noted reason=%s; it is decided anew after a restart", error)


def _read(path: Path | None) -> OwnRoom | None:
    """Read what was noted; None where nothing was, or nothing of use."""
    try:
        if path is None:
            return None
        with path.open("rb") as file:
            own = msgspec.json.decode(file.read(MAX_FILE_BYTES), type=OwnRoom)
    except (OSError, msgspec.DecodeError):
        return None
    return own if own.is_sound else None
