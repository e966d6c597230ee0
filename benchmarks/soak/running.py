"""Runs one block of a soak and samples it: five processes on loopback, a changing web, queries, now and then a kill.

The last node is killed, its directory is verified, and it is started again. The others live as long as the block, and
growth is judged by them. The next block goes on with the directories that this one leaves.
"""

import asyncio
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from urllib.parse import urlencode

import aiohttp

from benchmarks.soak.growth import Point
from benchmarks.soak.web import pick, vocabulary, write
from node.extras.demo.layout import DemoNode, forced_settings, plan_nodes
from node.extras.demo.network import install_all, write_network
from node.extras.demo.nodes import NodeClient
from node.extras.demo.processes import Children, free_ports, has_ipv6, start_web
from node.extras.demo.runner import Demo

REVISITS = {"crawl.min_revisit_s": 120.0, "crawl.revisit_s": 900.0, "crawl.max_revisit_s": 3600.0}
DELAY_S = 0.2
DEPTH = 100
ASKERS = 4  # questions on their way at once; one that is late delays its own successors alone
DEADLINE_MS = 3000
KILL_EVERY_S = 210.0  # 34 kills in two hours, 200 in twelve
FIRST_PORT = 21_000  # below those that the system gives away: a block finds the ports of the one before it free
REASONS_KEPT = 50
FIGURES = {  # name on /metrics: what it is called here, and its unit
    "dse_own_memory_bytes": ("memory MB", 1e6),
    'dse_heap_bytes{state="used"}': ("heap used MB", 1e6),
    'dse_heap_bytes{state="free"}': ("heap free MB", 1e6),
    'dse_heap_bytes{state="mapped"}': ("heap mapped MB", 1e6),
    "dse_python_blocks": ("python blocks", 1.0),
    "process_resident_memory_bytes": ("with files MB", 1e6),
    "process_open_fds": ("open files", 1.0),
    "dse_threads": ("threads", 1.0),
    "dse_tasks": ("tasks", 1.0),
    "dse_documents": ("documents", 1.0),
    "dse_disk_used_bytes": ("disk MB", 1e6),
}


@dataclass(frozen=True, slots=True)
class SoakPlan:
    """Says how long and how hard; `rate`: queries a second, over all nodes."""

    seconds: float = 2 * 3600.0
    nodes: int = 5
    rate: float = 8.0
    kill_every_s: float = KILL_EVERY_S
    sample_s: float = 30.0
    hosts: int = 8
    pages: int = 60
    seed: int = 1


@dataclass
class SoakRecord:
    """The record of one block: figure → node → points, what went wrong with queries, and the kills."""

    series: dict[str, dict[str, list[Point]]] = field(default_factory=dict)
    seconds: float = 0.0
    asked: int = 0
    failed: int = 0
    partial: int = 0
    reasons: list[str] = field(default_factory=list)  # of the first failed queries
    kills: int = 0
    unsound: list[str] = field(
        default_factory=list
    )  # the word of `store verify` about each directory that is not sound
    waits_ms: list[float] = field(default_factory=list)  # since the last sample

    def add(self, figure: str, node: str, at_s: float, value: float) -> None:
        """Note one sample."""
        self.series.setdefault(figure, {}).setdefault(node, []).append((at_s, value))

    def add_failed(self, reason: str) -> None:
        """Note a query that failed."""
        self.failed += 1
        if len(self.reasons) < REASONS_KEPT:
            self.reasons.append(f"{time.strftime('%H:%M:%S')} {reason}")


async def soak(plan: SoakPlan, folder: Path) -> SoakRecord:
    """Run one block in `folder`, which keeps logs and data for the next one, and return what was seen."""
    children, record = Children(folder), SoakRecord(seconds=plan.seconds)
    try:
        async with aiohttp.ClientSession() as session:
            demo = await _started(plan, folder, children, session)
            await demo.wait_formed()
            await demo.start_crawl()
            began = time.monotonic()
            until = began + plan.seconds
            async with asyncio.TaskGroup() as tasks:
                for number in range(ASKERS):
                    tasks.create_task(_ask(demo, plan, session, record, number, until))
                tasks.create_task(_kill(demo, plan, record, until))
                tasks.create_task(_sample(demo, plan, session, record, began, until))
    finally:
        await children.stop()
    return record


