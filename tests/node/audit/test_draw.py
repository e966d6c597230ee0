"""Which versions are fetched again: all of an author's first ones, then one in fifty, and never more than a share."""

from dht import Identity, NodeId
from node.witness.draw import BURST, COST, FIRST, RATE, RESERVE, Draw, WitnessBudget

ME, OTHER = Identity(b"\1" * 32), Identity(b"\2" * 32)
AUTHOR = NodeId(b"a" * 20)
DIGESTS = [n.to_bytes(32, "big") for n in range(4000)]


def test_all_of_the_first_are_drawn_then_a_small_share():
    draw = Draw(ME)
    taken = [draw.takes(AUTHOR, digest) for digest in DIGESTS]
    assert all(taken[:FIRST])
    rest = taken[FIRST:]
    assert 0.7 * RATE * len(rest) < sum(rest) < 1.3 * RATE * len(rest)
    assert draw.takes(NodeId(b"b" * 20), next(d for d in DIGESTS if not draw.is_drawn(d)))


def test_nobody_else_draws_the_same_and_the_same_node_always_does():
    mine = {d for d in DIGESTS if Draw(ME).is_drawn(d)}
    theirs = {d for d in DIGESTS if Draw(OTHER).is_drawn(d)}
    assert mine == {d for d in DIGESTS if Draw(ME).is_drawn(d)}
    assert len(mine & theirs) < len(mine) / 5


def test_a_node_spends_a_share_of_its_fetches_whatever_is_asked_of_it():
    budget, spent = WitnessBudget(), 0
    for fetched in range(1, 10_001):
        budget.earn(fetched, 0.03)
        if budget.take(asked=fetched % 2 == 0):
            made = fetched % 3
            spent += made
            budget.settle(made)
        assert spent <= 0.03 * fetched
    assert spent > 0.03 * 10_000 - BURST


def test_nothing_is_saved_up_for_a_rush_and_something_is_kept_for_those_who_ask():
    budget = WitnessBudget()
    budget.earn(1_000_000, 0.03)
    assert sum(budget.take(asked=False) for _ in range(100)) == (BURST - RESERVE) / COST
    assert sum(budget.take(asked=True) for _ in range(100)) == RESERVE / COST


def test_the_first_look_waits_for_no_more_than_it_costs():
    budget = WitnessBudget()
    budget.earn(100, COST / 100)
    assert budget.take(asked=False)
    budget.earn(200, COST / 100)
    assert not budget.take(asked=False) and budget.take(asked=True), "from then on something is kept"


def test_where_the_strategy_gives_no_share_nothing_is_spent():
    budget = WitnessBudget()
    budget.earn(10_000, 0.0)
    assert not budget.take(asked=False) and not budget.take(asked=True)
