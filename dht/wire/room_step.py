"""A room step says how large a part of the network's records a node takes: one step up is twice as much.

Pure: values and their form in a heartbeat. Step 0 is the usual part, and stands for `room_unit` bytes of quota
(document.py). A step counts from a full hour (UTC) on, which the node announces before. So all owners change their
placement at the same moment. FULL_STEP is below the lowest one: such a node owns nothing where there are enough others.
"""

from typing import NamedTuple

HIGHEST_STEP, LOWEST_STEP, FULL_STEP = 2, -2, -3
HOUR_S = 3600
HOURS_RING = 128  # an hour is sent modulo this; a change is at most a day ahead, and its author forgets it a day later
_STEPS = HIGHEST_STEP - FULL_STEP + 1


class RoomStep(NamedTuple):
    """Holds a node's step, the one before, and the hour (since 1970) from which the new one counts."""

    step: int = 0
    before: int = 0
    from_hour: int = 0

    def in_force(self, wall: float) -> int:
        """Return the step that counts at an instant."""
        return self.step if hour_of(wall) >= self.from_hour else self.before

    @property
    def code(self) -> tuple[int, int]:
        """The two small numbers by which a heartbeat says it; both are 0 for step 0."""
        is_settled = self.step == self.before
        return (self.step * _STEPS + self.before) % _STEPS**2, 0 if is_settled else self.from_hour % HOURS_RING


def hour_of(wall: float) -> int:
    """Return the hour since 1970 of an instant."""
    return int(wall // HOUR_S)


def are_steps(steps: int, hour: int) -> bool:
    """Tell whether two numbers are such as a heartbeat has."""
    return 0 <= steps < _STEPS**2 and 0 <= hour < HOURS_RING


def read_room_step(steps: int, hour: int, sent_at: float) -> RoomStep:
    """Read what a heartbeat of this instant says, where `are_steps`."""
    least, sent = FULL_STEP * (_STEPS + 1), hour_of(sent_at)
    step, before = divmod((steps - least) % _STEPS**2, _STEPS)
    step, before = step + FULL_STEP, before + FULL_STEP
    ahead = (hour - sent + HOURS_RING // 2) % HOURS_RING - HOURS_RING // 2
    return RoomStep(step, before, 0 if step == before else sent + ahead)
