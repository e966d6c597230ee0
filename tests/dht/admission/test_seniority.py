from dht.admission.seniority import JOIN_S, Seniority, last_old_day
from dht.clock import Now
from dht.keys import NodeId

OWN, A, B, C = (NodeId(bytes([n]) * 20) for n in range(4))
DAY_S = 86_400.0


def seasoned(ages: Seniority, wall: float, *, min_age_s: float = DAY_S, began_at: float = 0.0) -> tuple[NodeId, ...]:
    return ages.seasoned((OWN, A, B, C), Now(wall, 0.0), min_age_s, began_at)


def test_a_peer_decides_when_it_was_known_for_long_enough() -> None:
    ages = Seniority(OWN)
    ages.heard(A, 0.0)
    ages.heard(B, DAY_S)
    ages.heard(A, DAY_S)  # again: the first word counts
    assert seasoned(ages, 1.5 * DAY_S) == (OWN, A)
    assert seasoned(ages, 2.0 * DAY_S) == (OWN, A, B)
    assert seasoned(ages, 1.5 * DAY_S, min_age_s=0.0) == (), "no rule"


def test_to_a_newcomer_those_whom_it_found_are_older_than_itself_and_who_comes_later_is_not() -> None:
    ages = Seniority(OWN)
    ages.heard(A, 9 * DAY_S)
    ages.heard(B, 9 * DAY_S + JOIN_S)
    ages.heard(C, 9 * DAY_S + JOIN_S + 1)
    assert seasoned(ages, 9.5 * DAY_S) == (A, B)
    assert seasoned(ages, 10 * DAY_S) == (OWN, A, B)
    assert seasoned(ages, 10 * DAY_S + JOIN_S + 1) == (OWN, A, B, C)


def test_in_a_network_younger_than_that_age_nobody_is_old_enough_and_so_all_count() -> None:
    ages = Seniority(OWN)
    for peer in (A, B):
        ages.heard(peer, 100.0)
    assert seasoned(ages, 0.9 * DAY_S, began_at=50.0) == ()


def test_a_peer_that_was_forgotten_begins_again_and_this_node_does_not() -> None:
    ages = Seniority(OWN)
    ages.heard(A, 0.0)
    ages.forget(A)
    ages.heard(A, DAY_S)
    assert seasoned(ages, 1.5 * DAY_S) == (OWN,)


def test_to_everybody_the_newcomers_of_a_day_are_old_when_all_of_that_day_is_past_the_age() -> None:
    assert last_old_day(Now(30 * DAY_S, 0.0), 7 * DAY_S, 0.0) == 22
    assert last_old_day(Now(31 * DAY_S - 1, 0.0), 7 * DAY_S, 0.0) == 22, "it changes at midnight, for all at once"
    assert last_old_day(Now(31 * DAY_S, 0.0), 7 * DAY_S, 0.0) == 23


def test_who_came_before_the_network_was_as_old_as_that_is_as_old_as_the_network() -> None:
    began_at = 10.5 * DAY_S
    assert last_old_day(Now(17.4 * DAY_S, 0.0), 7 * DAY_S, began_at) is None
    assert last_old_day(Now(17.5 * DAY_S, 0.0), 7 * DAY_S, began_at) == 17
    assert last_old_day(Now(24.0 * DAY_S, 0.0), 7 * DAY_S, began_at) == 17
    assert last_old_day(Now(27.0 * DAY_S, 0.0), 7 * DAY_S, began_at) == 19
    assert last_old_day(Now(27.0 * DAY_S, 0.0), 0.0, began_at) is None, "no rule"
