"""The list of sites that wait: pages by name, each site with the first thing that stands before its next request."""

from random import Random

import pytest
from msgspec.structs import replace

from crawl import CrawlConfig, MirrorDetector, SitePage, Visit
from crawl.frontier.frontier import Frontier
from crawl.frontier.site_queues import SiteQueues
from crawl.pipeline.site_knowledge import SiteKnowledge, SitemapQueue
from crawl.pipeline.site_list import SiteGroup, SiteWish, site_page
from crawl.politeness.robots_cache import RobotsCache
from crawl.politeness.site_delays import SiteDelays
from crawl.schedule.lastmod import Lastmods
from dht import Now, Slot, system_clock
from tests.crawl.world import new_frontier

CONFIG, SLOT = CrawlConfig(breaker_fails=1), Slot(0)


def at(s: float) -> Now:
    return Now(1_000_000.0 + s, s)


def knowledge() -> SiteKnowledge:
    robots = RobotsCache(CONFIG, None, system_clock)  # type: ignore[arg-type]  # nothing is fetched
    return SiteKnowledge(robots, SiteDelays(CONFIG, Random(1)), Lastmods(10), MirrorDetector(), SitemapQueue(1, 1))


def frontier_of(*visits: Visit) -> tuple[Frontier, SiteQueues]:
    frontier, queues = new_frontier(1000)
    frontier.hold(SLOT, 1, visits, at(0))
    return frontier, queues


def visit(site: str, page: int = 0, due_s: float = 0.0) -> Visit:
    return replace(Visit(url=f"http://{site}/{page}", depth=1), due_at=1_000_000.0 + due_s)


def page_of(
    parts: tuple[Frontier, SiteQueues],
    known: SiteKnowledge,
    beginning: str = "",
    after: str = "",
    group: SiteGroup = "",
    **more: object,
) -> SitePage:
    most, paused = int(str(more.get("most", 10))), str(more.get("paused", ""))
    return site_page(*parts, known, SiteWish(beginning, group, after, most), paused, at(0))


def test_pages_follow_each_other_by_name_and_a_beginning_narrows_them() -> None:
    parts = frontier_of(*(visit(f"h{n:02}.test", page) for n in range(25) for page in range(3)))
    names, after = list[str](), ""
    while True:
        page = page_of(parts, knowledge(), after=after)
        names += [row.site for row in page.rows]
        if not page.next:
            break
        after = page.next
    assert names == [f"h{n:02}.test" for n in range(25)]
    found = page_of(parts, knowledge(), "h1", most=4)
    assert (found.matching, found.all, [row.site for row in found.rows]) == (10, 25, [f"h1{n}.test" for n in range(4)])
    assert page_of(parts, knowledge(), "none").rows == ()


def test_each_site_says_what_it_waits_for() -> None:
    names = ["broken.test", "held.test:81", "open.test", "rests.test", "turn.test"]
    parts = frontier_of(*(visit(name, page) for name in names for page in range(2)), visit("later.test", 0, 500.0))
    frontier, queues = parts
    known = knowledge()
    tasks = {task.site: task for _ in names if (task := frontier.pop(at(0)))}
    for name in set(names) - {"open.test"}:
        queues.end_request(tasks[name], 0.0, 30.0 if name == "rests.test" else 0.0)
        frontier.settle(tasks[name], None, at(0))
    queues.hold_hosts(frozenset({"held.test"}))
    known.delays.after_failure("broken.test", 0.0, "no route", 1.0)
    rows = page_of(parts, known).rows
    order = ["broken.test", "held.test:81", "open.test", "rests.test", "turn.test", "later.test"]
    assert [row.site for row in rows] == order, "those that need attention come first"
    found = {
        group: [row.site for row in page_of(parts, known, group=group).rows] for group in ("failing", "paused", "due")
    }
    assert found == {"failing": order[:1], "paused": order[1:2], "due": order[2:5]}
    told = {row.site: row for row in rows}
    assert {site: row.why.value for site, row in told.items()} == {
        "broken.test": "broken",
        "held.test:81": "held",
        "later.test": "later",
        "open.test": "open",
        "rests.test": "rest",
        "turn.test": "turn",
    }
    assert told["later.test"].wait_s == 500.0 and told["rests.test"].wait_s == 30.0
    assert "last: no route" in told["broken.test"].detail
    assert (told["turn.test"].waiting, told["turn.test"].ready, told["open.test"].waiting) == (2, 2, 1)
    assert told["held.test:81"].host == "held.test"
    paused = {row.why.value for row in page_of(parts, known, paused="by its operator").rows}
    assert paused == {"paused", "held", "open"}


@pytest.mark.parametrize("count", [0, 1])
def test_a_node_without_work_has_an_empty_list(count: int) -> None:
    page = page_of(frontier_of(*[visit("a.test")] * count), knowledge())
    assert (len(page.rows), page.all, page.next) == (count, count, "")
