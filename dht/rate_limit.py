"""Limits how much one address or one peer may cost us, by token buckets and by memories that are bounded.

Pure: `now` is an argument, in seconds of the steady clock. Bounded: the least recently used bucket is forgotten, and
its owner gets a full one again. With 8,192 buckets only a flood can cause that, and the address limit meets it first.
"""

from collections.abc import Hashable
from typing import TypeVar

KEYS = 8192

K = TypeVar("K")
V = TypeVar("V")


class RateLimiter:
    """One token bucket a key, each filling at `rate` a second up to `burst`."""

    def __init__(self, rate: float, burst: float, *, keys: int = KEYS) -> None:
        self._rate = rate
        self._burst = burst
        self._keys = keys
        self._levels: dict[Hashable, tuple[float, float]] = {}

    def take(self, key: Hashable, now: float, cost: float = 1.0) -> bool:
        """Take `cost` from the key's bucket and return True, or return False and take nothing where it holds less."""
        levels, burst = self._levels, self._burst
        before = levels.pop(key, None)  # the most recently used is last
        if before is None:
            level = burst
            if len(levels) >= self._keys:
                del levels[next(iter(levels))]
        else:
            level, at = before
            if now > at:
                level += (now - at) * self._rate
                if level > burst:
                    level = burst
        allowed = level >= cost
        levels[key] = (level - cost if allowed else level, now)
        return allowed

    def wait_s(self, key: Hashable, now: float, cost: float = 1.0) -> float:
        """Return for how many seconds the bucket of a key will hold less than `cost`, which is at most `burst`."""
        level, at = self._levels.get(key, (self._burst, now))
        return max(0.0, (cost - level) / self._rate - max(0.0, now - at))

    def __len__(self) -> int:
        return len(self._levels)


def remember(memory: dict[K, V], key: K, value: V, most: int) -> None:
    """Keep a value as the newest of a memory; above so many the oldest one is forgotten."""
    memory.pop(key, None)
    memory[key] = value
    if len(memory) > most:
        del memory[next(iter(memory))]
