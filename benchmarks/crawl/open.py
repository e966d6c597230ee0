"""Measures how many fetches one node holds open at once, on a web of many hosts at many addresses that answer late.

Hosts share addresses, so the bounds of an address hold too; every setting is the default but for the delay, which is
the default as well.
"""

import asyncio
import tempfile
from pathlib import Path

from benchmarks.crawl import goals
from benchmarks.crawl.fleet import Web, crawl
from benchmarks.figures import Row, row

WEB = Web(hosts=1500, addresses=480, pages=3, latency_s=4.0, words=100)  # a host rests twice as long as it worked
QUICK_WEB = Web(hosts=500, addresses=420, pages=1, latency_s=2.0, words=100)
DELAY_S = 1.0
WITHIN_S = 600.0


def rows(quick: bool, web: Path | None) -> list[Row]:
    """Return the rows of one run; `web` is not needed."""
    served = QUICK_WEB if quick else WEB
    with tempfile.TemporaryDirectory(prefix="dse-open-", ignore_cleanup_errors=True) as name:
        found = asyncio.run(crawl(served, 1, DELAY_S, Path(name), WITHIN_S))
    pages, seen = served.hosts * served.pages, found.visitor
    where = (
        f"{served.hosts} hosts, {served.addresses} addresses, {served.latency_s:g} s an answer, {DELAY_S:g} s a host"
    )
    return [
        row(f"open fetches at once, by the server's log ({where})", [found.open_most], "requests",
            goal=goals.OPEN_AT_ONCE, at_least=True),
        row(f"pages lost of {pages:,}", [pages - min(len(seen.pages), found.documents)], "pages", goal=goals.LOST),
        row("fetched twice", [seen.repeats], "pages", goal=goals.REPEATS),
        row("gaps under the rule", [seen.gaps], "gaps", goal=goals.GAPS),
        row("open requests a host over 1", [seen.open_over_one], "requests", goal=goals.OPEN_OVER_ONE),
        row("open requests at one address, at most", [found.open_most_at_address], "requests",
            goal=goals.OPEN_AT_ADDRESS),
        row("CPU a page, all processes", [found.cpu_s / max(1, len(seen.pages)) * 1e6], "µs"),
        row("pages a second, wall", [len(seen.pages) / seen.wall_s], "/s"),
    ]  # fmt: skip
