"""One lease: when it is handed to another owner, and when it is drained."""

from dht.keys import Slot
from dht.leases.lease import DRAIN_MOST_S, DRAIN_S, HAND_BACK_S, Lease, is_drained

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


def test_what_is_still_going_on_delays_the_end_but_not_for_ever():
    assert not is_drained(99.0, SLOT, 100.0, lambda slot: False)
    assert is_drained(100.0, SLOT, 100.0, lambda slot: False)
    assert not is_drained(100.0, SLOT, 100.0, lambda slot: slot == SLOT)
    assert is_drained(100.0 - DRAIN_S + DRAIN_MOST_S, SLOT, 100.0, lambda slot: True)
