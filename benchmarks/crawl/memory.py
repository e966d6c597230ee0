"""Measures who holds the memory of a node that has crawled, and of the same node at rest.

One node crawls the bundled sample, each host under NAMES names. Memory is what Linux counts of all its processes (PSS),
and what the node says of itself (`held.py`): once all pages are indexed, twenty seconds later, and at rest. A node
rests once nothing has changed for minutes; here it looks for that so often that REST_S are enough. A second crawl, in
which Python notes which code made each object, says whose they are.
"""

import asyncio
import json
import os
import signal
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from benchmarks.cpu import pss_bytes, tree, tree_s
from benchmarks.crawl import goals
from benchmarks.crawl.held import mapped
from benchmarks.crawl.ratio import DELAY_S
from benchmarks.crawl.sides import DEPTH, is_done, is_ready, until
from benchmarks.crawl.web import LOG, Tier, find_tier, served
from benchmarks.figures import Row, row
from benchmarks.ports import free_ports
from node.extras.demo.layout import DemoNode, forced_settings
from node.extras.demo.network import install, write_network
from node.extras.demo.nodes import NodeClient
from node.extras.demo.processes import Children
from node.extras.demo.sample_web import ServedWeb, start_urls

NAMES, QUICK_NAMES = 3, 1  # 1,434 pages; 478
LATER_S, REST_S, IDLE_S, QUICK_IDLE_S = 20.0, 90.0, 60.0, 5.0
LEAST_BYTES = 500_000  # of a row about objects


@dataclass(frozen=True, slots=True)
class Look:
    """The memory of a node's processes at one instant: of all, of its parsers, and of the node by its own word."""

    all: int
    parsers: int
    held: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Crawled:
    """A node's looks, by what it had done then, and what it took at rest of a core."""

    pages: int
    looks: Mapping[str, Look]
    idle: float


def rows(quick: bool, web: Path | None) -> list[Row]:
    """Return the rows; with `quick` nobody waits for rest, and no objects are traced."""
    with tempfile.TemporaryDirectory(prefix="dse-memory-", ignore_cleanup_errors=True) as name:
        tier = find_tier(web, Path(name), QUICK_NAMES if quick else NAMES)
        plain, traced = Path(name) / "plain", Path(name) / "traced"
        for folder in (plain, traced):
            folder.mkdir()
        found = asyncio.run(_crawled(tier, plain, quick=quick, traced=False))
        objects = {} if quick else asyncio.run(_crawled(tier, traced, quick=True, traced=True)).looks
    return [*_told(found, quick), *(_made_by(objects[AT_END].held) if objects else ())]


BEFORE, AT_END, LATER, AT_REST = "before the first page", "all indexed", f"{LATER_S:.0f} s later", "at rest"
GOALS = {AT_END: goals.CRAWLED_MB, AT_REST: goals.RESTING_MB}


def _told(found: Crawled, quick: bool) -> list[Row]:
    where = f"{found.pages:,} pages"
    told = [row(f"memory, {when} ({where}): all processes (PSS)", [look.all / 1e6], "MB", goal=GOALS.get(when))
            for when, look in found.looks.items()]  # fmt: skip
    for when, look in found.looks.items():
        parts = {"parser processes": look.parsers, **look.held}
        told += [row(f"of it, {when}: {name}", [size / 1e6], "MB") for name, size in parts.items()]
    return told if quick else [*told, row("the processor, at rest", [found.idle], "of a core", goal=goals.RESTING_CPU)]


def _made_by(objects: Mapping[str, int]) -> list[Row]:
    large = {name: size for name, size in objects.items() if size >= LEAST_BYTES}
    large["all others"] = sum(objects.values()) - sum(large.values())
    return [row(f"objects of Python, all indexed, by the code that made them: {name}", [size / 1e6], "MB")
            for name, size in large.items()]  # fmt: skip


async def _crawled(tier: Tier, folder: Path, *, quick: bool, traced: bool) -> Crawled:
    async with served(tier, folder) as web:
        children = Children(folder)
        try:
            return await _watched(children, web, folder, quick=quick, traced=traced)
        finally:
            await children.stop()


async def _watched(children: Children, web: ServedWeb, folder: Path, *, quick: bool, traced: bool) -> Crawled:
    node, looks = DemoNode("node-1", (4,), *free_ports(2), folder / "node-1"), dict[str, Look]()
    network = write_network(folder / "network.toml", [node], web.hosts, DELAY_S)
    await install(children, node, network, forced_settings(node, folder / "hosts", DELAY_S))
    report, trace = folder / "held.json", ["--trace"] if traced else []
    child = children.start(
        "node-1", "benchmarks.crawl.held", str(report), *trace, "run", "--data-dir", str(node.data_dir)
    )
    async with aiohttp.ClientSession() as session:
        client, pid, idle = NodeClient(session), child.process.pid, 0.0
        await until(child, client, node, is_ready)
        looks[BEFORE] = _look(pid, report)
        await client.crawl(node, start_urls(web), DEPTH)
        await until(child, client, node, is_done, folder / LOG)
        looks[AT_END] = _look(pid, report)
        if not quick:
            await asyncio.sleep(LATER_S)
            looks[LATER] = _look(pid, report)
            idle = await _rest(pid)
            looks[AT_REST] = _look(pid, report)
        pages = ((await client.status(node)) or {}).get("documents", 0)
    return Crawled(pages, looks, idle)


async def _rest(pid: int) -> float:
    """Wait until the node rests; return the share of a core that it takes then."""
    os.kill(pid, signal.SIGUSR2)
    await asyncio.sleep(REST_S)
    os.kill(pid, signal.SIGUSR2)  # as often as always
    before = tree_s(pid)
    await asyncio.sleep(IDLE_S)
    return (tree_s(pid) - before) / IDLE_S


def _look(pid: int, report: Path) -> Look:
    total, parsers = pss_bytes(pid), sum(sum(mapped(each).values()) for each in tree(pid) if each != pid)
    report.unlink(missing_ok=True)
    os.kill(pid, signal.SIGUSR1)
    while not report.exists():
        time.sleep(0.1)
    held = json.loads(report.read_text())
    return Look(total, parsers, held)
