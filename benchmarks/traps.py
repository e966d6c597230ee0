"""Measures one node on a web full of traps: does it end, in which memory, and why was what not taken?

A web is a folder with one subfolder per host (node/extras/demo/sample_web.py). Its `_site.toml` may set calendars,
facets, endless paths, session ids, bombs, drips, huge pages, redirect loops and lying charsets. It may also make hosts
slow, failing or limiting. The node is a process with its parser and its durable store, as operators run it. Only its
waits between retries are shortened, so that the last one comes within minutes. The server's log reports what the site
saw, the node's store what became of each URL, and Linux the memory (PSS of the node and its parser).

`python -m benchmarks.traps [--web DIR] [--delay S] [--within S] [--quick] [--json]`
"""

import asyncio
import json
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from benchmarks.figures import Row, parser_for, row, show
from benchmarks.ports import free_ports
from crawl import Visit, VisitState, decode_visit
from crawl.pipeline.crawl_status import kind_of
from dht import Slot, slot_start, system_clock
from node.extras.demo.layout import DemoNode, forced_settings, plan_nodes
from node.extras.demo.network import install, write_network
from node.extras.demo.nodes import NodeClient
from node.extras.demo.processes import Children, has_ipv6, start_web
from node.extras.demo.sample_web import start_urls
from store import Kind, RecordStore, StoreConfig

DEPTH = 40  # links from the front pages: deeper than any honest page lies, so that traps are ended by guards
DELAY_S = 0.1
RETRIES = {
    "crawl.retry_base_s": 1.0,
    "crawl.max_retry_s": 20.0,
    "crawl.breaker_s": 2.0,
    "crawl.max_error_delay_s": 20.0,
    "crawl.total_timeout_s": 20.0,
}
QUIET_LOOKS = 8  # half a second apart, with nothing waiting and nothing open
START_WITHIN_S = 30.0
PSS_GOAL_MB = 450.0
GAP_GOAL_SHARE = 0.98  # of the delay: the server's clock reads milliseconds later than the wire
NOT_REPEATS = ("/robots.txt",)  # read again where a host's first answer failed


@dataclass
class TrapCrawl:
    """Collects what one run showed."""

    seconds: float = 0.0
    ended: bool = False
    peak_pss_mb: float = 0.0
    idle_pss_mb: float = 0.0
    pages: int = 0
    states: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    links: Counter[str] = field(default_factory=Counter)  # links not taken, by reason, as `status` counts them
    unexplained: list[str] = field(default_factory=list)
    cut: set[tuple[str, str]] = field(default_factory=set)  # host and path of bodies that the node gave up
    rows: list[dict[str, Any]] = field(default_factory=list)
    hosts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


async def crawl(web: Path | None, delay_s: float, within_s: float, folder: Path) -> TrapCrawl:
    """Serve a web, crawl it, and read what is left."""
    children, found = Children(folder), TrapCrawl()
    try:
        served = await start_web(children, web, folder, has_ipv6())
        found.hosts = served.hosts
        node = plan_nodes(1, free_ports(1), free_ports(1), folder, has_ipv6())[0]
        network = write_network(folder / "network.toml", [node], served.hosts, delay_s)
        await install(children, node, network, forced_settings(node, folder / "hosts", delay_s) | RETRIES)
        child = children.start(node.name, "node", "run", "--data-dir", str(node.data_dir))
        async with aiohttp.ClientSession() as session:
            client = NodeClient(session)
            await _started(client, node)
            found.idle_pss_mb = pss_mb(child.process.pid)
            await client.crawl(node, start_urls(served), DEPTH)
            await _watch(found, client, node, child.process.pid, within_s)
    finally:
        await children.stop()
    _read_store(found, node.data_dir / "store")
    found.rows = [json.loads(line) for line in (folder / "web.jsonl").read_text().splitlines()]
    return found


async def _started(client: NodeClient, node: DemoNode) -> None:
    until = time.monotonic() + START_WITHIN_S
    while time.monotonic() < until:
        status = await client.status(node)
        if status and status["slots"]["leased"] == status["slots"]["all"]:
            return
        await asyncio.sleep(0.3)
    raise OSError(f"the node held no lease within {START_WITHIN_S:.0f} s")


async def _watch(found: TrapCrawl, client: NodeClient, node: DemoNode, pid: int, within_s: float) -> None:
    """Watch until nothing waits, or the time is over."""
    began, quiet, said = time.monotonic(), 0, 0.0
    while found.seconds < within_s and quiet < QUIET_LOOKS:
        found.peak_pss_mb = max(found.peak_pss_mb, pss_mb(pid))
        status = await client.status(node)
        if status:
            waits = status["crawl"]["frontier"] or status["crawl"]["open"] or not status["alike"]
            quiet = 0 if waits else quiet + 1
            found.links = Counter(status["crawl"]["refused"])
            if found.seconds - said > 10:
                said = found.seconds
                print(f"{said:4.0f} s  {status['documents']} documents, {found.peak_pss_mb:.0f} MB, "
                      f"{status['crawl']['reason']}", file=sys.stderr, flush=True)  # fmt: skip
        await asyncio.sleep(0.5)
        found.seconds = time.monotonic() - began
    found.ended = quiet >= QUIET_LOOKS


