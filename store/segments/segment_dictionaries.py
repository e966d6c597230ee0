"""The dictionaries by which segments are packed: a segment begins with its own, twice, so that one damage spares one.

Many segments have the same one, which is in memory once then.
"""

import threading
from collections.abc import Callable

from store.record.zstd import Dictionary

MOST_SEGMENTS, MOST_DICTIONARIES = 1024, 16  # remembered; a dictionary takes some 400 kB


class SegmentDictionaries:
    """Finds the dictionary of a segment. Any thread asks."""

    def __init__(self, load: Callable[[int], bytes], level: int) -> None:
        """`load` reads the dictionary that a segment begins with, b"" where it has none."""
        self._load, self._level = load, level
        self._known: dict[int, Dictionary | None] = {}
        self._lock = threading.Lock()

    def of(self, segment: int) -> Dictionary | None:
        """Return the dictionary of a segment, None where it has none."""
        try:
            return self._known[segment]
        except KeyError:
            return self.set(segment, self._made(self._load(segment)))

    def set(self, segment: int, dictionary: Dictionary | None) -> Dictionary | None:
        """Take note of the dictionary that a segment begins with."""
        with self._lock:
            self._known[segment] = dictionary
            while len(self._known) > MOST_SEGMENTS or len(set(map(id, self._known.values()))) > MOST_DICTIONARIES + 1:
                del self._known[next(iter(self._known))]
        return dictionary

    def forget(self, segment: int) -> None:
        """Forget a segment that is gone."""
        with self._lock:
            self._known.pop(segment, None)

    def _made(self, data: bytes) -> Dictionary | None:
        if not data:
            return None
        with self._lock:
            same = next((known for known in self._known.values() if known is not None and known.data == data), None)
        return same or Dictionary(data, self._level)
