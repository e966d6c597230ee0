"""Checks every promise of the demo from outside and writes what it finds into its report.

Fetches by the web's own log, replicas by asking each node for each document, orders by brute force over the
documents that the nodes gave, survival by killing a process.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import msgspec

from crawl import signature
from dht import DocumentId, InputError, Key
from index import SearchOracle, Text
from node.extras.demo.judge import (
    MOST_SECOND_LOOK_SHARE,
    Fetches,
    SecondLookRequest,
    judge_fetches,
    newest_copies,
    same_order,
)
from node.extras.demo.layout import DemoNode
from node.extras.demo.nodes import NodeClient
from node.extras.demo.report import AfterKill, AfterStrategy, DemoReport, QueryReport, Team
from node.extras.demo.sample_web import ServedWeb

TOP = 10
FULL_AGAIN_WITHIN_S = 10.0
OBEYED_WITHIN_S = 60.0  # a strategy by every node
BACK_WITHIN_S = 150.0  # pages that were erased, once they are fetched again
Publish = Callable[..., Awaitable[None]]
SAMPLE_QUERIES = Path(__file__).parent / "queries.json"
BUILT_PORT = 8800  # of the web that the bundled queries name


class BadQueries(InputError):
    """Says that a --queries file cannot be used."""


@dataclass(frozen=True, slots=True)
class ExpectedQuery:
    """A query and a URL that must be among its first ten."""

    q: str
    expect: str


def load_queries(file: Path | None, web: Path | None, served: ServedWeb, texts: Sequence[Text]) -> list[ExpectedQuery]:
    """Return the queries of --queries, of the bundled sample, or for an unknown web some titles of its own pages."""
    if file is None and web is not None:
        return title_queries(texts)
    queries = read_queries(file or SAMPLE_QUERIES)
    return [ExpectedQuery(query.q, as_served(query.expect, served)) for query in queries]


def as_served(url: str, served: ServedWeb) -> str:
    """Give a URL of the web the port that it has this time; leave any other URL as it is."""
    try:
        parts = urlsplit(url)
        if parts.hostname in served.hosts and parts.port in (None, BUILT_PORT):
            return urlunsplit(parts._replace(netloc=f"{parts.hostname}:{served.port}", path=parts.path or "/"))
    except ValueError:
        pass  # no URL at all: it will not be found, and the report says so
    return url


def read_queries(file: Path) -> list[ExpectedQuery]:
    """Read the queries in a file; raises BadQueries."""
    remedy = 'give a JSON list of {"q": "words", "expect": "http://host/path"}'
    try:
        queries = msgspec.json.decode(file.read_bytes(), type=list[ExpectedQuery])
    except OSError as error:
        raise BadQueries(f"{file}: {error.strerror}; give --queries a file that can be read") from error
    except msgspec.DecodeError as error:
        raise BadQueries(f"{file}: cannot be read as queries: {error}; {remedy}") from error
    if not queries:
        raise BadQueries(f"{file}: no queries in it; {remedy}")
    return queries


def title_queries(texts: Sequence[Text], count: int = 8) -> list[ExpectedQuery]:
    """Make queries for a web never seen before: the words of titles that only one page has."""
    titles = Counter(text.title for text in texts)
    alone = [text for text in sorted(texts, key=lambda t: t.id) if titles[text.title] == 1 and len(text.title) > 8]
    step = max(1, len(alone) // count)
    words = [("".join(c if c.isalnum() else " " for c in text.title), text) for text in alone[::step][:count]]
    return [ExpectedQuery(" ".join(title.split()[:6]), text.url) for title, text in words if title.split()]


def check_fetches(log: Path, rule_s: float, looks: Sequence[SecondLookRequest], report: DemoReport) -> Fetches:
    """Report what the web saw: pages, duplicates, gaps, and second looks."""
    fetches = judge_fetches((json.loads(line) for line in log.read_text().splitlines()), rule_s, looks)
    report.pages_fetched, report.duplicate_fetches = fetches.pages, fetches.duplicates
    report.second_looks = fetches.second_looks
    report.min_gap_s, report.gaps_under_rule = fetches.min_gap_s, fetches.gaps_under_rule
    if fetches.duplicates:
        report.failures.append(f"{fetches.duplicates} fetches of a URL that had been fetched")
    if fetches.second_look_share > MOST_SECOND_LOOK_SHARE:
        report.failures.append(
            f"{fetches.second_looks} requests for second looks, {fetches.second_look_share:.1%} of all fetches"
        )
    if fetches.gaps_under_rule:
        report.failures.append(f"{fetches.gaps_under_rule} requests came sooner than {rule_s} s after the last")
    return fetches


async def check_documents(
    client: NodeClient, nodes: Sequence[DemoNode], web: ServedWeb, fetches: Fetches, report: DemoReport
) -> list[Text]:
    """Ask each node for each document; return every live one once."""
    urls = sorted(f"http://{host}:{web.port}{path}" for host, path in fetches.paths)
    async with asyncio.TaskGroup() as tasks:
        asked = [tasks.create_task(client.local_documents(node, urls)) for node in nodes]
    found = [row for task in asked for row in task.result() if row]
    copies = newest_copies(found)
    counts = {url: len(rows) for url, rows in copies.items()}
    strategy = await client.strategy(nodes[0])
    wanted = min(strategy["replicas"], len(nodes))
    report.families = {
        "ipv4": sum(4 in node.families for node in nodes),
        "ipv6": sum(6 in node.families for node in nodes),
    }
    report.documents, report.replicas_min = len(copies), min(counts.values(), default=0)
    report.strategy = {"version": strategy["version"], "signed_by": strategy["signed_by"]}
    if report.replicas_min < wanted:
        short = [url for url, count in counts.items() if count < wanted]
        versions = dict(Counter(row["version"] for row in found if row["url"] == short[0]))
        report.failures.append(
            f"{len(short)} of {len(copies)} documents have fewer than {wanted} replicas, as {short[0]}: {versions}"
        )
    return [text_of_row(copies[url][0]) for url in sorted(copies)]


def text_of_row(row: Mapping[str, Any]) -> Text:
    """Turn a document as /api/v1/document gives it into one that the oracle takes."""
    return Text(
        id=DocumentId(bytes.fromhex(row["id"])),
        key=Key(bytes.fromhex(row["key"])),
        version=bytes.fromhex(row["version"]),
        url=row["url"],
        title=row["title"],
        headings=tuple(row["headings"]),
        body=row["text"],
        language=row["language"],
        fetched_at=row["fetched_at"],
        boilerplate=row["boilerplate"],
        signature=bytes.fromhex(row["signature"]),
        published_at=row["published_at"],
        modified_at=row["modified_at"],
    )


async def check_queries(
    client: NodeClient,
    nodes: Sequence[DemoNode],
    queries: Sequence[ExpectedQuery],
    texts: Sequence[Text],
    report: DemoReport,
) -> None:
    """Ask every query at every node and compare each order with brute force."""
    oracle = SearchOracle(texts, signature)
    for query in queries:
        expected = [hit.text.url for hit in oracle.search(query.q).hits[:TOP]]
        if query.expect not in expected:
            report.failures.append(f"{query.q}: {query.expect} is not among the first {TOP} by brute force")
        for node in nodes:
            answer = await client.search(node, query.q, TOP)
            if answer is None:
                report.failures.append(f"{query.q}: {node.name} did not answer")
                continue
            row = query_row(query, node, answer)
            report.queries.append(row)
            report.failures += [f"{query.q}: {node.name}: {reason}" for reason in faults_of(row, query, expected)]


def query_row(query: ExpectedQuery, node: DemoNode, answer: dict[str, Any]) -> QueryReport:
    """Return one answer as the report shows it."""
    return QueryReport(
        q=query.q,
        expect=query.expect,
        node=node.name,
        coverage=coverage_of(answer),
        exact=answer["exact"],
        why=[each["reason"] for each in answer["why"]],
        took_ms=answer["took_ms"],
        results=[result["url"] for result in answer["results"]],
    )


def faults_of(row: QueryReport, query: ExpectedQuery, expected: Sequence[str]) -> list[str]:
    """List what an answer promised and did not keep."""
    faults = []
    if row.coverage < 1:
        faults.append(f"coverage {row.coverage}")
    if not row.exact:
        faults.append(f"says that it is not exact: {', '.join(row.why)}")
    if query.expect not in row.results:
        faults.append(f"{query.expect} is missing")
    difference = same_order(row.results, expected)
    return [*faults, difference] if difference else faults


def coverage_of(answer: dict[str, Any]) -> float:
    """Return the share of slots that a ready replica answered for."""
    coverage = answer["coverage"]
    return round(coverage["answered"] / coverage["slots"], 4) if coverage["slots"] else 0.0


async def check_kill(
    client: NodeClient,
    survivor: DemoNode,
    victim: str,
    kill: Callable[[], None],
    queries: Sequence[ExpectedQuery],
    report: DemoReport,
) -> None:
    """Kill one node's processes without warning; measure until another one answers everything as before."""
    before = {row.q: row.results for row in report.queries if row.node == survivor.name}
    kill()
    killed_at = time.monotonic()
    while True:
        answers = [await client.search(survivor, query.q, TOP) for query in queries]
        coverage = min((coverage_of(answer) if answer else 0.0) for answer in answers)
        same = [[r["url"] for r in answer["results"]] if answer else [] for answer in answers] == [
            before.get(query.q) for query in queries
        ]
        seconds = round(time.monotonic() - killed_at, 2)
        if (coverage == 1 and same) or seconds > FULL_AGAIN_WITHIN_S:
            break
        await asyncio.sleep(0.2)
    report.after_kill = AfterKill(victim, coverage, same, seconds)
    if coverage < 1 or not same:
        order = "same" if same else "different"
        report.failures.append(f"{seconds} s after {victim} was killed: coverage {coverage}, top ten {order}")


