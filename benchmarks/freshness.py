"""Measures how fresh the copies stay: the crawler's own frontier, estimator and pace on a virtual clock, against the
optimum.

Some webs of pages that change by Poisson processes of their own rates. Every page was fetched once at the start,
nothing else is known. For a week the frontier says which page is due; a visit sees whether the page has changed since
the last, no more. The peer is the optimal allocation for the true rates, at the same number of visits and on the same
changes. It is computed here page by page, without the crawler's code. A page is fresh while nothing has changed since
its last visit; freshness is averaged over pages and time.

`python -m benchmarks.freshness [--quick] [--json]`
"""

import heapq
import math
import sys
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import msgspec

from benchmarks.figures import Row, parser_for, row, show
from crawl import CrawlConfig, Visit
from crawl.frontier.frontier import Frontier
from crawl.frontier.site_queues import SiteQueues
from crawl.pipeline.fetch_outcome import outcome_of_reading
from crawl.politeness.address_limits import AddressLimits
from crawl.schedule.revisit_policy import RevisitStatistics
from crawl.schedule.url_state import VisitState
from dht import Now, Slot

DAY_S = 86_400.0
SPAN_S = 7 * DAY_S
GOAL_POINTS = 5.0
START = 1_700_000_000.0
SLOT = Slot(0)


def surveyed(rng: Random) -> float:
    """Draw changes a second as Cho & Garcia-Molina found them on 720,000 pages: the shares that change within a day, a
    week, a month, four months, and less often."""
    kind = rng.choices(((0.1, 1.0), (1.0, 7.0), (7.0, 30.0), (30.0, 120.0), (120.0, 1000.0)), (23, 15, 16, 16, 30))[0]
    return math.exp(-rng.uniform(math.log(kind[0]), math.log(kind[1]))) / DAY_S


WEBS: dict[str, Callable[[Random], float]] = {
    "surveyed": surveyed,
    "lognormal": lambda rng: math.exp(rng.gauss(0.0, 2.0)) / (3 * DAY_S),
    "half ten times a day, half hardly": lambda rng: rng.choice((10.0, 0.01)) / DAY_S,
    "slow": lambda rng: 0.05 * math.exp(rng.gauss(0.0, 1.5)) / DAY_S,
}


@dataclass
class MadeUpWeb:
    """Holds pages with the instants of their changes within the span."""

    rates: list[float]
    changes: list[list[float]]

    def fresh_s(self, page: int, since: float, until: float) -> float:
        """Return for how long a copy made at `since` stays fresh, up to `until`."""
        changes = self.changes[page]
        at = bisect_right(changes, since)
        return min(changes[at], until) - since if at < len(changes) else until - since


def made_up_web(web: str, pages: int, seed: int) -> MadeUpWeb:
    """Make up so many pages that change as those of a kind of web do."""
    rng = Random(f"{web} {seed}")
    rates = [WEBS[web](rng) for _ in range(pages)]
    changes: list[list[float]] = []
    for rate in rates:
        times = [rng.expovariate(rate)]
        while times[-1] < SPAN_S:
            times.append(times[-1] + rng.expovariate(rate))
        changes.append(times)
    return MadeUpWeb(rates, changes)


def crawled(made_up_web: MadeUpWeb, config: CrawlConfig) -> tuple[float, int]:
    """Return the freshness under the crawler's own policy, and the visits that it took."""
    pages = len(made_up_web.rates)
    census = RevisitStatistics(config)
    sites = SiteQueues(AddressLimits(pages, 0.0))
    frontier = Frontier(pages, sites, census)
    for page in range(pages):  # looked at once, just now; the first revisits are spread as a crawl spreads first visits
        first, _ = outcome_of_reading(
            Visit(f"http://h{page}.test/", 1), Visit("", 1), print_of(made_up_web, page, 0.0), START, census
        )
        due_at = START + (first.due_at - START) * Random(page).random()
        frontier.hold(Slot(page), 1, [replaced(first, due_at=due_at, visited_at=START)], Now(START, 0.0))
    fresh_s, visits, seen_at = 0.0, 0, [0.0] * pages
    now = 0.0
    while now < SPAN_S:
        turn = frontier.pop(Now(START + now, now))
        if turn is None:
            wait = frontier.next_due(Now(START + now, now))
            now += max(wait, 1e-6) if wait is not None else SPAN_S
            continue
        page = int(turn.slot)
        visits += 1
        fresh_s += made_up_web.fresh_s(page, seen_at[page], now)
        seen_at[page] = now
        asked = replaced(turn.visit, visited_at=START + now, state=VisitState.FETCHED)
        outcome, _ = outcome_of_reading(asked, turn.visit, print_of(made_up_web, page, now), START + now, census)
        sites.end_request(turn, now, 0.0)
        frontier.settle(turn, outcome, Now(START + now, now))
    fresh_s += sum(made_up_web.fresh_s(page, seen_at[page], SPAN_S) for page in range(pages))
    return fresh_s / (pages * SPAN_S), visits


