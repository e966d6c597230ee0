"""One lease: when it is handed to another owner, and when it is drained."""

from dht import NodeId, Now, Slot
from dht.leases.lease import DRAIN_S, HAND_BACK_S, Lease, LeaseTransfers, ReleaseQueue
from dht.messages import MAX_MOVE_S

SLOT = Slot(3)


def lease() -> Lease:
    return Lease(epoch=1, until=20.0, renew_at=12.0, team=(), asked=1)


def test_it_is_drained_when_another_has_been_preferred_for_long_enough():
    held = lease()
    held.outrank(100.0, by_heir=False)
    held.outrank(100.0 + HAND_BACK_S - 1, by_heir=False)
    assert held.drained_at is None
    held.outrank(100.0 + HAND_BACK_S, by_heir=False)
    assert held.drained_at == 100.0 + HAND_BACK_S + DRAIN_S


def test_who_is_preferred_again_in_between_stays():
    held = lease()
    held.outrank(100.0, by_heir=False)
    held.stay()
    held.outrank(100.0 + HAND_BACK_S, by_heir=False)
    assert held.drained_at is None


def test_the_heir_of_a_transfer_need_not_wait_and_does_not_prolong_the_draining():
    held = lease()
    held.outrank(100.0, by_heir=True)
    held.outrank(102.0, by_heir=True)
    assert held.drained_at == 100.0 + DRAIN_S


A, B = (NodeId(bytes([n]) * 20) for n in (1, 2))


def test_each_voter_gets_one_message_with_the_heirs_of_its_own_slots():
    queue = ReleaseQueue()
    queue.add(Slot(1), 7, (A, B))
    queue.add(Slot(2), 8, (B,))
    told = queue.take(4, {Slot(2): (2, bytes(A), 60), Slot(5): (5, bytes(B), 60)})
    assert list(told) == [A, B] and all(release.slot_bits == 4 for release in told.values())
    assert told[A].slots == ((1, 7),) and told[A].heirs == ()
    assert told[B].slots == ((1, 7), (2, 8)) and told[B].heirs == ((2, A, 60),)
    assert not queue.take(4, {}), "nobody hears of it twice"


def test_after_a_split_the_parts_are_named():
    queue = ReleaseQueue()
    queue.add(Slot(1), 7, (A,))
    queue.split(2)
    assert queue.take(6, {})[A].slots == ((4, 7), (5, 7), (6, 7), (7, 7))


ME, ANN, BOB = (NodeId(bytes([n]) * 20) for n in (1, 2, 3))


def at(seconds: float) -> Now:
    return Now(1e9 + seconds, seconds)


def test_an_heir_comes_first_for_a_bounded_time_if_it_is_there():
    moves = LeaseTransfers(ME)
    moves.put(at(0), SLOT, BOB, 10 * MAX_MOVE_S)
    assert moves.apply(at(MAX_MOVE_S - 1), SLOT, [ANN, BOB, ME]) == [BOB, ANN, ME]
    assert moves.apply(at(1), SLOT, [ANN, ME]) == [ANN, ME]
    assert moves.apply(at(MAX_MOVE_S), SLOT, [ANN, BOB, ME]) == [ANN, BOB, ME]


def test_a_move_ends_when_somebody_else_holds_the_slot():
    moves = LeaseTransfers(ME)
    moves.put(at(0), SLOT, BOB, 60)
    moves.note_holders(at(1), SLOT, [BOB])
    assert moves.lent(at(1)) == {SLOT: BOB}
    moves.note_holders(at(1), SLOT, [ANN])
    assert moves.heir(at(1), SLOT) is None


def test_what_is_told_is_told_once_with_the_time_that_is_left():
    moves = LeaseTransfers(ME)
    moves.put(at(0), SLOT, BOB, 60)
    move = moves.find(at(20), SLOT)
    assert move is not None
    moves.name_heir(SLOT, move)
    assert moves.take_named(at(20)) == {SLOT: (3, BOB, 40)}
    assert not moves.take_named(at(20))
    assert moves.heir(at(20), SLOT) == BOB


def test_slots_that_are_no_longer_ours_are_forgotten():
    moves = LeaseTransfers(ME)
    moves.put(at(0), SLOT, ME, 60)
    moves.keep_only(set())
    assert moves.find(at(0), SLOT) is None and not moves.lent(at(0))
