"""Who let a read wait is asked last by the next one, until it answers or the failure detector had its time."""

from dht import NodeId, Now
from dht.membership.late_peers import LATE_FOR_S, LatePeers

FROZEN, OTHER = NodeId(b"f" * 20), NodeId(b"o" * 20)


def test_a_peer_is_late_until_it_answers_or_time_has_passed() -> None:
    steady = 100.0
    late = LatePeers(lambda: Now(wall=0.0, steady=steady))
    late.note_late([FROZEN, OTHER])
    assert late.is_late(FROZEN) and late.is_late(OTHER)
    late.note_answer(OTHER)
    assert late.is_late(FROZEN) and not late.is_late(OTHER)
    steady += LATE_FOR_S
    assert not late.is_late(FROZEN)