def _read_store(found: TrapCrawl, folder: Path) -> None:
    store = RecordStore.open(folder, StoreConfig(), system_clock)
    try:
        for visit in _visits(store):
            found.states[visit.state.name.lower()] += 1
            found.pages += visit.state == VisitState.FETCHED
            if visit.state in (VisitState.FETCHED, VisitState.REDIRECT):
                continue
            found.reasons[f"{visit.state.name.lower()}, {kind_of(visit.reason)}"] += 1
            if visit.reason.startswith(("time", "size")):
                parts = urlsplit(visit.url)
                found.cut.add((parts.hostname or "", visit.url.partition(parts.netloc)[2]))
            if not visit.reason:
                found.unexplained.append(f"{visit.state.name.lower()} {visit.url}")
    finally:
        store.close()


def _visits(store: RecordStore) -> Iterator[Visit]:
    for record in store.scan(Kind.VISIT, bytes(slot_start(Slot(0), 1)), b"\xff" * 20, content=True):
        yield decode_visit(record.body)


def pss_mb(root: int) -> float:
    """Return the memory of a process and its descendants, shared pages divided among who shares them. Linux alone."""
    parents: dict[int, list[int]] = defaultdict(list)
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(fields[1])].append(int(entry.name))
    total, todo = 0, [root]
    while todo:
        pid = todo.pop()
        todo += parents[pid]
        try:
            text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
    return total / 1024


def least_gap_s(rows: Iterable[Mapping[str, Any]], cut: Container[tuple[str, str]] = ()) -> float:
    """Return the least time from the end of a request to the start of the next one to the same host. That the node
    gave a body up (a drip, a huge page: `cut`) the server learns some milliseconds later: those ends say nothing."""
    spans: dict[str, list[tuple[float, float, bool]]] = defaultdict(list)
    for each in rows:
        spans[each["host"]].append((each["t"], each["t"] + each["ms"] / 1000, (each["host"], each["path"]) in cut))
    pairs = (pair for found in spans.values() for pair in pairwise(sorted(found)))
    return min((later[0] - earlier[1] for earlier, later in pairs if not earlier[2]), default=0.0)


def most_open(rows: Iterable[Mapping[str, Any]], of: Mapping[str, str]) -> int:
    """Return the most requests at once to one of the places that `of` names by host."""
    events: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for each in rows:
        place = of.get(each["host"], each["host"])
        events[place] += [(each["t"], 1), (each["t"] + each["ms"] / 1000, -1)]
    most = 0
    for found in events.values():
        count = 0
        for _, step in sorted(found):
            count += step
            most = max(most, count)
    return most


def repeats(rows: Iterable[Mapping[str, Any]], cut: Container[tuple[str, str]] = ()) -> int:
    """Count the whole answers below 400 beyond the first for each URL."""
    asked = ((r["host"], r["path"]) for r in rows if r["status"] < 400 and r["path"] not in NOT_REPEATS)
    answers = Counter(each for each in asked if each not in cut)
    return sum(count - 1 for count in answers.values())


def figures(found: TrapCrawl, delay_s: float) -> list[Row]:
    """Return the rows."""
    places = {host: addresses[0] for host, addresses in found.hosts.items()}
    gap_s = least_gap_s(found.rows, found.cut)
    result = [
        row("it ended by itself", [float(found.ended)], "1 = yes", goal=1.0, at_least=True),
        row("seconds", [found.seconds], "s"),
        row("pages taken", [found.pages], "pages"),
        row("requests", [len(found.rows)], "requests"),
        row("URLs not taken without a reason", [len(found.unexplained)], "URLs", goal=0.0),
        row("URLs still waiting", [found.states["waiting"]], "URLs", goal=0.0),
        row("peak memory, PSS of the process tree", [found.peak_pss_mb], "MB", goal=PSS_GOAL_MB),
        row("the same before the crawl", [found.idle_pss_mb], "MB"),
        row(
            "least gap at a host",
            [gap_s],
            "s",
            goal=delay_s * GAP_GOAL_SHARE,
            at_least=True,
        ),
        row("most open at a host", [most_open(found.rows, {})], "requests", goal=1.0),
        row("most open at an address", [most_open(found.rows, places)], "requests", goal=4.0),
        row("whole answers below 400 beyond the first, by URL", [repeats(found.rows, found.cut)], "requests", goal=0.0),
    ]
    result += [row(f"URLs {kind}", [count], "URLs") for kind, count in found.reasons.most_common()]
    result += [row(f"links not taken: {kind}", [count], "links") for kind, count in found.links.most_common(12)]
    return result


def main() -> int:
    """Run the benchmark; return 0 whether goals are met or not."""
    parser = parser_for(__doc__ or "")
    parser.add_argument("--web", type=Path, help="folder with one subfolder per host; else the bundled sample")
    parser.add_argument("--delay", type=float, default=DELAY_S, help="seconds between two requests to a host")
    parser.add_argument("--within", type=float, default=1500.0, help="give up after so many seconds")
    parser.add_argument("--keep", type=Path, help="folder for the log and the data directory; else a temporary one")
    chosen = parser.parse_args()
    web = None if chosen.quick else chosen.web
    with tempfile.TemporaryDirectory(prefix="dse-traps-", ignore_cleanup_errors=True) as name:
        folder = chosen.keep or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        found = asyncio.run(crawl(web, chosen.delay, 50.0 if chosen.quick else chosen.within, folder))
    for line in found.unexplained[:20]:
        print(f"without a reason: {line}", file=sys.stderr)
    show("traps", figures(found, chosen.delay), ("aiohttp", "selectolax", "lxml"), as_json=chosen.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
