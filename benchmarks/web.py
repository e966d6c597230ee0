"""Measures what the search page costs beside the search, and how soon a node shows it.

A web listener in a process of its own serves one answer of ten results from its cache of answers. So all measured costs
come on top of a search. Requests one after the other give the time of a page. Many at once give the number that one
core serves a second, by the processor's time of that process alone. Then `dse-node run` on an empty data directory
until its page is there, and `dse-node --help`. By `--part idle`, what a node of 10,000 pages takes that does nothing
(`benchmarks/idle.py`).

`python -m benchmarks.web [--part page|start|idle] [--quick] [--json]`
"""

import asyncio
import http.client
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

import uvloop

from benchmarks import idle
from benchmarks.cpu import tree, used_s
from benchmarks.figures import Row, parser_for, row, show
from benchmarks.lone_node import dse_node, new_node
from benchmarks.query.goals import FIRST_PAGE_CPU_S, PAGE_MS
from crawl import CrawlConfig
from dht import Identity
from index import SearchRequest
from node.config.settings import NodeConfig
from node.service.query_desk import AnswerCache
from node.service.service import Json, Service
from node.web.server import WebServer

GOAL_CACHED_PER_S, GOAL_FIRST_PAGE_S, GOAL_HELP_MS = 500.0, 1.0, 60.0
AT_ONCE = 8  # requests under way, so that the listener never waits
WORDS = ("install", "python", "packages")
PATH = "/search?q=install+python+packages"


def _result(place: int) -> Json:
    """A result as long as those of the sample web are: a title, 220 characters of snippet, numbers for three words."""
    text = "Packages are installed by a tool that finds them, reads what they need and puts it beside them. " * 3
    counts = {"title": 1, "headings": 3, "url": 1, "body": 40}
    leaves = [
        {"leaf": word, "df": 110, "idf": 1.4, "repeats": 1, "weight": 1.4, "tf": counts, "score": 1.4, "reward": 0.4}
        for word in WORDS
    ]
    numbers = {"score": 6.4, "bm25": 4.1, "rewards": 0.9, "coverage": 1.0, "script": 1.0, "proximity": 1.25}
    about = {"documents": 479, "length": 1559, "average_length": 1047.5, "is_front": False, "ranking": 5}
    weights = {"title": 8, "headings": 3, "url": 2, "body": 1}
    return {
        "url": f"http://docs.site-{place}.test/library/installing/index.html",
        "title": f"Installing Modules, part {place}, documentation of the library",
        "heading": "How it is done",
        "snippet": text[:220],
        "highlights": [[0, 8], [13, 22], [100, 108]],
        "score": 6.4,
        "language": "en",
        "fetched_at": 1_795_000_000.0,
        "date": 1_790_000_000.0,
        "replicas": 3,
        "site_more": 4,
        "similar": [f"http://mirror-{place}.test/"],
        "similar_count": 1,
        "pinned": False,
        "explain": {**numbers, **about, "weights": weights, "leaves": leaves},
    }


ANSWER: Json = {
    "exact": True,
    "partial": False,
    "took_ms": 34.6,
    "total": 102,
    "total_is": "exact",
    "coverage": {"slots": 256, "answered": 256},
    "results": [_result(place) for place in range(10)],
    "facets": {
        kind: [{"name": f"{kind}-{n}", "count": 9 - n} for n in range(6)] for kind in ("site", "language", "type")
    },
    "next_cursor": "lMQICyN67IpPHnDEFPquEmm-pl_PtEPlSWyOfU3rTywxZMQIx8e3S_iYM6I",
}


class CachedAnswer:
    """Stands for a node that has answered this very question a moment ago."""

    def __init__(self) -> None:
        self._answers = AnswerCache()

    async def search(self, question: SearchRequest, caller: str) -> Json:
        """Return the one answer, by way of the cache, to any caller."""
        now = time.monotonic()
        answer = self._answers.get(question, now, 1)
        if answer is None:
            self._answers.put(question, ANSWER, now, 1)
        return answer or ANSWER

    def warnings(self) -> list[str]:
        """Return nothing to warn of."""
        return []


def serve(ready: Connection) -> None:
    """Serve until killed; tell the port."""
    config = NodeConfig(web_port=0)
    server = WebServer(cast(Service, CachedAnswer()), config, CrawlConfig(), "token", "0.1.0", Identity(bytes(32)))

    async def run() -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(server.run())
            await server.listening.wait()
            ready.send(int(server.url.rpartition(":")[2]))

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run())


