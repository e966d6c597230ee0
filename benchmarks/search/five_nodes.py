"""Times queries over a network of five processes, from outside: a program's wait, and the processor time of all nodes.

The demo's network crawls a web of made-up pages (speed.py says of what) until it rests; then each query is asked once,
of one node after the other, by HTTP. What the nodes use while nobody asks is taken off.
"""

import asyncio
import random
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from html import escape
from itertools import cycle, islice
from pathlib import Path
from statistics import quantiles
from urllib.parse import urlsplit

from benchmarks.cpu import tree_s
from benchmarks.figures import Row, row
from benchmarks.ports import free_ports
from benchmarks.search.extent import Extent
from benchmarks.search.figure import left_out
from benchmarks.search.goals import NODES_CPU_MS, NODES_PAGES, NODES_WALL_MS
from benchmarks.search.speed import made_up, questions, titles
from benchmarks.search.web_pages import read_web
from index import Text
from node.extras.demo.runner import Demo, DemoOptions, running_demo

QUERIES = 200
QUICK_PAGES = 300
BEFORE = 750  # queries until nodes know each other's answers: the first 50 of each peer are asked of others, too
QUICK_BEFORE = 20
SETTLED_WITHIN_S = 900.0
IDLE_S = 10.0


def rows(extent: Extent) -> list[Row]:
    """Return the rows of typed queries asked of five nodes."""
    if extent.web is None:
        return [left_out("five nodes", "needs --web DIR")]
    pages, chance = read_web(extent.web), random.Random(1)
    count = QUICK_PAGES if extent.quick else NODES_PAGES
    texts, typed = made_up(pages, count, chance), titles(pages, chance)
    timed, before = typed[: extent.most(QUERIES)], [*questions(pages, chance), *typed[QUERIES:]]
    before = list(islice(cycle(before), QUICK_BEFORE if extent.quick else BEFORE))
    with tempfile.TemporaryDirectory() as folder:
        write_sites(Path(folder), texts)
        return asyncio.run(_measured(Path(folder), before, timed, has_goals=not extent.quick))


def write_sites(root: Path, texts: Sequence[Text]) -> None:
    """Write documents as pages of their hosts; each host's front page leads to all of them."""
    links: dict[Path, list[str]] = {}
    for text in texts:
        url = urlsplit(text.url)
        folder = root / str(url.hostname)
        folder.mkdir(exist_ok=True)
        body = "".join(f"<p>{escape(line)}</p>\n" for line in text.body.split("\n"))
        (folder / url.path[1:]).write_text(_page(text.title, text.language, body), "utf-8")
        links.setdefault(folder, []).append(f'<a href="{url.path}">{url.path[1:-5]}</a>')
    for folder, found in links.items():
        (folder / "index.html").write_text(_page(folder.name, "en", "\n".join(found)), "utf-8")


def _page(title: str, language: str, body: str) -> str:
    head = f'<meta charset="utf-8"><title>{escape(title)}</title>'
    return f'<!doctype html><html lang="{language}"><head>{head}</head><body><main>{body}</main></body></html>'


async def _measured(root: Path, before: Sequence[str], timed: Sequence[str], *, has_goals: bool) -> list[Row]:
    async with _crawled(root) as demo:
        statuses = await demo.client.statuses(demo.nodes)
        copies = sum(int(status["documents"]) for status in statuses if status)
        await _asked(demo, before)
        idle = await _idle_share(demo)
        used, began = _cpu_s(demo), time.perf_counter()
        waited_ms, whole = await _asked(demo, timed)
        cpu_s = _cpu_s(demo) - used - idle * (time.perf_counter() - began)
    cuts, count = quantiles(waited_ms, n=20), len(waited_ms)
    p50, p95, cpu = (*NODES_WALL_MS, NODES_CPU_MS) if has_goals else (None, None, None)
    return [
        row("five nodes: copies of pages", [float(copies)], ""),
        row("five nodes: answers that are whole", [whole / count], "", goal=1.0, at_least=True),
        row("typed query of five nodes, wall p50", [cuts[9]], "ms", goal=p50),
        row("typed query of five nodes, wall p95", [cuts[18]], "ms", goal=p95),
        row("typed query, CPU of all five nodes, mean", [cpu_s * 1000 / count], "ms", goal=cpu),
        row("CPU of all five nodes while nobody asks", [idle * 100], "% of a core"),
    ]


@asynccontextmanager
async def _crawled(root: Path) -> AsyncIterator[Demo]:
    """Run a network that has crawled all of a web and is at rest."""
    async with running_demo(DemoOptions(web=root, port=free_ports(1)[0]), lambda _: None) as demo:
        await demo.wait_formed()
        await demo.start_crawl()
        if not await demo.wait_settled(SETTLED_WITHIN_S):
            raise TimeoutError(f"the network had not settled after {SETTLED_WITHIN_S:.0f} s")
        yield demo


async def _asked(demo: Demo, queries: Sequence[str]) -> tuple[list[float], int]:
    """Ask queries one after the other; return how many ms each took, and how many answers were whole."""
    waited_ms, whole = [], 0
    for number, words in enumerate(queries):
        began = time.perf_counter()
        answer = await demo.client.search(demo.nodes[number % len(demo.nodes)], words)
        waited_ms.append((time.perf_counter() - began) * 1000)
        whole += answer is not None and not answer["partial"]
    return waited_ms, whole


async def _idle_share(demo: Demo) -> float:
    """Return how many processors all nodes use while nobody asks."""
    used, began = _cpu_s(demo), time.perf_counter()
    await asyncio.sleep(IDLE_S)
    return (_cpu_s(demo) - used) / (time.perf_counter() - began)


def _cpu_s(demo: Demo) -> float:
    names = {node.name for node in demo.nodes}
    return sum(tree_s(child.process.pid) for child in demo.children.running if child.name in names)
