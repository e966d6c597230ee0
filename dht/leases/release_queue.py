"""Leases that this node gave back, until their voters are told.

Pure: values in, values out.
"""

from collections.abc import Mapping

from dht.keys import NodeId, Slot
from dht.leases.voter import Team
from dht.messages import Heir, LeaseRelease
from dht.slot_resize import children


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
