"""Judges a record by a node's clock: kept for too long, or dated in the future.

Pure: `wall` is Unix time in seconds.
"""

from store.record.record import Kind, Record

DAY_S = 86400.0
EPOCH_AHEAD_S = DAY_S + 120.0  # epochs are seconds; voters believe none further ahead (`dht/leases/voter.py`)
AHEAD_S = 120.0  # an outcome from further in the future is refused: its author's clock is wrong
MAX_DAYS = 3660  # the longest that a record may ask to be kept


def time_flaw(record: Record, wall: float) -> str:
    """Say why a record must not be kept at this time, "" where it may."""
    today = int(wall // DAY_S)
    if not today <= record.expires_day <= today + MAX_DAYS:
        return f"expires on day {record.expires_day}, today is {today}"
    ahead_s = record.version.at_ms / 1000 - wall
    is_dated = record.version.epoch > 0 or record.kind in (Kind.DOCUMENT, Kind.FORMER)
    if is_dated and ahead_s > AHEAD_S:
        return f"dated {ahead_s:.0f} s in the future"
    if record.version.epoch > wall + EPOCH_AHEAD_S:
        return f"epoch {record.version.epoch} is more than a day in the future"
    return ""
