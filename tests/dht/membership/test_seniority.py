from dht.clock import Now
from dht.keys import NodeId
from dht.membership.seniority import JOIN_S, Seniority

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
