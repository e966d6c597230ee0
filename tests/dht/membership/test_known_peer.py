from dht.membership.member_table import MemberTable
from tests.dht.membership.test_member_table import NODES, OWN, at, beat
from tests.dht.trusting import trusting


def test_a_late_copy_of_the_last_heartbeat_does_not_revive_the_dead() -> None:
    members = trusting(MemberTable(OWN))
    members.add(beat(1, 1, 0.0), at(0.1))
    members.add(beat(1, 2, 10.0), at(38.0))
    assert members.is_live(NODES[1].node_id, at(39.5))
    assert not members.is_live(NODES[1].node_id, at(42.0))
