"""Reads lengths of time as people type them: 2h, 30m, 1h30m, 90s, 1d.

Pure: text in, seconds out.
"""

import re

from dht import InputError

_UNITS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0}
_PARTS = re.compile(r"([0-9]{1,9})\s*([dhms])")
MAX_S = 366 * 86_400.0


class BadDuration(InputError):
    """Says that a text is no length of time."""


def parse_duration(text: str) -> float:
    """Return a length of time in seconds, more than 0 and a year at most; raises BadDuration."""
    compact = text.strip().lower()
    parts = _PARTS.findall(compact)
    if not parts or _PARTS.sub("", compact).strip():
        raise BadDuration(f"{text[:40]!r} is not a duration; use 2h, 30m or 1h30m")
    seconds = sum(int(count) * _UNITS[unit] for count, unit in parts)
    if not 0 < seconds <= MAX_S:
        raise BadDuration(f"{text[:40]!r} is not between 1s and 366d")
    return seconds
