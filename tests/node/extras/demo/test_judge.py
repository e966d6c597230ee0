"""The judge sees what the demo's users would complain about."""

from node.extras.demo.judge import SecondLookRequest, judge_fetches, newest_copies, same_order, second_look_requests

LOG = """\
2026-11-23T00:00:00.500Z INFO    node.audit.second_look second look url=http://a.test:8800/a
2026-11-23T00:00:01.000Z INFO    node.crawling.other settled documents=4 url=http://a.test:8800/b
2026-11-23T00:00:02.250Z INFO    node.audit.second_look second look url=http://a.test:8800/?q=a%20b
2026-11-23T00:00:03.000Z INFO    node.audit.second_look second lo"""
MIDNIGHT = 1_795_392_000.0


def row(t: float, path: str, status: int = 200, host: str = "a.test", ms: float = 10) -> dict[str, object]:
    return {"t": t, "host": host, "path": path, "status": status, "ms": ms}


def test_a_page_fetched_twice_is_a_duplicate_but_a_retry_after_an_error_is_not() -> None:
    seen = judge_fetches([row(0, "/a"), row(1, "/a"), row(2, "/b", 503), row(3, "/b"), row(4, "/c", 301)], 0.5)
    assert seen.duplicates == 1
    assert seen.pages == 2


def test_a_look_that_a_node_tells_of_is_no_duplicate_and_any_other_repeat_is() -> None:
    look = SecondLookRequest(10.0, "a.test", "/a")
    seen = judge_fetches([row(0, "/a"), row(10.2, "/a")], 0.5, [look])
    assert (seen.duplicates, seen.second_looks, seen.pages) == (0, 1, 1)
    assert judge_fetches([row(0, "/a"), row(10.2, "/a"), row(11, "/a")], 0.5, [look]).duplicates == 1, "one for one"
    assert judge_fetches([row(0, "/a"), row(5, "/a")], 0.5, [look]).duplicates == 1, "it came before"
    assert judge_fetches([row(0, "/a"), row(90, "/a")], 0.5, [look]).duplicates == 1, "it came too late"
    assert judge_fetches([row(0, "/a"), row(10.2, "/a", host="b.test"), row(11, "/a")], 0.5, [look]).duplicates == 0
    assert judge_fetches([row(0, "/b"), row(10.2, "/b")], 0.5, [look]).duplicates == 1, "another page"
    assert judge_fetches([row(10.0, "/c"), row(10.2, "/a")], 0.5, [look]).gaps_under_rule == 1, "a turn like any"
    assert judge_fetches([row(0, "/a")], 0.5, [look]).second_looks == 0, "it never got there"


def test_requests_for_second_looks_are_read_from_a_nodes_log() -> None:
    assert second_look_requests(LOG) == [
        SecondLookRequest(MIDNIGHT + 0.5, "a.test", "/a"),
        SecondLookRequest(MIDNIGHT + 2.25, "a.test", "/?q=a%20b"),
    ]


def test_the_share_of_second_looks_is_of_all_fetches() -> None:
    rows = [row(n, f"/{n}") for n in range(97)]
    again = [SecondLookRequest(100.0 + n, "a.test", f"/{n}") for n in range(4)]
    three = judge_fetches([*rows, *(row(100.1 + n, f"/{n}") for n in range(3))], 0.5, again)
    assert three.second_look_share == 0.03
    four = judge_fetches([*rows, *(row(100.1 + n, f"/{n}") for n in range(4))], 0.5, again)
    assert four.second_look_share > 0.03


def test_robots_may_be_asked_for_by_several_nodes() -> None:
    assert judge_fetches([row(0, "/robots.txt"), row(9, "/robots.txt")], 0.5).duplicates == 0


def test_a_request_too_soon_or_beside_another_is_a_gap_under_the_rule() -> None:
    assert judge_fetches([row(0, "/a"), row(1, "/b")], 0.5).gaps_under_rule == 0
    assert judge_fetches([row(0, "/a"), row(0.3, "/b")], 0.5).gaps_under_rule == 1
    assert judge_fetches([row(0, "/a", ms=2000), row(1, "/b")], 0.5).gaps_under_rule == 1
    assert judge_fetches([row(0, "/a"), row(0.1, "/b", host="b.test")], 0.5).gaps_under_rule == 0


def stored(version: str, epoch: int, fetched_at: float, *, gone: bool = False) -> dict[str, object]:
    fields = {"version": version, "epoch": epoch, "fetched_at": fetched_at, "gone": gone}
    return {"url": "http://a.test/", **fields}


def test_an_older_version_that_a_stand_in_still_keeps_is_no_copy_whatever_its_digest() -> None:
    for kept, now in (("ff", "00"), ("00", "ff")):
        newest = stored(now, 8, 20.0)
        for older in (stored(kept, 7, 30.0), stored(kept, 8, 10.0), stored(kept, 7, 10.0, gone=True)):
            assert newest_copies([newest, older, newest, newest]) == {"http://a.test/": [newest] * 3}
        assert newest_copies([newest, stored(kept, 8, 30.0)]) == {"http://a.test/": [stored(kept, 8, 30.0)]}
        assert newest_copies([newest, stored(kept, 8, 30.0, gone=True)]) == {}, "there is no page any more"


def test_the_first_difference_of_two_orders_is_named() -> None:
    assert same_order(["u", "v"], ["u", "v"]) is None
    assert same_order(["u", "v"], ["u", "w"]) == "rank 2 is v, brute force says w"
    assert same_order(["u"], ["u", "w"]) == "1 results, brute force has 2"
