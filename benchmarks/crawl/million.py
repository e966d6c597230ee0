"""Measures a million known URLs that wait: memory of the process tree, and state on disk beside the URLs.

One node with default settings is paused and given the URLs of a made-up web through its API, like a seed list, a
thousand a request. Each becomes a signed visit in its slot. Then all is measured as the system sees it: PSS of every
process of the node, and the sizes of the files of its store.
"""

import asyncio
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import aiohttp

from benchmarks.cpu import pss_bytes, tree_s
from benchmarks.crawl import goals
from benchmarks.crawl.fleet import lone_settings
from benchmarks.figures import Row, row
from benchmarks.ports import free_ports
from node.extras.demo.layout import DemoNode
from node.extras.demo.network import install, write_network
from node.extras.demo.nodes import NodeClient
from node.extras.demo.processes import Child, Children

URLS, QUICK_URLS = 1_000_000, 20_000
PAGES_A_HOST = 100  # on average; hosts differ by a factor of some thousand
A_REQUEST = 1000
AT_ONCE = 4
DEPTH = 3
WITHIN_S = 1800.0
SEED = 1
TRIES, BUSY = 5, 504  # the machine may be taken by others for a while
WORDS = ("news", "archive", "about", "people", "science", "review", "market", "garden", "letters", "history", "music")
WORDS += ("travel", "water", "energy", "school", "health", "report", "notes", "public", "north", "river", "summer")
WORDS += ("library", "village", "paper", "winter", "street", "open", "first", "annual")


def rows(quick: bool, web: Path | None) -> list[Row]:
    """Return the rows of one run; `web` is not needed."""
    with tempfile.TemporaryDirectory(prefix="dse-million-", ignore_cleanup_errors=True) as name:
        return asyncio.run(measured(Path(name), QUICK_URLS if quick else URLS))


def made_up(count: int, rng: Random) -> Iterator[str]:
    """Make up different URLs as in the wild, about seventy characters each, hosts in the order of a crawl."""
    hosts = [f"{rng.choice(('www', 'www', 'blog', 'shop', 'en'))}.{rng.choice(WORDS)}-{n}.example"
             for n in range(max(1, count // PAGES_A_HOST))]  # fmt: skip
    for number in range(count):
        host = hosts[min(int(rng.paretovariate(0.5)) - 1, 10 * len(hosts)) % len(hosts)]
        slug = "-".join(rng.choice(WORDS) for _ in range(rng.randint(1, 4)))
        yield f"https://{host}/{rng.choice(WORDS)}/{rng.randint(2001, 2026)}/{slug}-{number}.html"


async def measured(folder: Path, count: int) -> list[Row]:
    """Hand the URLs in, wait until nothing moves, and return the rows."""
    children = Children(folder)
    node = DemoNode("node-1", (4,), *free_ports(2), folder / "node-1")
    network = write_network(folder / "network.toml", [node], ["*.example"], 1.0)
    try:
        await install(children, node, network, lone_settings(node))
        child = children.start("node-1", "node", "run", "--data-dir", str(node.data_dir))
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=AT_ONCE)) as session:
            client, pid = NodeClient(session), child.process.pid
            await _until(child, client, node, lambda status: status["slots"]["leased"] == status["slots"]["all"])
            await _ask(session, node, "pause", {"paused": True})
            empty_bytes, empty_s = pss_bytes(pid), tree_s(pid)
            text_bytes = await _hand_in(session, node, made_up(count, Random(SEED)))
            await _until(child, client, node, lambda status: status["alike"] and status["crawl"]["frontier"] > 0)
            spent_s, full_bytes = tree_s(pid) - empty_s, pss_bytes(pid)
        kept = sum(path.stat().st_size for path in (node.data_dir / "store").rglob("*") if path.is_file())
        index = sum(path.stat().st_size for path in (node.data_dir / "store").glob("catalog.sqlite*"))
    finally:
        await children.stop()
    return _rows(count, text_bytes, kept, index, full_bytes, empty_bytes, spent_s)


async def _hand_in(session: aiohttp.ClientSession, node: DemoNode, urls: Iterator[str]) -> int:
    """Hand all URLs in, a few requests at once; return how long they are together."""
    waiting: asyncio.Queue[list[str]] = asyncio.Queue(AT_ONCE)
    total = 0

    async def work() -> None:
        while batch := await waiting.get():
            await _ask(session, node, "crawl", {"urls": batch, "depth": DEPTH})

    async with asyncio.TaskGroup() as tasks:
        for _ in range(AT_ONCE):
            tasks.create_task(work())
        batch: list[str] = []
        for url in urls:
            total += len(url)
            batch.append(url)
            if len(batch) == A_REQUEST:
                await waiting.put(batch)
                batch = []
        for last in [batch, *[[]] * AT_ONCE] if batch else [[]] * AT_ONCE:
            await waiting.put(last)
    return total


async def _ask(session: aiohttp.ClientSession, node: DemoNode, verb: str, body: dict[str, object]) -> None:
    token = (node.data_dir / "admin.token").read_text().strip()
    headers = {"Authorization": f"Bearer {token}"}
    for _ in range(TRIES):
        async with session.post(f"{node.url}/api/v1/{verb}", json=body, headers=headers) as answer:
            await answer.read()
            if answer.status != BUSY:
                break
    answer.raise_for_status()


async def _until(child: Child, client: NodeClient, node: DemoNode, check: object) -> None:
    end = time.monotonic() + WITHIN_S
    while time.monotonic() < end:
        if not child.is_running:
            raise RuntimeError(f"the node ended by itself: {child.last_words()}")
        status = await client.status(node)
        if status and check(status):  # type: ignore[operator]
            return
        await asyncio.sleep(1.0)
    raise RuntimeError(f"the node was not ready within {WITHIN_S:.0f} s")


def _rows(
    count: int, text_bytes: int, kept: int, index: int, full_bytes: int, empty_bytes: int, spent_s: float
) -> Sequence[Row]:
    known = f"{count:,} URLs wait, {text_bytes / count:.0f} characters each"
    return [
        row(f"PSS of the process tree ({known})", [full_bytes / 1e6], "MB", goal=goals.MILLION_PSS_MB),
        row("of it, before the first URL", [empty_bytes / 1e6], "MB"),
        row("state on disk beside the URL text", [kept / count - text_bytes / count], "B/URL",
            goal=goals.BESIDE_TEXT_BYTES),
        row("state on disk, text and all", [kept / count], "B/URL"),
        row("of it, the index", [index / count], "B/URL"),
        row("CPU for handing a URL in", [spent_s / count * 1e6], "µs"),
    ]  # fmt: skip
