import itertools
from random import Random

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from dht.admission.membership_claim import mark_of
from dht.clock import Now
from dht.identity.node_key import Identity
from dht.keys import NodeId, distance
from dht.membership.known_peer import News
from dht.membership.member_table import MemberTable
from dht.wire.contact import Endpoint
from dht.wire.heartbeat import STABLE_GRACE_S, Graces, Heartbeat, VerifiedHeartbeat, pack_endpoint, read_heartbeat
from tests.dht.trusting import trusting

NODES = sorted((Identity(bytes([n]) * 32) for n in range(12)), key=lambda i: i.node_id)
OWN = NodeId(bytes(20))
PLACE = Endpoint("9.9.9.9", 1, 1)


def at(steady: float, wall: float | None = None) -> Now:
    return Now(1_000_000.0 + steady if wall is None else wall, steady)


def beat(n: int, sequence: int, sent_at: float, **fields: object) -> VerifiedHeartbeat:
    """A heartbeat sent when the steady clock said `sent_at`, by an author whose wall clock is right."""
    wall = 1_000_000.0 + sent_at
    value = Heartbeat(NODES[n].public_key, sequence, wall, wall + 3600, (pack_endpoint(PLACE),))
    value = msgspec.structs.replace(value, **fields)
    return read_heartbeat(b"", value)


def test_the_newest_sequence_wins_and_says_what_is_new() -> None:
    members = trusting(MemberTable(OWN))
    assert members.add(beat(1, 5, 0.0), at(0.0)) is News.NEW
    assert members.add(beat(1, 5, 0.0), at(0.1)) is News.OLD
    assert members.add(beat(1, 4, 0.0), at(0.1)) is News.OLD
    assert members.add(beat(1, 6, 10.0), at(10.0)) is News.SAME
    assert members.add(beat(1, 7, 20.0, ready=b"\x01\x00\x04"), at(20.0)) is News.CHANGED


def test_members_stay_through_their_grace_and_the_epoch_tells_changes() -> None:
    members = trusting(MemberTable(OWN))
    epochs = [members.epoch]
    for n in (1, 2):
        members.add(beat(n, 1, 0.0, stable=n == 1), at(0.0))
        epochs.append(members.epoch)
    members.add(beat(3, 1, 0.0, member=False), at(0.0))
    members.add(beat(2, 2, 10.0, stable=False), at(10.0))
    epochs.append(members.epoch)
    ids = [n.node_id for n in NODES]
    assert members.members(at(STABLE_GRACE_S - 1)) == tuple(sorted([OWN, ids[1], ids[2]]))
    assert members.members(at(STABLE_GRACE_S + 1)) == tuple(sorted([OWN, ids[2]]))
    epochs.append(members.epoch)
    assert [b - a for a, b in itertools.pairwise(epochs)] == [1, 1, 0, 1]


def test_the_graces_are_those_of_the_strategy_in_force() -> None:
    members = trusting(MemberTable(OWN))
    members.add(beat(1, 1, 0.0, stable=True), at(0.0))
    members.add(beat(2, 1, 0.0, stable=False), at(0.0))
    members.graces.set_graces(Graces(stable_s=100.0, laptop_s=200.0))
    assert len(members.members(at(99))) == 3
    assert members.members(at(101)) == tuple(sorted([OWN, NODES[2].node_id]))
    members.graces.set_graces(Graces(stable_s=100.0, laptop_s=150.0))
    assert members.members(at(151)) == (OWN,)


def test_who_slept_itself_forgets_nobody_before_it_has_listened_again() -> None:
    members = trusting(MemberTable(OWN))
    members.add(beat(1, 1, 0.0), at(0.0))
    members.add(beat(2, 1, 0.0), at(0.0))
    members.graces.awake(at(1.0))
    woken_at = STABLE_GRACE_S + 3600
    assert len(members.members(at(woken_at))) == 3
    members.add(beat(1, 2, woken_at + 5), at(woken_at + 5))
    for second in range(1, 31):
        members.graces.awake(at(woken_at + second))
    assert members.members(at(woken_at + 31)) == tuple(sorted([OWN, NODES[1].node_id]))


def test_from_the_cache_one_is_a_member_but_not_live() -> None:
    members = trusting(MemberTable(OWN))
    members.add(beat(1, 1, -500.0), at(0.0))
    assert NODES[1].node_id in members.members(at(0.0))
    assert not members.is_live(NODES[1].node_id, at(0.0))
    members.add(beat(1, 2, 3.0), at(3.0))
    assert members.is_live(NODES[1].node_id, at(3.0))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 11), st.integers(1, 5), st.floats(0, 100)), max_size=60))
