"""Measures pages per second of processor time with 1, 2, 4 and 8 nodes, all processes of all nodes counted.

One made-up web, crawled from nothing each time. With r replicas each page is stored and indexed by up to r nodes, so
the rows are taken twice: with r as the network's tool sets it, and with r = 1, which leaves the cost of being many.
A web of four times the pages tells what is the pages' from what many nodes cost beside them. In these rows nodes are
not capped: they share the cores as the system likes, so wall time says nothing. Where the system can cap them, each
gets the same small share of a core, and pages a second by the clock are counted too.
"""

import asyncio
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from benchmarks.crawl import goals
from benchmarks.crawl.cap import can_cap
from benchmarks.crawl.fleet import FleetCrawl, Web, crawl
from benchmarks.figures import Row, row
from node.extras.simulation.observations import REPLICAS

WEB = Web(hosts=250, addresses=100, pages=8, latency_s=0.02, words=400)
LONG_WEB = replace(WEB, pages=32)
QUICK_WEB = Web(hosts=60, addresses=40, pages=4, latency_s=0.02, words=400)
NODES, QUICK_NODES = (1, 2, 4, 8), (1, 2)
LONG = ((1, REPLICAS), (8, REPLICAS), (8, 1))
DELAY_S = 0.2
WITHIN_S = 900.0
SHARE = 0.15  # of a core: eight nodes take 1.2 of two


def rows(quick: bool, web: Path | None) -> list[Row]:
    """Return the rows of one run of each size; `web` is not needed."""
    if quick:
        return _series(QUICK_WEB, [(n, REPLICAS) for n in QUICK_NODES])
    found = _series(WEB, [*((n, REPLICAS) for n in NODES), *((n, 1) for n in NODES[1:])])
    return found + _series(LONG_WEB, LONG) + (_capped(WEB) if can_cap() else [])


def _series(served: Web, sizes: Iterable[tuple[int, int]]) -> list[Row]:
    """Return the rows of these numbers of nodes and of replicas, one node first."""
    found: list[Row] = []
    one = 0.0
    for nodes, replicas in sizes:
        done = _run(served, nodes, replicas)
        one = one or _rate(done)
        found += rows_of(done, nodes, replicas, one, served)
    return found


def _capped(served: Web) -> list[Row]:
    """Return the rows of pages a second by the clock, each node with the same share of a core."""
    found: list[Row] = []
    one = 0.0
    for nodes in NODES:
        visitor = _run(served, nodes, REPLICAS, SHARE).visitor
        rate = len(visitor.pages) / visitor.wall_s
        one = one or rate
        where = f"{_where(nodes, REPLICAS)}, each {SHARE:g} of a core"
        found.append(row(f"pages a second, wall: {where}", [rate], "/s"))
        found.append(row(f"of one node's, by the node: {where}", [rate / one / nodes], "×"))
    return found


def _run(served: Web, nodes: int, replicas: int, share: float | None = None) -> FleetCrawl:
    with tempfile.TemporaryDirectory(prefix="dse-scaling-", ignore_cleanup_errors=True) as name:
        return asyncio.run(crawl(served, nodes, DELAY_S, Path(name), WITHIN_S, replicas, share))


def rows_of(done: FleetCrawl, nodes: int, replicas: int, one: float, served: Web) -> list[Row]:
    """Return the rows of one size; `one`: pages a CPU second of one node."""
    pages = len(done.visitor.pages)
    where = _where(nodes, replicas)
    where += "" if served.pages <= WEB.pages else f", {served.hosts * served.pages:,} pages"
    pages_of = f"{served.hosts * served.pages:,} pages of {served.hosts} hosts, {DELAY_S} s a host"
    goal = goals.KEPT_SHARE if nodes > 1 and replicas == REPLICAS else goals.KEPT_ALONE.get(nodes)
    return [
        row(f"pages a CPU second: {where} ({pages_of})", [_rate(done)], "/s"),
        row(f"of one node's: {where}", [_rate(done) / one], "×", goal=goal, at_least=True),
        row(f"copies stored and indexed: {where}", [done.documents / max(1, pages)], "a page"),
        row(f"messages between nodes: {where}", [done.messages / max(1, pages)], "a page"),
        row(f"bytes in them: {where}", [done.message_bytes / max(1, pages)], "a page"),
        row(f"fetched twice: {where}", [done.visitor.repeats], "pages", goal=goals.REPEATS),
        row(f"gaps under the rule: {where}", [done.visitor.gaps], "gaps", goal=goals.GAPS),
        row(f"open requests a host over 1: {where}", [done.visitor.open_over_one], "requests",
            goal=goals.OPEN_OVER_ONE),
    ]  # fmt: skip


def _where(nodes: int, replicas: int) -> str:
    return f"{nodes} nodes, r = {min(replicas, nodes)}" if nodes > 1 else "1 node"


def _rate(done: FleetCrawl) -> float:
    return len(done.visitor.pages) / done.cpu_s
