import msgspec

from dht.membership.member_table import MemberTable
from dht.membership.rumours import LIMIT, Rumours
from dht.wire.heartbeat import VerifiedHeartbeat
from tests.dht.membership.test_member_table import NODES, OWN, at, beat
from tests.dht.trusting import trusting


def heard(n: int) -> VerifiedHeartbeat:
    return msgspec.structs.replace(beat(n, 1, 0.0), raw=bytes([n]) * 200)


def test_a_rumour_is_told_a_few_times_and_never_to_whom_it_is_about() -> None:
    members = trusting(MemberTable(OWN))
    for n in range(12):
        members.add(heard(n), at(0.0), direct=True)
    rumours = Rumours(members)
    rumours.add(NODES[1].node_id)
    assert rumours.tell(NODES[1].node_id, 1000, set()) == []
    told = [rumours.tell(NODES[2].node_id, 1000, set()) for _ in range(10)]
    assert told == [[bytes([1]) * 200]] * 5 + [[]] * 5
    assert len(rumours) == 0


def test_the_newest_goes_first_and_what_does_not_fit_waits() -> None:
    members = trusting(MemberTable(OWN))
    rumours = Rumours(members)
    for n in range(4):
        members.add(heard(n), at(0.0), direct=True)
        rumours.add(NODES[n].node_id)
    done = {NODES[2].node_id}
    assert rumours.tell(None, 450, done) == [bytes([3]) * 200, bytes([1]) * 200]
    assert done == {NODES[n].node_id for n in (1, 2, 3)}
    for n in range(LIMIT + 9):
        rumours.add(NODES[n % 12].node_id)
    assert len(rumours) <= LIMIT
