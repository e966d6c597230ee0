"""Runs one node and one YaCy peer by turns: the same web, the same pause between requests, the same queries.

    unshare -rn sh -c 'ip link set lo up; exec python -m benchmarks.sources --part yacy --yacy DIR'

DIR holds YaCy's sources, built by `ant compile`; nothing is written there. YaCy looks for other peers and updates by
itself. So this part refuses to run where another network interface than loopback exists. Java reads the hosts of the
web from a file (`jdk.net.hosts.file`), our node by `crawl.hosts_file`. Each run has its own data folder and its own
process that serves the web. CPU is that of all processes of a side, from the order to crawl until the last page can be
found. Each side counts such pages itself: our status has `documents`, YaCy's Solr documents of HTML and status 200.
"""

import asyncio
import json
import re
import shutil
import socket
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from statistics import fmean, median, quantiles

import aiohttp

from benchmarks.cpu import pss_bytes, tree_s
from benchmarks.crawl.judged import Visitor, judge
from benchmarks.crawl.sides import DEPTH, SETTLED_WITHIN_S, SideFailed, is_ready, our_settings, until
from benchmarks.crawl.web import LOG, Tier, find_tier, served
from benchmarks.figures import Row, row
from benchmarks.ports import free_ports
from benchmarks.search.figure import left_out
from benchmarks.search.known_rules import KnownItem, known_items
from benchmarks.search.measures import reciprocal_rank
from benchmarks.search.web_pages import WebPage, read_web
from benchmarks.store.engines import size_of
from node.extras.demo.layout import DemoNode
from node.extras.demo.network import install, write_network
from node.extras.demo.nodes import NodeClient
from node.extras.demo.processes import Children
from node.extras.demo.sample_web import ServedWeb, start_urls

