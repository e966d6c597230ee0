"""When the next bytes of a scrub are due: evenly over its period, gently, and never faster than a bound.

Pure: `now` is Unix time. A pass reads every segment once, the oldest first, and what is written meanwhile, too. When
its period is over and all is read the next one begins. A pass that was asked for reads at the bound all that lies here,
and spreads what is written later over the rest of its period.
"""

import msgspec

DAY_S = 86_400
SHORTEST_S, SPREAD_S = 25 * DAY_S, 10 * DAY_S  # of a pass: errors that nobody reads turn up within about a month
STEP_BYTES = 1 << 19  # read at once: some 10 ms of a thread that nobody waits for, 30 where all are visits
MOST_BYTES_S = 2 << 20  # a node that was away for long catches up with 20 GiB in three hours
LONGEST_REST_S, SHORTEST_REST_S = 600.0, STEP_BYTES / MOST_BYTES_S


class ScrubPass(msgspec.Struct, frozen=True, array_like=True):
    """Says how far a pass is; it is kept in the index, so that a restart goes on where it was."""

    begun_at: float
    segment: int = 0  # all before this segment and offset is read
    offset: int = 0
    read_bytes: int = 0
    found: int = 0  # records that turned out damaged
    ended_at: float = 0.0  # when the pass before ended, 0.0 where there was none
    found_before: int = 0  # by it
    read_records: int = 0  # former versions included
    asked_at: float = 0.0  # when an operator asked for this pass, 0.0 where its turn had come
    read_at: float = 0.0  # when a pass that was asked for had read everything, 0.0 before

    @property
    def hurries(self) -> bool:
        """Whether it was asked for and has not read everything yet."""
        return self.asked_at > 0.0 and not self.read_at


def period_of(node_id: bytes) -> float:
    """Return the seconds that a node's passes take: 25 to 35 days, another time for each node, so that the owners of a
    slot do not read the same records in the same hours for ever."""
    return SHORTEST_S + SPREAD_S * int.from_bytes(node_id[:4], "big") / 2**32


def rest_s(state: ScrubPass, left_bytes: int, period_s: float, now: float) -> float:
    """Return in how many seconds the next step is due, 0.0 for now."""
    if state.hurries and left_bytes:
        return 0.0
    elapsed = min(1.0, max(0.0, (now - state.begun_at) / period_s))
    whole = state.read_bytes + left_bytes
    if left_bytes and (elapsed >= 1.0 or state.read_bytes < whole * elapsed):
        return 0.0
    due_at = state.begun_at + period_s * (state.read_bytes / whole if left_bytes else 1.0)
    return min(LONGEST_REST_S, max(SHORTEST_REST_S, due_at - now))


def is_over(state: ScrubPass, left_bytes: int, period_s: float, now: float) -> bool:
    """Tell whether a pass has read everything and its period is over."""
    return not left_bytes and now >= state.begun_at + period_s


def asked_pass(state: ScrubPass, now: float) -> ScrubPass:
    """Return the pass to go on with after an operator asked for one: a new one, unless such a pass is under way."""
    if state.hurries:
        return state
    return ScrubPass(now, ended_at=state.ended_at, found_before=state.found_before, asked_at=now)


def next_pass(state: ScrubPass, now: float) -> ScrubPass:
    """Return the pass that follows one."""
    return ScrubPass(now, ended_at=now, found_before=state.found)
