"""Leases while slots are split: whoever switches when, no range of keys has two holders, and holders go on holding."""

import random
from collections.abc import Sequence
from hashlib import blake2b

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dht.keys import NodeId, Slot, slot_start
from dht.leases.quorum_round import QuorumRound
from dht.leases.voter import Team
from dht.messages import LeaseRelease, LeaseRequest
from dht.slot_set import resize_overlapping
from tests.dht.leases.test_lease_holder import SLOT_BITS, Eyes, Peer, Town
from tests.parameters import proved

FINE = SLOT_BITS + 2


class SplitTown(Town):
    """A town whose nodes number their slots by what each has heard of the strategy."""

    def __init__(self, seed: int, count: int, **fields: float) -> None:
        self.bits: dict[NodeId, int] = {}
        self.told_by: dict[tuple[NodeId, NodeId], tuple[object, int]] = {}
        super().__init__(seed, count, **fields)  # type: ignore[arg-type]

    def split(self, peer: Peer, bits: int) -> None:
        self.bits[peer.id] = bits
        peer.leases.split(bits)
        self.look(peer)

    def bits_of(self, peer: NodeId) -> int:
        return self.bits.get(peer, SLOT_BITS)

    def teams(self, peer: Peer) -> dict[Slot, Team]:
        known, teams = peer.sees | peer.knows, list[Team]()
        for slot in range(1 << self.bits_of(peer.id)):
            salt = slot_start(Slot(slot), self.bits_of(peer.id))[:16]
            order = sorted(known, key=lambda i: blake2b(i, digest_size=8, salt=salt).digest())
            live = [i for i in order[: self.replicas] if i in peer.sees]
            stand_ins = [i for i in order[self.replicas :] if i in peer.sees]
            teams.append(tuple(live + stand_ins[: max(0, min(2, self.replicas) - len(live))]))
        return {Slot(slot): team for slot, team in enumerate(teams)}

    def gossip(self) -> None:
        super().gossip()
        for viewer in self.peers.values():
            for other, told in viewer.told.items():
                if self.told_by.get((viewer.id, other), (None, 0))[0] is not told:
                    self.told_by[viewer.id, other] = (told, self.bits_of(other))

    def eyes(self, peer: Peer) -> Eyes:
        return SplitEyes(self, peer)

    def exchange(self, peer: Peer, asked: QuorumRound, target: NodeId, request: LeaseRequest) -> None:
        if request.slot_bits == self.bits_of(target):
            super().exchange(peer, asked, target, request)

    def tell(self, peer: Peer, releases: dict[NodeId, LeaseRelease]) -> None:
        super().tell(peer, {p: r for p, r in releases.items() if r.slot_bits == self.bits_of(p)})

    def holders(self) -> dict[Slot, list[NodeId]]:
        found: dict[Slot, list[NodeId]] = {Slot(slot): [] for slot in range(1 << FINE)}
        for peer in self.peers.values():
            if peer.up:
                held = frozenset(peer.leases.held(self.clock()))
                for slot in resize_overlapping(held, self.bits_of(peer.id), FINE):
                    found[slot].append(peer.id)
        return found

    def watch(self) -> None:
        """Never two, agreed or not: nobody dies here."""
        self.doubles += [(self.now, slot) for slot, who in self.holders().items() if len(who) > 1]


class SplitEyes(Eyes):
    def announced(self, slot: Slot) -> Sequence[NodeId]:
        assert isinstance(self.town, SplitTown)
        mine, found = self.town.bits_of(self.peer.id), []
        for other in sorted(self.peer.sees - {self.peer.id}):
            told, bits = self.town.told_by.get((self.peer.id, other), (frozenset(), mine))
            if slot in resize_overlapping(told, bits, mine):  # type: ignore[arg-type]
                found.append(other)
        return found


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**9))
def test_never_two_holders_of_a_key_whoever_switches_when(seed: int):
    switch_one_by_one(seed)


@pytest.mark.prove
@settings(max_examples=120, deadline=None)
@given(st.integers(0, 10**9))
def test_never_two_holders_of_a_key_in_many_more_towns(seed: int):
    switch_one_by_one(seed)


def switch_one_by_one(seed: int) -> None:
    rng = random.Random(seed)
    town = SplitTown(seed, rng.randint(1, 7), replicas=rng.randint(1, 4), loss=rng.choice([0.0, 0.1, 0.3]))
    town.run(60.0)
    town.doubles.clear()  # of the first seconds, when views did not agree yet
    for bits in (SLOT_BITS + 1, FINE):
        peers = list(town.peers.values())
        rng.shuffle(peers)
        for peer in peers:
            town.split(peer, bits)
            town.run(rng.choice([0.0, 0.25, 1.0]))
        town.run(rng.uniform(0.0, 60.0))
    town.loss = 0.0
    town.run(100.0)
    assert not town.doubles
    assert town.complete()


@pytest.mark.parametrize("seed", [0, *proved(1, 2)])
def test_a_holder_that_stays_an_owner_holds_on_with_its_epoch(seed: int):
    town = SplitTown(seed, 5)
    town.run(100.0)  # what others got first was handed back to whom it belongs
    before = {p.id: dict(p.leases.held(town.clock())) for p in town.peers.values()}
    for peer in town.peers.values():
        town.split(peer, SLOT_BITS + 1)
    for _ in range(20):
        town.run(1.0)
        for peer in town.peers.values():
            teams, held = town.teams(peer), peer.leases.held(town.clock())
            for slot, epoch in before[peer.id].items():
                for part in (Slot(2 * slot), Slot(2 * slot + 1)):
                    assert held.get(part) == (epoch if peer.id in teams[part] else None)
    town.run(20.0)
    assert town.complete(), "the parts of others have new holders"
