"""Measures pages per second with 1, 2, 4 and 8 nodes: of processor time of all processes, and by the clock.

One made-up web, crawled from nothing each time. With r replicas each page is stored and indexed by up to r nodes, so
the rows are taken twice. The first has r as the network's tool sets it. The second has r = 1, which leaves only the
cost of being many. A web of four times the pages tells what is the pages' from what many nodes cost beside them. In
these rows nodes are not capped: they share the cores as the system likes, so wall time says nothing. Where the system
can cap them, each gets the same small share of a core, and pages a second by the clock are counted too. Sizes take
turns, and each figure is the median of ROUNDS. `--part mechanisms` tells where a further node's time goes.
"""

import asyncio
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

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
ROUNDS = 3
SHARE = 0.15  # of a core: eight nodes take 1.2 of two

Size = tuple[int, int]  # nodes, replicas


def rows(quick: bool, web: Path | None) -> list[Row]:
    """Return the rows of all sizes; `web` is not needed."""
    if quick:
        return _spent(QUICK_WEB, [(n, REPLICAS) for n in QUICK_NODES], 1)
    sizes = [*((n, REPLICAS) for n in NODES), *((n, 1) for n in NODES[1:])]
    return [*_spent(WEB, sizes, ROUNDS), *_spent(LONG_WEB, LONG, 1), *(_capped(WEB, sizes) if can_cap() else [])]


def _spent(served: Web, sizes: Sequence[Size], rounds: int) -> list[Row]:
    """Return the rows of these sizes, one node first."""
    found = _by_turns(served, sizes, rounds, None)
    one = median(map(_rate, found[sizes[0]]))
    return [each for size in sizes for each in rows_of(found[size], size, one, served)]


def _capped(served: Web, sizes: Sequence[Size]) -> list[Row]:
    """Return the rows of pages a second by the clock, each node with the same share of a core."""
    found = _by_turns(served, sizes, ROUNDS, SHARE)
    rates = {size: [len(run.visitor.pages) / run.visitor.wall_s for run in runs] for size, runs in found.items()}
    one = median(rates[sizes[0]])
    return [each for size in sizes for each in _clocked(rates[size], size, one)]


def _clocked(rates: Sequence[float], size: Size, one: float) -> list[Row]:
    where, times = f"{_where(size)}, each {SHARE:g} of a core", [rate / one for rate in rates]
    return [
        row(f"pages a second, wall: {where}", rates, "/s"),
        row(f"times one node's: {where}", times, "×", goal=goals.CAPPED.get(size), at_least=True),
    ]


def _by_turns(
    served: Web, sizes: Sequence[Size], rounds: int, share: float | None
) -> Mapping[Size, Sequence[FleetCrawl]]:
    found: dict[Size, list[FleetCrawl]] = {size: [] for size in sizes}
    for _ in range(rounds):
        for size in sizes:
            found[size].append(_run(served, *size, share))
    return found


def _run(served: Web, nodes: int, replicas: int, share: float | None) -> FleetCrawl:
    with tempfile.TemporaryDirectory(prefix="dse-scaling-", ignore_cleanup_errors=True) as name:
        return asyncio.run(crawl(served, nodes, DELAY_S, Path(name), WITHIN_S, replicas, share))


def rows_of(runs: Sequence[FleetCrawl], size: Size, one: float, served: Web) -> list[Row]:
    """Return the rows of one size; `one`: pages a CPU second of one node."""
    where = _where(size) + ("" if served.pages <= WEB.pages else f", {served.hosts * served.pages:,} pages")
    pages_of = f"{served.hosts * served.pages:,} pages of {served.hosts} hosts, {DELAY_S} s a host"

    def a_page(what: str, count: Callable[[FleetCrawl], float]) -> Row:
        return row(f"{what}: {where}", [count(run) / max(1, len(run.visitor.pages)) for run in runs], "a page")

    return [
        row(f"pages a CPU second: {where} ({pages_of})", map(_rate, runs), "/s"),
        row(f"of one node's: {where}", [_rate(run) / one for run in runs], "×", goal=goals.KEPT.get(size),
            at_least=True),
        a_page("copies stored and indexed", lambda run: run.documents),
        a_page("messages between nodes", lambda run: run.messages),
        a_page("bytes in them", lambda run: run.message_bytes),
        row(f"fetched twice: {where}", [run.visitor.repeats for run in runs], "pages", goal=goals.REPEATS),
        row(f"gaps under the rule: {where}", [run.visitor.gaps for run in runs], "gaps", goal=goals.GAPS),
        row(f"open requests a host over 1: {where}", [run.visitor.open_over_one for run in runs], "requests",
            goal=goals.OPEN_OVER_ONE),
    ]  # fmt: skip


def _where(size: Size) -> str:
    nodes, replicas = size
    return f"{nodes} nodes, r = {min(replicas, nodes)}" if nodes > 1 else "1 node"


def _rate(run: FleetCrawl) -> float:
    return len(run.visitor.pages) / run.cpu_s
