"""One lease: when it is handed to another owner, and when it is drained."""

from dht.keys import NodeId, Slot
from dht.leases.lease import DRAIN_S, HAND_BACK_S, Lease, ReleaseQueue

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
