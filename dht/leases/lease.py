"""One lease that this node holds, and when it goes to another.

Pure: `now` is steady seconds. Another owner gets the slot once it has been the preferred one for HAND_BACK_S; the heir
of a transfer gets it at once. The holder first drains the lease for DRAIN_S, and longer while work that began under it
continues.

Leases that this node gave back, until their voters are told.

Pure: values in, values out.

Transfers of leases: for a while an heir comes first in the order in which peers should hold a slot.

Pure: `now` is an argument. The holder of a slot makes a transfer, hands the slot over as it hands one back, and names
the heir in the release. A voter believes this of the holder that has its vote. Votes never depend on a transfer: a peer
that does not know of it only asks too early. It ends with its time, and when its heir loses the slot.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dht.clock import Now
from dht.keys import NodeId, Slot
from dht.leases.voter import Team
from dht.messages import MAX_MOVE_S, Heir, LeaseRelease
from dht.slot_set import children

HAND_BACK_S = 20.0  # long enough that a peer that comes and goes does not move leases with every breath
DRAIN_S = 5.0
DRAIN_MOST_S = 60.0  # as long as a fetch may take; what is still not written then may be fetched again

IsBusy = Callable[[Slot], bool]
"""Tells whether something that this node began under the slot's lease is still going on."""


@dataclass(slots=True)
class Lease:
    """A slot's lease as its holder keeps it; instants are steady seconds. A drained one is renewed, not shown."""

    epoch: int
    until: float
    renew_at: float
    team: Team
    asked: int  # the highest epoch asked for
    voters: frozenset[NodeId] = frozenset()  # who granted it the last time
    is_strained: bool = False  # the last renewal failed
    is_doubtful: bool = False  # it may be over: not shown until it is renewed
    outranked_since: float | None = None
    drained_at: float | None = None

    def rests(self, until: float, team: Team) -> bool:
        """Whether nothing is to be done for it up to an instant, as long as its slot has this team."""
        return until < self.renew_at and until < self.until and self.drained_at is None and self.team == team

    def stay(self) -> None:
        """Note that nobody else should hold the slot."""
        self.outranked_since = self.drained_at = None

    def outrank(self, now: float, *, by_heir: bool) -> None:
        """Note that another owner should hold the slot; begin to drain it when that has been so for long enough."""
        if self.drained_at is not None:
            return
        if not by_heir and self.outranked_since is None:
            self.outranked_since = now
        elif by_heir or (self.outranked_since is not None and now - self.outranked_since >= HAND_BACK_S):
            self.drained_at = now + DRAIN_S


def is_drained(now: float, slot: Slot, drained_at: float, is_busy: IsBusy) -> bool:
    """Tell whether all that began under a lease that goes to another has come to its end, or had its time."""
    return now >= drained_at and (not is_busy(slot) or now >= drained_at - DRAIN_S + DRAIN_MOST_S)


class ReleaseQueue:
    """The leases given back since the last messages, and the voters that have to hear of it."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Slot, int, Team]] = []

    def add(self, slot: Slot, epoch: int, voters: Team) -> None:
        """Have these voters told that nobody holds the slot with this epoch any longer."""
        self._waiting.append((slot, epoch, voters))

    def split(self, doublings: int) -> None:
        """Replace each waiting slot by its 2**`doublings` parts, after the network has split all slots."""
        self._waiting = [(part, epoch, told) for s, epoch, told in self._waiting for part in children(s, doublings)]

    def take(self, slot_bits: int, heirs: Mapping[Slot, Heir]) -> dict[NodeId, LeaseRelease]:
        """Return one message for each voter, and forget what they say. `heirs`: who comes next, by slot."""
        lists: dict[NodeId, list[tuple[Slot, int]]] = {}
        for slot, epoch, voters in self._waiting:
            for peer in voters:
                lists.setdefault(peer, []).append((slot, epoch))
        self._waiting = []
        return {
            peer: LeaseRelease(slot_bits, tuple(lists[peer]), tuple(heirs[s] for s, _ in lists[peer] if s in heirs))
            for peer in sorted(lists)
        }


@dataclass(frozen=True, slots=True)
class LeaseTransfer:
    """Names the peer that comes first in a slot's order, and until when (steady seconds)."""

    heir: NodeId
    until: float
    giver: NodeId | None  # who moved it to this node, if it did


class LeaseTransfers:
    """The transfers that one node knows of, at most one a slot."""

    def __init__(self, node_id: NodeId) -> None:
        self._node_id = node_id
        self._moves: dict[Slot, LeaseTransfer] = {}
        self._named: dict[Slot, LeaseTransfer] = {}

    def put(self, now: Now, slot: Slot, heir: NodeId, lent_s: float, giver: NodeId | None = None) -> None:
        """Put an heir first in a slot's order for so many seconds; `giver`: who lent the slot to this node, if it was
        lent."""
        self._moves[slot] = LeaseTransfer(heir, now.steady + min(lent_s, MAX_MOVE_S), giver)

    def end(self, slot: Slot) -> None:
        """Go back to the slot's own order."""
        self._moves.pop(slot, None)

    def find(self, now: Now, slot: Slot) -> LeaseTransfer | None:
        """Return the slot's transfer that is in force, if there is one."""
        move = self._moves.get(slot)
        if move is not None and now.steady >= move.until:
            self.end(slot)
            return None
        return move

    def heir(self, now: Now, slot: Slot) -> NodeId | None:
        """Return who comes first in the slot's order because of a transfer in force."""
        move = self.find(now, slot)
        return move.heir if move is not None else None

    def apply(self, now: Now, slot: Slot, order: Sequence[NodeId]) -> list[NodeId]:
        """Return an order of peers with the heir, if it is among them, before the others."""
        heir = self.heir(now, slot)
        return sorted(order, key=lambda peer: peer != heir)

    def note_holders(self, now: Now, slot: Slot, holders: Sequence[NodeId]) -> None:
        """End the slot's transfer where its heir is not among these holders: it was lost on the way or since."""
        if slot in self._moves and self.heir(now, slot) not in holders:
            self.end(slot)

    def keep_only(self, slots: set[Slot]) -> None:
        """Forget the transfers of all other slots."""
        self._moves = {slot: move for slot, move in self._moves.items() if slot in slots}

    def split(self, doublings: int) -> None:
        """Replace each transferred slot by its 2**`doublings` parts, after the network has split all slots."""
        self._moves = {part: move for slot, move in self._moves.items() for part in children(slot, doublings)}
        self._named = {part: move for slot, move in self._named.items() for part in children(slot, doublings)}

    def name_heir(self, slot: Slot, move: LeaseTransfer) -> None:
        """Have the next releases say that the slot is free for the heir."""
        self._moves[slot] = self._named[slot] = move

    def take_named(self, now: Now) -> Mapping[Slot, Heir]:
        """Return the heirs that the next releases have to name, by slot, and forget that they are to be named."""
        told = {s: (int(s), bytes(m.heir), max(0, int(m.until - now.steady))) for s, m in self._named.items()}
        self._named = {}
        return told

    def lent(self, now: Now) -> Mapping[Slot, NodeId]:
        """Return the slots that were lent to others as far as this node was told, each with its heir."""
        heirs = {slot: self.heir(now, slot) for slot in list(self._moves)}
        return {slot: heir for slot, heir in heirs.items() if heir is not None and heir != self._node_id}
