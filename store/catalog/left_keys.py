"""Where records lay until lately that lie at another key now: the change log names the last place of each alone.

Pure. Bounded: whoever asks too late is told that it is not known.
"""

from collections import deque

from dht import Key

MOST_LEFT = 8192  # moves remembered: a follower that looks every two seconds sees some 4,000 a second


class LeftKeys:
    """Remembers the keys that records left, by the number of the change that moved them, since the store was opened."""

    def __init__(self) -> None:
        self._left: deque[tuple[int, Key]] = deque(maxlen=MOST_LEFT)
        self._known_after = 0  # what was left by later changes is all here

    def note(self, sequence: int, key: Key) -> None:
        """Take note that a change moved a record away from a key."""
        if len(self._left) == MOST_LEFT:
            self._known_after = self._left[0][0]
        self._left.append((sequence, key))

    def since(self, after: int) -> frozenset[Key] | None:
        """Return the keys left by changes after one; None where some of them may be forgotten."""
        left = tuple(self._left)  # at once: the writer thread goes on
        return frozenset(key for sequence, key in left if sequence > after) if after >= self._known_after else None
