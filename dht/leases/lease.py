"""One lease that this node holds, and when it goes to another.

Pure: `now` is steady seconds. Another owner that has been the preferred one for HAND_BACK_S gets the slot, the heir of
a transfer at once: the lease is then drained for DRAIN_S, and longer while something begun under it is still going on.

Leases that this node gave back, until their voters are told.

Pure: values in, values out.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dht.keys import NodeId, Slot
from dht.leases.voter import Team
from dht.messages import Heir, LeaseRelease
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
        """Name the parts of slots that were split, each doubled so many times."""
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
