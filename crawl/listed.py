"""What the sitemaps that were handed in listed, for those who wait for the pages.

Pure: bounded memory, the oldest list forgotten first; nothing else is lost by that.
"""

from collections import OrderedDict
from collections.abc import Sequence

MAX_LISTED = 50_000  # URLs of all lists together, about 150 bytes each


class Listed:
    """Pages and further sitemaps by the URL of the list."""

    def __init__(self, limit: int = MAX_LISTED) -> None:
        self._limit, self._count = limit, 0
        self._lists: OrderedDict[str, tuple[str, ...]] = OrderedDict()

    def add(self, url: str, found: Sequence[str]) -> None:
        """A list was read."""
        self._count -= len(self._lists.pop(url, ()))
        self._lists[url] = tuple(found)
        self._count += len(found)
        while self._count > self._limit and self._lists:
            self._count -= len(self._lists.popitem(last=False)[1])

    def find(self, url: str) -> tuple[str, ...]:
        """What it named, nothing where that is not known (any more)."""
        return self._lists.get(url, ())
