"""Why the crawler does what it does: the first thing that stands in its way, with its figures."""

from random import Random

import pytest

from crawl import CrawlConfig, Visit, span
from crawl.pipeline.crawl_status import CrawlCounters, CrawlSnapshot, kind_of
from crawl.politeness.site_delays import SiteDelays
from dht import Now, Slot
from tests.crawl.world import new_frontier

CONFIG, MOST_PENDING = CrawlConfig(breaker_fails=1), 3
NOW = Now(1e9, 100.0)


def snapshot(
    *due_at: float, holds: bool = True, pause_reason: str = "", late_s: float = 0.0, pending: int = 0
) -> CrawlSnapshot:
    frontier, _ = new_frontier()
    if holds:
        visits = [Visit(f"http://h{n}.test/", 1, due_at=at) for n, at in enumerate(due_at)]
        frontier.hold(Slot(0), 1, visits, NOW)
    return CrawlSnapshot(frontier, SiteDelays(CONFIG, Random(1)), MOST_PENDING, pause_reason, late_s, pending)


@pytest.mark.parametrize(
    ("now", "state", "says"),
    [
        (snapshot(0.0, pause_reason="disk full", pending=9), "paused", "disk full"),
        (snapshot(0.0, late_s=7.0, pending=3), "waiting", "3 pages not acknowledged yet by their owners"),
        (snapshot(0.0, late_s=7.0), "waiting", "crawl.max_bytes_s is used up: the next fetch begins in 7 s"),
        (snapshot(0.0, 0.0), "waiting", "2 URLs due, waiting for the delay of their sites, the first for 0 s"),
        (snapshot(holds=False), "idle", "other nodes crawl"),
        (snapshot(1e9 + 30), "waiting", "1 URL due within a minute, the first in 30 s"),
        (snapshot(1e9 + 7200), "idle", "1 URL known here, all visited; the next one is due again in 2 hours"),
        (snapshot(), "idle", "no URL is known"),
    ],
)
def test_the_first_thing_that_stands_in_the_way_is_told(now: CrawlSnapshot, state: str, says: str) -> None:
    told, reason = now.explain(NOW)
    assert told == state and reason.startswith(says)


def test_a_url_in_flight_and_hosts_that_do_not_answer_are_told() -> None:
    frontier, sites = new_frontier()
    frontier.hold(Slot(0), 1, [Visit(f"http://h{n}.test/", 1) for n in range(2)], NOW)
    now = CrawlSnapshot(frontier, SiteDelays(CONFIG, Random(1)), MOST_PENDING, "", 0.0, 0)
    task = frontier.pop(NOW)
    assert task is not None
    assert now.explain(NOW) == ("crawling", "1 URL in flight, 1 waiting for the turn of their host")
    sites.end_request(task, NOW.steady, 5.0)
    frontier.settle(task, None, NOW)
    now.delays.after_failure("h0.test", NOW.steady, "time", 1.0)
    assert "failing, retried occasionally: h0.test (1 request in a row failed, last: time)" in now.explain(NOW)[1]


def test_spans_are_read_easily() -> None:
    spans = [span(s) for s in (5.4, 119.0, 120.0, 7_200.0, 200_000.0)]
    assert spans == ["5 s", "119 s", "2 minutes", "2 hours", "2 days"]


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("size: larger than 5 bytes", "size"),
        ("robots", "robots"),
        ("guard: 20 of 21 pages like it say nothing new", "guard: pages like it say nothing new"),
        ("guard: soft 404, 11 other pages of the site say the same", "guard: soft 404, pages of the site say the same"),
        ("guard: path repeats itself", "guard: path repeats itself"),
        ("rule 3 of strategy 1", "rule 3 of strategy 1"),
    ],
)
def test_reasons_are_counted_without_their_details(reason: str, kind: str) -> None:
    assert kind_of(reason) == kind


def test_a_trap_that_goes_on_fills_one_line_alone() -> None:
    counters = CrawlCounters()
    for pages in range(20, 300):
        counters.count_refusal(f"guard: {pages} of {pages + 1} pages like it say nothing new")
    counters.count_refusal("media type: image/png")
    assert counters.refused == {"guard: pages like it say nothing new": 280, "media type": 1}
