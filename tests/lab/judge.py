"""Judges a network of the lab from outside: by the web's own log, by what each node stores, by its answers."""

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from crawl import signature
from index import SearchOracle, Text
from node.extras.demo.checks import text_of_row
from node.extras.demo.judge import (
    NOT_PAGES,
    Fetches,
    SecondLookRequest,
    judge_fetches,
    second_look_requests,
    told_apart,
)
from tests.lab.host import Host, Json, until
from tests.lab.internet import Internet
from tests.lab.load import Answer, Asked
from tests.lab.sites import PORT

KNOWN_AFTER_S = 60.0  # what was fetched so long ago is in every exact answer


def rows(net: Internet) -> list[dict[str, Any]]:
    """The web's log, as far as whole lines are written: t, host, path, ip, status, ms of each request."""
    text = net.web_log.read_text() if net.web_log.exists() else ""
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def fetches(net: Internet) -> Fetches:
    """Pages, duplicates, gaps under the rule, and how many of all fetches were second looks."""
    return judge_fetches(rows(net), net.delay_s, second_looks(net))


def second_looks(net: Internet) -> list[SecondLookRequest]:
    """The requests for second looks that the nodes report in their logs."""
    return [request for host in net.hosts.values() for request in second_look_requests(host.log)]


def fetched_again(net: Internet) -> dict[str, list[tuple[float, str]]]:
    """URLs that were asked for more than once, second looks aside: when, and by which address."""
    seen: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for row in told_apart(rows(net), second_looks(net))[0]:
        if row["path"] not in NOT_PAGES and row["status"] < 400:
            seen[f"http://{row['host']}:{PORT}{row['path']}"].append((row["t"], row["ip"]))
    return {url: times for url, times in seen.items() if len(times) > 1}


def pages(net: Internet) -> list[str]:
    """The URLs that were answered with a page."""
    return sorted(f"http://{host}:{PORT}{path}" for host, path in fetches(net).paths)


async def statuses(hosts: Sequence[Host]) -> dict[str, Json | None]:
    """The status of each node, asked at once; None where one does not answer."""
    async with asyncio.TaskGroup() as tasks:
        asked = {host.name: tasks.create_task(host.status()) for host in hosts}
    return {name: task.result() for name, task in asked.items()}


async def one_view(hosts: Sequence[Host], within_s: float) -> float:
    """Wait until each counts exactly these as members, hears all others, and is ready for its slots; the seconds."""

    async def is_so() -> "Views":
        found = Views(await statuses(hosts))
        found.is_right = all(
            s and s["members"] == len(hosts) and s["peers"]["live"] == len(hosts) - 1 and _has_its_slots(s)
            for s in found.by_name.values()
        )
        return found

    return await until(f"one view of {len(hosts)}", is_so, within_s)


async def found_at_its_addresses(moved: Host, others: Sequence[Host], within_s: float) -> float:
    """Wait until all others know a node at all the addresses of its host, and no others; the seconds."""
    node_id = (await moved.get("/api/v1/status"))["node_id"]

    async def is_so() -> bool:
        known = [row for host in others for row in (await host.get("/api/v1/peers"))["peers"]]
        endpoints = [row["endpoints"] for row in known if row["node_id"] == node_id]
        return len(endpoints) == len(others) and all(
            {endpoint["host"] for endpoint in each} == set(moved.addresses) for each in endpoints
        )

    return await until(f"{moved} is found at {moved.addresses}", is_so, within_s)


async def rested(hosts: Sequence[Host], within_s: float) -> float:
    """Wait until nothing is to be fetched, indexed or handed on, for a second; the seconds."""
    quiet = 0

    async def is_so() -> "Views":
        nonlocal quiet
        found = Views(await statuses(hosts))
        alive = [s for s in found.by_name.values() if s]
        at_rest = all(s["alike"] and not s["crawl"]["frontier"] and not s["crawl"]["open"] for s in alive)
        held = sum(s["slots"]["leased"] for s in alive) >= max((s["slots"]["all"] for s in alive), default=1)
        quiet = quiet + 1 if len(alive) == len(hosts) and at_rest and held else 0
        found.is_right = quiet == 3
        return found

    return await until("at rest", is_so, within_s, every_s=0.5)


