"""What the pages of one slot are given by those of another: the message, and what was heard from each.

Pure: messages in, arrays out. Values are absolute, so a message that comes twice, late or never leaves nothing wrong:
one is taken if it is newer than what is there and builds on no more than that. Who holds the other slot may lie: what
it gives counts up to a limit (ledger), and is scaled down beyond.
"""

from dataclasses import dataclass
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dht import BadMessage
from index.rank.page_number import Numbers

NAME_BYTES = 6
VALUE_BYTES = 4  # a float of 24 bits: rounds by 6 parts in 10⁸, of the rank that crosses a border
ROUNDED = 1 + 1e-6  # such values together, beside what they were
MOST_TOLD = 50_000  # pages of a message: half a megabyte; the others follow
UNKNOWN_MOST = 4_096  # pages that a slot gives to and that are not known yet: links arrive before them, or are lies
Amounts = NDArray[np.float32]
_Count = Annotated[int, Meta(ge=0, le=2**48)]
_SlotNumber = Annotated[int, Meta(ge=0, le=2**16 - 1)]


class InflowMessage(msgspec.Struct, frozen=True, array_like=True):
    """What pages of `target` are given by those of `source`: all that changed after `since`, everything where that is
    0. Values are in units of an average page's rank."""

    source: _SlotNumber
    target: _SlotNumber
    epoch: _Count  # of the lease under which its author holds the source
    sequence: _Count
    since: _Count
    names: Annotated[bytes, Meta(max_length=MOST_TOLD * NAME_BYTES)]  # 6 of each page, ascending
    values: Annotated[bytes, Meta(max_length=MOST_TOLD * VALUE_BYTES)]  # 4: little-endian floats, 0: nothing any more

    def __len__(self) -> int:
        return len(self.names) // NAME_BYTES


class InflowAck(msgspec.Struct, frozen=True, array_like=True):
    """The newest message of `source` that the holder of `target` has, which it also tells unasked when it begins. What
    one holder has only grows; `holder_epoch`, of its lease, says when another holds the slot."""

    source: _SlotNumber
    target: _SlotNumber
    holder_epoch: _Count
    epoch: _Count
    sequence: _Count


@dataclass(frozen=True, slots=True, eq=False)
class Inflow:
    """What was heard of one source: names ascend, and no value is 0."""

    epoch: int
    sequence: int
    names: Numbers
    values: Amounts


_UNHEARD = Inflow(0, 0, np.empty(0, np.uint64), np.empty(0, np.float32)), 0.0, 1.0


def packed_names(names: Numbers) -> bytes:
    """Write 48-bit names."""
    return names.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :NAME_BYTES].tobytes()


def unpacked(message: InflowMessage) -> tuple[Numbers, Amounts]:
    """Read names and values; raises BadMessage where they are none."""
    count = len(message)
    if len(message.names) != count * NAME_BYTES or len(message.values) != count * VALUE_BYTES:
        raise _bad(message.source, f"{len(message.names)} bytes of names, {len(message.values)} of values")
    padded = np.zeros((count, 8), np.uint8)
    padded[:, :NAME_BYTES] = np.frombuffer(message.names, np.uint8).reshape(count, NAME_BYTES)
    names = padded.view("<u8").reshape(count).astype(np.uint64)
    values = np.frombuffer(message.values, "<f4").astype(np.float32)
    if not (names[1:] > names[:-1]).all():
        raise _bad(message.source, "its names do not ascend")
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise _bad(message.source, "a value is negative, or no number")
    return names, values


def _share(given: float, limit: float) -> float:
    return 1.0 if given <= limit * ROUNDED else max(limit, 0.0) / given


def _bad(source: int, reason: str) -> BadMessage:
    return BadMessage(f"that holds slot {source}", reason)


