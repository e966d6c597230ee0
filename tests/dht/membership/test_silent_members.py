"""Who is named as silent: members that stopped answering, and nobody while this node has just begun to listen."""

from dht.membership.grace_clock import PAUSED_S
from dht.membership.member_table import MemberTable
from dht.membership.silent_members import AWAKE_S, SILENT_S, near_servers, silent_members
from dht.wire.heartbeat import STABLE_GRACE_S
from tests.dht.membership.test_member_table import NODES, OWN, at, beat
from tests.dht.trusting import trusting


def table(until_s: float) -> MemberTable:
    """A table whose node has run since 0: a server, a laptop, one that took leave and a bare bootstrap node speak last
    at 100."""
    members = trusting(MemberTable(OWN))
    said = {1: {}, 2: {"stable": False}, 3: {"leaving": True}, 4: {"member": False}, 5: {"for_good": True}}
    for n, fields in said.items():
        members.add(beat(n, 1, 100.0, **fields), at(100.0))
    for second in range(int(until_s) + 1):
        members.graces.awake(at(float(second)))
    return members


def named(members: MemberTable, now: float) -> list[tuple[bytes, bool, bool]]:
    return sorted((m.node_id, m.stable, m.took_leave) for m in silent_members(members, at(now)))


def test_members_that_stopped_answering_are_named_with_how_they_went() -> None:
    members = table(100.0 + SILENT_S)
    ids = [node.node_id for node in NODES]
    assert near_servers(members) == 2, "neither laptops nor bootstrap nodes nor who leaves for good"
    assert named(members, 99.0 + SILENT_S) == []
    assert named(members, 100.0 + SILENT_S) == [(ids[1], True, False), (ids[2], False, False), (ids[3], True, True)]
    members.add(beat(1, 2, 139.0), at(139.0))
    assert ids[1] not in {m.node_id for m in silent_members(members, at(140.0))}, "it is back"


def test_who_is_silent_beyond_the_grace_is_no_member_and_named_no_more() -> None:
    members = table(200.0)
    gone_at = 101.0 + STABLE_GRACE_S
    for second in range(200, int(gone_at) + 1, 10):
        members.graces.awake(at(float(second)))
    members.members(at(gone_at))
    assert [m.node_id for m in silent_members(members, at(gone_at))] == [NODES[2].node_id], "the laptop's is longer"


def test_a_node_that_started_or_woke_names_nobody_for_a_minute() -> None:
    members = table(0.0)
    late = trusting(MemberTable(OWN))
    late.add(beat(1, 1, 0.0), at(300.0))
    assert not silent_members(late, at(300.0)), "it has not run at all"
    late.graces.awake(at(300.0))
    assert not silent_members(late, at(299.0 + AWAKE_S))
    for second in range(300, 300 + int(AWAKE_S) + 1):
        late.graces.awake(at(float(second)))
    assert len(silent_members(late, at(300.0 + AWAKE_S))) == 1
    members = table(150.0)
    assert named(members, 150.0)
    woke_at = 150.0 + PAUSED_S + 1.0
    members.graces.awake(at(woke_at))
    assert not silent_members(members, at(woke_at + 1.0)), "it was asleep"
