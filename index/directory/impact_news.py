"""What each keeper of rows was told, so that it is told only what is new to it.

Pure: a table and peers in, messages out. What a keeper did not take is told again as a whole.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dht import NodeId, Slot
from index.directory.impact_table import ImpactTable
from index.directory.messages import MOST_ENTRIES, MOST_PARTS, ImpactPart, ImpactsTaken, SlotCounts, TellImpacts
from index.directory.own_impacts import OwnImpacts


@dataclass(slots=True)
class _ToldPeer:
    changes: dict[Slot, int] = field(default_factory=dict)  # by slot of terms: up to which change it was told
    counts: dict[int, SlotCounts] = field(default_factory=dict)
    wholes: set[Slot] = field(default_factory=set)  # told as a whole since it was told all that there is


@dataclass(frozen=True, slots=True)
class SpokenSlots:
    """Says of which slots a node can speak at an instant (Unix seconds), in which of them its copy is level with those
    of most owners, and how many documents each has."""

    at: float
    counts: Mapping[int, SlotCounts]
    level: tuple[int, ...]


class ImpactNews:
    """What one node has to tell. `run`: of this process; `numbers`: of analyzer and ranking."""

    def __init__(self, run: int, slot_bits: int, numbers: tuple[int, int]) -> None:
        self._run, self._slot_bits, self._numbers = run, slot_bits, numbers
        self._told: dict[NodeId, _ToldPeer] = {}

    def keep(self, peers: Mapping[NodeId, Sequence[Slot]]) -> None:
        """Remember these peers alone, each with the slots of terms whose rows it keeps."""
        self._told = {peer: told for peer, told in self._told.items() if peer in peers}
        for peer, told in self._told.items():
            told.changes = {slot: change for slot, change in told.changes.items() if slot in peers[peer]}

    def messages(
        self, peer: NodeId, term_slots: Sequence[Slot], own: OwnImpacts, spoken: SpokenSlots
    ) -> list[TellImpacts]:
        """Return what a peer has to hear now, one message at least: that all else is as it was."""
        told = self._told.get(peer, _ToldPeer())
        table, parts = own.settle(), list[list[ImpactPart]]()
        size = 0
        for slot in term_slots:
            since = told.changes.get(slot, 0)
            news = own.news(table.part(slot, self._slot_bits), since)
            if since and not len(news):
                continue
            for piece, has_more in _pieces(news):
                if not parts or size + len(piece) > MOST_ENTRIES or len(parts[-1]) == MOST_PARTS:
                    parts.append([])
                    size = 0
                parts[-1].append(ImpactPart(slot, not since, has_more, piece.packed()))
                size += len(piece)
        counts = tuple(each for slot, each in spoken.counts.items() if told.counts.get(slot) != each)
        slots = tuple(sorted(spoken.counts))
        head = self._slot_bits, self._run, *self._numbers, own.average, spoken.at, slots, spoken.level
        batches, last = parts or [[]], max(len(parts) - 1, 0)
        return [TellImpacts(*head, () if n else counts, tuple(each), n == last) for n, each in enumerate(batches)]

    def note_taken(self, peer: NodeId, sent: TellImpacts, taken: ImpactsTaken, change: int) -> bool:
        """Note what a peer has now, up to a change; return whether nothing has to be told again soon: it
        lacks nothing, or what it was just told as a whole, for which it has no room."""
        if not taken.is_taken:
            return False
        told, missing = self._told.setdefault(peer, _ToldPeer()), set(taken.missing)
        if taken.has_counts:
            told.counts = {slot: each for slot, each in told.counts.items() if slot in sent.slots}
            told.counts |= {each.slot: each for each in sent.counts}
        else:
            told.counts = {}
        told.changes |= {Slot(part.term_slot): change for part in sent.parts if not part.has_more}
        told.changes = {slot: at for slot, at in told.changes.items() if slot not in missing}
        told.wholes |= {Slot(part.term_slot) for part in sent.parts if part.is_whole}
        if not sent.is_all:
            return taken.has_counts
        lacking, told.wholes = missing - told.wholes, set()
        return taken.has_counts and not lacking


def _pieces(table: ImpactTable) -> Iterator[tuple[ImpactTable, bool]]:
    """Cut what is too much for one message; tell of each piece whether others follow."""
    for begin in range(0, max(len(table), 1), MOST_ENTRIES):
        piece = slice(begin, begin + MOST_ENTRIES)
        yield ImpactTable(table.hashes[piece], table.words[piece]), piece.stop < len(table)