async def report_teams(client: NodeClient, nodes: Sequence[DemoNode], report: DemoReport) -> None:
    """Report what each node owns, crawls and keeps."""
    for node, status in zip(nodes, await client.statuses(nodes), strict=True):
        if status is not None:
            slots = status["slots"]
            report.slots = slots["all"]
            report.teams.append(Team(node.name, slots["owned"], slots["leased"], status["documents"]))


async def check_strategy(
    client: NodeClient, nodes: Sequence[DemoNode], hosts: Sequence[str], publish: Publish, report: DemoReport
) -> None:
    """Deny a host of middling size by a new strategy, then allow it by a next one, so that it is fetched again. Measure
    until all nodes hide its pages, and until all find them again."""
    found = {host: await _pages_of(client, nodes[0], host) for host in hosts}
    sized = sorted((pages, host) for host, pages in found.items() if pages > 0)
    pages, host = sized[len(sized) // 2]
    began = time.monotonic()
    await publish("--deny", host)
    hidden_s = await _seconds_until(client, nodes, host, 0, began)
    began = time.monotonic()
    await publish("--drop-rule", "1")
    back_s = await _seconds_until(client, nodes, host, pages, began)
    report.after_strategy = AfterStrategy(host, pages, hidden_s, back_s)
    if hidden_s > OBEYED_WITHIN_S or back_s > BACK_WITHIN_S:
        report.failures.append(f"a strategy about {host} was obeyed after {hidden_s} s and {back_s} s")


async def _seconds_until(client: NodeClient, nodes: Sequence[DemoNode], host: str, pages: int, began: float) -> float:
    """Return when every node found so many pages of a host; later than BACK_WITHIN_S where that did not happen."""
    while any([await _pages_of(client, node, host) != pages for node in nodes]):
        if time.monotonic() - began > BACK_WITHIN_S:
            break
        await asyncio.sleep(0.2)
    return round(time.monotonic() - began, 1)


async def _pages_of(client: NodeClient, node: DemoNode, host: str) -> int:
    """Return how many pages of a host a node finds; -1 where it does not answer."""
    answer = await client.search(node, f"site:{host}", 1)
    return int(answer["total"]) if answer else -1
