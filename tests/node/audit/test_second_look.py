"""A node spends a share of its own fetches on second looks, and never more."""

from node.audit.second_look import BURST, LOOK, PAGE, LookBudget


def test_a_node_spends_a_share_of_its_fetches_whatever_its_looks_take():
    budget, spent = LookBudget(), 0
    for fetched in range(1, 10_001):
        budget.earn(fetched, 0.03)
        if budget.take_page():
            first, second = fetched % 3, fetched % 2 * (fetched % 3)
            spent += first + second
            budget.settle(first)
            budget.settle(second)
        assert spent <= 0.03 * fetched
    assert spent > 0.03 * 10_000 - BURST


def test_no_more_than_a_burst_is_saved_up_and_no_look_begins_that_cannot_be_confirmed():
    budget = LookBudget()
    budget.earn(1_000_000, 0.03)
    assert sum(budget.take_page() for _ in range(100)) == BURST / PAGE
    budget.settle(0)
    assert not budget.take_page(), "its second look is paid for"
    budget.settle(0)
    assert budget.take_page()


def test_looks_of_the_owner_are_repaid_by_the_next_fetches():
    budget = LookBudget()
    budget.take_look()
    budget.settle(1)
    budget.earn(100, PAGE / 100)
    assert not budget.take_page()
    budget.earn(200, (LOOK / 2) / 100)
    assert budget.take_page() and not budget.take_page()


def test_where_the_strategy_gives_no_share_nothing_is_spent():
    budget = LookBudget()
    budget.earn(10_000, 0.0)
    assert not budget.take_page()
