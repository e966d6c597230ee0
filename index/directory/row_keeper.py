"""The rows that a node keeps for others: those of all terms whose hashes lie in slots that it owns.

Pure: messages in, pages out, words in blocks. What one owner of a slot says of it counts together with what the others
say (`told_terms.py`, `weighed_owners.py`). Until most of a slot's owners have told all that they have, lately and while
their copies were level, the slot counts as unknown: it may hold anything, and nobody leaves it out. Levels are held
against signed pages, those that are asked for first (`level_doubts.py`, `better_pages.py`). What is kept over a
restart: a `note`, then all slots `settle`d, then `note_sets`; a keeper is made of them again. Who told more meanwhile
is answered up to where it is known, and goes on from there.
"""

from collections.abc import Callable, Iterator, Mapping
from math import inf

import msgspec
import numpy as np

from dht import BadMessage, NodeId, Slot
from index.directory.better_pages import BetterPages, seen_level
from index.directory.block_table import Blocks
from index.directory.impact_pack import unpack_told
from index.directory.impact_table import ImpactTable, number_of, slots_of, term_slot
from index.directory.level_doubts import LevelDoubts
from index.directory.messages import MOST_ENTRIES, MOST_UNKNOWN, AskRows, LevelsTaken, TellLevels, ToldRows
from index.directory.row_page import RowPage, most_named, pack_page
from index.directory.speaker_sets import SpeakerSets
from index.directory.term_row import MOST_NAMED, TermRow
from index.directory.told_epoch import EPOCH_S, MADE_AHEAD_S, ToldEpoch, in_force, worth_keeping
from index.directory.told_terms import ToldTerms
from index.directory.weighed_owners import Owners, WeighedOwners, WeighedSlot, seats_of
from index.directory.witness_check import LevelClaim, SeenPage, WitnessVerdict
from index.text.analyzer_rules import NEWEST_ANALYZER

MOST_KEPT = 16_000_000  # entries of all owners, some 4 bytes each on the disk
MOST_WAITING = 400_000  # entries that are not joined in yet, 20 bytes each in memory
AHEAD_S = 120.0  # by which a clock may be ahead
TOLD_S = 600.0  # after a page was written all its owners have told of it
REFRESH_S = 5.0  # between two looks at who has told what
_LEAP = 1 << 16  # numbers that are left out after a restart: more than are given out between a note and its blocks


class _NotedRows(msgspec.Struct):
    numbers: tuple[int, int, int]
    numbered: int
    told: dict[bytes, list[ToldEpoch]]


