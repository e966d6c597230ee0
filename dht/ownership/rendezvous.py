"""Which nodes own a slot: rendezvous hashing among the nearest members.

Pure: the same members and slot give the same answer on every node, which is why nobody has to decide. A member's weight
for a slot is a hash of its id and the slot's 160-bit start. So the even child of a doubled slot keeps its owners. Where
members have different steps of room (`room_step.py`), the weights are scaled: one step up doubles a member's part. Only
the 16 members nearest to the start (XOR) count. So in a large network each node needs to know its neighbourhood only.
Rankings are computed when asked for, and stay for as long as their neighbourhood has the same members, whoever comes
and goes elsewhere. `failure_domains.py` decides which members may keep copies of the same slot. Sources: Thaler &
Ravishankar 1998 (highest random weight); Schindelhauer & Schomaker 2005 (weights by logarithms); Maymounkov & Mazières
2002 (metric).

Lists what a change of strategy moves: which slots get new owners.

Pure: two placements in, moves out. The slots are those of the larger of the two numbers of slots, so that a doubling
is compared with what was before it.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from hashlib import blake2b
from types import MappingProxyType
from typing import NamedTuple

from dht.admission.neighbourhood import IdRange, nearest, neighbourhood_of, span
from dht.keys import NodeId, Slot, slot_start
from dht.ownership.failure_domains import NO_DOMAINS, FailureDomains, owners_first, spread
from dht.ownership.weight_steps import scaled

NEAREST = 16  # as k of the overlay: what a node knows of its neighbourhood for sure
WEIGHT_BYTES = 8
LIVE_LEAST = 2  # while fewer owners are live (one where the strategy wants one copy), the next in weight stand in


class Placement:
    """The owners of every slot for one set of members; made anew when `MemberTable.epoch` changes: it is cheap."""

    def __init__(
        self,
        members: Sequence[NodeId],
        slot_bits: int,
        replicas: int,
        domains: Mapping[NodeId, FailureDomains] = MappingProxyType({}),
    ) -> None:
        """`members` sorted; `replicas` ≥ 1; `domains`: none of a member that is not in it."""
        self._members = members
        self._domains = {member: found for member, found in domains.items() if found != NO_DOMAINS}
        self._steps = steps_of(members, self._domains)
        self._slot_bits = slot_bits
        self._replicas = replicas
        self._neighbourhoods: dict[IdRange, NeighbourhoodRankings] = {}
        self._rankings: dict[Slot, tuple[NodeId, ...]] = {}

    def ranking(self, slot: Slot) -> tuple[NodeId, ...]:
        """Return the 16 candidates of a slot: owners, highest weight first, then stand-ins in order."""
        found = self._rankings.get(slot)
        if found is None:
            found = self._rankings[slot] = self.neighbourhood(slot_start(slot, self._slot_bits)).ranking(slot)
        return found

    def owners(self, slot: Slot) -> tuple[NodeId, ...]:
        """Return the min(replicas, members) sticky owners of a slot, highest weight first."""
        return self.ranking(slot)[: self._replicas]

    @cached_property
    def owners_by_slot(self) -> tuple[tuple[NodeId, ...], ...]:
        """The owners of every slot, by its number."""
        return tuple(self.owners(Slot(number)) for number in range(1 << self._slot_bits))

    def live_owners(self, slot: Slot, is_live: Callable[[NodeId], bool]) -> tuple[NodeId, ...]:
        """Return a slot's live owners, joined by the next live ones in weight while there are fewer than two."""
        found: list[NodeId] = []
        for place, member in enumerate(self.ranking(slot)):
            if place >= self._replicas and len(found) >= min(LIVE_LEAST, self._replicas):
                break
            if is_live(member):
                found.append(member)
        return tuple(found)

    def keepers(
        self, slot: Slot, is_live: Callable[[NodeId], bool], full: Container[NodeId] = ()
    ) -> tuple[NodeId, ...]:
        """Return who is no owner of a slot but would be one if only its live candidates were there: as many as owners
        are silent. A member without room, one of `full`, is passed over."""
        silent = [owner for owner in self.owners(slot) if not is_live(owner)]
        if not silent:
            return ()
        owners, start = self.owners(slot), slot_start(slot, self._slot_bits)
        able = (m for m in self.ranking(slot) if is_live(m) and (m in owners or m not in full))
        first = owners_first(by_weight(able, start, self._steps), self._replicas, self._domains)[: self._replicas]
        return tuple(member for member in first if member not in owners)[: len(silent)]

    def neighbourhood(self, point: bytes) -> "NeighbourhoodRankings":
        """Return the neighbourhood of a point; the same object while its members, and what counts of them, stay the
        same."""
        block = neighbourhood_of(self._members, point)
        found = self._neighbourhoods.get(block)
        if found is None:
            first, end = span(self._members, block)
            members = tuple(self._members[first:end])
            domains = tuple((member, self._domains[member]) for member in members if member in self._domains)
            found = self._neighbourhoods[block] = _neighbourhood_of(members, domains, self._slot_bits, self._replicas)
        return found


