"""One lease that this node holds, and when it goes to another.

Pure: `now` is steady seconds. Another owner that has been the preferred one for HAND_BACK_S gets the slot, the heir of
a transfer at once: the lease is then drained for DRAIN_S, and longer while something begun under it is still going on.
"""

from collections.abc import Callable
from dataclasses import dataclass

from dht.keys import NodeId, Slot
from dht.leases.voter import Team

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
