"""Hosts that the owner has paused get no turn, lend none, and go on where they were once the pause is over."""

from crawl import Visit
from crawl.frontier.frontier import Frontier
from crawl.frontier.site_queues import HELD_S, SiteQueues
from dht import Now, Slot
from tests.crawl.world import new_frontier

SLOT = Slot(1)


def at(s: float) -> Now:
    return Now(1_000_000.0 + s, s)


def visit(host: int, page: int) -> Visit:
    return Visit(url=f"http://h{host}.test:8080/{page}", depth=1)


def taken(frontier: Frontier, sites: SiteQueues, now: float) -> list[str]:
    """The sites whose turn it is, each turn ended at once."""
    found = []
    while task := frontier.pop(at(now)):
        found.append(task.site)
        sites.end_request(task, now, 5.0)
        frontier.settle(task, None, at(now + 1000.0))
    return found


def test_a_held_host_gets_no_turn_whenever_its_urls_came_and_all_ports_are_meant() -> None:
    frontier, sites = new_frontier()
    frontier.hold(SLOT, 1, [visit(1, 1), visit(2, 1)], at(0))
    sites.hold_hosts(frozenset({"h1.test"}))
    frontier.observe(SLOT, visit(1, 2), at(0))
    assert taken(frontier, sites, 0.0) == ["h2.test:8080"]
    assert sites.borrow("h1.test:8080", "h2.test:8080", 0.0) == HELD_S, "no turn is lent, either"
    assert sites.is_held("h1.test:8080") and frontier.held_count == 2
    sites.hold_hosts(frozenset())
    assert taken(frontier, sites, 1.0) == ["h1.test:8080"], "the other one rests"


def test_a_host_that_is_held_while_it_is_asked_gets_no_further_turn() -> None:
    frontier, sites = new_frontier()
    frontier.hold(SLOT, 1, [visit(1, page) for page in range(3)], at(0))
    task = frontier.pop(at(0))
    assert task is not None
    sites.hold_hosts(frozenset({"h1.test"}))
    sites.end_request(task, 0.0, 1.0)
    frontier.settle(task, None, at(0))
    assert frontier.pop(at(50.0)) is None and frontier.next_due(at(50.0)) is None
    assert sites.due_work() == {SLOT: 1}, "it is hardly work, so that no peer takes the slot over for it"
    assert frontier.held_count == frontier.due_count(at(50.0)) == 3
    sites.hold_hosts(frozenset({"h3.test"}))
    assert frontier.held_count == 0
    assert frontier.pop(at(50.0)) is not None


def test_waiting_urls_are_counted_by_site_whatever_happens_to_them() -> None:
    frontier, _ = new_frontier()
    frontier.hold(SLOT, 1, [visit(host, page) for host in (1, 2) for page in range(3)], at(0))
    assert frontier.waiting_by_site == {"h1.test:8080": 3, "h2.test:8080": 3}
    task = frontier.pop(at(0))
    assert task is not None and frontier.waiting_by_site[task.site] == 2
    frontier.drop(SLOT)
    assert frontier.waiting_by_site == {}
