"""Measures five nodes: queries one by one, at rest and while pages come in, and a crowd at one of them."""

import asyncio
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, cycle, islice
from statistics import mean

from benchmarks.figures import Row, row
from benchmarks.query.alone import A_SECOND, Asked, ask_each, feed, idle_cores, sampled
from benchmarks.query.busy import busy_rows
from benchmarks.query.caller import calling, search_path
from benchmarks.query.crowd import CLIENTS, Load, overload, percentile, together
from benchmarks.query.five_nodes import FiveNodes, crawled
from benchmarks.query.goals import (
    AGAIN_PER_S,
    ANSWERED_P95_MS,
    BORNE_PER_S,
    NODES_CPU_MS,
    NODES_WALL_MS,
    ONE_ROUND_AT_REST,
    ONE_ROUND_CRAWLING,
    OVERLOAD,
    REFUSED_P95_MS,
    WITHIN_MS,
)
from benchmarks.query.groups import by_group
from benchmarks.query.one_index import made_up, titles
from benchmarks.query.timing import run_as_node
from benchmarks.query.typed_words import typed_words
from benchmarks.search.extent import Extent
from benchmarks.search.web_pages import read_web
from index import Text

AGAIN_CLIENTS = 8
MOST_QUERIES = 10_000  # refusals use some up, too


@dataclass(frozen=True, slots=True)
class Size:
    """Says how much is measured. `before`: queries that are not timed, since the first 50 answers of each peer are
    compared with others'. `idle_s` and `load_s`: seconds of each look, and of each number of clients."""

    pages: int
    later: int
    before: int
    asked: int
    idle_s: float
    load_s: float
    clients: Sequence[int] = CLIENTS


FULL = Size(6_000, 600, 750, 200, 10.0, 10.0)
QUICK = Size(300, 80, 40, 30, 2.0, 1.0)


def rows(extent: Extent, size: Size | None = None, ready: Callable[[], object] = tuple) -> list[Row]:
    """Return the rows of five nodes. `ready` returns when nothing else is measured any more."""
    assert extent.web is not None
    size = size or (QUICK if extent.quick else FULL)
    pages, chance = read_web(extent.web), random.Random(1)
    texts = made_up(pages, size.pages + size.later, chance)
    wanted = titles(pages, chance)[: size.asked]
    return run_as_node(_measured(texts, wanted, size, chance, ready))


async def _measured(
    texts: Sequence[Text], wanted: Sequence[str], size: Size, chance: random.Random, ready: Callable[[], object]
) -> list[Row]:
    words = typed_words(texts, MOST_QUERIES, chance)
    fresh = iter(words)  # each query is asked once
    async with crawled(texts[: size.pages], texts[size.pages :]) as network:
        await ask_each(network, list(islice(fresh, size.before)), 0.0)
        await asyncio.to_thread(ready)
        idle = await idle_cores(network, size.idle_s)
        by_title = await ask_each(network, wanted, idle)
        by_words = await ask_each(network, list(islice(fresh, size.asked)), idle)
        shares = by_group(await sampled(network, list(islice(fresh, size.asked))))
        out = [row("five nodes: copies of pages", [await _copies(network)], "")]
        out += _alone_rows("a title", by_title, (NODES_CPU_MS, *NODES_WALL_MS), None)
        out += _alone_rows("Zipf words", by_words, (NODES_CPU_MS, *NODES_WALL_MS), ONE_ROUND_AT_REST)
        out += [row(f"of it: {name}", [share * mean(by_words.cpu_ms)], "ms") for name, share in shares.items()]
        out.append(row("CPU of all five nodes while nobody asks", [idle * 100], "% of a core"))
        out += await _crowd_rows(network, chain(fresh, cycle(words)), words[0], size)
        out += await busy_rows(network, chain(fresh, cycle(words)), 6 * size.load_s)
        return out + await _crawling_rows(network, islice(reversed(words), size.asked), texts[size.pages :], size)


async def _copies(network: FiveNodes) -> float:
    return float(sum(status["documents"] for status in await network.client.statuses(network.nodes) if status))


