"""Bounds how fast anybody guesses a password: a wrong one makes its caller wait longer, and all callers share a rate.

Pure: `now` is an argument, in seconds of the steady clock. The owner's link, the token and sessions under way need no
try, so nobody locks the owner out.
"""

import math
from collections.abc import Hashable

from dht import RateLimiter, remember

MOST_WAIT_S = 300.0  # between two tries of one caller, after nine wrong ones: 288 a day
FORGET_S = 3600.0  # after which a caller's wrong tries are forgotten
ALL_PER_S, ALL_AT_ONCE = 0.5, 20.0  # tries of all callers together: 43,200 a day
MAX_CALLERS = 8192


class PasswordTries:
    """Remembers the wrong tries of the last MAX_CALLERS callers."""

    def __init__(self) -> None:
        self._wrong: dict[Hashable, tuple[int, float]] = {}  # caller → how many, and when it may try again
        self._all = RateLimiter(ALL_PER_S, ALL_AT_ONCE)

    def begin(self, caller: Hashable, now: float) -> int:
        """Count a try as a wrong one, before it is looked at, and return 0. Else return in how many whole seconds the
        caller may try again; that counts nothing."""
        count, again_at = self._wrong.get(caller, (0, now))
        if (wait_s := again_at - now) > 0 or not self._all.take("", now):
            return max(1, math.ceil(max(wait_s, self._all.wait_s("", now))))
        count = 0 if now - again_at > FORGET_S else count
        remember(self._wrong, caller, (count + 1, now + min(2.0**count, MOST_WAIT_S)), MAX_CALLERS)
        return 0

    def wait_s(self, caller: Hashable, now: float) -> int:
        """Return in how many whole seconds a caller may try again, 1 at least."""
        return max(1, math.ceil(self._wrong.get(caller, (0, now))[1] - now))

    def was_right(self, caller: Hashable) -> None:
        """Forget the wrong tries of a caller that knows a password."""
        self._wrong.pop(caller, None)
