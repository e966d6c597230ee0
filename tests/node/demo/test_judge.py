"""The judge sees what the demo's users would complain about."""

from node.demo.judge import judge_fetches, same_order


def row(t: float, path: str, status: int = 200, host: str = "a.test", ms: float = 10) -> dict[str, object]:
    return {"t": t, "host": host, "path": path, "status": status, "ms": ms}


def test_a_page_fetched_twice_is_a_duplicate_but_a_retry_after_an_error_is_not() -> None:
    seen = judge_fetches([row(0, "/a"), row(1, "/a"), row(2, "/b", 503), row(3, "/b"), row(4, "/c", 301)], 0.5)
    assert seen.duplicates == 1
    assert seen.pages == 2


def test_robots_may_be_asked_for_by_several_nodes() -> None:
    assert judge_fetches([row(0, "/robots.txt"), row(9, "/robots.txt")], 0.5).duplicates == 0


def test_a_request_too_soon_or_beside_another_is_a_gap_under_the_rule() -> None:
    assert judge_fetches([row(0, "/a"), row(1, "/b")], 0.5).gaps_under_rule == 0
    assert judge_fetches([row(0, "/a"), row(0.3, "/b")], 0.5).gaps_under_rule == 1
    assert judge_fetches([row(0, "/a", ms=2000), row(1, "/b")], 0.5).gaps_under_rule == 1
    assert judge_fetches([row(0, "/a"), row(0.1, "/b", host="b.test")], 0.5).gaps_under_rule == 0


def test_the_first_difference_of_two_orders_is_named() -> None:
    assert same_order(["u", "v"], ["u", "v"]) is None
    assert same_order(["u", "v"], ["u", "w"]) == "rank 2 is v, brute force says w"
    assert same_order(["u"], ["u", "w"]) == "1 results, brute force has 2"