@contextmanager
def listener() -> Iterator[tuple[int, int]]:
    """Run a listener in a process of its own: its port and its process id."""
    spawned = multiprocessing.get_context("spawn")
    ours, theirs = spawned.Pipe()
    process = spawned.Process(target=serve, args=(theirs,), daemon=True)
    process.start()
    try:
        yield ours.recv(), cast(int, process.pid)
    finally:
        process.kill()
        process.join()


def page_ms(port: int, requests: int) -> list[float]:
    """Ask for as many pages, each of another query, so that none is kept; return what each took by the wall."""
    connection, took = http.client.HTTPConnection("127.0.0.1", port), list[float]()
    for number in range(requests):
        began = time.perf_counter()
        connection.request("GET", f"{PATH}+{time.monotonic_ns()}{number}")
        answer = connection.getresponse()
        assert answer.status == 200 and answer.read()
        took.append((time.perf_counter() - began) * 1000)
    connection.close()
    return took


async def pages_per_core_s(port: int, pid: int, requests: int) -> float:
    """Ask for pages over several connections; return how many a second of the listener's processor gives."""
    asked = f"GET {PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()

    async def ask() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
        for _ in range(requests // AT_ONCE):
            writer.write(asked)
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]))
        writer.close()

    used = used_s(pid)
    async with asyncio.TaskGroup() as tasks:
        for _ in range(AT_ONCE):
            tasks.create_task(ask())
    return requests // AT_ONCE * AT_ONCE / (used_s(pid) - used)


def first_page_s(folder: Path) -> tuple[float, float]:
    """Start a node that has nothing yet; return how long it takes until its front page is there, and how much of the
    processor."""
    node = new_node(folder)
    began = time.perf_counter()
    with node.running() as pid:
        while time.perf_counter() - began < 60:
            if node.shows_page():
                return time.perf_counter() - began, sum(map(used_s, tree(pid)))
            time.sleep(0.01)
    raise RuntimeError("the node shows no page")


def help_ms() -> float:
    """Return how long `dse-node --help` takes."""
    began = time.perf_counter()
    dse_node("--help")
    return (time.perf_counter() - began) * 1000


def page_rows(is_quick: bool) -> list[Row]:
    """Measure what a page costs beside the search."""
    pages, cpu_ms, rates = list[float](), list[float](), list[float]()
    rounds, requests = (3, 400) if is_quick else (5, 2000)
    with listener() as (port, pid):
        page_ms(port, 20)  # templates are compiled
        for _ in range(rounds):
            used = used_s(pid)
            pages.append(sorted(page_ms(port, requests // 4))[requests // 8])
            cpu_ms.append((used_s(pid) - used) * 1000 / (requests // 4))
            rates.append(asyncio.run(pages_per_core_s(port, pid, requests)))
    return [
        row("/search as HTML above the search, p50 by the wall", pages, "ms"),
        row("/search as HTML above the search, by the processor", cpu_ms, "ms", goal=PAGE_MS),
        row("the same, cached, by the processor", rates, "a second", goal=GOAL_CACHED_PER_S, at_least=True),
    ]


def first_page_rows(is_quick: bool) -> list[Row]:
    """Measure how soon a node shows its page."""
    firsts, rounds = list[tuple[float, float]](), 2 if is_quick else 5
    for _ in range(1 + rounds):  # the first compiles what is imported
        with tempfile.TemporaryDirectory() as folder:
            firsts.append(first_page_s(Path(folder)))
    del firsts[0]
    return [
        row("run until the page answers", [wall_s for wall_s, _ in firsts], "s", goal=GOAL_FIRST_PAGE_S),
        row("run until the page answers, CPU", [cpu_s for _, cpu_s in firsts], "s", goal=FIRST_PAGE_CPU_S),
    ]


def start_rows(is_quick: bool) -> list[Row]:
    """Measure how soon the command answers, and a node's page."""
    help_ms()  # compiled once
    times = [help_ms() for _ in range(10 if is_quick else 20)]
    return [*first_page_rows(is_quick), row("dse-node --help", times, "ms", goal=GOAL_HELP_MS)]


PARTS = {"page": page_rows, "start": start_rows, "idle": idle.rows}


def main(arguments: Any = None) -> int:
    """Read the command line, measure, print."""
    parser = parser_for(__doc__ or "")
    parser.add_argument("--part", choices=PARTS, help="these rows alone; idle takes 20 minutes, and is left out else")
    given = parser.parse_args(arguments)
    parts = [given.part] if given.part else ["page", "start"]
    found = [each for part in parts for each in PARTS[part](given.quick)]
    show("web", found, ("aiohttp", "jinja2"), as_json=given.json, spread="least … most of rounds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