class RowKeeper:
    """Keeps the rows of one node's terms. `numbers`: of the analyzer and the ranking that they are for."""

    def __init__(
        self,
        slot_bits: int,
        numbers: tuple[int, int],
        blocks_of: Callable[[int], Blocks],
        noted: bytes = b"",
        sets: bytes = b"",
        most_entries: int = MOST_KEPT,
        doubts: LevelDoubts | None = None,
        better: BetterPages | None = None,
    ) -> None:
        """`blocks_of`: where the words on the terms of a slot are kept; `noted`, `sets`: what `note` and
        `note_sets` returned; `doubts`: None where all levels are believed."""
        self.slot_bits, self.numbers, self._most, self._blocks_of = slot_bits, numbers, most_entries, blocks_of
        self._doubts, self._better = doubts, better or BetterPages()
        self._terms: dict[Slot, ToldTerms] = {}
        self.entries = self._waiting = 0  # words of owners, of a term in a slot each; of them, those not joined in yet
        self._sets = SpeakerSets(sets)
        known = _read_note(noted, self._all_numbers)
        self._told = {NodeId(peer): told for peer, told in known.told.items()}
        self._numbered = known.numbered
        self._owners: Owners = ()
        self._seats = seats_of(())
        self._weighed, self._weighed_at = self._weigh(0.0), -inf
        self._slots: dict[Slot, WeighedSlot] = {}

    @staticmethod
    def is_noted(noted: bytes, slot_bits: int, numbers: tuple[int, int]) -> bool:
        """Tell whether a note is of a keeper of such rows."""
        return _read_note(noted, (*numbers, slot_bits)).numbered > 0

    @property
    def term_slots(self) -> list[Slot]:
        """The slots of terms whose rows are kept."""
        return list(self._terms)

    def keep(self, owners: Owners, me: NodeId) -> None:
        """Keep rows of the terms of this node's own slots, by the words of those who own any."""
        self._owners, self._seats, self._weighed_at = owners, seats_of(owners), -inf
        mine = {Slot(number) for number, team in enumerate(owners) if me in team}
        self._told = {peer: told for peer, told in self._told.items() if peer in self._seats}
        for slot in self._terms.keys() - mine:
            self._terms.pop(slot).clear()
            for each in self._every():
                each.known.pop(slot, None)
        for slot in sorted(mine - self._terms.keys()):
            self._terms[slot] = ToldTerms(self._blocks_of(slot), self._sets)
        self.entries = sum(map(len, self._terms.values()))
        self._waiting = sum(each.waiting for each in self._terms.values())
        for each in self._every():
            each.known = {slot: number for slot, number in each.known.items() if slot in self._terms}

    def take(self, peer: NodeId, told: TellLevels, now: float) -> LevelsTaken:
        """Take what a peer tells, who owns a slot; `now`: Unix seconds. Raises BadMessage where it cannot be true."""
        if (told.slot_bits, told.analyzer, told.ranking) != (self.slot_bits, *self.numbers):
            return LevelsTaken()
        if abs(told.epoch - now // EPOCH_S) > 1:
            return LevelsTaken()
        table = unpack_told(told.entries, self.slot_bits, MOST_ENTRIES, peer.hex())
        limits = NEWEST_ANALYZER.limits
        for counts in told.counts:
            if any(length > counts.documents * most for length, most in zip(counts.lengths, limits, strict=True)):
                raise BadMessage(peer.hex(), f"documents of slot {counts.slot} longer than the analyzer allows")
        if any(slot >= 1 << self.slot_bits for slot in told.slots) or list(told.slots) != sorted(set(told.slots)):
            raise BadMessage(peer.hex(), "slots out of order, or that are none")
        epoch = self._epoch_of(peer, told)
        has_counts = epoch.understands(told) and self._hear(epoch, told, table, now)
        self._told[peer] = worth_keeping(self._told[peer], now, self._terms.keys())
        while self._waiting > MOST_WAITING:
            self.settle(max(self._terms, key=lambda slot: self._terms[slot].waiting))
        missing = tuple(sorted(self._terms.keys() - epoch.known.keys()))
        return LevelsTaken(True, epoch.change, missing, has_counts, epoch.slots_digest)

    def rows(self, ask: AskRows, now: float) -> ToldRows:
        """Answer who asks for rows; raises BadMessage where they are not kept here, or too little is known."""
        if (ask.slot_bits, ask.analyzer, ask.ranking) != (self.slot_bits, *self.numbers):
            raise BadMessage(
                "", f"rows are kept for {self.slot_bits} bits of slots, analyzer and ranking {self.numbers}"
            )
        slots = {each: term_slot(each, self.slot_bits) for each in ask.hashes}
        if missing := set(slots.values()) - self._terms.keys():
            raise BadMessage("", f"rows of slot {min(missing)} are kept by others")
        self._refresh(now)
        weighed = {slot: self._slot(slot) for slot in sorted(set(slots.values()))}
        unknown = sorted(set[int]().union(*(each.unknown for each in weighed.values())))
        if len(unknown) > min(MOST_UNKNOWN, len(self._owners) // 2):
            raise BadMessage("", f"of {len(unknown)} slots too few owners have told what they hold")
        most = most_named(len(slots))
        rows = {each: self._row(number_of(each), slot, now, most) for each, slot in slots.items()}
        if self._doubts and self._doubts.wants(now):
            self._doubt(self._doubts, *self._doubts.one_of(list(slots.items())), now)
        page = pack_page(RowPage(self._weighed.epoch, rows))
        return ToldRows(page, tuple(unknown), max(0.0, min(each.as_of for each in weighed.values())))

    def next_claim(self) -> LevelClaim | None:
        """Take a level that is to be checked, None where none is."""
        return self._doubts.next() if self._doubts else None

    def judged(self, claim: LevelClaim, verdict: WitnessVerdict, page: bytes, now: float) -> bool:
        """Take what a check of a claim gave; return whether its owner is no longer believed from now on."""
        is_found_out = self._doubts is not None and self._doubts.note(claim, verdict, page, now)
        if is_found_out:
            self._weighed_at = -inf
        return is_found_out

    def see(self, term_hash: bytes, slot: Slot, page: SeenPage, now: float) -> bool:
        """Take what a page of a slot was seen to have of a term; return whether it is more than its row says. Who told
        less of a later time is no proof any more of what the slot holds."""
        number, term = number_of(term_hash), term_slot(term_hash, self.slot_bits)
        if term not in self._terms or slot >= len(self._owners):
            return False
        self._refresh(now)
        level, is_name = page.level_by(self._weighed.epoch.average)
        said = self._row(number, term, now).said_of(slot)
        if level <= said.level and said.is_name >= is_name:
            return False
        teams = self._slot(term).teams
        levels = self._terms[term].levels(number, teams)
        told = dict(zip(levels.slots.tolist(), levels.counted, strict=True)).get(slot)
        for seat, peer in enumerate(self._owners[slot]):
            has_spoken = teams.numbers[slot, seat] >= 0 and self._in_force(peer, now).at > page.written_at + TOLD_S
            if self._doubts and has_spoken and (told is None or told[seat] < level):
                self._doubts.note_low(peer, slot, now)
        self._better.note(number, slot, seen_level(level, is_name, self._weighed.epoch.average, now))
        self._weighed_at = -inf
        return True

    def average(self, now: float) -> float | None:
        """Return the mean length of the network's documents, None while that of most slots is not known."""
        self._refresh(now)
        return self._weighed.epoch.average if 2 * self._weighed.known_slots > len(self._owners) else None

    def note(self) -> bytes:
        """Return what is to be noted beside the blocks, once what was told until now is joined in."""
        told = {bytes(peer): each for peer, each in self._told.items()}
        return msgspec.msgpack.encode(_NotedRows(self._all_numbers, self._numbered + _LEAP, told))

    def note_sets(self) -> bytes:
        """Return what else is to be noted beside the blocks, once all is joined in."""
        self._sets.forget(self._counted())
        return self._sets.note()

    def settle(self, slot: Slot) -> None:
        """Join in what waits of the terms of a slot, and forget what does not count any more."""
        if (terms := self._terms.get(slot)) is not None:
            self.entries, self._waiting = self.entries - len(terms), self._waiting - terms.waiting
            terms.settle(self._counted(slot))
            self.entries += len(terms)

    @property
    def _all_numbers(self) -> tuple[int, int, int]:
        return *self.numbers, self.slot_bits

    def _counted(self, slot: Slot | None = None) -> set[int]:
        """The numbers of all words that count, or may soon; those of one slot's terms, where it is named."""
        found = set[int]()
        for each in self._every():
            found |= {number for at, number in each.known.items() if slot in (None, at)}
            if each.coming and slot in (None, each.coming[0]):
                found.add(each.coming[1])
        return found

    def _row(self, number: int, slot: Slot, now: float, most: int = MOST_NAMED) -> TermRow:
        """The row of a term, given its slot, with so many slots named at most."""
        row = self._terms[slot].row(number, self._slot(slot).teams, most)
        return self._better.raised(number, row, most, self._weighed.epoch.average, now)

    def _doubt(self, doubts: LevelDoubts, term_hash: bytes, term: Slot, now: float) -> None:
        """Look at a row for levels to be checked."""
        number, teams = number_of(term_hash), self._slot(term).teams
        levels = self._terms[term].levels(number, teams)
        suspected = np.zeros(levels.told.shape, np.bool_)
        for peer in self._seats.keys() & doubts.suspects:
            places, seats = self._seats[peer]
            lines = np.flatnonzero(np.isin(levels.slots, places))
            suspected[lines, seats[np.searchsorted(places, levels.slots[lines])]] = True
        for line, seat, is_drawn in doubts.pick(levels, suspected, now):
            slot, level = Slot(int(levels.slots[line])), int(levels.told[line, seat])
            peer = self._owners[slot][seat]
            told = self._in_force(peer, now)
            if told.known.get(term) == teams.numbers[slot, seat]:  # no newer table has come since
                named, made_at = (peer, slot, number, level), max(told.made_at, told.epoch * EPOCH_S - MADE_AHEAD_S)
                doubts.offer(LevelClaim(*named, told.run, told.average, made_at, is_drawn), now)

    def _in_force(self, peer: NodeId, now: float) -> ToldEpoch:
        """What counts now of those who told anything."""
        found = in_force(self._told[peer], now, self._terms.keys())
        assert found is not None, "its words are counted"
        return found

    def _every(self) -> Iterator[ToldEpoch]:
        return (each for told in self._told.values() for each in told)

    def _epoch_of(self, peer: NodeId, told: TellLevels) -> ToldEpoch:
        """What is known of the table that a peer speaks of."""
        every = self._told.setdefault(peer, [])
        found = next((each for each in every if (each.run, each.epoch) == (told.run, told.epoch)), None)
        if found is None:
            every.append(found := ToldEpoch(told.run, told.epoch, told.made_at, told.average, known={}))
        return found

    def _hear(self, epoch: ToldEpoch, told: TellLevels, table: ImpactTable, now: float) -> bool:
        """Take what is said of an epoch; return whether the counts of all its slots are known."""
        has_counts, has_words = epoch.hear(told), len(table) or told.wholes
        if has_words and len(self._terms) and self.entries + len(table) <= self._most:
            self._take_words(epoch, told, table)
        if told.is_all and told.since <= epoch.change:
            epoch.change, epoch.at = max(told.change, epoch.change), min(told.at, now + AHEAD_S)
        return has_counts

    def _take_words(self, epoch: ToldEpoch, told: TellLevels, table: ImpactTable) -> None:
        """Take words on terms: what changed is of use to those alone who know the rest."""
        slots, new, wholes = slots_of(table.hashes, self.slot_bits), 0, np.array(told.wholes, np.int64)
        begins, ends = np.searchsorted(slots, wholes).tolist(), np.searchsorted(slots, wholes, "right").tolist()
        for slot, begin, end in zip(map(Slot, told.wholes), begins, ends, strict=True):
            if slot not in self._terms:
                continue
            if epoch.coming is None or (epoch.coming[0], epoch.coming[2]) != (slot, told.at):
                if not new:
                    self._numbered = new = self._numbered + 1
                epoch.coming = slot, new, told.at
            number = epoch.coming[1]
            self._take(slot, number, table[begin:end])
            if not (told.is_cut and slot == told.wholes[-1]):
                epoch.known[slot], epoch.coming = number, None
        if told.since <= epoch.change:
            said = frozenset(told.wholes)
            for slot in map(Slot, np.unique(slots).tolist()):
                if slot in epoch.known and slot not in said:
                    self._take(slot, epoch.known[slot], table[slots == slot])

    def _take(self, slot: Slot, number: int, news: ImpactTable) -> None:
        terms = self._terms[slot]
        before = terms.waiting
        terms.take(number, news)
        self.entries += terms.waiting - before
        self._waiting += terms.waiting - before

    def _refresh(self, now: float) -> None:
        """Look anew at what all slots hold and who has told what, now and then: all rows of a page go by one epoch."""
        if not self._weighed_at <= now < self._weighed_at + REFRESH_S:
            self._weighed_at, self._weighed, self._slots = now, self._weigh(now), {}

    def _weigh(self, now: float) -> WeighedOwners:
        found = {peer: in_force(told, now, self._terms.keys()) for peer, told in self._told.items()}
        told: Mapping[NodeId, ToldEpoch] = {peer: each for peer, each in found.items() if each}
        disbelieved, low = (self._doubts.disbelieved(now), self._doubts.low(now)) if self._doubts else ((), ())
        return WeighedOwners(told, self._owners, self._seats, self._all_numbers, now, disbelieved, low)

    def _slot(self, slot: Slot) -> WeighedSlot:
        if (known := self._slots.get(slot)) is None:
            known = self._slots[slot] = self._weighed.slot(slot)
        return known


def _read_note(noted: bytes, numbers: tuple[int, int, int]) -> _NotedRows:
    """Read a note; a keeper of other rows has nothing from it."""
    nothing = _NotedRows(numbers, 0, {})
    try:
        found = msgspec.msgpack.decode(noted, type=_NotedRows) if noted else nothing
    except msgspec.MsgspecError:
        return nothing
    return found if found.numbers == numbers else nothing
