"""What one slot gives the pages of another, and how much of it the other has not heard.

Pure: arrays in, messages out. One message is on its way at a time and is repeated, unchanged, until it is
acknowledged: so the other has either what it acknowledged last or what is on its way, and what it lacks is known.
"""

import numpy as np
from numpy.typing import NDArray

from index.rank.inflow import MOST_TOLD, Amounts, InflowAck, InflowMessage, packed_names
from index.rank.page_number import Numbers


class Outflow:
    """Keeps the other holder of a border level. `names`: of the pages that are linked to, ascending; values come in
    their order."""

    def __init__(self, source: int, target: int, epoch: int, names: Numbers) -> None:
        self._source, self._target, self._epoch, self._names = source, target, epoch, names
        self._places = np.arange(len(names))  # of the pages that are linked to now, among those that the other may have
        self._sequence = self._holder_epoch = 0
        self.is_superseded = False  # the other heard a later holder of the source
        self._acked: Amounts = np.zeros(len(names), np.float32)
        self._to_be = self._acked  # what the other has once it took what is on its way
        self._acked_sequence = 0  # 0: nothing is known of what the other has
        self._on_way: InflowMessage | None = None

    def relink(self, names: Numbers) -> None:
        """Go on with other pages: what the other has of those that are linked to no more becomes 0."""
        kept = np.union1d(self._names[(self._acked != 0) | (self._to_be != 0)], names)
        before, self._names = self._names, kept
        self._acked, self._to_be = (_placed(each, before, kept) for each in (self._acked, self._to_be))
        self._places = np.searchsorted(kept, names)

    def unsent(self, values: NDArray[np.float64]) -> float:
        """Return how far the other's values are from these, by all that it acknowledged."""
        return float(np.abs(self._all(values) - self._acked).sum())

    def owed(self, values: NDArray[np.float64]) -> float:
        """Return how far the other's values are from these at most; infinite until it has heard all of them once."""
        if not self._acked_sequence:
            return np.inf
        wanted = self._all(values)
        away = np.abs(wanted - self._acked)
        if self._on_way is not None:
            away = np.maximum(away, np.abs(wanted - self._to_be))
        return float(away.sum())

    def message(self, values: NDArray[np.float64], least: float) -> InflowMessage | None:
        """Return what the other has to hear: what is on its way already, else values that moved by more than `least`;
        None where there are none."""
        if self._on_way is None:
            wanted = self._all(values)
            told, away = wanted.astype("<f4"), np.abs(wanted - self._acked)
            moved = np.flatnonzero((away > (least if self._acked_sequence else 0.0)) & (told != self._acked))
            if self._acked_sequence and not len(moved):
                return None
            if len(moved) > MOST_TOLD:
                moved = np.sort(moved[np.argpartition(-away[moved], MOST_TOLD)[:MOST_TOLD]])
            self._sequence += 1
            self._on_way = self._telling(moved, told[moved])
        return self._on_way

    def acknowledge(self, ack: InflowAck) -> None:
        """Note what the other has. Where another node holds its slot, from a copy that has less than was acknowledged
        before, that one is told everything again."""
        self.is_superseded |= ack.epoch > self._epoch
        if ack.holder_epoch < self._holder_epoch:
            return  # of a former holder, late
        is_new, self._holder_epoch = ack.holder_epoch > self._holder_epoch, ack.holder_epoch
        if self._on_way is not None and (ack.epoch, ack.sequence) == (self._epoch, self._on_way.sequence):
            self._acked, self._acked_sequence, self._on_way = self._to_be, self._on_way.sequence, None
        elif is_new and (ack.epoch, ack.sequence) < (self._epoch, self._acked_sequence):
            self._forget()

    def _all(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The values of all pages that the other may have."""
        if len(values) == len(self._names):
            return values
        found = np.zeros(len(self._names))
        found[self._places] = values
        return found

    def _telling(self, moved: NDArray[np.int64], told: Amounts) -> InflowMessage:
        self._to_be = self._acked.copy()
        self._to_be[moved] = told
        return InflowMessage(
            source=self._source,
            target=self._target,
            epoch=self._epoch,
            sequence=self._sequence,
            since=self._acked_sequence,
            names=packed_names(self._names[moved]),
            values=told.tobytes(),
        )

    def _forget(self) -> None:
        self._acked = self._to_be = np.zeros(len(self._names), np.float32)
        self._acked_sequence, self._on_way = 0, None


def _placed(amounts: Amounts, names: Numbers, kept: Numbers) -> Amounts:
    """The amounts of some names, by the places of those that are kept."""
    found = np.zeros(len(kept), np.float32)
    there = np.isin(names, kept, assume_unique=True)
    found[np.searchsorted(kept, names[there])] = amounts[there]
    return found