async def _started(plan: SoakPlan, folder: Path, children: Children, session: aiohttp.ClientSession) -> Demo:
    made = folder / "ports.json"
    is_new = not made.exists()
    ports = free_ports(2 * plan.nodes + 1, FIRST_PORT) if is_new else json.loads(made.read_text())
    if is_new:
        write(folder / "web", plan.seed, plan.hosts, plan.pages)
    ipv6 = has_ipv6()
    web = await start_web(children, folder / "web", folder, ipv6, ports[-1])
    nodes = plan_nodes(plan.nodes, ports[: plan.nodes], ports[plan.nodes : -1], folder, ipv6)
    if is_new:
        for node in nodes:
            shutil.rmtree(node.data_dir, ignore_errors=True)
        network = write_network(folder / "network.toml", nodes, web.hosts, DELAY_S)
        settings = {node: forced_settings(node, folder / "hosts", DELAY_S) | REVISITS for node in nodes}
        await install_all(children, settings, network)
        made.write_text(json.dumps(ports))
    demo = Demo(folder, nodes, web, children, NodeClient(session), print, time.monotonic())
    for node in nodes:
        demo.start_node(node)
    return demo


async def _ask(
    demo: Demo, plan: SoakPlan, session: aiohttp.ClientSession, record: SoakRecord, number: int, until: float
) -> None:
    """Ask one to three words of one node after the other, at this asker's share of the rate."""
    rng, words = Random(f"{plan.seed} asks {number}"), vocabulary(plan.seed)
    period, due = ASKERS / plan.rate, time.monotonic()
    while (due := max(due + period, time.monotonic() - period)) < until:
        await asyncio.sleep(due - time.monotonic())
        node = rng.choice(demo.alive()[: plan.nodes - 1])
        query = " ".join(pick(rng, words) for _ in range(rng.randint(1, 3)))
        await _ask_once(session, node, query, record)


async def _ask_once(session: aiohttp.ClientSession, node: DemoNode, query: str, record: SoakRecord) -> None:
    asked_at = time.monotonic()
    record.asked += 1
    parameters = urlencode({"q": query, "deadline_ms": DEADLINE_MS})
    try:
        async with session.get(f"{node.url}/api/v1/search?{parameters}") as answer:
            body = await answer.json()
            record.partial += bool(body.get("partial"))
            if answer.status != 200:
                record.add_failed(f"{node.name} {answer.status} {body}")
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        record.add_failed(f"{node.name} {error!r}")
    record.waits_ms.append((time.monotonic() - asked_at) * 1000)


async def _kill(demo: Demo, plan: SoakPlan, record: SoakRecord, until: float) -> None:
    """Kill the last node without warning, verify its directory, and start it again, time after time."""
    node, due = demo.nodes[-1], time.monotonic() + plan.kill_every_s
    while due < until:
        await asyncio.sleep(due - time.monotonic())
        demo.kill(node)
        record.kills += 1
        if said := await _unsound(node.data_dir):
            record.unsound.append(f"{time.strftime('%H:%M:%S')} {said}")
        demo.start_node(node)
        due += plan.kill_every_s


async def _unsound(data_dir: Path) -> str:
    """Return all that `store verify` says of a directory that is not sound, else nothing."""
    words = ("-m", "node", "store", "verify", "--data-dir", str(data_dir))
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, *words, stdout=pipe, stderr=asyncio.subprocess.STDOUT
    )
    said, _ = await process.communicate()
    return f"exit code {process.returncode}: {said.decode()}" if process.returncode else ""


async def _sample(
    demo: Demo, plan: SoakPlan, session: aiohttp.ClientSession, record: SoakRecord, began: float, until: float
) -> None:
    while time.monotonic() < until:
        await asyncio.sleep(plan.sample_s)
        demo.check_processes()
        at_s = time.monotonic() - began
        for node in demo.alive():
            for figure, value in await _figures(session, node):
                record.add(figure, node.name, at_s, value)
            record.add("files on disk", node.name, at_s, sum(len(files) for *_, files in os.walk(node.data_dir)))
            record.add("log kB", node.name, at_s, (demo.folder / f"{node.name}.log").stat().st_size / 1000)
        record.add("load", "machine", at_s, os.getloadavg()[0])
        if waits := sorted(record.waits_ms):
            record.waits_ms = []
            for figure, share in (("latency p50 ms", 0.5), ("latency p99 ms", 0.99)):
                record.add(figure, "all", at_s, waits[int(len(waits) * share)])


async def _figures(session: aiohttp.ClientSession, node: DemoNode) -> Iterator[tuple[str, float]]:
    """Return the figures of the process from /metrics; none while a node that was killed is starting."""
    try:
        async with session.get(f"{node.url}/metrics", timeout=aiohttp.ClientTimeout(total=15)) as answer:
            text = await answer.text()
    except (aiohttp.ClientError, TimeoutError):
        return iter(())
    return read_figures(text)


def read_figures(text: str) -> Iterator[tuple[str, float]]:
    """Yield the figures that are drawn out of a /metrics page."""
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        if name in FIGURES:
            figure, unit = FIGURES[name]
            yield figure, float(value) / unit
