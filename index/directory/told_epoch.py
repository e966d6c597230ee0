"""What one owner of slots told of itself for one epoch, beside its words on terms; and which of several counts now.

Pure: values only. Columns are bytes, so that a thousand owners take little memory and are written as they are.
"""

from collections.abc import Collection, Sequence
from hashlib import blake2b
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from index.directory.messages import SLOTS_DIGEST_BYTES, SlotCounts, TellLevels

EPOCH_S = 86_400.0  # a day: to make and tell all anew costs a node some 2 minutes of CPU and .7 kB/s
MADE_AHEAD_S = 21_600.0  # before an epoch begins its tables are made at the earliest
MOST_EPOCHS = 4  # that are remembered of one owner
LEVEL, YOUNG = 1, 2  # of a slot: its copy is level; its documents came after the table was made
_COLUMNS = 5  # documents, and lengths by field
_NOT_TOLD = -1


class ToldEpoch(msgspec.Struct):
    """Holds what one table of an owner says of its slots, and which words on terms belong to it. `change`: up to which
    of the owner's changes all is known of the slots of terms in `known`, each with the number of its words; `at`: as of
    when (Unix seconds). `slots`, `marks`, `counts`: of the slots that it speaks of, ascending. `coming`: slot, number
    and instant of words that are told as a whole, and not all yet."""

    run: int
    epoch: int
    made_at: float
    average: float
    change: int = 0
    at: float = 0.0
    slots: bytes = b""  # u16
    marks: bytes = b""  # u8
    counts: bytes = b""  # i64
    known: dict[int, int] = {}
    coming: tuple[int, int, float] | None = None

    def places(self) -> NDArray[np.int64]:
        """Return the slots that it speaks of."""
        return np.frombuffer(self.slots, "<u2").astype(np.int64)

    def flags(self) -> NDArray[np.uint8]:
        """Return of each of these slots LEVEL and YOUNG."""
        return np.frombuffer(self.marks, np.uint8)

    def totals(self) -> NDArray[np.int64]:
        """Return of each of these slots the documents and their lengths; below 0 where they were not told."""
        return np.frombuffer(self.counts, "<i8").reshape(-1, _COLUMNS)

    @property
    def votes(self) -> bool:
        """Whether its numbers are those of the epoch's beginning, as its owners agree on."""
        return self.made_at <= self.epoch * EPOCH_S

    @property
    def slots_digest(self) -> bytes:
        """What names the slots that it speaks of."""
        return digest_of(self.slots)

    def understands(self, told: TellLevels) -> bool:
        """Whether the slots of which a message speaks are in it, or known."""
        return told.known_slots in (b"", self.slots_digest)

    def hear(self, told: TellLevels) -> bool:
        """Take what is said of slots; return whether the counts of all are known."""
        places = np.frombuffer(self.slots, "<u2") if told.known_slots else np.array(told.slots, "<u2")
        self.marks = _marks(places, told.behind, told.young)
        if places.tobytes() != self.slots or told.counts:
            before = dict(zip(self.places().tolist(), self.totals().tolist(), strict=True))
            before |= {each.slot: _line(each) for each in told.counts}
            nothing = [_NOT_TOLD, 0, 0, 0, 0]
            lines = [before.get(slot, nothing) for slot in places.tolist()]
            self.slots, self.counts = places.tobytes(), np.array(lines, "<i8").tobytes()
        return bool((self.totals()[:, 0] >= 0).all())

    def has_all(self, term_slots: Collection[int]) -> bool:
        """Tell whether it told all words on the terms of these slots."""
        return self.known.keys() >= set(term_slots)


def digest_of(slots: Sequence[int] | bytes) -> bytes:
    """Return what names some slots, given ascending, or in bytes as they are kept."""
    kept = slots if isinstance(slots, bytes) else np.array(slots, "<u2").tobytes()
    return blake2b(kept, digest_size=SLOTS_DIGEST_BYTES).digest()


def in_force(told: Sequence[ToldEpoch], now: float, term_slots: Collection[int]) -> ToldEpoch | None:
    """Return which of an owner's epochs counts: the newest that has begun, and is told of whole where any is."""
    begun = [each for each in told if each.epoch <= now // EPOCH_S and each.known]
    return max(begun, key=lambda each: (each.has_all(term_slots), each.epoch, each.made_at), default=None)


def worth_keeping(told: Sequence[ToldEpoch], now: float, term_slots: Collection[int]) -> list[ToldEpoch]:
    """Return what is in force, and what may be after it."""
    present = in_force(told, now, term_slots)
    if present is None:
        return list(told[-MOST_EPOCHS:])
    later = [each for each in told if (each.epoch, each.made_at) > (present.epoch, present.made_at)]
    return [present, *later[-MOST_EPOCHS + 1 :]]


def _marks(places: NDArray[Any], behind: Sequence[int], young: Sequence[int]) -> bytes:
    marks = np.full(len(places), LEVEL, np.uint8)
    if behind:
        marks[np.isin(places, behind)] = 0
    if young:
        marks[np.isin(places, young)] += YOUNG
    return marks.tobytes()


def _line(counts: SlotCounts) -> list[int]:
    return [counts.documents, *counts.lengths]
