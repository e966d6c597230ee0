"""Measures what it saves and costs that fewer than all owners of a slot index it: the strategy's `index_copies`.

Five nodes with three copies of everything crawl one made-up web from nothing, and are asked then. Fewer indexes make a
page cheaper. A query may become dearer, because fewer peers cover more slots at once. Settings take turns.
"""

import asyncio
import tempfile
from pathlib import Path
from random import Random
from statistics import median

from benchmarks.crawl.fleet import FleetCrawl, Web, crawl
from benchmarks.crawl.slowweb import WORDS
from benchmarks.figures import Row, row

WEB = Web(hosts=250, addresses=100, pages=8, latency_s=0.02, words=400)
QUICK_WEB = Web(hosts=40, addresses=40, pages=3, latency_s=0.02, words=400)
NODES, REPLICAS, COPIES = 5, 3, (3, 2)
ROUNDS, QUERIES, QUICK_QUERIES = 3, 1_000, 100
DELAY_S, WITHIN_S = 0.2, 900.0


def rows(quick: bool, web: Path | None) -> list[Row]:
    """Return the rows of each setting; `web` is not needed."""
    found: dict[int, list[FleetCrawl]] = {copies: [] for copies in COPIES}
    for _ in range(1 if quick else ROUNDS):
        for copies in COPIES:
            found[copies].append(_run(quick, copies))
    pages = {copies: median(_page_ms(run) for run in runs) for copies, runs in found.items()}
    asked = {copies: median(run.query_cpu_s for run in runs) for copies, runs in found.items()}
    result = []
    for copies, runs in found.items():
        where = f"{NODES} nodes, r = {REPLICAS}, index_copies = {copies}"
        result += [
            row(f"CPU of all nodes a page: {where}", [_page_ms(run) for run in runs], "ms"),
            row(f"CPU of all nodes a query: {where}", [run.query_cpu_s * 1000 for run in runs], "ms"),
            row(f"a page beside index_copies = {COPIES[0]}: {where}", [pages[copies] / pages[COPIES[0]]], "×"),
            row(f"a query beside index_copies = {COPIES[0]}: {where}", [asked[copies] / asked[COPIES[0]]], "×"),
        ]
    return result


def _run(quick: bool, copies: int) -> FleetCrawl:
    rng = Random(1)
    words = [" ".join(rng.choice(WORDS) + str(rng.randrange(500)) for _ in range(rng.choice((1, 2, 3))))
             for _ in range(QUICK_QUERIES if quick else QUERIES)]  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="dse-copies-", ignore_cleanup_errors=True) as name:
        served, folder = QUICK_WEB if quick else WEB, Path(name)
        return asyncio.run(crawl(served, NODES, DELAY_S, folder, WITHIN_S, REPLICAS, None, copies, words))


def _page_ms(run: FleetCrawl) -> float:
    return 1000 * run.cpu_s / max(1, len(run.visitor.pages))