class Inflows:
    """What the pages of a slot are given by all other slots. `names`: those of its pages, by row."""

    def __init__(self, names: Numbers, most_entries: int) -> None:
        self._order = np.argsort(names)
        self._names = names[self._order]
        self._most_entries = most_entries
        self._heard: dict[int, tuple[Inflow, float, float]] = {}  # by source, its sum and the share of it that counts
        self.entries = 0  # of all sources, each some 12 bytes
        self.total = np.zeros(len(names))  # by row
        self.givers = np.zeros(len(names), np.int32)  # slots that link to each row

    def heard_of(self, source: int) -> Inflow:
        """Return what is there of a source."""
        return self._heard.get(source, _UNHEARD)[0]

    def heard(self) -> dict[int, Inflow]:
        """Return what is there of all sources."""
        return {source: inflow for source, (inflow, *_) in self._heard.items()}

    @property
    def sources(self) -> tuple[int, ...]:
        """The slots of which anything was heard."""
        return tuple(self._heard)

    def take(self, message: InflowMessage, limit: float) -> float:
        """Take a message where it is newer; return by how much it moved what is given, and 0.0 where it did not.

        `limit`: what its source may give to this slot. Raises BadMessage where it is none, or names more pages than
        there can be."""
        have = self.heard_of(message.source)
        if (message.epoch, message.sequence) <= (have.epoch, have.sequence):
            return 0.0
        if message.since and (message.epoch != have.epoch or message.since > have.sequence):
            return 0.0
        names, values = unpacked(message)
        if message.since:
            kept = ~np.isin(have.names, names, assume_unique=True)
            names, values = np.concatenate((have.names[kept], names)), np.concatenate((have.values[kept], values))
            order = np.argsort(names)
            names, values = names[order], values[order]
        there = values > 0
        new = Inflow(message.epoch, message.sequence, names[there], values[there])
        if len(new.names) > len(self._names) + UNKNOWN_MOST:
            raise _bad(message.source, f"it gives to {len(new.names)} pages, of {len(self._names)}")
        return self.put(message.source, new, limit)

    def put(self, source: int, new: Inflow, limit: float) -> float:
        """Replace what is there of a source, and return by how much that moved what is given. Raises BadMessage where
        all sources together would take more memory than they may."""
        old, _, old_share = self._heard.get(source, _UNHEARD)
        entries = self.entries + len(new.names) - len(old.names)
        if entries > self._most_entries and len(new.names) > len(old.names):
            raise _bad(source, f"inflows of {entries} entries, {self._most_entries} allowed")
        given = float(new.values.sum(dtype=np.float64))
        share = _share(given, limit)
        names = np.union1d(old.names, new.names)
        moves, givers = np.zeros(len(names)), np.zeros(len(names), np.int32)
        for inflow, part, sign in ((old, old_share, -1), (new, share, 1)):
            places = np.searchsorted(names, inflow.names)
            moves[places] += sign * part * inflow.values.astype(np.float64)
            givers[places] += sign
        known, rows = self._rows(names)
        self.total[rows] += moves[known]
        self.givers[rows] += givers[known]
        self.total[rows[self.givers[rows] == 0]] = 0.0  # no dust of sums
        self._heard[source], self.entries = (new, given, share), entries
        return float(np.abs(moves[known]).sum())

    def limit(self, source: int, limit: float) -> float:
        """Judge what is there of a source by a new limit; return by how much that moved what is given."""
        inflow, given, share = self._heard.get(source, _UNHEARD)
        return 0.0 if _share(given, limit) == share else self.put(source, inflow, limit)

    @property
    def unknown(self) -> int:
        """How many pages are named that are not known."""
        return sum(len(inflow.names) - int(self._rows(inflow.names)[0].sum()) for inflow, *_ in self._heard.values())

    def givers_to(self, names: Numbers) -> dict[int, Numbers]:
        """Return which sources give to some of these pages, and to which."""
        found = {source: np.intersect1d(inflow.names, names) for source, (inflow, *_) in self._heard.items()}
        return {source: pages for source, pages in found.items() if len(pages)}

    @property
    def refused(self) -> float:
        """How much of what sources give does not count."""
        return sum((1 - share) * given for _, given, share in self._heard.values())

    def _rows(self, names: Numbers) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Which names are known, and the rows of these."""
        if not len(self._names):
            return np.zeros(len(names), np.bool_), np.empty(0, np.int64)
        places = np.minimum(np.searchsorted(self._names, names), len(self._names) - 1)
        known = self._names[places] == names
        return known, self._order[places[known]]
