"""Members lost by silence are remembered for 30 days; peers that left, passed by or came back are not."""

from dht import Identity, Now
from dht.membership.member_table import MemberTable
from dht.membership.vanished_members import REMEMBERED_S, VanishedMembers
from dht.wire.address_policy import AddressPolicy
from dht.wire.heartbeat import STABLE_GRACE_S, Heartbeat, VerifiedHeartbeat, open_heartbeat_once, sign_heartbeat
from tests.dht.trusting import trusting

NETWORK, DAY_S = b"n" * 20, 86400.0
START = 100 * DAY_S


def beat(number: int, at: float, *, leaving: bool = False, member: bool = True) -> VerifiedHeartbeat:
    identity = Identity(bytes([number]) * 32)
    said = Heartbeat(
        identity.public_key, int(at), at, at + STABLE_GRACE_S, ((bytes([9, 9, 9, number]), 1, 1),),
        leaving=leaving, member=member,
    )  # fmt: skip
    return open_heartbeat_once(sign_heartbeat(identity, said, NETWORK), NETWORK, AddressPolicy(()), 0)


def test_who_was_silent_for_its_grace_is_lost_until_it_is_heard_again() -> None:
    table = trusting(MemberTable(Identity(b"\1" * 32).node_id))
    for hours in range(49):
        for number in (2, 3):
            table.add(beat(number, START + hours * 3600.0), Now(START + hours * 3600.0, hours * 3600.0), direct=True)
    gone = Now(START + 3 * DAY_S, 3 * DAY_S)
    table.expire(gone)
    ids = {Identity(bytes([number]) * 32).node_id for number in (2, 3)}
    assert table.vanished.at(gone.wall) == ids
    table.add(beat(2, gone.wall), gone, direct=True)
    assert table.vanished.at(gone.wall) == ids - {Identity(b"\2" * 32).node_id}
    table.block(frozenset(ids))
    assert not table.vanished.at(gone.wall)


def test_who_left_or_is_no_member_or_passed_by_is_not_lost() -> None:
    lost = VanishedMembers()
    lost.lose(beat(2, START, leaving=True), 91, 91)
    lost.lose(beat(3, START, member=False), 91, 91)
    lost.lose(beat(4, START), 100, 91)
    assert not lost.at(START)
    lost.lose(beat(5, START), 100, 100)
    assert len(lost.at(START)) == 1, "it came on the first day of the network"
    lost.lose(beat(6, START), 99, 91)
    lost.lose(beat(7, START), None, 91)
    assert len(lost.at(START)) == 3


def test_after_thirty_days_nobody_is_remembered() -> None:
    lost = VanishedMembers()
    lost.lose(beat(2, START), 91, 91)
    assert lost.at(START + REMEMBERED_S - 1)
    assert not lost.at(START + REMEMBERED_S + 1)
    assert not lost.items()
