"""The turn order chooses the next site when not all can be asked at once."""

from collections import Counter

from crawl.frontier.turn_order import TurnOrder


def test_the_famous_are_asked_more_often_and_nobody_waits_for_long() -> None:
    order, fame = TurnOrder(), {"famous": 60, "known": 6} | {f"unknown{n}": 1 for n in range(30)}
    for site in fame:
        order.join(site, fame[site])
    turns = []
    for _ in range(2_000):
        site = order.pop() or ""
        turns.append(site)
        order.join(site, fame[site])
    had = Counter(turns)
    assert had["famous"] > 5 * had["known"] > 10 * had["unknown0"]
    for site in fame:
        waits = [later - at for at, later in zip(
            [-1, *(n for n, who in enumerate(turns) if who == site)],
            [*(n for n, who in enumerate(turns) if who == site), len(turns)], strict=True)]  # fmt: skip
        assert max(waits) <= 4 * len(fame)


def test_strangers_without_end_keep_nobody_from_their_turn() -> None:
    order = TurnOrder()
    order.join("old", 1)
    for turn in range(4):
        order.join(f"new{turn}", 65)
        if order.pop() == "old":
            return
    raise AssertionError("it never came")


def test_fame_counts_that_a_site_comes_to_while_it_waits() -> None:
    order = TurnOrder()
    for site in ("a", "b", "c"):
        order.join(site, 1)
    order.value("c", 2)
    order.value("elsewhere", 9)
    assert [order.pop() for _ in range(4)] == ["c", "a", "b", None]
