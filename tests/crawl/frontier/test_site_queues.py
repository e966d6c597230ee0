"""Whose turn it is: rests, borrowed sites, and addresses that several sites share."""

from msgspec.structs import replace

from crawl import Visit, VisitState
from dht import Now, Slot
from tests.crawl.world import new_frontier

START = 1_000_000.0


def at(s: float) -> Now:
    return Now(START + s, s)


def visit(host: int, page: int, **fields: object) -> Visit:
    return replace(Visit(url=f"http://h{host}.test/{page}", depth=1), **fields)


def test_two_hosts_that_want_each_other_do_not_wait_for_ever() -> None:
    (frontier, sites), now, borrowed = new_frontier(), 0.0, ""
    frontier.hold(Slot(1), 1, [visit(1, 1), visit(2, 1)], at(0))
    while not borrowed:
        assert now < 10
        turns = []
        while turn := frontier.pop(at(now)):  # both at once, where they may
            turns.append(turn)
        for turn in turns:
            other = {"h1.test": "h2.test", "h2.test": "h1.test"}[turn.site]
            wait_s = sites.borrow(other, turn.site, now)
            borrowed = borrowed or ("" if wait_s else other)
            sites.end_request(turn, now, wait_s)
            frontier.settle(turn, None, at(now))
        now += frontier.next_due(at(now)) or 0.0


def test_one_address_is_not_asked_by_all_its_hosts_at_once() -> None:
    frontier, sites = new_frontier(most=2)
    frontier.hold(Slot(1), 1, [visit(host, page) for host in range(5) for page in range(2)], at(0))
    first = [turn for _ in range(5) if (turn := frontier.pop(at(0)))]
    for turn in first:
        sites.end_request(turn, 0, 0.0, "192.0.2.1")
        frontier.settle(turn, replace(turn.visit, state=VisitState.FETCHED, visited_at=START, due_at=START + 99), at(0))
    taken = 0
    while running := [turn for _ in range(5) if (turn := frontier.pop(at(0)))]:
        assert len(running) <= 2
        taken += len(running)
        for turn in running:
            sites.end_request(turn, 0, 0.0, "192.0.2.1")
            frontier.settle(
                turn, replace(turn.visit, state=VisitState.FETCHED, visited_at=START, due_at=START + 99), at(0)
            )
    assert taken == 5


def test_hosts_that_were_never_asked_are_counted_at_the_address_that_dns_says() -> None:
    frontier, sites = new_frontier(most=2, delay_s=5.0)
    frontier.hold(Slot(1), 1, [visit(host, 0) for host in range(6)], at(0))
    named = [sites.next_unlocated() for _ in range(7)]
    assert named == [f"h{host}.test" for host in range(6)] + [None]
    for site in named[:4]:
        assert site is not None
        sites.set_address(site, "192.0.2.1")
    turns = [turn for _ in range(6) if (turn := frontier.pop(at(0)))]
    assert [turn.site for turn in turns] == ["h0.test", "h4.test", "h5.test"], "one begins, two are elsewhere"
    assert not sites.enter_address(turns[1], "192.0.2.1", 0), "not so soon after the other"
    sites.end_request(turns[1], 0, 0.0)
    frontier.settle(turns[1], None, at(0))
    assert frontier.pop(at(4.9)) is None
    assert sites.enter_address(turns[2], "192.0.2.1", 5)
    assert frontier.pop(at(20)) is None, "two are open"
    sites.end_request(turns[2], 20, 0.0)
    last = frontier.pop(at(20))
    assert last is not None
    sites.end_request(last, 20, 0.0)
    assert frontier.pop(at(20)) is not None, "who made no request is in nobody's way"


def test_the_deepest_scope_comes_first() -> None:
    frontier, _ = new_frontier()
    frontier.hold(Slot(1), 1, [visit(1, 1, depth=0), visit(1, 2, depth=4), visit(1, 3, depth=2)], at(0))
    turn = frontier.pop(at(0))
    assert turn is not None
    assert turn.visit.depth == 4
