"""With whom to exchange: every near peer in turn, the one that grew old first, far and silent ones now and then."""

from collections import Counter
from random import Random

from dht.membership.member_table import MemberTable
from dht.membership.partner_selection import AT_ONCE, OLD_S, PartnerSelection
from dht.membership.working_families import WorkingFamilies
from tests.dht.membership.test_member_table import NODES, OWN, at, beat
from tests.dht.trusting import trusting

IDS = [node.node_id for node in NODES]


def scene(live: int) -> PartnerSelection:
    members = trusting(MemberTable(OWN))
    for n in range(12):
        members.add(beat(n, 1, 0.0 if n < live else -100.0), at(0.0), direct=n < live)
    return PartnerSelection(members, WorkingFamilies({4}), Random(1))


def test_the_silent_are_tried_now_and_then_and_less_with_each_failure() -> None:
    partners = scene(6)
    chosen = Counter(peer in IDS[:6] for _ in range(400) for peer in partners.choose(at(1.0)))
    assert 20 <= chosen[False] <= 90
    for _ in range(6):
        for peer in IDS[6:]:
            partners.failed(peer, at(1.0))
    assert all(peer in IDS[:6] for _ in range(50) for peer in partners.choose(at(2.0)))


def test_a_peer_fails_since_the_first_question_that_it_left_without_an_answer() -> None:
    partners = scene(6)
    assert partners.failing_since(IDS[0]) == float("inf")
    partners.failed(IDS[0], at(1.0))
    partners.failed(IDS[0], at(2.0))
    assert partners.failing_since(IDS[0]) == 1.0
    partners.answered(IDS[0])
    partners.failed(IDS[0], at(3.0))
    assert partners.failing_since(IDS[0]) == 3.0


def test_who_was_not_heard_of_for_long_comes_first() -> None:
    members = trusting(MemberTable(OWN))
    for n in range(12):
        members.add(beat(n, 1, 0.0), at(0.0), direct=True)
        if n != 4:
            members.add(beat(n, 2, OLD_S), at(OLD_S), direct=True)
    partners = PartnerSelection(members, WorkingFamilies({4}), Random(1))
    assert partners.choose(at(OLD_S + 1.0)) == [IDS[4]]


def test_a_new_peer_is_greeted_unless_it_has_answered() -> None:
    partners = scene(6)
    for peer in IDS[:3]:
        partners.greet(peer)
    partners.answered(IDS[2])
    assert [partners.newcomer() for _ in range(3)] == [[IDS[1]], [IDS[0]], []]
    assert not partners.has_newcomers


def test_all_are_asked_in_the_same_order_each_turn_so_nobody_waits_for_two() -> None:
    partners = scene(12)
    chosen = [peer for _ in range(36) for peer in partners.choose(at(1.0))]
    assert chosen[:12] == chosen[12:24] == chosen[24:]


def test_a_live_peer_that_left_a_question_without_an_answer_is_asked_next_and_after_that_at_growing_intervals() -> None:
    partners = scene(12)
    partners.choose(at(1.0))
    for _ in range(AT_ONCE):
        partners.failed(IDS[3], at(1.0))
        assert partners.choose(at(1.0)) == [IDS[3]]
    partners.failed(IDS[3], at(1.0))
    assert IDS[3] not in [peer for _ in range(24) for peer in partners.choose(at(2.0))]
