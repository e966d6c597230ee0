"""The node remembers heartbeats that it has verified, because gossip brings each of them many times.

Pure: a bounded table. The latest heartbeats of each author are kept, so the cache stays as small as the network. One
table of the latest of all would fill with the past for hours.
"""

from collections.abc import Hashable
from typing import Generic, TypeVar

Opened = TypeVar("Opened")

CACHED_EACH = 32  # of one author: one every ten seconds, and copies of far peers are minutes old
CACHED_MOST = 16_384  # of all authors: 500 with all of theirs, or thousands with one each


class HeartbeatCache(Generic[Opened]):
    """Keeps the last `each` of every author and `most` in all; whoever came first gives way first."""

    def __init__(self, each: int = CACHED_EACH, most: int = CACHED_MOST) -> None:
        self._each, self._most = each, most
        self._authors: dict[bytes, dict[Hashable, Opened]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def find(self, author: bytes, key: Hashable) -> Opened | None:
        """Return what was added, None where it was not or has given way."""
        kept = self._authors.get(author)
        return None if kept is None else kept.get(key)

    def add(self, author: bytes, key: Hashable, opened: Opened) -> None:
        """Remember one more; it is none of those that are there."""
        kept = self._authors.setdefault(author, {})
        if len(kept) >= self._each:
            del kept[next(iter(kept))]
            self._count -= 1
        kept[key] = opened
        self._count += 1
        while self._count > self._most:
            self._count -= len(self._authors.pop(next(iter(self._authors))))
