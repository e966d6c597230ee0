"""Slots that were taken from all their owners within an hour, and members that are known for a day."""

from typing import cast

from dht.admission.member_admission import MemberAdmission
from dht.clock import DAY_S, Now
from dht.keys import NodeId, Slot
from dht.ownership.known_members import SETTLED_S, KnownMembers
from dht.ownership.owners_before import AGO_S, NOTED_EVERY_S, OwnersBefore

A, B, C, D = (NodeId(bytes([n]) * 20) for n in range(4))


def test_slots_of_whose_owners_none_was_one_an_hour_ago_are_named_for_an_hour() -> None:
    before, old, new = OwnersBefore(0.0), ((A, B), (A, B), ()), ((C, D), (C, B), (C,))
    assert not before.is_due(NOTED_EVERY_S - 1)
    for now in range(300, 7200, 300):
        before.note(now, old if now < 4000 else new)
    assert not before.replaced(300 + AGO_S - 1, new), "nothing is known of an hour ago"
    assert before.replaced(300 + AGO_S, new) == {Slot(0)}
    assert before.replaced(4000 + AGO_S - 1, new) == {Slot(0)} and not before.replaced(4500 + AGO_S, new)
    assert not before.replaced(4500 + AGO_S, (*new, *new)), "slots have other numbers"


def test_who_came_within_a_day_is_not_known_for_one_whatever_attesters_say() -> None:
    class Admission:
        def first_day(self, peer: NodeId) -> int | None:
            return {A: 1, B: 1, C: 9}.get(peer)

    known = KnownMembers(cast(MemberAdmission, Admission()), 0.0)
    known.see(1.0, [])
    known.see(2.0, [A, C, D])
    known.see(SETTLED_S + 1, [A, B, C, D])
    day_10 = Now(10 * DAY_S, SETTLED_S + 2)
    assert [known.is_known_for_a_day(day_10, peer) for peer in (A, B, C, D)] == [True, False, False, False]
    day_11 = Now(11 * DAY_S, SETTLED_S + 2 + DAY_S)
    assert [known.is_known_for_a_day(day_11, peer) for peer in (A, B, C, D)] == [True, True, True, False]
