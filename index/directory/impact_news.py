"""What each keeper of rows has of this node's tables, so that it is told only what is new to it.

Pure: a table and what a keeper said in, messages out. What a keeper has is for itself to say: it is asked first, and
after a restart of either side they go on where it is.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dht import NodeId, Slot
from index.directory.impact_pack import LINE_LEVEL, pack
from index.directory.impact_table import ImpactTable, joined
from index.directory.messages import MOST_ENTRIES, LevelsTaken, SlotCounts, TellLevels
from index.directory.own_impacts import OwnImpacts
from index.directory.told_epoch import digest_of


@dataclass(frozen=True, slots=True)
class SpokenSlots:
    """Says of which slots a node can speak at an instant (Unix seconds), in which of them its copy is not level with
    those of most owners, and how many documents those have that were not there when its table was made."""

    at: float
    slots: tuple[int, ...]
    behind: tuple[int, ...] = ()
    young: tuple[SlotCounts, ...] = ()


@dataclass(frozen=True, slots=True)
class _Has:
    """What a keeper said that it has of a table."""

    change: int
    missing: frozenset[int]
    has_counts: bool
    known_slots: bytes = b""


class ImpactNews:
    """What one node has to tell. `numbers`: of analyzer and ranking."""

    def __init__(self, slot_bits: int, numbers: tuple[int, int]) -> None:
        self._slot_bits, self._numbers = slot_bits, numbers
        self._known: dict[tuple[NodeId, int], _Has] = {}

    def keep(self, peers: Mapping[NodeId, Sequence[Slot]], runs: Sequence[int]) -> None:
        """Remember these peers and tables alone."""
        self._known = {each: has for each, has in self._known.items() if each[0] in peers and each[1] in runs}

    def has_all(self, peer: NodeId, run: int) -> bool:
        """Tell whether a peer said that it has all of a table, but for what changed since."""
        has = self._known.get((peer, run))
        return has is not None and has.has_counts and not has.missing

    def messages(
        self, peer: NodeId, term_slots: Sequence[Slot], own: OwnImpacts, spoken: SpokenSlots
    ) -> Iterator[TellLevels]:
        """Yield what a peer has to hear now, one message at least: that all else is as it was, or first the question
        what it has. The table is read while they are taken."""
        made = own.made
        has = self._known.get((peer, made.run), _Has(made.change, frozenset(), True))
        counts = spoken.young if has.has_counts else (*_counts(own, spoken), *spoken.young)
        young = tuple(each.slot for each in spoken.young)
        head = self._slot_bits, *self._numbers, made.epoch, made.run, made.average, made.made_at, spoken.at
        known = has.known_slots if has.known_slots == digest_of(spoken.slots) else b""
        slots = has.change, made.change, () if known else spoken.slots, spoken.behind, young
        batches = _batches(own, term_slots, self._slot_bits, has)
        batch: _NewsBatch | None = next(batches, _NewsBatch())
        while batch is not None:
            following = next(batches, None)
            said = tuple(batch.wholes), batch.is_cut, pack(joined(batch.tables), LINE_LEVEL), following is None
            yield TellLevels(*head, *slots, counts, *said, known)
            batch, counts = following, ()

    def note_taken(self, peer: NodeId, run: int, sent: Sequence[TellLevels], taken: LevelsTaken) -> bool:
        """Note what a peer has after all of these messages; return whether nothing has to be told again soon: it lacks
        nothing, or what it was just told as a whole, for which it has no room."""
        self._known[peer, run] = _Has(taken.change, frozenset(taken.missing), taken.has_counts, taken.known_slots)
        lacking = set(taken.missing).difference(*(each.wholes for each in sent))
        return taken.has_counts and not lacking and taken.change >= sent[-1].change


class _NewsBatch:
    """What goes into one message."""

    def __init__(self) -> None:
        self.tables, self.wholes, self.size, self.is_cut = list[ImpactTable](), list[int](), 0, False

    def add(self, table: ImpactTable, begin: int, end: int) -> None:
        """Take entries of a table."""
        if begin < end:
            self.tables.append(table[begin:end])
            self.size += end - begin


def _counts(own: OwnImpacts, spoken: SpokenSlots) -> Iterator[SlotCounts]:
    for slot in spoken.slots:
        if slot in own.made.counts:
            yield SlotCounts(slot, *own.made.counts[slot])


def _batches(own: OwnImpacts, term_slots: Sequence[Slot], slot_bits: int, has: _Has) -> Iterator[_NewsBatch]:
    """Cut what is news into messages."""
    batch, is_behind = _NewsBatch(), has.change < own.made.change
    wanted = [slot for slot in sorted(term_slots) if is_behind or slot in has.missing]
    some = max(1, (MOST_ENTRIES << slot_bits) // max(1, len(own)))  # slots whose entries are about a message
    for first in range(0, len(wanted), some):
        slots, end = wanted[first : first + some], 0
        news, counts = own.news(slots, slot_bits, [0 if slot in has.missing else has.change for slot in slots])
        for slot, count in zip(slots, counts, strict=True):
            begin, end, is_whole = end, end + count, slot in has.missing
            is_left = is_whole or count > 0  # that there is nothing of a whole slot is told, too
            while is_left:
                upto = min(end, begin + MOST_ENTRIES - batch.size)
                batch.add(news, begin, upto)
                begin, is_left = upto, upto < end
                batch.wholes += [slot] * is_whole
                if batch.size >= MOST_ENTRIES:
                    batch.is_cut = is_whole and is_left
                    yield batch
                    batch = _NewsBatch()
    if batch.size or batch.wholes:
        yield batch
