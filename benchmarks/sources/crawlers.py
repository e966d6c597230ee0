"""Measures a crawl by 1, 2, 3 and 4 nodes, as the thesis of 2006 (tables 10 and 11) and the engine of 2018 did.

The web has as many pages as that of 2018, of 12 kB as those of the bundled sample; each is stored once (r = 1), because
the sources' were. Nodes are programs of their own with all that they have, index included. If the system can cap them,
each gets the same share of a core until all is fetched, so that four nodes on two cores are four equal machines. Else
they share the cores as they can. The wall is that of fetching, by the server's log; the index may come behind.
"""

import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.crawl.cap import can_cap
from benchmarks.crawl.fleet import FleetCrawl, Web, crawl
from benchmarks.figures import Row, row
from benchmarks.sources.published import CRAWLED_2018, KB_2006, KB_2018, PAGES_2006, PAGES_2018, beside

HOSTS = 59
WEB = Web(hosts=HOSTS, addresses=HOSTS, pages=PAGES_2018 // HOSTS, latency_s=0.02, words=1_200)
QUICK_WEB = Web(hosts=20, addresses=20, pages=3, latency_s=0.02, words=1_200)
NODES, QUICK_NODES = (1, 2, 3, 4), (1, 2)
ROUNDS = 3
DELAY_S = 0.2
WITHIN_S = 600.0
SHARE = 0.15  # of a core: four nodes take .6 of two, which leaves room for the web and for other work


def rows(quick: bool) -> list[Row]:
    """Return the rows of all numbers of nodes, by turns."""
    share = SHARE if can_cap() else None
    found: dict[int, list[FleetCrawl]] = {}
    for _ in range(1 if quick else ROUNDS):
        for nodes in QUICK_NODES if quick else NODES:
            found.setdefault(nodes, []).append(_run(QUICK_WEB if quick else WEB, nodes, share))
    return rows_of(found, share)


def _run(web: Web, nodes: int, share: float | None) -> FleetCrawl:
    with tempfile.TemporaryDirectory(prefix="dse-sources-", ignore_cleanup_errors=True) as name:
        return asyncio.run(crawl(web, nodes, DELAY_S, Path(name), WITHIN_S, replicas=1, share=share))


def rows_of(found: Mapping[int, Sequence[FleetCrawl]], share: float | None) -> list[Row]:
    """Return the rows of these crawls, by their numbers of nodes."""
    where = f"each {share:g} of a core" if share else "not capped"
    pages_s = {n: [len(each.visitor.pages) / each.visitor.wall_s for each in runs] for n, runs in found.items()}
    kb_s = {n: [each.visitor.bytes / 1e3 / each.visitor.wall_s for each in runs] for n, runs in found.items()}
    cpu_ms = {n: [each.cpu_s * 1e3 / len(each.visitor.pages) for each in runs] for n, runs in found.items()}
    return [
        *beside(f"pages crawled a minute, wall ({where})", _times(pages_s, 60), PAGES_2006),
        *beside(f"KB crawled a minute, wall ({where})", _times(kb_s, 60), KB_2006),
        *beside(f"pages crawled a second, wall ({where})", pages_s, CRAWLED_2018),
        *(row(f"pages crawled by {n} (in 2018 {PAGES_2018:,}, {KB_2018:,} KB)",
              [len(each.visitor.pages) for each in runs], "pages") for n, runs in found.items()),
        *(row(f"CPU a page, by {n}", values, "ms") for n, values in cpu_ms.items()),
        *(row(f"copies stored and indexed, by {n}",
              [each.documents / len(each.visitor.pages) for each in runs], "a page") for n, runs in found.items()),
        *(row(f"fetched twice, by {n}", [each.visitor.repeats for each in runs], "pages", goal=0)
          for n, runs in found.items()),
    ]  # fmt: skip


def _times(values: Mapping[int, Sequence[float]], factor: float) -> dict[int, list[float]]:
    return {n: [value * factor for value in found] for n, found in values.items()}
