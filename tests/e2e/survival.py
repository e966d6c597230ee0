"""The survival tests share this: it runs a demo inside a test, and judges a crawl by the web's own log."""

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copytree
from typing import Any
from urllib.parse import urlsplit

import pytest

from index import Text
from node.extras.demo.checks import check_documents
from node.extras.demo.judge import NOT_PAGES, judge_fetches, told_apart
from node.extras.demo.layout import HOST_DELAY_S, DemoNode
from node.extras.demo.report import DemoReport
from node.extras.demo.runner import Demo, DemoOptions, running_demo
from node.extras.demo.sample_web import unpack_sample

ROOT = Path(__file__).parents[2]
WHOLE_PAGES = 440  # of the bundled web
SMALL = ("de.handbook.debian", "docs.python", "flask.pallets", "fr.httpd.apache", "portal", "www.sqlite")
SMALL_PAGES = 170
KILL_FROM, KILL_BY, KILL_TOO_LATE = 0.27, 0.45, 0.95  # requests in the web's log, as a share of its pages
SETTLED_WITHIN_S = 140.0  # from the start; a dead node's leases are free after 30 s


@dataclass(frozen=True)
class Crawled:
    """A finished crawl. URLs are (host, path); instants are the web's clock, Unix seconds."""

    requests: dict[tuple[str, str], list[float]]  # answered below 400: when asked for, in order
    stored: frozenset[tuple[str, str]]
    texts: list[Text]
    replicas_min: int
    gaps_under_rule: int
    report: DemoReport = field(repr=False)

    @property
    def fetched(self) -> frozenset[tuple[str, str]]:
        return frozenset(self.requests)

    @property
    def again(self) -> dict[tuple[str, str], list[float]]:
        """Return the URLs that were requested more than once, each with all its instants."""
        return {url: times for url, times in self.requests.items() if len(times) > 1}

    @property
    def duplicates(self) -> int:
        """Requests beyond the first for a URL."""
        return sum(len(times) - 1 for times in self.again.values())


@dataclass(frozen=True)
class Killed:
    """A node killed in mid-crawl: when, and at most how many URLs it had in flight."""

    node: DemoNode
    looked_at: float  # Unix seconds: just before its status was asked
    at: float
    open: int


@asynccontextmanager
async def demo(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, port: int, **options: Any) -> AsyncIterator[Demo]:
    """A formed network that crawls; its files are below tmp_path."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    async with running_demo(DemoOptions(port=port, **options), print) as running:
        await running.wait_formed()
        await running.start_crawl()
        yield running


def small_web(folder: Path) -> Path:
    """Some sites of the bundled web, enough for a crawl to be interrupted."""
    unpack_sample(folder / "whole")
    for host in SMALL:
        copytree(folder / "whole" / f"{host}.test", folder / "web" / f"{host}.test")
    return folder / "web"


def log_of(demo: Demo) -> list[dict[str, Any]]:
    """The web's log as far as whole lines are written."""
    text = (demo.folder / "web.jsonl").read_text()
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


async def kill_in_mid_crawl(demo: Demo, node: DemoNode, clock: Any, pages: int = WHOLE_PAGES) -> Killed:
    """SIGKILL a node while it has URLs to fetch: past KILL_FROM requests in the web's log, at KILL_BY in any case.

    Slots fall to nodes by their ids, so a node may be done, or have got nothing yet, while the others still crawl.
    The fetches open at the kill are at most those of its last status, and every request to the web since then.
    """
    while len(log_of(demo)) < KILL_FROM * pages:
        demo.check_processes()
        await asyncio.sleep(0.02)
    while True:
        demo.check_processes()
        looked_at = clock()
        status = await demo.client.status(node)
        assert status is not None, f"{node.name} does not answer"
        if status["crawl"]["open"] + status["crawl"]["frontier"] > 0 or len(log_of(demo)) >= KILL_BY * pages:
            break
        await asyncio.sleep(0.02)
    demo.kill(node)
    at = clock()
    rows = log_of(demo)
    assert len(rows) < KILL_TOO_LATE * pages, "the crawl was nearly over"
    since = sum(looked_at <= row["t"] <= at for row in rows)
    return Killed(node, looked_at, at, status["crawl"]["open"] + since)


async def finished(demo: Demo) -> Crawled:
    """Wait until the crawl ends by itself, then judge it."""
    assert await demo.wait_settled(SETTLED_WITHIN_S), f"not settled: {await demo.client.statuses(demo.alive())}"
    rows, looks = log_of(demo), demo.second_look_requests()
    requests: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in told_apart(rows, looks)[0]:
        if row["path"] not in NOT_PAGES and row["status"] < 400:
            requests[row["host"], row["path"]].append(row["t"])
    fetches, report = judge_fetches(rows, HOST_DELAY_S, looks), DemoReport()
    texts = await check_documents(demo.client, demo.alive(), demo.web, fetches, report)
    stored = frozenset((url.hostname or "", url.path) for url in (urlsplit(text.url) for text in texts))
    return Crawled(dict(requests), stored, texts, report.replicas_min, fetches.gaps_under_rule, report)


def processes_of(folder: Path) -> list[int]:
    """Processes whose temporary files lie in a folder: all of a demo that was started with it. Linux alone."""
    return [int(entry.name) for entry in Path("/proc").glob("[0-9]*") if _is_of(entry, f"TMPDIR={folder}".encode())]


def _is_of(process: Path, marker: bytes) -> bool:
    """Whether a process runs and has the marker in its environment."""
    try:
        is_marked = marker in (process / "environ").read_bytes().split(b"\0")
        return is_marked and (process / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:  # it ended meanwhile, or is another user's
        return False
