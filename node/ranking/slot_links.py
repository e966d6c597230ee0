"""The links of the documents in some slots, as a holder needs them to compute ranks.

Pure. A document takes some 200 bytes and 8 for each link; links beyond a bound are left out, and counted.
"""

from array import array
from collections.abc import Iterator, Sequence, Set

import numpy as np

from dht import Slot

MOST_LINKS = 4_000_000  # of a node: 32 MB, and 80 MB for the documents that hold them


class SlotLinks:
    """Keeps documents by slot and number, each with its site and the numbers of the pages that it links to."""

    def __init__(self, most_links: int = MOST_LINKS) -> None:
        self._most_links = most_links
        self._slots: dict[Slot, dict[int, bytes]] = {}
        self._left_out: dict[Slot, dict[int, int]] = {}
        self._sites: dict[Slot, int] = {}  # of slots that have not changed since they were counted
        self.links = 0

    @property
    def left_out(self) -> int:
        """How many links are beyond the bound."""
        return sum(sum(counts.values()) for counts in self._left_out.values())

    def put(self, slot: Slot, page: int, site: int, targets: Sequence[int]) -> bool:
        """Keep a document's links, each target once; return whether that changes anything. `site`: any 64 bits that
        name it."""
        held = self._slots.setdefault(slot, {})
        before = held.get(page, b"")
        distinct = list(dict.fromkeys(targets))
        had = _count(before)
        taken = distinct[: max(self._most_links - self.links + had, 0)]
        entry = array("Q", (site, *taken)).tobytes()
        self._note_left_out(slot, page, len(distinct) - len(taken))
        self.links += len(taken) - had
        held[page] = entry
        if entry != before:
            self._sites.pop(slot, None)
        return entry != before

    def remove(self, slot: Slot, page: int) -> bool:
        """Forget a document; return whether there was one."""
        entry = self._slots.get(slot, {}).pop(page, b"")
        self._note_left_out(slot, page, 0)
        self._sites.pop(slot, None)
        self.links -= _count(entry)
        return bool(entry)

    def drop(self, slot: Slot) -> None:
        """Forget a slot."""
        self.links -= sum(map(_count, self._slots.pop(slot, {}).values()))
        self._left_out.pop(slot, None)
        self._sites.pop(slot, None)

    def of(self, slot: Slot) -> Iterator[tuple[int, Sequence[int]]]:
        """Return the documents that a slot has now, each with the pages that it links to; another thread may go through
        them."""
        entries = list(self._slots.get(slot, {}).items())
        return ((page, memoryview(entry).cast("Q")[1:]) for page, entry in entries)

    def linking_to(self, pages: Set[int]) -> set[Slot]:
        """Return the slots whose documents link to any of some pages; another thread may go through them."""
        wanted = np.fromiter(pages, np.uint64, len(pages))
        held = {
            slot: b"".join(entry[8:] for entry in list(links.values())) for slot, links in list(self._slots.items())
        }
        return {slot for slot, entries in held.items() if np.isin(np.frombuffer(entries, np.uint64), wanted).any()}

    def sites(self, slot: Slot) -> int:
        """Return how many sites have documents in a slot."""
        if slot not in self._sites:
            self._sites[slot] = len({entry[:8] for entry in self._slots.get(slot, {}).values()})
        return self._sites[slot]

    def has(self, slot: Slot, page: int) -> bool:
        """Tell whether a document is kept."""
        return page in self._slots.get(slot, {})

    def _note_left_out(self, slot: Slot, page: int, count: int) -> None:
        if count:
            self._left_out.setdefault(slot, {})[page] = count
        elif slot in self._left_out:
            self._left_out[slot].pop(page, None)


def _count(entry: bytes) -> int:
    return max(len(entry) // 8 - 1, 0)
