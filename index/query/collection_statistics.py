"""The values that a score needs of the whole network: N, lengths, and in how many documents each leaf occurs.

Pure: integers only, so that sums over any plan that covers every slot once are equal. Each cell, one of 65,536 equal
ranges of keys, has its own totals and a fingerprint of its indexed documents. The fingerprint is the sum, modulo
2**256, of SHA-256(id ‖ version) of the documents. Additions and removals keep it up to date, and nobody can steer it. A
slot's values are the sum of its cells' values, whatever slot_bits is. So slots can be split without touching a
document.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import NamedTuple

from dht import MAX_SLOT_BITS, Slot
from index.text.forward_index import Counts

CELL_BITS = MAX_SLOT_BITS
FINGERPRINT_BYTES = 32
MAX_COLUMNS = 16  # peers mostly ask for the same slots again
_MODULUS = 1 << 256
Columns = tuple[tuple[int, ...], tuple[Counts, ...], tuple[bytes, ...]]


def mark_of(identity: bytes) -> int:
    """Return what a document adds to the fingerprint of its cell; `identity` is its id and version joined."""
    return int.from_bytes(sha256(identity).digest(), "big")


@dataclass(frozen=True, slots=True)
class SlotTotals:
    """Sums over one range of keys of one index: how many documents, their lengths by field, and which they are."""

    documents: int = 0
    lengths: Counts = (0, 0, 0, 0)
    fingerprint: int = 0

    def plus(self, identity: bytes, lengths: Counts, sign: int = 1) -> "SlotTotals":
        """Return the totals with one document more (or, sign -1, less); `identity` is its id and version joined."""
        total = (self.fingerprint + sign * mark_of(identity)) % _MODULUS
        return SlotTotals(self.documents + sign, add(self.lengths, lengths, sign), total)

    def joined(self, other: "SlotTotals", sign: int = 1) -> "SlotTotals":
        """Return the totals with all documents of another range too (or, sign -1, without)."""
        return SlotTotals(
            self.documents + sign * other.documents,
            add(self.lengths, other.lengths, sign),
            (self.fingerprint + sign * other.fingerprint) % _MODULUS,
        )

    @property
    def fingerprint_bytes(self) -> bytes:
        """The fingerprint as it goes over the wire, 32 bytes."""
        return self.fingerprint.to_bytes(FINGERPRINT_BYTES, "big")


_EMPTY = SlotTotals()


class YoungChange(NamedTuple):
    """One recent version's change of its cell's fingerprint, added or taken off."""

    written_at: float  # Unix seconds, by its author's clock
    cell: int
    mark: int


class IndexTotals:
    """The totals of all cells at one moment, and by slot for each slot_bits that was asked for."""

    def __init__(self, cells: Mapping[int, SlotTotals], young: Sequence[YoungChange] = ()) -> None:
        """`young`: changes that are kept apart, so that others can be told what was here before them."""
        self.cells, self._young = cells, young
        self._levels: dict[int, dict[Slot, SlotTotals]] = {}
        self._young_by_slot: dict[int, dict[Slot, list[YoungChange]]] = {}
        self._newest_young: dict[int, Mapping[Slot, float]] = {}
        self._columns: dict[tuple[int, tuple[Slot, ...]], Columns] = {}

    @cached_property
    def documents(self) -> int:
        """How many documents all cells hold."""
        return sum(totals.documents for totals in self.cells.values())

    def at(self, slot_bits: int) -> Mapping[Slot, SlotTotals]:
        """Return the totals by slot; slots that hold nothing may be left out."""
        level = self._levels.get(slot_bits)
        if level is None:
            level = {}
            for cell, totals in self.cells.items():
                slot = Slot(cell >> (CELL_BITS - slot_bits))
                level[slot] = level.get(slot, _EMPTY).joined(totals)
            self._levels[slot_bits] = level
        return level

    def columns(self, slots: Sequence[Slot], slot_bits: int) -> Columns:
        """Return of each of some slots how many documents it holds, their lengths and its fingerprint; the last few
        lists of slots that were asked for are remembered."""
        key = slot_bits, tuple(slots)
        if (found := self._columns.get(key)) is None:
            level = self.at(slot_bits)
            totals = [level.get(slot, _EMPTY) for slot in slots]
            documents, lengths = tuple(each.documents for each in totals), tuple(each.lengths for each in totals)
            found = documents, lengths, tuple(each.fingerprint_bytes for each in totals)
            if len(self._columns) >= MAX_COLUMNS:
                self._columns.clear()
            self._columns[key] = found
        return found

    def fingerprint_until(self, slot: Slot, slot_bits: int, instant: float) -> bytes:
        """Return a slot's fingerprint without the versions written at `instant` (Unix seconds) or later, as far as they
        are kept apart. Each document counts with the version that it had before them."""
        later = self._young_at(slot_bits).get(slot, ())
        total = self.at(slot_bits).get(slot, _EMPTY).fingerprint
        marks = sum(change.mark for change in later if change.written_at >= instant)
        return ((total - marks) % _MODULUS).to_bytes(FINGERPRINT_BYTES, "big")

    def newest_young(self, slot_bits: int) -> Mapping[Slot, float]:
        """Return by slot when the newest version that is kept apart was written; a slot without any is left out. For
        all instants after that `fingerprint_until` is the fingerprint itself."""
        if (newest := self._newest_young.get(slot_bits)) is None:
            young = self._young_at(slot_bits).items()
            newest = {slot: max(change.written_at for change in changes) for slot, changes in young}
            self._newest_young[slot_bits] = newest
        return newest

    def _young_at(self, slot_bits: int) -> Mapping[Slot, Sequence[YoungChange]]:
        by_slot = self._young_by_slot.get(slot_bits)
        if by_slot is None:
            by_slot = {}
            for change in self._young:
                by_slot.setdefault(Slot(change.cell >> (CELL_BITS - slot_bits)), []).append(change)
            self._young_by_slot[slot_bits] = by_slot
        return by_slot

    def changed(
        self, cells: Mapping[int, SlotTotals], young: Iterable[YoungChange] = (), since: float = float("inf")
    ) -> "IndexTotals":
        """Return the totals with those of the given cells in place of the old ones. Of all young changes, those written
        after `since` are kept apart from now on."""
        kept = [change for change in (*self._young, *young) if change.written_at >= since]
        found = IndexTotals({**self.cells, **cells}, kept)
        for slot_bits, before in self._levels.copy().items():
            level = found._levels[slot_bits] = dict(before)
            for cell, totals in cells.items():
                slot = Slot(cell >> (CELL_BITS - slot_bits))
                rest = level.get(slot, _EMPTY).joined(self.cells.get(cell, _EMPTY), -1)
                level[slot] = rest.joined(totals)
        return found


@dataclass(frozen=True, slots=True)
class Statistics:
    """Sums over all slots that were answered; `df` has one number for each leaf of the query."""

    documents: int
    lengths: Counts
    df: tuple[int, ...]


def total(parts: Iterable[Statistics], leaves: int) -> Statistics:
    """Add up what several slots or peers say."""
    documents, lengths, df = 0, (0, 0, 0, 0), [0] * leaves
    for part in parts:
        documents += part.documents
        lengths = add(lengths, part.lengths)
        df = [a + b for a, b in zip(df, part.df, strict=True)]
    return Statistics(documents, lengths, tuple(df))


def add(a: Counts, b: Counts, sign: int = 1) -> Counts:
    """Compute a + sign · b, field by field."""
    return (a[0] + sign * b[0], a[1] + sign * b[1], a[2] + sign * b[2], a[3] + sign * b[3])