class NeighbourhoodRankings:
    """The rankings of the slots that begin in one neighbourhood, as far as somebody asked for them.

    Among `members` are all candidates of all these slots."""

    def __init__(
        self, members: tuple[NodeId, ...], domains: Mapping[NodeId, FailureDomains], slot_bits: int, replicas: int
    ) -> None:
        self.members = members
        self._domains = domains
        self._steps = steps_of(members, domains)
        self._numbers = [int.from_bytes(m, "big") for m in members]
        self._slot_bits = slot_bits
        self._replicas = replicas
        self._rankings: dict[Slot, tuple[NodeId, ...]] = {}

    def ranking(self, slot: Slot) -> tuple[NodeId, ...]:
        """Return the 16 candidates of a slot: owners, highest weight first, then stand-ins in order."""
        found = self._rankings.get(slot)
        if found is None:
            start = slot_start(slot, self._slot_bits)
            candidates = self._candidates(int.from_bytes(start, "big"))
            ranked = by_weight(candidates, start, self._steps)
            found = owners_first(ranked, self._replicas, self._domains) if self._domains else tuple(ranked)
            self._rankings[slot] = found
        return found

    def _candidates(self, start: int) -> Sequence[NodeId]:
        """The 16 nearest members; further ones in place of those who crowd in from one prefix, where there are any."""
        count = NEAREST
        while True:
            near = nearest(self.members, self._numbers, start, count)
            fit = spread(near, self._domains) if self._domains else near
            if len(fit) >= NEAREST or count >= len(self.members):
                return [*fit, *(m for m in near if m not in fit)][:NEAREST]
            count *= 2


@lru_cache(maxsize=128)  # neighbourhoods; what is computed for one is shared by whoever sees the same members there
def _neighbourhood_of(
    members: tuple[NodeId, ...], domains: tuple[tuple[NodeId, FailureDomains], ...], slot_bits: int, replicas: int
) -> NeighbourhoodRankings:
    return NeighbourhoodRankings(members, dict(domains), slot_bits, replicas)


def slots_of(block: IdRange, slot_bits: int) -> range:
    """Return the slots that begin in a block."""
    width = 32 - slot_bits
    return range(-(-block.first >> width), (block.last >> width) + 1)


def weight(member: NodeId, start: bytes) -> bytes:
    """Return what a member weighs for the slot that begins there: 8 bytes, then its id; no two weigh the same."""
    return blake2b(member + start, digest_size=WEIGHT_BYTES, person=b"dse-node owners").digest() + member


def by_weight(members: Iterable[NodeId], start: bytes, steps: Mapping[NodeId, int]) -> list[NodeId]:
    """Return members in the order of their weights for the slot that begins there, highest first; `steps`: empty where
    all have the same."""
    ordered = sorted(members, key=lambda m: weight(m, start), reverse=True)
    if steps:
        ordered.sort(key=lambda m: scaled(int.from_bytes(weight(m, start)[:WEIGHT_BYTES], "big"), steps.get(m, 0)))
    return ordered


def steps_of(members: Sequence[NodeId], domains: Mapping[NodeId, FailureDomains]) -> Mapping[NodeId, int]:
    """Return the steps of some members that are not 0; empty where all members have the same step."""
    found = {member: theirs.step for member, theirs in domains.items() if theirs.step}
    return found if len({found.get(member, 0) for member in members}) > 1 else {}


class SlotMove(NamedTuple):
    """One slot, in the larger of two numbers of slots: its owners before and after, highest weight first."""

    slot: Slot
    before: tuple[NodeId, ...]
    after: tuple[NodeId, ...]

    @property
    def gained(self) -> tuple[NodeId, ...]:
        """Owners that must be sent what lies in the slot."""
        return tuple(owner for owner in self.after if owner not in self.before)


def placement_diff(before: Placement, after: Placement, bits_before: int, bits_after: int) -> Iterator[SlotMove]:
    """Yield every slot in order, in the larger number of slots, with its owners in two placements."""
    bits = max(bits_before, bits_after)
    for number in range(1 << bits):
        old, new = Slot(number >> (bits - bits_before)), Slot(number >> (bits - bits_after))
        yield SlotMove(Slot(number), before.owners(old), after.owners(new))
