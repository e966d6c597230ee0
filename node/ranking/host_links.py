"""To which hosts of other domains the hosts of some slots link, by the documents that lie at their hosts' homes.

Pure. A document takes some 200 bytes and 8 for each host; hosts beyond a bound are left out, and counted.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from dht import Slot

MOST_HOST_LINKS = 1_000_000  # of all documents of a node: 40 MB with their names


class HostLinks:
    """Keeps the hosts that each document links to, and counts them by slot."""

    def __init__(self, most: int = MOST_HOST_LINKS) -> None:
        self._most = most
        self._documents: dict[Slot, dict[int, tuple[str, ...]]] = {}  # the document's host, then those it links to
        self._counts: dict[Slot, Counter[tuple[str, ...]]] = {}  # of (host,) and (host, other)
        self._changed = set[Slot]()
        self._links = 0
        self.left_out = 0

    def put(self, slot: Slot, page: int, host: str, targets: Iterable[str]) -> None:
        """Keep what a document of a host links to."""
        distinct = list(dict.fromkeys(targets))
        if self._documents.get(slot, {}).get(page) == (host, *distinct):
            return
        self.remove(slot, page)
        taken = distinct[: max(self._most - self._links, 0)]
        self.left_out += len(distinct) - len(taken)
        self._links += len(taken)
        self._documents.setdefault(slot, {})[page] = entry = (host, *taken)
        counts = self._counts.setdefault(slot, Counter())
        for name in _names(entry):
            if not counts[name]:
                self._changed.add(slot)
            counts[name] += 1

    def remove(self, slot: Slot, page: int) -> None:
        """Forget a document, if there is one."""
        if (entry := self._documents.get(slot, {}).pop(page, None)) is None:
            return
        self._links -= len(entry) - 1
        counts = self._counts[slot]
        for name in _names(entry):
            counts[name] -= 1
            if not counts[name]:
                del counts[name]
                self._changed.add(slot)

    def drop(self, slot: Slot) -> None:
        """Forget a slot."""
        self._links -= sum(len(entry) - 1 for entry in self._documents.pop(slot, {}).values())
        if self._counts.pop(slot, None):
            self._changed.add(slot)

    def take_changed(self, slots: Iterable[Slot]) -> set[Slot]:
        """Return which of some slots have other hosts or edges than when this was asked last."""
        found = self._changed & set(slots)
        self._changed -= found
        return found

    def votes(self, slot: Slot) -> Mapping[str, Sequence[str]]:
        """Return the hosts of a slot that have documents, and to which each links."""
        found: dict[str, list[str]] = {}
        for host, *others in sorted(self._counts.get(slot, ())):
            found.setdefault(host, []).extend(others)
        return found


def _names(entry: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    host, *others = entry
    return [(host,), *((host, other) for other in others)]
