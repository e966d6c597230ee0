"""Which nodes own a slot: rendezvous hashing among the nearest members.

Pure: the same members and slot give the same answer on every node, which is why nobody has to decide. A member's
weight for a slot is a hash of its id and the slot's 160-bit start, so the even child of a doubled slot keeps its
owners; only the 16 members nearest to the start (XOR) count, so that in a large network each node needs to know its
neighbourhood only. Rankings are computed when asked for, and stay for as long as their neighbourhood has the same
members, whoever comes and goes elsewhere.
Sources: Thaler & Ravishankar 1998 (highest random weight); Maymounkov & Mazières 2002 (metric).
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import lru_cache
from hashlib import blake2b

from dht.keys import KEY_BITS, NodeId, Slot, slot_start
from dht.neighbourhood import Block, block_of, span

NEAREST = 16  # as k of the overlay: what a node knows of its neighbourhood for sure
LIVE_LEAST = 2  # while fewer owners are live (one where the strategy wants one copy), the next in weight stand in


class Placement:
    """The owners of every slot for one set of members; build a new one when `Members.epoch` changes: that is cheap."""

    def __init__(self, members: Sequence[NodeId], slot_bits: int, replicas: int) -> None:
        """`members` sorted; `replicas` ≥ 1."""
        self._members = members
        self._slot_bits = slot_bits
        self._replicas = replicas
        self._quarters: dict[Block, _Quarter] = {}
        self._rankings: dict[Slot, tuple[NodeId, ...]] = {}

    def ranking(self, slot: Slot) -> tuple[NodeId, ...]:
        """The nearest 16 members, highest weight first: owners, then stand-ins in order."""
        found = self._rankings.get(slot)
        if found is None:
            found = self._rankings[slot] = self._quarter(slot_start(slot, self._slot_bits)).ranking(slot)
        return found

    def owners(self, slot: Slot) -> tuple[NodeId, ...]:
        """The min(replicas, members) sticky owners, highest weight first."""
        return self.ranking(slot)[: self._replicas]

    def live_owners(self, slot: Slot, is_live: Callable[[NodeId], bool]) -> tuple[NodeId, ...]:
        """The live owners, joined by the next live ones in weight while there are fewer than two."""
        found: list[NodeId] = []
        for place, member in enumerate(self.ranking(slot)):
            if place >= self._replicas and len(found) >= min(LIVE_LEAST, self._replicas):
                break
            if is_live(member):
                found.append(member)
        return tuple(found)

    def owned(self, node: NodeId, is_live: Callable[[NodeId], bool]) -> frozenset[Slot]:
        """The slots that a node owns or stands in for."""
        slots = (Slot(s) for s in range(1 << self._slot_bits))
        return frozenset(s for s in slots if node in self.owners(s) or node in self.live_owners(s, is_live))

    def neighbours(self, point: bytes) -> tuple[NodeId, ...]:
        """The members around a point: among them are all candidates of all slots that begin there."""
        return self._quarter(point).members

    def _quarter(self, point: bytes) -> "_Quarter":
        block = block_of(self._members, point)
        found = self._quarters.get(block)
        if found is None:
            first, end = span(self._members, block)
            found = self._quarters[block] = _quarter_of(tuple(self._members[first:end]), self._slot_bits)
        return found


class _Quarter:
    """The rankings of the slots that begin in one neighbourhood, as far as somebody asked for them."""

    def __init__(self, members: tuple[NodeId, ...], slot_bits: int) -> None:
        self.members = members
        self._numbers = [int.from_bytes(m, "big") for m in members]
        self._slot_bits = slot_bits
        self._rankings: dict[Slot, tuple[NodeId, ...]] = {}

    def ranking(self, slot: Slot) -> tuple[NodeId, ...]:
        found = self._rankings.get(slot)
        if found is None:
            start = slot_start(slot, self._slot_bits)
            nearest = self._nearest(int.from_bytes(start, "big"))
            found = tuple(sorted(nearest, key=lambda m: _weight(m, start), reverse=True))
            self._rankings[slot] = found
        return found

    def _nearest(self, start: int) -> Sequence[NodeId]:
        """The members with the longest common prefix, widened until there are 16, then cut by distance."""
        low, high = 0, len(self._numbers)
        for bits in range(KEY_BITS, -1, -1):
            base = start >> bits << bits
            inner = (
                bisect_left(self._numbers, base, low, high),
                bisect_left(self._numbers, base + (1 << bits), low, high),
            )
            if inner[1] - inner[0] < NEAREST:
                break
            low, high = inner
        return sorted(self.members[low:high], key=lambda m: int.from_bytes(m, "big") ^ start)[:NEAREST]


@lru_cache(maxsize=128)  # neighbourhoods; what is computed for one is shared by whoever sees the same members there
def _quarter_of(members: tuple[NodeId, ...], slot_bits: int) -> _Quarter:
    return _Quarter(members, slot_bits)


def slots_of(block: Block, slot_bits: int) -> range:
    """The slots that begin in a block."""
    width = 32 - slot_bits
    return range(-(-block.first >> width), (block.last >> width) + 1)


def owners(slot: Slot, slot_bits: int, members: Sequence[NodeId], replicas: int) -> tuple[NodeId, ...]:
    """The sticky owners of one slot; use a `Placement` where many are asked for."""
    return Placement(members, slot_bits, replicas).owners(slot)


def _weight(member: NodeId, start: bytes) -> bytes:
    """8 bytes, then the id: no two members weigh the same."""
    return blake2b(member + start, digest_size=8, person=b"dse-node owners").digest() + member
