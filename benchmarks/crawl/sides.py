"""Runs the programs that crawl, each as processes of its own: this node, Scrapy, and our client alone."""

import asyncio
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks.cpu import process_s, threads_s, tree_s
from benchmarks.crawl.web import LOG, quiet
from benchmarks.ports import free_ports
from crawl import CrawlConfig
from node.extras.demo.layout import DemoNode, forced_settings
from node.extras.demo.network import install, write_network
from node.extras.demo.nodes import NodeClient
from node.extras.demo.processes import Child, Children
from node.extras.demo.sample_web import ServedWeb, start_urls

DEPTH = 60
SETTLED_WITHIN_S = 900.0
LOOK_EVERY_S = 1.0
INDEX_THREADS = ("index-write", "index-read", "thrd-tantivy", "merge_thread", "segment_updat", "segment_updater")

Check = Callable[[dict[str, Any]], bool]


@dataclass(frozen=True, slots=True)
class Spent:
    """Holds the seconds of processor time while a side crawled; `index_s` of it by threads that only index,
    `parsers_s` by other processes of the side."""

    cpu_s: float
    index_s: float = 0.0
    parsers_s: float = 0.0


class SideFailed(Exception):
    """Says that a side did not finish; the text is the plain reason."""


async def ours(web: ServedWeb, folder: Path, delay_s: float) -> Spent:
    """Let a network of one node crawl from the front pages until nothing waits and all is indexed."""
    children = Children(folder)
    node = DemoNode("node-1", (4,), *free_ports(2), folder / "node-1")
    network = write_network(folder / "network.toml", [node], web.hosts, delay_s)
    try:
        await install(children, node, network, our_settings(node, folder / "hosts", delay_s))
        child = children.start("node-1", "benchmarks.crawl.named", "node", "run", "--data-dir", str(node.data_dir))
        async with aiohttp.ClientSession() as session:
            client, pid = NodeClient(session), child.process.pid
            await until(child, client, node, is_ready)
            before, alone, threads = tree_s(pid), process_s(pid), threads_s(pid)
            await client.crawl(node, start_urls(web), DEPTH)
            await until(child, client, node, is_done, folder / LOG)
            cpu_s, node_s, after = tree_s(pid) - before, process_s(pid) - alone, threads_s(pid)
        spent = {name: after[name] - threads.get(name, 0.0) for name in after}
        index_s = sum(s for name, s in spent.items() if name.startswith(INDEX_THREADS))
        ended_s = max(0.0, node_s - sum(spent.values()))  # tantivy's writer starts its thread anew at each commit
        return Spent(cpu_s, index_s + ended_s, cpu_s - node_s)
    finally:
        await children.stop()


def our_settings(node: DemoNode, hosts_file: Path, delay_s: float) -> dict[str, Any]:
    """Return a node's settings. As by default an address rests a tenth of a host's delay. Else the delay of the
    addresses, which the hosts share and Scrapy does not keep, would decide how long our side takes."""
    usual = CrawlConfig()
    address_delay_s = delay_s * usual.address_delay_s / usual.min_delay_s
    return forced_settings(node, hosts_file, delay_s) | {"crawl.address_delay_s": address_delay_s}


async def scrapy(
    web: ServedWeb, folder: Path, delay_s: float, agent: str, seeds: Sequence[str] | None, *, indexes: bool = False
) -> Spent:
    """Let Scrapy crawl from the front pages, with a text of each page, or over `seeds`, with nothing done. With
    `indexes` it reads and indexes each page as ours does."""
    order = {
        "seeds": list(start_urls(web) if seeds is None else seeds),
        "hosts": {host: addresses[0] for host, addresses in web.hosts.items()},
        "delay_s": delay_s,
        "agent": agent,
        "follow": seeds is None,
        "sink": str(folder / f"{agent}.zst") if seeds is None else None,
        "index": str(folder / f"{agent}-index") if indexes else None,
        "settings": {},
    }
    return await _program("benchmarks.crawl.spider", order, folder / f"{agent}.json")


async def bare(folder: Path, delay_s: float, seeds: Sequence[str]) -> Spent:
    """Our client alone over `seeds`."""
    return await _program("benchmarks.crawl.bare", {"seeds": list(seeds), "delay_s": delay_s}, folder / "bare.json")


async def _program(module: str, order: dict[str, object], path: Path) -> Spent:
    report = _write(order, path)
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", module, str(path))
    try:
        async with asyncio.timeout(SETTLED_WITHIN_S):
            await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if not report.is_file():
        raise SideFailed(f"{module} ended without a report, status {process.returncode}")
    return Spent(json.loads(report.read_text())["cpu_s"])


def _write(order: dict[str, object], path: Path) -> Path:
    """Write an order; return where its report will be."""
    report = path.with_suffix(".report.json")
    path.write_text(json.dumps(order | {"report": str(report)}))
    return report


async def until(child: Child, client: NodeClient, node: DemoNode, check: Check, log: Path | None = None) -> None:
    """Wait until a node's status passes a check. A status costs the node some time, so none is asked for while the web
    whose `log` is given still answers somebody."""
    end = time.monotonic() + SETTLED_WITHIN_S
    while time.monotonic() < end:
        if not child.is_running:
            raise SideFailed(f"the node ended by itself: {child.last_words()}")
        if log is not None:
            await quiet(log)
        status = await client.status(node)
        if status and check(status):
            return
        await asyncio.sleep(LOOK_EVERY_S)
    raise SideFailed(f"the node was not done within {SETTLED_WITHIN_S:.0f} s")


def is_ready(status: dict[str, Any]) -> bool:
    """Tell whether a node of a network of its own may fetch."""
    slots = status["slots"]
    return slots["ready"] == slots["owned"] == slots["leased"] == slots["all"] > 0


def is_done(status: dict[str, Any]) -> bool:
    """Tell whether a node has fetched and indexed all."""
    crawl = status["crawl"]
    return bool(status["alike"] and status["documents"]) and crawl["frontier"] == 0 and crawl["open"] == 0
