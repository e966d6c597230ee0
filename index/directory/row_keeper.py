"""The rows that a node keeps for others: those of all terms whose hashes lie in slots that it owns.

Pure: messages in, pages out. What one owner of a slot says of it counts together with what the others say
(`told_terms.py`). Until most of a slot's owners have told all that they have, lately and while their copies were level,
the slot counts as unknown: it may hold anything, and nobody leaves it out.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np

from dht import BadMessage, NodeId, Slot
from index.directory.impact import DirectoryEpoch, looser_by
from index.directory.impact_table import ImpactTable, number_of, term_slot, unpacked
from index.directory.messages import MOST_UNKNOWN, AskRows, ImpactPart, ImpactsTaken, SlotCounts, TellImpacts, ToldRows
from index.directory.row_page import RowPage, pack_page
from index.directory.told_terms import SlotTeams, ToldTerms
from index.query.collection_statistics import add
from index.text.field_terms import LIMITS
from index.text.forward_index import Counts

MOST_ENTRIES = 4_000_000  # 20 bytes each, of all owners' words
FRESH_S = 1800.0  # three tellings; who has said nothing for longer is no proof of what is new
AHEAD_S = 120.0  # by which a clock may be ahead
EPOCH_S = 86_400.0  # in which levels only rise
REFRESH_S = 5.0  # between two looks at who has told what
Owners = Sequence[tuple[NodeId, ...]]


@dataclass(slots=True)
class _Whole:
    """That a source has told all of one slot's terms: in which run, as of when, and by which mean length."""

    run: int
    at: float
    average: float


@dataclass(slots=True)
class _Source:
    number: int
    slots: frozenset[int] = frozenset()
    level: frozenset[int] = frozenset()
    counts: dict[int, SlotCounts] = field(default_factory=dict)
    wholes: dict[Slot, _Whole] = field(default_factory=dict)
    coming: dict[Slot, "_Coming"] = field(default_factory=dict)


@dataclass(slots=True)
class _Coming:
    """What is told anew in several messages, all as of one instant."""

    as_of: tuple[int, float]
    tables: list[ImpactTable] = field(default_factory=list)


@dataclass(slots=True)
class _Weighed:
    """Whose words count for the terms of one slot."""

    teams: SlotTeams
    unknown: tuple[int, ...]
    as_of: float


@dataclass(frozen=True, slots=True)
class _Network:
    """What all slots hold, and the epoch that says so."""

    counts: Mapping[int, SlotCounts]
    epoch: DirectoryEpoch


