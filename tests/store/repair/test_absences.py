"""Some silences are no news; when many fall silent together, a partition is likelier."""

from dht import NodeId
from store.repair.absences import CUT_S, HEARD_S, LAPTOP_S, LAST_S, NIGHT_S, NOTICED_S, STABLE_S, Absences

PEERS = tuple(NodeId(bytes([n]) * 20) for n in range(1, 10))
A = PEERS[0]
UNKNOWN = lambda peer: None  # noqa: E731
STABLE, LAPTOP = (lambda peer: True), (lambda peer: False)


def back_soon(absences: Absences, now: float, *, is_stable: bool = True, is_last: bool = False) -> bool:
    return absences.is_back_soon(now, A, is_stable=is_stable, is_last=is_last)


def look(absences: Absences, now: float, *away: NodeId) -> None:
    absences.refresh(now, PEERS, frozenset(PEERS).difference(away), UNKNOWN, STABLE)


def test_a_stable_machine_is_waited_for_four_hours_and_a_laptop_forty() -> None:
    absences = Absences()
    look(absences, 0.0)
    look(absences, 100.0, A)
    assert back_soon(absences, 100.0 + STABLE_S - 1) and not back_soon(absences, 100.0 + STABLE_S)
    assert back_soon(absences, 100.0 + LAPTOP_S - 1, is_stable=False)
    assert not back_soon(absences, 100.0 + LAPTOP_S, is_stable=False)


def test_beside_one_copy_alone_a_stable_machine_counts_for_seconds() -> None:
    absences = Absences()
    look(absences, 0.0, A)
    assert back_soon(absences, LAST_S - 1, is_last=True) and not back_soon(absences, LAST_S, is_last=True)


def test_more_than_a_third_at_once_are_taken_for_cut_off_for_ten_minutes_or_until_they_are_back() -> None:
    absences = Absences()
    look(absences, 0.0)
    look(absences, 1.0, *PEERS[:3])
    assert not absences.waits(1.0), "three of ten"
    look(absences, 30.0, *PEERS[:4])
    assert absences.waits(31.0) and absences.is_cut
    look(absences, 40.0, *PEERS[:4])
    assert absences.waits(30.0 + CUT_S - 1) and not absences.waits(30.0 + CUT_S)
    assert absences.is_cut, "what is copied then is copied slowly"
    look(absences, 700.0)
    assert not absences.waits(50.0) and not absences.is_cut


def test_few_that_fall_silent_together_or_many_one_after_the_other_are_no_cut() -> None:
    few, slowly = Absences(), Absences()
    small = PEERS[:3]
    few.refresh(0.0, small, frozenset(small), UNKNOWN, STABLE)
    few.refresh(1.0, small, frozenset(small[2:]), UNKNOWN, STABLE)
    for n in range(9):
        look(slowly, 61.0 * n, *PEERS[:n])
    assert not few.waits(1.0) and not slowly.waits(61.0 * 8)


def test_a_node_that_slept_does_not_hold_its_sleep_against_the_others() -> None:
    absences = Absences()
    look(absences, 0.0)
    absences.stood_still(30_000.0)
    look(absences, 30_000.0, *PEERS)
    assert back_soon(absences, 30_000.0 + STABLE_S - 1) and absences.waits(30_001.0)
    look(absences, 30_010.0)
    assert not absences.waits(30_010.0)


def test_a_node_that_starts_and_finds_many_silent_waits_for_them() -> None:
    few, many = Absences(), Absences()
    look(few, 0.0, *PEERS[:3])
    look(many, 0.0, *PEERS[:4])
    assert not few.waits(1.0) and many.waits(1.0)


def test_a_laptop_that_sleeps_itself_knows_who_was_away_for_longer() -> None:
    absences, woke = Absences(), 100_000.0

    def refresh(now: float, heard_at: float) -> None:
        absences.refresh(now, PEERS, frozenset(PEERS[1:]), lambda peer: now - heard_at, STABLE)

    look(absences, 0.0)
    absences.stood_still(woke)
    refresh(woke, heard_at=0.0)
    assert back_soon(absences, woke + 1, is_stable=False), "perhaps others have heard of it meanwhile"
    refresh(woke + HEARD_S, heard_at=woke - LAPTOP_S + 1000.0)
    assert back_soon(absences, woke + 1000.0, is_stable=False), "and so they had"
    assert not back_soon(absences, woke + 1000.0 + NOTICED_S, is_stable=False)


def laptops_look(absences: Absences, now: float, *away: NodeId) -> None:
    absences.refresh(now, PEERS, frozenset(PEERS).difference(away), UNKNOWN, LAPTOP)


def test_at_a_weekend_no_laptop_is_given_up_and_neither_is_who_comes_back_last() -> None:
    weekday, weekend = Absences(), Absences()
    monday = 64 * 3600.0
    for absences, away in ((weekday, PEERS[:4]), (weekend, PEERS[:5])):
        laptops_look(absences, 0.0)
        laptops_look(absences, 60.0, *away)
        laptops_look(absences, LAPTOP_S + 120.0, *away)
    assert not back_soon(weekday, LAPTOP_S + 120.0, is_stable=False), "four of nine"
    assert back_soon(weekend, LAPTOP_S + 120.0, is_stable=False)
    assert not back_soon(weekend, LAPTOP_S + 120.0), "it says nothing of servers"
    laptops_look(weekend, monday, *PEERS[:5])
    laptops_look(weekend, monday + 60.0, A)
    assert back_soon(weekend, monday + NIGHT_S - 1, is_stable=False)
    laptops_look(weekend, monday + NIGHT_S, A)
    assert not back_soon(weekend, monday + NIGHT_S, is_stable=False)


def test_who_slept_through_a_weekend_waits_for_those_who_did_and_after_a_night_does_not() -> None:
    for slept_s, waits in ((64 * 3600.0, True), (NIGHT_S, False)):
        absences = Absences()
        laptops_look(absences, 0.0)
        absences.stood_still(slept_s, slept_s)
        for now in (slept_s, slept_s + HEARD_S):
            others = frozenset(PEERS[1:])
            absences.refresh(now, PEERS, others, lambda peer: 2 * LAPTOP_S, LAPTOP)
        assert back_soon(absences, slept_s + HEARD_S, is_stable=False) == waits


def test_two_laptops_make_no_weekend() -> None:
    absences, pair = Absences(), PEERS[:2]
    for now in (0.0, LAPTOP_S + 60.0):
        absences.refresh(now, pair, frozenset(), UNKNOWN, LAPTOP)
    assert not back_soon(absences, LAPTOP_S + 60.0, is_stable=False)
