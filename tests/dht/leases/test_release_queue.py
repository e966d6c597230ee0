"""Releases: each voter hears once of all that it voted on."""

from dht.keys import NodeId, Slot
from dht.leases.release_queue import ReleaseQueue

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
