"""Moves: who comes first, until when."""

from dht import NodeId, Now, Slot
from dht.leases.lease_transfer import LeaseTransfers
from dht.messages import MAX_MOVE_S

ME, A, B = (NodeId(bytes([n]) * 20) for n in (1, 2, 3))
SLOT = Slot(3)


def at(seconds: float) -> Now:
    return Now(1e9 + seconds, seconds)


def test_an_heir_comes_first_for_a_bounded_time_if_it_is_there():
    moves = LeaseTransfers(ME)
    moves.put(at(0), SLOT, B, 10 * MAX_MOVE_S)
    assert moves.apply(at(MAX_MOVE_S - 1), SLOT, [A, B, ME]) == [B, A, ME]
    assert moves.apply(at(1), SLOT, [A, ME]) == [A, ME]
    assert moves.apply(at(MAX_MOVE_S), SLOT, [A, B, ME]) == [A, B, ME]


def test_a_move_ends_when_somebody_else_holds_the_slot():
    moves = LeaseTransfers(ME)
    moves.put(at(0), SLOT, B, 60)
    moves.note_holders(at(1), SLOT, [B])
    assert moves.lent(at(1)) == {SLOT: B}
    moves.note_holders(at(1), SLOT, [A])
    assert moves.heir(at(1), SLOT) is None


def test_what_is_told_is_told_once_with_the_time_that_is_left():
    moves = LeaseTransfers(ME)
    moves.put(at(0), SLOT, B, 60)
    move = moves.find(at(20), SLOT)
    assert move is not None
    moves.name_heir(SLOT, move)
    assert moves.take_named(at(20)) == {SLOT: (3, B, 40)}
    assert not moves.take_named(at(20))
    assert moves.heir(at(20), SLOT) == B


def test_slots_that_are_no_longer_ours_are_forgotten():
    moves = LeaseTransfers(ME)
    moves.put(at(0), SLOT, ME, 60)
    moves.keep_only(set())
    assert moves.find(at(0), SLOT) is None and not moves.lent(at(0))
