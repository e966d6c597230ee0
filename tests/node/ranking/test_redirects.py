"""What leads elsewhere is known from the store and from others, and who links to it hears of each change."""

from dht import Slot
from node.ranking.redirects import Redirects

MINE, ITS = Slot(1), Slot(2)


def test_a_change_concerns_all_that_lead_to_it() -> None:
    redirects = Redirects()
    redirects.put(MINE, 1, 2)
    redirects.hear(ITS, 5, [(2, 3)])
    assert redirects.take_changed() == {1, 2} and redirects.all == {1: 2, 2: 3}
    assert redirects.take_changed() == set()
    redirects.put(MINE, 1, 2)
    assert redirects.take_changed() == set(), "it led there before"
    redirects.hear(ITS, 5, [(2, 4)])
    assert redirects.take_changed() == {1, 2}, "1 leads there by way of 2"
    redirects.hear(ITS, 5, [(2, 2)])
    assert redirects.all == {1: 2}, "2 is a page, after all"
    redirects.drop(MINE)
    assert redirects.all == {} and redirects.take_changed() == {1, 2}


def test_a_new_holder_is_believed_instead_of_the_one_before() -> None:
    redirects = Redirects()
    redirects.hear(ITS, 5, [(2, 3)])
    redirects.hear(ITS, 4, [(2, 9), (7, 9)])
    assert redirects.all == {2: 3}, "that came late"
    redirects.hear(ITS, 6, [(7, 8)])
    assert redirects.all == {7: 8}
    redirects.begin(ITS, 7)
    assert redirects.all == {} and redirects.take_changed() == {2, 7}
    redirects.put(MINE, 1, 2)
    redirects.hear(MINE, 9, [(1, 3)])
    assert redirects.all == {1: 2}, "what this node knows of itself counts before what it was told"


def test_circles_end_and_what_is_beyond_the_bound_is_left_out() -> None:
    redirects = Redirects(most=2)
    redirects.hear(ITS, 5, [(1, 2), (2, 1), (3, 4)])
    assert redirects.all == {1: 2, 2: 1} and redirects.take_changed() == {1, 2}
    redirects.hear(ITS, 5, [(2, 2), (3, 4)])
    assert redirects.all == {1: 2, 3: 4}, "there is room again"
    bounded = Redirects(most_of_slot=1)
    bounded.hear(ITS, 5, [(1, 2), (3, 4), (1, 3)])
    bounded.hear(MINE, 5, [(5, 6)])
    assert bounded.all == {1: 3, 5: 6}, "no slot takes the room of others"
