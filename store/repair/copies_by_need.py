"""How many copies each slot has, and which keeper copies it when: soon where one is left, later where two are.

Pure, but for the view that it is given; `now` is steady time in seconds. Copies are the live ones, owners' or keepers',
that are complete, and those of silent ones that are expected back (`absences.py`): keepers sleep, too. A slot's keepers
are who would own it if the silent were forgotten, so what they copy need not move again. Each finds out by itself that
it is the first of them which has no copy; if it does not finish, the next one begins as well.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from types import MappingProxyType

from dht import NodeId, Slot, View
from store.repair.absences import Absences

PATIENCE_S = 1800.0  # a slot that lacks copies, but has two, waits so long: most who are away come back
TURN_S = 600.0  # so long the first keeper is waited for before the next one begins


@dataclass(frozen=True, slots=True)
class SlotCopies:
    """One slot as this node sees it.

    `holders`: live nodes that hold all of it.
    `silent`: silent candidates that held it, and whether each is a stable machine.
    `keepers`: nodes that keep copies in the place of silent owners."""

    owners: tuple[NodeId, ...]
    holders: tuple[NodeId, ...]
    silent: Mapping[NodeId, bool]
    keepers: tuple[NodeId, ...]


class Durability:
    """Follows the slots that one node owns or keeps."""

    def __init__(self, me: NodeId, absences: Absences) -> None:
        self._me, self._absences = me, absences
        self._thin: dict[Slot, float] = {}  # too few copies, and since when
        self._last: dict[Slot, float] = {}  # one copy, and since when
        self._keeping: dict[Slot, int] = {}  # what this node copies, or has copied, with the copies that there are
        self._live: Counter[int] = Counter()

    def refresh(self, now: float, slots: Iterable[tuple[Slot, SlotCopies]]) -> Mapping[Slot, int]:
        """Take note of all own and kept slots; return those to be kept whole here, with the copies of each. Once this
        node has begun on a slot, it continues as long as it is a keeper. It stops before it is done only where there
        are enough copies by then."""
        thin, last, keeping = dict[Slot, float](), dict[Slot, float](), dict[Slot, int]()
        self._live = Counter()
        for slot, copies in slots:
            if self._me in copies.owners:
                self._live[len(copies.holders)] += 1
            count = self._count(now, copies)
            if 0 < count < len(copies.owners):
                thin[slot] = self._thin.get(slot, now)
            if count == 1:
                last[slot] = self._last.get(slot, now)
            due_at = last.get(slot, thin[slot] + PATIENCE_S if slot in thin else float("inf"))
            is_begun = slot in self._keeping and (self._me in copies.holders or slot in thin)
            if self._me in copies.keepers and (is_begun or self._is_turn(now, due_at, copies)):
                keeping[slot] = max(count, 1)
        self._thin, self._last, self._keeping = thin, last, keeping
        return keeping

    @property
    def is_thin(self) -> bool:
        """Whether any slot had too few copies at the last look, so that the next may show something else."""
        return bool(self._thin)

    def counts(self, now: float) -> tuple[Mapping[int, int], float, Slot | None]:
        """Return three figures of the last look. The first is the number of own slots by their live copies. The others
        are the seconds for which the longest waiting slot has had too few copies, and that slot. For these, copies that
        are expected back count; they are 0 and None where no slot has too few."""
        oldest = min(self._thin, key=lambda slot: (self._thin[slot], slot), default=None)
        return dict(sorted(self._live.items())), now - self._thin[oldest] if oldest is not None else 0.0, oldest

    def renumbered(self) -> None:
        """Forget everything about slots, which have other numbers from now on."""
        self._thin, self._last, self._keeping = {}, {}, {}

    def _count(self, now: float, copies: SlotCopies) -> int:
        """Count the copies of a slot, those of silent owners that are expected back among them; 0 where none lives."""
        if not copies.holders:
            return 0
        laptops = [peer for peer, is_stable in copies.silent.items() if not is_stable]
        count = len(copies.holders) + sum(self._absences.is_back_soon(now, peer, is_stable=False) for peer in laptops)
        servers = copies.silent.keys() - set(laptops)
        return count + sum(
            self._absences.is_back_soon(now, peer, is_stable=True, is_last=count == 1) for peer in servers
        )

    def _is_turn(self, now: float, due_at: float, copies: SlotCopies) -> bool:
        """Whether this keeper begins now: the slot is due, and those before it have had their time."""
        if now < due_at or self._absences.waits(now):
            return False
        lacking = [keeper for keeper in copies.keepers if keeper not in copies.holders]
        return self._me in lacking and lacking.index(self._me) <= (now - due_at) // TURN_S


Doubted = Mapping[Slot, frozenset[NodeId]]

NOBODY: Doubted = MappingProxyType({})
LOOK_S = 2.0  # between two looks
LINE_SHARES = {1: 0.25}  # of what hand-overs may take, by the copies that there are
OTHER_SHARE = 0.1
CUT_SHARE = 0.5  # of that, while those are away who may only be cut off


@dataclass(frozen=True, slots=True)
class CopyCounts:
    """The live copies of this node's slots.

    `slots_by_copies`: how many slots have how many copies.
    `oldest_s`: for how many seconds the longest waiting slot has had too few, copies that are expected back included;
    0: no slot has too few.
    `oldest`: that slot.
    `kept`, `copying`: slots of silent owners that are whole here, and those that are still to be copied."""

    slots_by_copies: Mapping[int, int]
    oldest_s: float
    oldest: Slot | None
    kept: int
    copying: int

    @property
    def least(self) -> int:
        """The copies of the slot that has the fewest; 0 where there is no slot."""
        return min(self.slots_by_copies, default=0)

    @property
    def mean(self) -> float:
        """The mean of all slots; 0 where there is none."""
        slots = sum(self.slots_by_copies.values())
        return sum(copies * count for copies, count in self.slots_by_copies.items()) / slots if slots else 0.0


class CopiesByNeed:
    """Asks the view now and then, and lets `Durability` decide."""

    def __init__(self, view: View) -> None:
        self._view, self._absences = view, Absences()
        self._durability = Durability(view.node_id, self._absences)
        self._look_at = float("-inf")
        self._quiet: object = None  # of what the last look followed, where it shows the same until that changes
        self._keeping: Mapping[Slot, int] = {}
        self.kept_for_doubted: Set[Slot] = frozenset()  # slots that this node keeps for live owners that have nothing

    def refresh(
        self,
        now: float,
        members: tuple[NodeId, ...],
        live: frozenset[NodeId],
        owned: Set[Slot],
        doubted: Doubted = NOBODY,
    ) -> Mapping[Slot, int] | None:
        """Return the slots to be kept whole here and the copies of each; None where it is too early for a new look.
        While all members live, it looks anew when an owner or a ready copy comes or goes.
        `live`: the members that live, this node left out; `owned`: the slots that it owns; `doubted`: whose copies of
        which slots are none, whatever they say (`possession_audit.py`)."""
        if now < self._look_at:
            return None
        self._look_at = now + LOOK_S
        me, view = self._view.node_id, self._view
        others = [peer for peer in members if peer != me]
        self._absences.refresh(now, others, live, view.peers.silent_s, view.peers.is_stable)
        is_whole = not doubted and all(peer in live or peer == me for peer in members)
        basis = (members, live, owned, view.owners_by_slot(), view.ready_by_slot()) if is_whole else None
        if basis is not None and basis == self._quiet:
            return self._keeping
        self.kept_for_doubted = {slot for slot, peers in doubted.items() if me in view.keepers(slot, peers)} - owned
        slots = sorted(owned | view.kept() | self.kept_for_doubted)
        self._keeping = self._durability.refresh(now, self._copies(slots, live, doubted))
        self._quiet = None if self._durability.is_thin else basis
        return self._keeping

    def stood_still(self, now: float, slept_s: float) -> None:
        """Take note that this node slept for so long."""
        self._absences.stood_still(now, slept_s)

    def renumbered(self) -> None:
        """Take note that slots have other numbers from now on."""
        self._durability.renumbered()
        self._look_at, self._quiet = float("-inf"), None

    def share(self, slots: Iterable[Slot]) -> float:
        """Return the share of the rate of hand-overs that some slots may have: all of it where none is a keeper's."""
        copies = [self._keeping[slot] for slot in slots if slot in self._keeping]
        share = LINE_SHARES.get(min(copies), OTHER_SHARE) if copies else 1.0
        return share * CUT_SHARE if copies and self._absences.is_cut else share

    def counts(self, now: float, ready: Set[Slot]) -> CopyCounts:
        """Return the live copies of the slots that this node owns, and what it keeps of others': `ready` is whole."""
        slots, oldest_s, oldest = self._durability.counts(now)
        kept = len(self._keeping.keys() & ready)
        return CopyCounts(slots, oldest_s, oldest, kept, len(self._keeping) - kept)

    def _copies(
        self, slots: Iterable[Slot], live: frozenset[NodeId], doubted: Doubted
    ) -> Iterator[tuple[Slot, SlotCopies]]:
        view = self._view
        words = {peer: word for peer in view.members() if peer not in live and (word := view.peers.last_word(peer))}
        for slot in slots:
            owners = view.owners(slot)
            held = (peer for peer in view.candidates(slot) if peer in words and slot in words[peer].ready)
            silent = {peer: words[peer].is_stable for peer in held}
            without = doubted.get(slot, frozenset())
            holders = tuple(peer for peer in view.ready(slot) if peer not in without)
            yield slot, SlotCopies(owners, holders, silent, view.keepers(slot, without))