DELAY_S = 0.5  # between two requests to a host: YaCy's code has it for its cautious agent
ROUNDS, IDLE_S, OF_A_KIND = 3, 60.0, 25  # queries
QUICK_ROUNDS, QUICK_IDLE_S, QUICK_OF_A_KIND = 1, 5.0, 5
UNCHANGED_S = 20.0  # YaCy's Solr commits by itself after 15 s
STARTS_WITHIN_S = 120.0
MIRROR = "mirror.flask.test"  # left out: our node folds copies, YaCy lists them
WORDS, AS_FOUND = "plain words", "as the page has them"  # forms of a query
SETTINGS = {  # of YaCy; all others are as it comes
    "network.unit.definition": "defaults/yacy.network.allip.unit",  # no peers; hosts may be on loopback
    "50_localcrawl_loadprereq": 1000,  # else it pauses while other work makes a load above 6
    **dict.fromkeys(("browserPopUpTrigger", "tray.icon.enabled", "upnp.enabled"), "false"),
}
CHECKED = "crawlingQ directDocByURL followFrames obeyHtmlRobotsNoindex indexText indexMedia storeHTCache"
ORDER = {  # as YaCy's form for a crawl is at first, but for depth and agent
    **dict.fromkeys(CHECKED.split(), "on"),
    "crawlingstart": "1",
    "crawlingMode": "url",
    "crawlingDepth": str(DEPTH),
    "agentName": "YaCy Internet (cautious)",
}
JAVA = (  # as its start script, but for the first line: its parser of PDFs looks into Java's class loader
    *("--add-opens", "java.base/java.lang=ALL-UNNAMED"),
    *("-server", "-Xmx600m", "-Xms180m", "-Djava.awt.headless=true", "-Dfile.encoding=UTF-8"),
    "-Dsolr.directoryFactory=solr.MMapDirectoryFactory",
)
FOUND = 'solr/select?q=httpstatus_i:200&fq=content_type:"text/html"&rows=0&wt=json'
QUEUED = re.compile(r"queue>\s*<size>(\d+)<")
LINK = re.compile(r'"link": "([^"]+)",\s*"code"')  # of a result; an answer without results is no JSON


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two while it runs. `folder`: all that it writes. `found` returns how many pages can be found, and
    whether nothing waits to be fetched; `search` the URLs of the first ten results."""

    pid: int
    folder: Path
    crawl: Callable[[], Awaitable[object]]
    found: Callable[[], Awaitable[tuple[int, bool]]]
    search: Callable[[str], Awaitable[list[str]]]


Runner = Callable[[ServedWeb, Path, aiohttp.ClientSession], AbstractAsyncContextManager[Side]]


@dataclass(frozen=True, slots=True)
class Taken:
    """Holds what one run of one side took. `ranks`: the reciprocal rank of each query's page, by the queries' form."""

    visitor: Visitor
    found: int
    wall_s: float
    cpu_s: float
    disk_bytes: int
    memory_bytes: int
    idle_share: float
    query_ms: list[float]
    query_cpu_ms: float
    ranks: dict[str, list[float]]


def rows(quick: bool, yacy: Path | None = None) -> list[Row]:
    """Return the rows of both, or one that says what is missing."""
    if why := missing(yacy, [name for _, name in socket.if_nameindex()]):
        return [left_out("beside YaCy", why)]
    assert yacy is not None
    with tempfile.TemporaryDirectory(prefix="dse-yacy-", ignore_cleanup_errors=True) as name:
        tier = find_tier(None, Path(name), names=1)
        shutil.rmtree(tier.root / MIRROR)
        pages = read_web(tier.root)
        items = known_items(pages, Random(1), QUICK_OF_A_KIND if quick else OF_A_KIND)
        runners: dict[str, Runner] = {"ours": _ours, "yacy": partial(_yacy, yacy.resolve())}
        taken: dict[str, list[Taken]] = {side: [] for side in runners}
        for number in range(QUICK_ROUNDS if quick else ROUNDS):
            for side in sorted(runners, reverse=bool(number % 2)):
                (folder := Path(name) / f"{side}-{number}").mkdir()
                running = _run(runners[side], tier, folder, pages, items, QUICK_IDLE_S if quick else IDLE_S)
                taken[side].append(asyncio.run(running))
    return rows_of(taken["ours"], taken["yacy"], pages, items)


def missing(yacy: Path | None, interfaces: Sequence[str]) -> str:
    """Say what this part lacks to run; "" where it has all."""
    if yacy is None:
        return "needs --yacy DIR, YaCy's sources built by `ant compile`"
    if not (yacy / "lib" / "yacycore.jar").is_file():
        return f"{yacy} has no lib/yacycore.jar: run `ant compile` there"
    return "" if set(interfaces) == {"lo"} else "needs loopback alone: unshare -rn sh -c 'ip link set lo up; exec …'"


def rows_of(
    ours: Sequence[Taken], theirs: Sequence[Taken], pages: Sequence[WebPage], items: Sequence[KnownItem]
) -> list[Row]:
    """Return two rows a figure: ours beside YaCy's median, then YaCy's with its spread."""
    both = frozenset.intersection(*(each.visitor.pages for each in (*ours, *theirs)))
    urls = {f"http://{host}{path}" for host, path in both}
    shared = [n for n, item in enumerate(items) if any(pages[place].url in urls for place in item.targets)]
    figures: list[tuple[str, str, Callable[[Taken], float]]] = [
        (f"URLs fetched of {len(pages)} pages", "URLs", lambda each: len(each.visitor.pages)),
        ("pages that can be found", "pages", lambda each: each.found),
        ("fetched twice", "URLs", lambda each: each.visitor.repeats),
        (f"requests to a host sooner than {DELAY_S:g} s", "requests", lambda each: each.visitor.gaps),
        ("until all can be found, wall", "s", lambda each: each.wall_s),
        ("the same, CPU", "ms a page", lambda each: each.cpu_s * 1e3 / each.found),
        ("disk, after the crawl", "kB a page", lambda each: each.disk_bytes / 1e3 / each.found),
        ("memory, after the crawl", "MB", lambda each: each.memory_bytes / 1e6),
        ("idle, CPU", "of a core", lambda each: each.idle_share),
        ("a query, wall, p50", "ms", lambda each: median(each.query_ms)),
        ("a query, wall, p95", "ms", lambda each: quantiles(each.query_ms, n=20)[18]),
        ("a query, CPU", "ms", lambda each: each.query_cpu_ms),
    ]
    for form, of, where in (
        (WORDS, shared, "pages that both fetched"),
        (AS_FOUND, shared, "pages that both fetched"),
        (WORDS, range(len(items)), "all pages"),
    ):
        what = f"known items, {form}, {where} ({len(of)})"
        figures.append((f"{what}: MRR@10", "", partial(_mean, form, of, lambda rank: rank)))
        figures.append((f"{what}: success@10", "", partial(_mean, form, of, bool)))
    return [
        each
        for what, unit, value in figures
        for each in (
            row(what, map(value, ours), unit, peer=map(value, theirs)),
            row(f"  {what}, YaCy", map(value, theirs), unit),
        )
    ]


def _mean(form: str, of: Sequence[int], value: Callable[[float], float], each: Taken) -> float:
    return fmean(value(each.ranks[form][number]) for number in of)


async def _run(
    runner: Runner, tier: Tier, folder: Path, pages: Sequence[WebPage], items: Sequence[KnownItem], idle_s: float
) -> Taken:
    async with served(tier, folder) as web, aiohttp.ClientSession() as session, runner(web, folder, session) as side:
        empty_bytes, began, began_cpu_s = size_of(side.folder), time.monotonic(), tree_s(side.pid)
        await side.crawl()
        found, wall_s, cpu_s = await _last_found(side)
        memory, idle_cpu_s = pss_bytes(side.pid), tree_s(side.pid)
        await asyncio.sleep(idle_s)
        idle_share, disk = (tree_s(side.pid) - idle_cpu_s) / idle_s, size_of(side.folder) - empty_bytes
        places = {page.url: place for place, page in enumerate(pages)}
        query_ms, ranks, asking_cpu_s = list[float](), dict[str, list[float]](), tree_s(side.pid)

        async def rank(words: str, item: KnownItem) -> float:
            asked = time.perf_counter()
            urls = await side.search(words)
            query_ms.append((time.perf_counter() - asked) * 1e3)
            return reciprocal_rank([places.get(url.replace(f":{web.port}/", "/"), -1) for url in urls], item.targets)

        ranks[WORDS] = [await rank(plain_words(item.words), item) for item in items]
        query_cpu_ms, timed = (tree_s(side.pid) - asking_cpu_s) * 1e3 / len(items), query_ms.copy()
        ranks[AS_FOUND] = [await rank(item.words, item) for item in items]
    with (folder / LOG).open() as lines:
        visitor = judge(map(json.loads, lines), "", DELAY_S, from_start=True)
    spent = (wall_s - began, cpu_s - began_cpu_s, disk, memory, idle_share)
    return Taken(visitor, found, *spent, timed, query_cpu_ms, ranks)


def plain_words(text: str) -> str:
    """Leave a query's words of two letters and more. YaCy demands each word, a lone dash too, and looks for 2.2 as for
    two words that its index does not have."""
    return " ".join(word for word in re.findall(r"\w\w+", text) if not re.search(r"\d", word)) or text


async def _last_found(side: Side) -> tuple[int, float, float]:
    """Wait until nothing waits, and nothing new was found for a while. Return how many pages can be found, and when the
    last of them could: by the monotonic clock, and in CPU seconds of the side."""
    most, at, cpu_s, gives_up_at = 0, 0.0, 0.0, time.monotonic() + SETTLED_WITHIN_S
    while time.monotonic() < gives_up_at:
        count, is_idle = await side.found()
        if count != most:
            most, at, cpu_s = count, time.monotonic(), tree_s(side.pid)
        if most and is_idle and time.monotonic() - at > UNCHANGED_S:
            return most, at, cpu_s
        await asyncio.sleep(1.0)
    raise SideFailed(f"a side was not done within {SETTLED_WITHIN_S:.0f} s; {most} pages can be found")


@asynccontextmanager
async def _ours(web: ServedWeb, folder: Path, session: aiohttp.ClientSession) -> AsyncIterator[Side]:
    children, client = Children(folder), NodeClient(session)
    node = DemoNode("node", (4,), *free_ports(2), folder / "data")

    async def found() -> tuple[int, bool]:
        status = await client.status(node) or {"documents": 0, "crawl": {"frontier": 1, "open": 0}}
        return status["documents"], status["crawl"]["frontier"] == status["crawl"]["open"] == 0

    async def search(words: str) -> list[str]:
        return [each["url"] for each in (await client.search(node, words) or {"results": []})["results"]]

    try:
        network = write_network(folder / "network.toml", [node], web.hosts, DELAY_S)
        await install(children, node, network, our_settings(node, folder / "hosts", DELAY_S))
        child = children.start("node", "node", "run", "--data-dir", str(node.data_dir))
        await until(child, client, node, is_ready)
        crawl = partial(client.crawl, node, start_urls(web), DEPTH)
        yield Side(child.process.pid, node.data_dir, crawl, found, search)
    finally:
        await children.stop()


@asynccontextmanager
async def _yacy(program: Path, web: ServedWeb, folder: Path, session: aiohttp.ClientSession) -> AsyncIterator[Side]:
    (port,), data, hosts = free_ports(1), folder / "data", folder / "java-hosts"
    settings = data / "DATA" / "SETTINGS" / "yacy.conf"
    settings.parent.mkdir(parents=True)
    settings.write_text("".join(f"{name}={value}\n" for name, value in (SETTINGS | {"port": port}).items()))
    hosts.write_text("".join(f"{addresses[0]} {host}\n" for host, addresses in web.hosts.items()))

    async def ask(path: str, method: str = "GET", **more: str) -> str:
        url, said = f"http://127.0.0.1:{port}/{path}", "params" if method == "GET" else "data"
        async with session.request(method, url, raise_for_status=True, **{said: more}) as answer:  # type: ignore[arg-type]
            return await answer.text()

    async def crawl() -> None:
        urls, scope = "\n".join(start_urls(web)), rf"http://[^/]+\.test:{web.port}/.*"
        await ask("Crawler_p.html", "POST", **ORDER, crawlingURL=urls, mustmatch=scope)

    async def found() -> tuple[int, bool]:
        queued = QUEUED.findall(await ask("api/status_p.xml"))
        return json.loads(await ask(FOUND))["response"]["numFound"], not any(map(int, queued))

    async def search(words: str) -> list[str]:
        return LINK.findall(await ask("yacysearch.json", query=words, resource="local", maximumRecords="10"))

    jars = ":".join([".", "htroot", *map(str, sorted((program / "lib").glob("*.jar")))])
    places = (f"-Duser.home={folder}", f"-Djdk.net.hosts.file={hosts}", "-cp", jars)
    with (folder / "yacy.log").open("wb") as log:
        command = ("java", *JAVA, *places, "net.yacy.yacy", "-start", data.name)
        process = await asyncio.create_subprocess_exec(*command, cwd=program, stdout=log, stderr=log)
    try:
        for _ in range(round(STARTS_WITHIN_S)):
            try:
                await found()
                break
            except aiohttp.ClientError:
                await asyncio.sleep(1.0)
        yield Side(process.pid, data, crawl, found, search)
    finally:
        process.kill()
        await process.wait()