def test_bounded_and_consistent(events: list[tuple[int, int, float]]) -> None:
    members = trusting(MemberTable(OWN, limit=6))
    newest: dict[NodeId, int] = {}
    for n, sequence, time in sorted(events, key=lambda e: e[2]):
        before, epoch = members.members(at(time)), members.epoch
        members.add(beat(n, sequence, time), at(time), direct=True)
        assert len(members) <= 6
        assert (members.members(at(time)) != before) == (members.epoch != epoch)
        known = members.find(NODES[n].node_id)
        if known:
            assert known.opened.heartbeat.sequence >= sequence
    assert all(members.find(p) for p in newest)


def test_a_full_table_of_live_peers_keeps_the_nearest() -> None:
    members = trusting(MemberTable(OWN, limit=6))
    for n in (11, 3, 9, 0, 7, 5, 1, 2, 10, 4, 6, 8):
        members.add(beat(n, 1, 0.0), at(0.0), direct=True)
    nearest = sorted((i.node_id for i in NODES), key=lambda p: distance(p, OWN))[:6]
    assert {p for p, _ in members.known()} == set(nearest)


def test_many_at_once_are_as_one_by_one_in_any_table() -> None:
    """Empty, with some of them known already, blocked or full."""
    rng = Random(4)
    identities = [Identity(rng.randbytes(32)) for _ in range(100)]

    def of(n: int, sequence: int) -> VerifiedHeartbeat:
        member, sent_at = n % 7 > 0, 1_000_000.0 - n
        fields = Heartbeat(identities[n].public_key, sequence, sent_at, sent_at + 3600, (pack_endpoint(PLACE),))
        return read_heartbeat(b"", msgspec.structs.replace(fields, member=member))

    for known, limit, own in ((0, 4096, OWN), (30, 4096, OWN), (0, 64, OWN), (0, 4096, identities[5].node_id)):
        slow, quick = trusting(MemberTable(own, limit=limit)), trusting(MemberTable(own, limit=limit))
        beats = [of(n, rng.randrange(1, 4)) for n in rng.sample(range(100), 90)]
        for members in (slow, quick):
            members.block(frozenset([identities[9].node_id]))
            for n in range(known):
                members.add(of(n, 2), at(0.0))
        new = [b.contact.node_id for b in beats if slow.add(b, at(1.0)) is News.NEW]
        told = quick.add_all(beats, at(1.0))
        if limit > 100:
            assert sorted(told) == sorted(new) and (quick.version > 0, quick.epoch > 0) == (True, True)
            assert {p: k.opened.sequence for p, k in quick.known()} == {p: k.opened.sequence for p, k in slow.known()}
            assert quick.members(at(1.0)) == slow.members(at(1.0)) and quick.near == slow.near
            assert quick.pools.near.keys() == slow.pools.near.keys()
            assert {p for p, _ in quick.live(at(20.0))[0]} == {p for p, _ in slow.live(at(20.0))[0]}
        assert len(quick) == len(slow) <= limit
        assert len(quick.digest_index) == len(quick) and quick.digest_index.ids(0, len(quick)) == sorted(
            p for p, _ in quick.known()
        )


def test_who_was_named_before_it_is_heard_of_is_a_member_at_once_by_whatever_it_says_invited_it() -> None:
    members, invited_by = MemberTable(OWN), b"voucher1inviter1\0\0\0\1\0\2"
    members.trust([NODES[1].node_id])
    members.add(beat(1, 1, 0.0, attests=mark_of(NODES[2].node_id, invited_by)), at(0.0))
    assert members.add(beat(2, 1, 0.0, invited_by=invited_by), at(0.0)) is News.NEW
    assert NODES[2].node_id in members.members(at(0.0)) and not len(members.waiting)


def test_a_newcomer_waits_for_the_words_of_a_root_that_comes_late_and_for_nobody_twice() -> None:
    members = MemberTable(OWN)
    for n, heard in ((1, 0.0), (2, 50.0), (2, 105.0)):
        members.add(beat(n, 1 + int(heard), heard), at(heard))
        members.expire(at(heard))
        members.trust([NODES[n].node_id])
    members.expire(at(109.0))
    assert members.admission.is_joining
    members.expire(at(111.0))
    assert not members.admission.is_joining


def test_who_joins_by_a_wrong_clock_goes_on_joining_once_it_hears_the_others() -> None:
    members = MemberTable(OWN)
    members.add(beat(1, 1, 0.0), at(0.0))
    members.trust([NODES[1].node_id])
    for second in range(151):
        members.expire(at(float(second)))
        members.prolong_join()
    members.expire(at(209.0))
    assert members.admission.is_joining
    members.expire(at(211.0))
    members.prolong_join()
    assert not members.admission.is_joining, "who has joined does not begin anew"
