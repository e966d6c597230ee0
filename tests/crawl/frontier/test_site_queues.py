"""Site queues choose the next site: rests, borrowed sites, and addresses that several sites share."""

from msgspec.structs import replace

from crawl import Visit, VisitState
from crawl.frontier.frontier import Frontier
from crawl.frontier.site_queues import COUNTED_AFTER_S, SiteQueues
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


def taken(frontier: Frontier, sites: SiteQueues) -> list[str]:
    """Fetch all that is due, one URL after the other."""
    urls = []
    while turn := frontier.pop(at(0)):
        sites.end_request(turn, 0, 0.0)
        urls.append(turn.visit.url)
    return urls


def test_what_more_pages_link_to_comes_first_where_the_crawl_goes_far() -> None:
    frontier, sites = new_frontier()
    frontier.hold(Slot(1), 1, [visit(1, page, depth=90 - page) for page in range(4)], at(0))
    frontier.hold(Slot(2), 1, [visit(2, page, depth=9 - page) for page in range(4)], at(0))
    for host in (1, 2):
        for linking, page in ((5, 2), (6, 3), (7, 3), (8, 3)):
            frontier.add_links(f"http://h{host}.test/{linking}", [f"http://h{host}.test/{page}"])
    assert sites.position("http://h1.test/2", frontier._entries["http://h1.test/2"], 0).ahead == 1
    urls = taken(frontier, sites)
    assert [url for url in urls if "h1" in url] == [f"http://h1.test/{page}" for page in (3, 2, 0, 1)]
    assert [url for url in urls if "h2" in url] == [f"http://h2.test/{page}" for page in (0, 1, 2, 3)], (
        "depth is scarce"
    )


def test_a_site_that_many_domains_link_to_is_asked_before_others() -> None:
    frontier, sites = new_frontier()
    for host in range(5):
        frontier.hold(Slot(host), 1, [visit(host, 0)], at(0))
    for other in ("x.org", "y.net", "z.com"):
        frontier.add_links(f"http://www.{other}/", ["http://h3.test/0"])
    for page in range(9):  # one domain's word counts once, a site's own not at all
        frontier.add_links(f"http://{page}.x.org/", ["http://h4.test/0"])
        frontier.add_links(f"http://h2.test/{page}", ["http://h2.test/0"])
    assert taken(frontier, sites)[:3] == ["http://h3.test/0", "http://h4.test/0", "http://h0.test/0"]


def test_no_site_is_said_to_have_few_links_before_a_week_of_counting() -> None:
    frontier, sites = new_frontier()
    frontier.hold(Slot(1), 1, [visit(1, page) for page in range(4)], at(0))

    def links(s: float) -> int:
        task = frontier.pop(at(s))
        assert task is not None
        sites.end_request(task, s, 1.0)
        return task.site_links

    assert links(0) == links(COUNTED_AFTER_S / 2) == -1
    assert links(COUNTED_AFTER_S) == 0
    for other in ("x.org", "y.net", "z.com"):
        frontier.add_links(f"http://www.{other}/", ["http://h1.test/3"])
    assert links(2 * COUNTED_AFTER_S) == 2
