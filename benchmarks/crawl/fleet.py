"""Runs nodes of one network, each a program of its own, that crawl a made-up slow web: what the rows about many
hosts and many nodes are measured on."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks.cpu import tree_s
from benchmarks.crawl.cap import capped
from benchmarks.crawl.judged import Visitor, judge
from benchmarks.crawl.slowweb import host_name, lines_of
from benchmarks.crawl.web import LOG, quiet
from benchmarks.ports import free_ports
from node.extras.demo.judge import second_look_requests, told_apart
from node.extras.demo.layout import DemoNode
from node.extras.demo.network import install_all, write_network
from node.extras.demo.nodes import NodeClient
from node.extras.demo.processes import Child, Children
from node.extras.simulation.observations import REPLICAS

AGENT = "dse-node"
READY_WITHIN_S = 120.0
# whoever came last is compared with once views agree (store/repair/replica_repair.py): no part of a crawl
CALM_AFTER_S = 15.0
LOOK_EVERY_S = 2.0  # a node that is asked whether all is settled asks the others
A_REQUEST = 500  # seeds
DEPTH = 3


@dataclass(frozen=True, slots=True)
class Web:
    """Describes a web of `hosts` hosts of `pages` pages each on so many addresses; each answer takes `latency_s`."""

    hosts: int
    addresses: int
    pages: int
    latency_s: float
    words: int = 200


@dataclass(frozen=True, slots=True)
class FleetCrawl:
    """Says what came of a crawl: CPU seconds of all nodes, pages in their indexes (each counted where it lies).
    `visitor`: without second looks, which ask for some pages once more on purpose. `query_cpu_s`: of all nodes, for one
    query."""

    cpu_s: float
    visitor: Visitor
    open_most: int  # requests at once, by the server's log
    open_most_at_address: int
    documents: int
    messages: int
    message_bytes: int
    query_cpu_s: float = 0.0


async def crawl(
    web: Web,
    nodes: int,
    delay_s: float,
    folder: Path,
    within_s: float,
    replicas: int = REPLICAS,
    share: float | None = None,
    index_copies: int = REPLICAS,
    queries: Sequence[str] = (),
) -> FleetCrawl:
    """Crawl all of a web from its hosts' first pages, and ask queries then, each of one node after the other. `share`:
    of one core, the most that each node may use until all is fetched."""
    children = Children(folder)
    log, strategy = folder / LOG, {"replicas": replicas, "index_copies": index_copies}
    try:
        port = await _serve(children, web, folder)
        fleet = await _start(children, web, nodes, delay_s, folder, strategy)
        async with aiohttp.ClientSession() as session:
            client, pids = NodeClient(session), [child.process.pid for child in children.running[1:]]
            await _until(children.running, client, fleet, _are_ready, READY_WITHIN_S)
            if nodes > 1:
                await asyncio.sleep(CALM_AFTER_S)
            before, said = _cpu_s(pids), _said(folder, nodes)
            seeds = [f"http://{host_name(n)}:{port}/p0" for n in range(web.hosts)]
            with capped(pids, share) if share is not None else nullcontext():
                for first in range(0, len(seeds), A_REQUEST):
                    await client.crawl(fleet[first // A_REQUEST % nodes], seeds[first : first + A_REQUEST], DEPTH)
                await _until(children.running, client, fleet, _are_fetched, within_s, log)
            await _until(children.running, client, fleet, _are_done, within_s, log)
            cpu_s, statuses = _cpu_s(pids) - before, await client.statuses(fleet)
            query_cpu_s = await _query_cpu_s(client, fleet, pids, queries)
        await asyncio.sleep(1.5)  # the counts are written once a second
        spoken = [after - earlier for after, earlier in zip(_said(folder, nodes), said, strict=True)]
    finally:
        await children.stop()
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    visitor = judge(_without_second_looks(rows, folder, fleet), AGENT, delay_s, from_start=False)
    addresses = {row["address"] for row in rows}
    at_one = max(most_open([row for row in rows if row["address"] == each]) for each in addresses)
    documents = sum(status["documents"] for status in statuses if status)
    return FleetCrawl(cpu_s, visitor, most_open(rows), at_one, documents, *spoken, query_cpu_s)


async def _query_cpu_s(
    client: NodeClient, fleet: Sequence[DemoNode], pids: Sequence[int], queries: Sequence[str]
) -> float:
    """Ask queries, each once; return what one of the second half took of all nodes. In the first half they learn to
    trust each other."""
    half, before = len(queries) // 2, 0.0
    for number, query in enumerate(queries):
        if number == half:
            before = _cpu_s(pids)
        answer = await client.search(fleet[number % len(fleet)], query)
        if answer is None or not answer["whole"]:
            raise RuntimeError(f"{query!r} has no whole answer: {answer and answer['coverage']}")
    return (_cpu_s(pids) - before) / (len(queries) - half) if queries else 0.0


def _without_second_looks(
    rows: Sequence[Mapping[str, Any]], folder: Path, fleet: Sequence[DemoNode]
) -> Sequence[Mapping[str, Any]]:
    logs = [(folder / f"{node.name}.log").read_text(errors="replace") for node in fleet]
    return told_apart(rows, [request for log in logs for request in second_look_requests(log)])[0]


def most_open(rows: Sequence[dict[str, Any]]) -> int:
    """Return the most requests open at once."""
    turns = sorted([(row["t"], 1) for row in rows] + [(row["t"] + row["ms"] / 1000, -1) for row in rows])
    now = most = 0
    for _, step in turns:
        now += step
        most = max(most, now)
    return most


async def _serve(children: Children, web: Web, folder: Path) -> int:
    order, ready = folder / "web.json", folder / "web.port"
    (folder / "hosts").write_text(lines_of([host_name(n) for n in range(web.hosts)], web.addresses))
    told = {"hosts": web.hosts, "pages": web.pages, "latency_s": web.latency_s, "words": web.words}
    order.write_text(json.dumps(told | {"log": str(folder / LOG), "ready": str(ready)}))
    children.start("web", "benchmarks.crawl.slowweb", str(order))
    for _ in range(200):
        if ready.is_file() and (text := ready.read_text()):
            return int(text)
        await asyncio.sleep(0.1)
    raise RuntimeError("the made-up web did not start")


async def _start(
    children: Children, web: Web, count: int, delay_s: float, folder: Path, strategy: Mapping[str, Any]
) -> list[DemoNode]:
    ports = free_ports(2 * count)
    fleet = [
        DemoNode(f"node-{n + 1}", (4,), ports[n], ports[count + n], folder / f"node-{n + 1}") for n in range(count)
    ]
    network = write_network(folder / "network.toml", fleet, ["*.example"], delay_s, strategy)
    crawl = {"crawl.allow_private": True, "crawl.hosts_file": str(folder / "hosts"), "crawl.min_delay_s": delay_s}
    await install_all(children, {node: lone_settings(node) | crawl for node in fleet}, network)
    for node in fleet:
        counts = str(folder / f"{node.name}.counts")
        children.start(node.name, "benchmarks.crawl.counted", counts, "run", "--data-dir", str(node.data_dir))
    return fleet


def lone_settings(node: DemoNode) -> dict[str, Any]:
    """Return what differs from the defaults where nodes share a loopback without names: address and ports."""
    return {
        "node.families": [4],
        "node.listen_v4": "127.0.0.1",
        "node.peer_port": node.peer_port,
        "node.web_port": node.web_port,
        "crawl.dns": False,
    }


def _cpu_s(pids: Sequence[int]) -> float:
    return sum(map(tree_s, pids))


def _said(folder: Path, nodes: int) -> tuple[int, int]:
    """Return the messages and bytes of all nodes so far."""
    found = [json.loads((folder / f"node-{n + 1}.counts").read_text()) for n in range(nodes)]
    return sum(each["messages"] for each in found), sum(each["message_bytes"] for each in found)


def _are_ready(statuses: Sequence[dict[str, Any]]) -> bool:
    slots = [status["slots"] for status in statuses]
    everybody = all(status["members"] == len(statuses) for status in statuses)
    return (
        everybody
        and sum(s["leased"] for s in slots) == slots[0]["all"]
        and all(s["ready"] >= s["owned"] for s in slots)
    )


def _are_fetched(statuses: Sequence[dict[str, Any]]) -> bool:
    crawls = [status["crawl"] for status in statuses]
    idle = all(c["frontier"] == 0 and c["open"] == 0 for c in crawls)
    return idle and any(status["documents"] for status in statuses)


def _are_done(statuses: Sequence[dict[str, Any]]) -> bool:
    return _are_fetched(statuses) and all(status["alike"] for status in statuses)


async def _until(
    running: Sequence[Child],
    client: NodeClient,
    fleet: Sequence[DemoNode],
    check: Callable[[Sequence[dict[str, Any]]], bool],
    within_s: float,
    log: Path | None = None,
) -> None:
    """Wait until all statuses pass a check; none is asked for while the web whose `log` is given answers somebody."""
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        for child in running:
            if not child.is_running:
                raise RuntimeError(f"{child.name} ended by itself: {child.last_words()}")
        if log is not None:
            await quiet(log)
        statuses = [status for status in await client.statuses(fleet[:1]) if status]
        if check is _are_ready or (statuses and check(statuses)):
            statuses = [status for status in await client.statuses(fleet) if status]
        if len(statuses) == len(fleet) and check(statuses):
            return
        await asyncio.sleep(LOOK_EVERY_S)
    raise RuntimeError(f"the nodes were not done within {within_s:.0f} s: {[s['crawl']['reason'] for s in statuses]}")
