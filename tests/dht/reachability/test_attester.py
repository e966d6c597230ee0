"""Sixteen are named; who gives way to another needs the name less."""

from dht.admission.member_admission import MemberAdmission
from dht.admission.membership_claim import MembershipClaim, mark_of
from dht.keys import NodeId
from dht.reachability.attester import AttestedPeers
from dht.wire.heartbeat import DAY_BYTES, MARK_BYTES, MOST_ATTESTED

OWN = NodeId(bytes(20))
DAY = 20_000
PEERS = [NodeId(bytes([n]) * 20) for n in range(1, 40)]


def says(*names: NodeId) -> MembershipClaim:
    return MembershipClaim(True, frozenset((4,)), frozenset(map(mark_of, names)))


def full(ours: set[NodeId]) -> tuple[MemberAdmission, AttestedPeers]:
    admission = MemberAdmission(OWN)
    named = AttestedPeers(admission, ours.__contains__)
    for peer in PEERS[1 : 1 + MOST_ATTESTED]:
        admission.hear(peer, says())
        assert named.has_room(peer) and named.name(peer, mark_of(peer), DAY)
    return admission, named


def test_while_all_wait_those_of_the_lowest_ids_are_named_by_everybody() -> None:
    _, named = full(set())
    assert len(named.marks) == MOST_ATTESTED * MARK_BYTES
    assert not named.has_room(PEERS[25]) and not named.name(PEERS[25], mark_of(PEERS[25]), DAY)
    assert named.has_room(PEERS[0]) and named.name(PEERS[0], mark_of(PEERS[0]), DAY)
    assert (
        named.has(PEERS[0], mark_of(PEERS[0]))
        and not named.has(PEERS[MOST_ATTESTED], mark_of(PEERS[MOST_ATTESTED]))
        and len(named.marks) == MOST_ATTESTED * MARK_BYTES
    )


def test_who_has_names_to_spare_gives_way_and_who_needs_each_does_not() -> None:
    ours = set(PEERS)
    admission, named = full(ours)
    roots = PEERS[30:33]
    admission.trust(roots)
    for root in roots[:2]:
        admission.hear(root, says(*PEERS[1:9]))
    admission.hear(roots[2], says(PEERS[5]))
    admission.hear(PEERS[25], says())
    assert all(map(admission.is_member, PEERS[1:9]))
    assert named.name(PEERS[25], mark_of(PEERS[25]), DAY)
    assert not named.has(PEERS[5], mark_of(PEERS[5])), "it has three names"
    assert not named.has_room(PEERS[26])


def test_of_whom_nothing_is_known_is_named_no_longer() -> None:
    _, named = full(set())
    assert named.days == DAY.to_bytes(DAY_BYTES, "big") * MOST_ATTESTED
    named.retain(lambda peer: peer in PEERS[:4])
    assert named.marks == b"".join(map(mark_of, PEERS[1:4]))
    named.restore({peer: (mark_of(peer), DAY - 1) for peer in PEERS})
    assert (
        named.marks[: 3 * MARK_BYTES] == b"".join(map(mark_of, PEERS[1:4]))
        and len(named.marks) == MOST_ATTESTED * MARK_BYTES
    )
    assert named.day(PEERS[1]) == DAY and named.day(PEERS[4]) == DAY - 1 and named.day(PEERS[30]) is None