def print_of(made_up_web: MadeUpWeb, page: int, now: float) -> bytes:
    """Return what a page says: how often it has changed."""
    return bisect_right(made_up_web.changes[page], now).to_bytes(16, "big")


def replaced(visit: Visit, **fields: object) -> Visit:
    """Return a visit with some fields replaced."""
    return msgspec.structs.replace(visit, **fields)


def optimum(made_up_web: MadeUpWeb, visits: int) -> float:
    """Return the freshness of the best fixed intervals for the true rates with at most so many visits."""
    low, high = 1e-3, 1e9  # of the gain of one more visit, in seconds
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if planned(made_up_web, middle) > visits else (low, middle)
    heap = [(interval(rate, high) * Random(-page).random(), page) for page, rate in enumerate(made_up_web.rates)]
    heap = [(at, page) for at, page in heap if at < SPAN_S]
    heapq.heapify(heap)
    fresh_s, seen_at = 0.0, [0.0] * len(made_up_web.rates)
    while heap:
        now, page = heapq.heappop(heap)
        fresh_s += made_up_web.fresh_s(page, seen_at[page], now)
        seen_at[page] = now
        if (again := now + interval(made_up_web.rates[page], high)) < SPAN_S:
            heapq.heappush(heap, (again, page))
    fresh_s += sum(made_up_web.fresh_s(page, at, SPAN_S) for page, at in enumerate(seen_at))
    return fresh_s / (len(made_up_web.rates) * SPAN_S)


def planned(made_up_web: MadeUpWeb, gain_s: float) -> float:
    """Return how many visits the intervals take at which one more visit gains `gain_s`."""
    return sum(SPAN_S / interval(rate, gain_s) for rate in made_up_web.rates)


def interval(rate: float, gain_s: float) -> float:
    """Return the interval at which one more visit gains `gain_s`: (1 − (1 + λI)·e^−λI) / λ = gain_s, by bisection; ∞
    where none does.
    """
    low, high = 0.0, 60.0 / rate
    if gain_s * rate >= 1.0:
        return math.inf
    for _ in range(50):
        middle = (low + high) / 2
        gained = (1.0 - (1.0 + rate * middle) * math.exp(-rate * middle)) / rate
        low, high = (middle, high) if gained < gain_s else (low, middle)
    return high


def rows_of(web: str, strategy: str, revisit_s: float, pages: int, seeds: Sequence[int]) -> list[Row]:
    """Return the percents of fresh copies, ours and the optimum's, and by how much ours is behind at worst."""
    config = CrawlConfig(revisit=strategy, revisit_s=revisit_s, min_revisit_s=600.0)  # type: ignore[arg-type]
    ours, peers, used = [], [], 0.0
    for seed in seeds:
        each = made_up_web(web, pages, seed)
        fresh, visits = crawled(each, config)
        budget = pages * SPAN_S / revisit_s
        ours.append(100 * fresh)
        peers.append(100 * optimum(each, max(int(budget), visits)))
        used = max(used, visits / budget)
    about = f"{web}, {strategy}, a visit each {revisit_s / DAY_S:g} days"
    goal = GOAL_POINTS if strategy == "gain" else None
    behind = [peer - our for our, peer in zip(ours, peers, strict=True)]
    return [
        row(f"copies fresh: {about}, {used:.2f} of the budget used", ours, "%", peer=peers),
        row(f"behind the optimum: {about}", behind, "points", goal=goal),
    ]


def measure(quick: bool) -> list[Row]:
    """Return the rows of all webs, strategies and rates of visits."""
    pages, seeds = (400, (1, 2)) if quick else (2_000, (1, 2, 3))
    runs = [(web, "gain", days) for web in WEBS for days in ((1,) if quick else (0.5, 1, 3))]
    runs += [("surveyed", "changed", 1), ("surveyed", "all", 1)]
    return [each for web, how, days in runs for each in rows_of(web, how, days * DAY_S, pages, seeds)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0 whether goals are met or not."""
    options = parser_for(__doc__.splitlines()[0]).parse_args(arguments)
    show("freshness", measure(options.quick), ["msgspec"], as_json=options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
