"""Agreement between owners limits the claims of an answer. Two quorums of sticky owners always share an owner, or there
is no quorum."""

from dataclasses import dataclass, field
from itertools import combinations

import pytest

from dht import NodeId, Slot, Strategy
from index.asking.agreement import Doubts, Reason, Said, is_remnant, needed_owners, owners_digest, weigh
from index.shard.messages import Agreement

A, B, C, D = (NodeId(bytes([n]) * 20) for n in range(1, 5))
SLOT = Slot(3)
STRATEGY = Strategy(network="00", version=7, effective_at=0, expires_at=1, next_at=1)


@dataclass
class Town:
    """One asker's view: slot 3 belongs to A, B and C."""

    live: set[NodeId] = field(default_factory=lambda: {A, B, C, D})
    lost: frozenset[NodeId] = frozenset()
    strategy: Strategy = STRATEGY
    stopped: frozenset[NodeId] = frozenset()
    is_new: bool = False

    def away(self) -> frozenset[NodeId]:
        return self.stopped

    uncounted = away

    def owners_by_slot(self) -> list[tuple[NodeId, ...]]:
        return [(A, B, C)] * (SLOT + 1)

    def replaced(self) -> frozenset[Slot]:
        return frozenset({SLOT}) if self.is_new else frozenset()

    def is_live(self, peer: NodeId) -> bool:
        return peer in self.live

    def members(self) -> tuple[NodeId, ...]:
        return (A, B, C, D)

    @property
    def peers(self) -> "Town":
        return self

    def vanished(self) -> frozenset[NodeId]:
        return self.lost


DIGEST = owners_digest(Town().owners_by_slot(), [SLOT])


def reasons(town: Town, *agreements: Agreement) -> set[Reason]:
    doubts = Doubts()
    weigh([Said(A, (SLOT,), frozenset({SLOT}), each) for each in agreements], town, doubts)  # type: ignore[arg-type]
    return set(doubts.reasons)


def level(mask: int, **others: object) -> Agreement:
    return Agreement(7, DIGEST, (mask,), **others)  # type: ignore[arg-type]


@pytest.mark.parametrize("owners", range(1, 9))
def test_two_quorums_share_an_owner_and_one_of_them_acknowledged(owners: int) -> None:
    for min_acks in range(1, owners + 1):
        needed = needed_owners(owners, min_acks)
        team = range(owners)
        assert 1 <= needed <= owners
        for quorum in combinations(team, needed):
            assert all(set(quorum) & set(other) for other in combinations(team, needed)), "no second one across a cut"
            assert all(set(quorum) & set(acked) for acked in combinations(team, min_acks)), "nothing acknowledged lacks"


@pytest.mark.parametrize(("mask", "is_enough"), [(0b111, True), (0b011, True), (0b100, False), (0b11000, False)])
def test_a_majority_of_the_sticky_owners_must_agree_and_nobody_else_counts(mask: int, is_enough: bool) -> None:
    assert reasons(Town(), level(mask)) == (set() if is_enough else {Reason.BEHIND})


def test_both_rounds_must_agree_each_by_itself() -> None:
    assert not reasons(Town(), level(0b011), level(0b110))
    assert reasons(Town(), level(0b111), level(0b001)) == {Reason.BEHIND}


def test_where_a_majority_is_not_live_its_sleep_is_the_reason() -> None:
    doubts = Doubts()
    weigh([Said(A, (SLOT,), frozenset({SLOT}), level(0b001))], Town(live={A, D}), doubts)  # type: ignore[arg-type]
    (why,) = doubts.as_json()
    assert why == {"reason": "asleep", "slots": 1, "peers": [B.hex(), C.hex()], "peer_count": 2}


def test_who_goes_by_other_rules_proves_nothing() -> None:
    assert reasons(Town(), Agreement()) == {Reason.STRATEGY}
    assert reasons(Town(), Agreement(7, DIGEST, ())) == {Reason.STRATEGY}, "not one for each slot"
    assert reasons(Town(), Agreement(6, DIGEST, (7,))) == {Reason.STRATEGY}
    assert reasons(Town(), Agreement(7, b"other...", (7,))) == {Reason.OWNERS}


def test_an_unlike_copy_counts_only_in_slots_that_this_answer_is_for() -> None:
    assert reasons(Town(), level(0b111, unlike=(SLOT,))) == {Reason.UNLIKE}
    doubts = Doubts()
    weigh([Said(A, (SLOT,), frozenset(), level(0, unlike=(SLOT,)))], Town(), doubts)  # type: ignore[arg-type]
    assert not doubts


def test_half_of_the_members_lost_is_too_many() -> None:
    lost = frozenset(NodeId(bytes([n]) * 20) for n in range(10, 13))
    assert not is_remnant(Town(lost=lost))  # type: ignore[arg-type]
    assert is_remnant(Town(lost=lost | {NodeId(b"x" * 20)}))  # type: ignore[arg-type]
    assert reasons(Town(), level(0b111, vanished=True)) == {Reason.VANISHED}
    assert reasons(Town(is_new=True), level(0b111)) == {Reason.REPLACED}


def test_who_answers_for_slots_that_there_are_not_counts_slots_otherwise() -> None:
    doubts, beyond = Doubts(), Slot(SLOT + 1)
    weigh([Said(A, (beyond,), frozenset({beyond}), level(0b111))], Town(), doubts)  # type: ignore[arg-type]
    assert doubts.reasons == {Reason.STRATEGY}


def test_owners_digests_differ_with_any_owner_and_its_place() -> None:
    class Other(Town):
        def owners_by_slot(self) -> list[tuple[NodeId, ...]]:
            return [(B, A, C)] * (SLOT + 1)

    assert owners_digest(Other().owners_by_slot(), [SLOT]) != DIGEST


@pytest.mark.parametrize(("mask", "is_exact"), [(0b101, True), (0b011, False), (0b110, False), (0b100, False)])
def test_who_said_farewell_is_not_asked_for_agreement_and_its_own_does_not_count(mask: int, is_exact: bool) -> None:
    assert reasons(Town(live={A, C}, stopped=frozenset({B})), level(mask)) == (set() if is_exact else {Reason.BEHIND})
    assert reasons(Town(live={B}, stopped=frozenset({B})), level(0b010)) == {Reason.ASLEEP}
    assert not reasons(Town(live={C}, stopped=frozenset({A, B})), level(0b100))
