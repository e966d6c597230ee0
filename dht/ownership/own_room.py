"""Decides by which step of room a node takes part: its quota says which one fits, and a disk that fills up lowers it.

Pure: readings and `wall` (Unix seconds) in, the node's room out. A step down counts from the next full hour that is at
least NOTICE_S ahead, so that all members hear of it before. A step up counts from midnight (UTC) on, after the node has
had room for it for a day: one a day at most. A full node says so at once, since it refuses what comes.
"""

from math import floor, log2
from typing import NamedTuple

import msgspec

from dht.clock import DAY_S
from dht.wire.room_step import FULL_STEP, HIGHEST_STEP, HOUR_S, LOWEST_STEP, RoomStep, hour_of

NOTICE_S = 600.0  # within which a heartbeat reaches the furthest member
MARGIN = 0.25  # of a step beyond the border, before a node goes up
CROWDED, PACKED = 0.90, 0.95  # shares in use: one step down; full, where that was the lowest step
HALF_FULL = 0.50  # below that a refusal is about a few large records
ROOMY = 0.40  # the most in use before a step up: twice as much leaves a margin
REFILLED = 0.80  # a full node takes part again where what it held takes at most this of its room
FULL_S = 7 * DAY_S  # after which a full node tries again with the quota that it has: the network may have grown
BEGUN_S = 1200.0  # after a step down counts, by when what was lost is being handed over
PATIENCE_S = 6 * 3600.0  # so long a node hands over what it lost before it goes down further


class RoomReading(NamedTuple):
    """Says how much room a node has. `capacity_bytes`: what its files may take at most, by quota and disk.
    `is_refusing`: it refused records just now because they found no room."""

    quota_bytes: float
    capacity_bytes: float
    used_bytes: float
    room_unit: int
    is_handing_over: bool = False
    is_refusing: bool = False

    @property
    def used(self) -> float:
        """The share of the room that is in use: all of it where what comes does not fit any more."""
        share = self.used_bytes / max(1.0, self.capacity_bytes)
        return 1.0 if self.is_refusing and share > HALF_FULL else share

    @property
    def steps(self) -> float:
        """How many steps above the usual one the quota is; negative below it."""
        return log2(max(1.0, self.quota_bytes) / self.room_unit)


class OwnRoom(msgspec.Struct, frozen=True):
    """Holds what a node remembers of its room over restarts. Instants are Unix seconds, 0: none.

    `roomy_since`: since when it has had room for the next step. `full_at`, `held_bytes`: when it became full, and with
    how much."""

    step: int
    before: int
    from_hour: int = 0
    roomy_since: float = 0.0
    full_at: float = 0.0
    held_bytes: float = 0.0

    @property
    def is_sound(self) -> bool:
        """Whether both steps are such as there are: a file may say anything."""
        return all(FULL_STEP <= step <= HIGHEST_STEP for step in (self.step, self.before))

    @property
    def said(self) -> RoomStep:
        """The step, the one before and the hour of the change, as heartbeats have them."""
        return RoomStep(self.step, self.before, self.from_hour)


def first_room(reading: RoomReading) -> OwnRoom:
    """Return the room of a node that begins: the step that fits its quota, and at most the usual one."""
    step = min(0, _fitting(reading))
    return OwnRoom(step, step)


def next_room(own: OwnRoom, reading: RoomReading, wall: float) -> OwnRoom:
    """Return a node's room from now on; the same object where nothing changes."""
    own = _settled(own, wall)
    now = own.said.in_force(wall)
    if (lower := _lower(now, own, reading, wall)) < min(now, own.step):
        return _down(lower, now, reading, wall)
    if own.step > now and _fitting(reading) < own.step:  # a step up that was announced, and is not to be
        return OwnRoom(now, now)
    if not _is_roomy(own, reading, wall):
        return msgspec.structs.replace(own, roomy_since=0.0) if own.roomy_since else own
    if not own.roomy_since:
        return msgspec.structs.replace(own, roomy_since=wall)
    if wall - own.roomy_since < DAY_S or own.step != now:
        return own
    midnight = (hour_of(wall + NOTICE_S) // 24 + 1) * 24
    return OwnRoom(now + 1, now, midnight)


def _settled(own: OwnRoom, wall: float) -> OwnRoom:
    """Forget a change that counted a day ago, and one that a wrong clock put far ahead."""
    hour = hour_of(wall)
    if own.step == own.before or own.from_hour - 48 <= hour < own.from_hour + 24:
        return own
    step = own.step if hour >= own.from_hour else own.before
    return msgspec.structs.replace(own, step=step, before=step, from_hour=0)


def _lower(now: int, own: OwnRoom, reading: RoomReading, wall: float) -> int:
    """Return the step that a node goes down to; the step in force where it stays."""
    if now == FULL_STEP:
        return now
    fitting = min(now, _fitting(reading))
    since_s = wall - own.from_hour * HOUR_S
    is_patient = since_s < (PATIENCE_S if reading.is_handing_over else BEGUN_S)
    if is_patient or reading.used <= CROWDED:
        return fitting
    if now == LOWEST_STEP:
        return FULL_STEP if reading.used > PACKED else now
    return min(fitting, now - 1)


def _down(step: int, now: int, reading: RoomReading, wall: float) -> OwnRoom:
    if step == FULL_STEP:
        return OwnRoom(FULL_STEP, FULL_STEP, hour_of(wall), full_at=wall, held_bytes=reading.used_bytes)
    return OwnRoom(step, now, hour_of(wall + NOTICE_S) + 1)


def _is_roomy(own: OwnRoom, reading: RoomReading, wall: float) -> bool:
    """Whether there is room for the step above the one that is in force or announced."""
    if own.step == FULL_STEP:
        has_grown = own.held_bytes <= REFILLED * reading.capacity_bytes
        return has_grown or (wall - own.full_at >= FULL_S and reading.used <= ROOMY)
    return own.step < HIGHEST_STEP and reading.steps >= own.step + 0.5 + MARGIN and reading.used <= ROOMY


def _fitting(reading: RoomReading) -> int:
    return max(LOWEST_STEP, min(HIGHEST_STEP, floor(reading.steps + 0.5)))