@dataclass
class Views:
    """Each node's status; true when all are as they should be."""

    by_name: dict[str, Json | None]
    is_right: bool = False

    def __bool__(self) -> bool:
        return self.is_right

    def __repr__(self) -> str:
        return " | ".join(f"{name}: {brief(status)}" for name, status in self.by_name.items())


def brief(status: Json | None) -> str:
    """A status in a dozen words."""
    if status is None:
        return "silent"
    slots, crawl = status["slots"], status["crawl"]
    return (
        f"{status['role']}, hears {status['peers']['live']} of {status['members']} members, "
        f"slots {slots['ready']}/{slots['owned']} leased {slots['leased']}, {status['documents']} documents, "
        f"to fetch {crawl['frontier']}+{crawl['open']}{', alike' if status['alike'] else ''}"
    )


def _has_its_slots(status: Json) -> bool:
    return status["slots"]["ready"] >= status["slots"]["owned"] > 0  # it may keep copies for others besides


def contradictions(found: Sequence[Answer]) -> list[str]:
    """Queries to which nodes gave different answers and each said that its was exact."""
    said: dict[str, dict[tuple[int, tuple[str, ...]], list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in found:
        if row.is_exact:
            said[row.query][row.total, row.urls].append(row.host)
    return [
        f"{query!r}: " + "; ".join(f"{'+'.join(names)} {total}" for (total, _), names in ways.items())
        for query, ways in said.items()
        if len(ways) > 1
    ]


async def copies(hosts: Sequence[Host], urls: list[str]) -> Counter[int]:
    """How many pages have how many copies of their newest version; 0 counts pages that nobody has."""
    async with asyncio.TaskGroup() as tasks:
        asked = [tasks.create_task(host.documents(urls)) for host in hosts]
    held = [task.result() for task in asked]
    found: Counter[int] = Counter()
    for url in urls:
        versions = [documents[url]["version"] for documents in held if url in documents]
        found[versions.count(max(versions, default=None))] += 1
    return found


async def documents(net: Internet, hosts: Sequence[Host]) -> list[Text]:
    """The newest version of each document that any of them stores."""
    async with asyncio.TaskGroup() as tasks:
        asked = [tasks.create_task(host.documents(pages(net))) for host in hosts]
    newest: dict[str, Json] = {}
    for row in (row for task in asked for row in task.result().values()):
        if row["url"] not in newest or row["version"] > newest[row["url"]]["version"]:
            newest[row["url"]] = row
    return [text_of_row(newest[url]) for url in sorted(newest)]


def wrong_exact(asked: Sequence[Asked], texts: Sequence[Text], complete_at: float) -> list[str]:
    """Exact answers that brute force over all documents contradicts.

    Answers begun after `complete_at` need the total and the order of brute force. The total of an earlier answer must
    count every page with enough of the words that had been fetched a minute before.
    """
    oracle, wrong = SearchOracle(texts, signature), []
    exact = [row for row in asked if row.answer.is_exact]
    truths = {query: oracle.search(query) for query in {row.answer.query for row in exact}}
    for row in exact:
        said, truth = row.answer, truths[row.answer.query]
        known = sum(text.fetched_at < row.began_at - KNOWN_AFTER_S for text in truth.counted)
        first = tuple(hit.text.url for hit in truth.hits[: len(said.urls)])
        is_complete = row.began_at > complete_at
        if said.total < known or (is_complete and (said.total, said.urls) != (truth.total, first)):
            order = next((f", {a} for {b}" for a, b in zip(said.urls, first, strict=False) if a != b), "")
            wrong.append(
                f"{said.query!r} at {said.host}: {said.total}, of {known} … {truth.total} by brute force{order}"
            )
    return wrong
