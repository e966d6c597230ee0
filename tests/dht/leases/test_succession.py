"""When it is a node's turn to ask for a slot that nobody holds."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from dht import NodeId, Now, Slot
from dht.leases.lease import LeaseTransfers
from dht.leases.succession import FREED_S, PATIENCE_S, Succession, preference
from dht.leases.voter import Voter

BITS, SLOT = 4, Slot(3)
TEAM = tuple(preference(SLOT, BITS, [NodeId(bytes([n]) * 20) for n in range(4)]))
FIRST, SECOND, THIRD, LAST = TEAM


def at(seconds: float) -> Now:
    return Now(1e9 + seconds, seconds)


@dataclass
class Eyes:
    """A view that is told what it sees."""

    have: set[NodeId] = field(default_factory=set)
    holding: list[NodeId] = field(default_factory=list)
    old: set[NodeId] = field(default_factory=set)

    def is_ready(self, peer: NodeId, slot: Slot) -> bool:
        return peer in self.have

    def ready(self, slot: Slot) -> Sequence[NodeId]:
        return sorted(self.have)

    def announced(self, slot: Slot) -> Sequence[NodeId]:
        return self.holding

    def seasoned(self, peers: Sequence[NodeId]) -> Sequence[NodeId]:
        return [peer for peer in peers if peer in self.old]


def turns_of(peer: NodeId) -> Succession:
    voter = Voter(peer)
    voter.set_teams(at(0), {SLOT: TEAM})
    return Succession(peer, BITS, voter, LeaseTransfers(peer), 0.0)


def waits(peer: NodeId, eyes: Eyes) -> float | None:
    """Seconds of vacancy until it asks; None where it does not within two minutes."""
    turns = turns_of(peer)
    return next((second for second in range(120) if turns.is_due(at(second), SLOT, eyes)), None)


def test_the_ready_ask_in_their_order_and_who_lacks_the_visits_does_not():
    eyes = Eyes(have={FIRST, THIRD, LAST})
    assert [waits(peer, eyes) for peer in TEAM] == [0, None, PATIENCE_S, 2 * PATIENCE_S]


def test_where_nobody_is_ready_all_ask_in_their_order_a_little_later():
    assert [waits(peer, Eyes()) for peer in TEAM] == [n * PATIENCE_S for n in (1, 2, 3, 4)]


def test_newcomers_ask_after_all_who_were_there():
    eyes = Eyes(have={*TEAM}, old={SECOND, LAST})
    assert [waits(peer, eyes) for peer in (SECOND, LAST, FIRST, THIRD)] == [n * PATIENCE_S for n in (0, 1, 2, 4)]


def test_patience_begins_anew_while_somebody_is_said_to_hold_the_slot():
    turns, eyes = turns_of(SECOND), Eyes(have={*TEAM}, holding=[FIRST])
    assert not any(turns.is_due(at(second), SLOT, eyes) for second in range(60))
    turns.note_release(at(60), SLOT, FIRST)  # the release is newer than the heartbeat
    assert not turns.is_due(at(61), SLOT, eyes)
    assert turns.is_due(at(61 + PATIENCE_S), SLOT, eyes)
    assert not turns.is_due(at(60 + FREED_S), SLOT, eyes), "it has taken it again"
    eyes.holding = []
    turns.note_taken(SLOT)  # whom it asked named a holder
    assert not turns.is_due(at(100), SLOT, eyes)
    assert turns.is_due(at(100 + PATIENCE_S), SLOT, eyes)


def test_who_holds_yields_to_whom_the_order_prefers_but_not_to_one_that_lacks_the_slot():
    turns = turns_of(SECOND)
    assert turns.successor(at(0), SLOT, Eyes(have={*TEAM})) == FIRST
    assert turns.successor(at(0), SLOT, Eyes(have={SECOND, LAST})) is None
    assert turns.meets_better(at(0), SLOT, Eyes(holding=[FIRST]))
    assert not turns.meets_better(at(0), SLOT, Eyes(holding=[LAST]))


def test_a_node_without_votes_comes_after_nobody_and_gets_no_votes_while_others_are_there():
    eyes = Eyes(have={*TEAM}, holding=[FIRST])
    turns = turns_of(SECOND)
    assert turns.successor(at(0), SLOT, eyes) == FIRST and turns.may_ask(FIRST, SLOT, eyes)
    turns.without_votes = frozenset([FIRST])
    assert turns.successor(at(0), SLOT, eyes) is None and turns.preferred(SLOT, eyes) == SECOND
    assert not turns.may_ask(FIRST, SLOT, eyes) and turns.may_ask(SECOND, SLOT, eyes)
    assert turns.is_due(at(0), SLOT, eyes), "what it says that it holds is no lease"