def _alone_rows(what: str, found: Asked, goals: Sequence[float | None], one_round: float | None) -> list[Row]:
    """Return the rows of queries one by one. `goals`: of the mean of CPU, of p50 and p95 of the wall."""
    count = len(found.wall_ms)
    return [
        row(f"five nodes, {what}: CPU of all, mean", [mean(found.cpu_ms)], "ms", goal=goals[0]),
        row(f"five nodes, {what}: CPU of all, p50", [percentile(found.cpu_ms, 50)], "ms"),
        row(f"five nodes, {what}: wall p50", [percentile(found.wall_ms, 50)], "ms", goal=goals[1]),
        row(f"five nodes, {what}: wall p95", [percentile(found.wall_ms, 95)], "ms", goal=goals[2]),
        row(f"five nodes, {what}: with one round", [found.one_round], "share", goal=one_round, at_least=True),
        row(f"five nodes, {what}: messages a query", [found.messages], ""),
        row(f"five nodes, {what}: whole", [found.whole / count], "share", goal=1.0, at_least=True),
        row(f"five nodes, {what}: exact", [found.exact / count], "share"),
    ]


async def _crawling_rows(network: FiveNodes, queries: Iterator[str], later: Sequence[Text], size: Size) -> list[Row]:
    """Return the rows of queries while pages come in; what pages take without queries is taken off."""
    async with asyncio.TaskGroup() as tasks:
        feeding = tasks.create_task(feed(network, later), name="feed")
        await asyncio.sleep(1.0)
        busy = await idle_cores(network, 2 * size.idle_s)
        found = await ask_each(network, list(queries), busy)
        feeding.cancel()
    return _alone_rows(f"Zipf words at {A_SECOND} pages/s", found, (None,) * 3, ONE_ROUND_CRAWLING)


async def _crowd_rows(network: FiveNodes, queries: Iterator[str], again: str, size: Size) -> list[Row]:
    """Return the rows of many clients at one node: distinct queries, the same one, more than it bears."""
    port, out, loads = network.nodes[0].web_port, list[Row](), list[Load]()
    for clients in size.clients:
        loads.append(await together(port, queries, clients, size.load_s))
        out += _load_rows(clients, loads[-1])
    borne = max((load.per_s for load in loads if percentile(load.answers, 95) <= WITHIN_MS), default=0.0)
    what = f"one node of five: distinct queries at p95 ≤ {WITHIN_MS:.0f} ms"
    out.append(row(what, [borne], "/s", goal=BORNE_PER_S, at_least=True))
    out += await _again_rows(network, again, size)
    capacity = max(load.per_s for load in loads)
    return out + _overload_rows(await overload(port, queries, OVERLOAD * capacity, size.load_s))


async def _again_rows(network: FiveNodes, words: str, size: Size) -> list[Row]:
    port, pids = network.nodes[0].web_port, network.pids()
    async with calling(port) as caller:
        await caller.get(search_path(words))  # remembered from now on
    used = network.used_s(pids)
    load = await together(port, cycle([words]), AGAIN_CLIENTS, size.load_s)
    by_processor = len(load.answers) / (network.used_s(pids) - used)
    what = "one node of five: the same answer again"
    return [
        row(what, [load.per_s], "/s", goal=AGAIN_PER_S, at_least=True),
        row(f"{what}, by the processor", [by_processor], "/s"),
    ]


def _load_rows(clients: int, load: Load) -> list[Row]:
    what = f"one node of five, {clients} client{'s' * (clients > 1)}"
    return [
        row(f"{what}: queries", [load.per_s], "/s"),
        row(f"{what}: wall p50", [percentile(load.answers, 50)], "ms"),
        row(f"{what}: wall p95", [percentile(load.answers, 95)], "ms"),
        row(f"{what}: refused", [float(len(load.refusals))], ""),
        row(f"{what}: partial", [float(load.partial)], ""),
    ]


def _overload_rows(load: Load) -> list[Row]:
    what, count = f"overload ×{OVERLOAD:g}", len(load.replies) + load.silent
    refused = [percentile(load.refusals, 95)] if load.refusals else []
    late = sum(ms > REFUSED_P95_MS for ms in load.refusals) + load.silent
    return [
        row(f"{what}: wall p95 of answers", [percentile(load.answers, 95)], "ms", goal=ANSWERED_P95_MS),
        row(f"{what}: answered", [len(load.answers) / count], "share"),
        row(f"{what}: of these partial", [float(load.partial)], ""),
        row(f"{what}: refused", [len(load.refusals) / count], "share"),
        row(f"{what}: wall p95 of refusals", refused, "ms", goal=REFUSED_P95_MS),
        row(f"{what}: refused later than that, or not at all", [late / count], "share"),
    ]