class RowKeeper:
    """Keeps the rows of one node's terms. `numbers`: of the analyzer and the ranking that they are for."""

    def __init__(self, slot_bits: int, numbers: tuple[int, int], most_entries: int = MOST_ENTRIES) -> None:
        self.slot_bits, self.numbers, self._most = slot_bits, numbers, most_entries
        self._terms: dict[Slot, ToldTerms] = {}
        self._sources: dict[NodeId, _Source] = {}
        self._numbered = 0
        self._weighed: dict[Slot, _Weighed] = {}
        self._weighed_at = -inf
        self._weighed_by: Owners = ()
        self._network = self._sum_up((), 0)

    @property
    def entries(self) -> int:
        """How many words of owners are kept, of a term in a slot each."""
        coming = (len(table) for each in self._sources.values() for one in each.coming.values() for table in one.tables)
        return sum(map(len, self._terms.values())) + sum(coming)

    def keep(self, owners: Owners, me: NodeId) -> None:
        """Keep rows of the terms of this node's own slots, by the words of those who own any."""
        mine = {Slot(number) for number, team in enumerate(owners) if me in team}
        every = frozenset[NodeId]().union(*owners)
        for peer in self._sources.keys() - every:
            gone = self._sources.pop(peer)
            for terms in self._terms.values():
                terms.drop(gone.number)
        for slot in self._terms.keys() - mine:
            del self._terms[slot]
            self._weighed.pop(slot, None)
            for source in self._sources.values():
                source.wholes.pop(slot, None)
                source.coming.pop(slot, None)
        for slot in mine - self._terms.keys():
            self._terms[slot] = ToldTerms()

    def take(self, peer: NodeId, told: TellImpacts, now: float) -> ImpactsTaken:
        """Take what a peer tells, who owns a slot; `now`: Unix seconds. Raises BadMessage where it cannot be true."""
        if (told.slot_bits, told.analyzer, told.ranking) != (self.slot_bits, *self.numbers):
            return ImpactsTaken()
        tables = [(part, self._table(peer, part)) for part in told.parts if Slot(part.term_slot) in self._terms]
        for counts in told.counts:
            if any(length > counts.documents * most for length, most in zip(counts.lengths, LIMITS, strict=True)):
                raise BadMessage(peer.hex(), f"documents of slot {counts.slot} longer than the analyzer allows")
        if (source := self._sources.get(peer)) is None:
            self._numbered += 1
            source = self._sources[peer] = _Source(self._numbered)
        source.slots, source.level = frozenset(told.slots), frozenset(told.level)
        source.counts |= {counts.slot: counts for counts in told.counts}
        source.counts = {slot: counts for slot, counts in source.counts.items() if slot in source.slots}
        for part, table in tables:
            self._take_part(source, told, part, table, now)
        if told.is_all:
            self._note_all(source, told, now)
        missing = tuple(sorted(slot for slot in self._terms if not _is_known(source, slot, told.run)))
        return ImpactsTaken(True, missing, source.counts.keys() >= source.slots)

    def rows(self, ask: AskRows, owners: Owners, now: float) -> ToldRows:
        """Answer who asks for rows; raises BadMessage where they are not kept here, or too little is known."""
        if (ask.slot_bits, ask.analyzer, ask.ranking) != (self.slot_bits, *self.numbers):
            raise BadMessage(
                "", f"rows are kept for {self.slot_bits} bits of slots, analyzer and ranking {self.numbers}"
            )
        slots = {each: term_slot(each, self.slot_bits) for each in ask.hashes}
        if missing := set(slots.values()) - self._terms.keys():
            raise BadMessage("", f"rows of slot {min(missing)} are kept by others")
        self._refresh(owners, now)
        weighed = {slot: self._weigh(slot, owners, now) for slot in sorted(set(slots.values()))}
        unknown = sorted(set[int]().union(*(each.unknown for each in weighed.values())))
        if len(unknown) > min(MOST_UNKNOWN, len(owners) // 2):
            raise BadMessage("", f"of {len(unknown)} slots too few owners have told what they hold")
        rows = {each: self._terms[slot].row(number_of(each), weighed[slot].teams) for each, slot in slots.items()}
        page = pack_page(RowPage(self._network.epoch, rows))
        return ToldRows(page, tuple(unknown), max(0.0, min(each.as_of for each in weighed.values())))

    def average(self, owners: Owners) -> float | None:
        """Return the mean length of the network's documents, None while that of most slots is not known."""
        network = self._sum_up(owners, 0)
        return network.epoch.average if 2 * len(network.counts) > len(owners) else None

    def _table(self, peer: NodeId, part: ImpactPart) -> ImpactTable:
        return unpacked(part.entries, Slot(part.term_slot), self.slot_bits, peer.hex())

    def _take_part(self, source: _Source, told: TellImpacts, part: ImpactPart, table: ImpactTable, now: float) -> None:
        """Take a part: what changed is of use to those alone who know the rest."""
        slot, terms = Slot(part.term_slot), self._terms[Slot(part.term_slot)]
        if self.entries + len(table) > self._most:
            source.wholes.pop(slot, None)
            source.coming.pop(slot, None)
        elif part.is_whole:
            coming, as_of = source.coming.get(slot), (told.run, told.at)
            if coming is None or coming.as_of != as_of:
                coming = source.coming[slot] = _Coming(as_of)
            coming.tables.append(table)
            if not part.has_more:
                terms.drop(source.number)
                for each in source.coming.pop(slot).tables:
                    terms.take(source.number, each)
                source.wholes[slot] = _Whole(told.run, min(told.at, now + AHEAD_S), told.average)
        elif _is_known(source, slot, told.run):
            terms.take(source.number, table)
            whole = source.wholes[slot]  # until all is told, some levels are by the former mean length
            whole.average = min(whole.average, told.average)

    def _note_all(self, source: _Source, told: TellImpacts, now: float) -> None:
        """Note that what a source told until now is all that it has."""
        for whole in source.wholes.values():
            if whole.run == told.run:
                whole.at, whole.average = min(told.at, now + AHEAD_S), told.average

    def _refresh(self, owners: Owners, now: float) -> None:
        """Look anew at what all slots hold and who has told what, now and then: all rows of a page go by one epoch."""
        if owners is not self._weighed_by or not self._weighed_at <= now < self._weighed_at + REFRESH_S:
            self._weighed_at, self._weighed_by = now, owners
            self._network, self._weighed = self._sum_up(owners, int(now // EPOCH_S)), {}

    def _weigh(self, slot: Slot, owners: Owners, now: float) -> _Weighed:
        if (known := self._weighed.get(slot)) is None:
            known = self._weighed[slot] = self._weigh_anew(slot, owners, now)
        return known

    def _weigh_anew(self, slot: Slot, owners: Owners, now: float) -> _Weighed:
        counts, epoch = self._network.counts, self._network.epoch
        width = max(map(len, owners), default=1)
        members, sure = np.full((len(owners), max(width, 1)), -1, np.int32), np.zeros(len(owners), np.int64)
        looser, as_of = np.ones(self._numbered + 1), now
        for peer, source in self._sources.items():
            if (whole := source.wholes.get(slot)) is None:
                continue
            looser[source.number] = looser_by(epoch.average, whole.average)
            is_fresh = whole.at > now - FRESH_S
            if is_fresh and source.slots:
                as_of = min(as_of, whole.at)
            for place in source.slots:
                if place < len(owners) and peer in owners[place]:
                    members[place, owners[place].index(peer)] = source.number
                    sure[place] += is_fresh and place in source.level and place in counts
        needed = np.array([len(team) // 2 + 1 for team in owners])
        documents = np.array([counts[place].documents if place in counts else 0 for place in range(len(owners))])
        unknown = np.flatnonzero(sure < needed).tolist()
        return _Weighed(SlotTeams(members, documents, looser), tuple(unknown), as_of)

    def _sum_up(self, owners: Owners, number: int) -> _Network:
        """Add up the counts of all slots that owners told, of each those with the median of documents."""
        found = dict[int, list[SlotCounts]]()
        for peer, source in self._sources.items():
            for slot, counts in source.counts.items():
                if slot < len(owners) and peer in owners[slot]:
                    found.setdefault(slot, []).append(counts)
        medians = {slot: _median_of(each) for slot, each in found.items()}
        lengths: Counts = (0, 0, 0, 0)
        for median in medians.values():
            lengths = add(lengths, median.lengths)
        documents = sum(median.documents for median in medians.values())
        return _Network(medians, DirectoryEpoch(number, *self.numbers, self.slot_bits, documents, lengths))


def _is_known(source: _Source, slot: Slot, run: int) -> bool:
    """Whether a source has told all terms of a slot in this run of its process."""
    whole = source.wholes.get(slot)
    return whole is not None and whole.run == run


def _median_of(counts: Collection[SlotCounts]) -> SlotCounts:
    """Return the counts with the median of documents, the lower one of two."""
    by_documents = sorted(counts, key=lambda each: (each.documents, each.lengths))
    return by_documents[(len(by_documents) - 1) // 2]
