"""Pages per second of processor time with 1, 2, 4 and 8 nodes of one network, all processes of all nodes counted.

One made-up web, crawled from nothing each time. With r replicas each page is stored and indexed by up to r nodes, so
the rows are taken twice: with r as the network's tool sets it, and with r = 1, which leaves the cost of being many.
Nodes are not capped: they share the cores as the system likes, so wall time says nothing and is no row.
"""

import asyncio
import tempfile
from pathlib import Path

from benchmarks.crawl import goals
from benchmarks.crawl.fleet import Crawl, Web, crawl
from benchmarks.figures import Row, row
from node.demo.network import REPLICAS

WEB = Web(hosts=250, addresses=100, pages=8, latency_s=0.02, words=400)
QUICK_WEB = Web(hosts=60, addresses=40, pages=4, latency_s=0.02, words=400)
NODES, QUICK_NODES = (1, 2, 4, 8), (1, 2)
DELAY_S = 0.2
WITHIN_S = 900.0


def rows(quick: bool, web: Path | None) -> list[Row]:
    """One run of each size; `web` is not needed."""
    served = QUICK_WEB if quick else WEB
    found: list[Row] = []
    one = 0.0
    sizes = QUICK_NODES if quick else NODES
    for nodes, replicas in [*((n, REPLICAS) for n in sizes), *((n, 1) for n in (() if quick else sizes[1:]))]:
        with tempfile.TemporaryDirectory(prefix="dse-scaling-", ignore_cleanup_errors=True) as name:
            done = asyncio.run(crawl(served, nodes, DELAY_S, Path(name), WITHIN_S, replicas=replicas))
        one = one or _rate(done)
        found += rows_of(done, nodes, replicas, one, served)
    return found


def rows_of(done: Crawl, nodes: int, replicas: int, one: float, served: Web) -> list[Row]:
    """Of one size; `one`: pages a CPU second of one node."""
    pages = len(done.visitor.pages)
    where = f"{nodes} nodes, r = {min(replicas, nodes)}" if nodes > 1 else "1 node"
    pages_of = f"{served.hosts * served.pages:,} pages of {served.hosts} hosts, {DELAY_S} s a host"
    goal = goals.KEPT_SHARE if nodes > 1 and replicas == REPLICAS else None
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


def _rate(done: Crawl) -> float:
    return len(done.visitor.pages) / done.cpu_s
