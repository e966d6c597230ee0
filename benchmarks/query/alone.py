"""Times queries asked one after the other of a network, and counts what they take: processor time, messages, rounds."""

import asyncio
import json
import os
import signal
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.query.caller import Caller, calling, search_path
from benchmarks.query.five_nodes import FiveNodes
from index import Text

A_SECOND = 5  # pages that come in
REPORTED_WITHIN_S = 10.0


@dataclass(slots=True)
class Asked:
    """Says what queries took: each one's ms, by the clock and of all processes, less what these take when idle."""

    wall_ms: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)
    whole: int = 0
    exact: int = 0
    one_round: float = 0.0  # share of queries whose asker asked nobody for statistics
    messages: float = 0.0  # a query


async def ask_each(network: FiveNodes, queries: Sequence[str], idle: float) -> Asked:
    """Ask queries of one node after the other. `idle`: the cores that the network uses meanwhile anyway."""
    found, before, pids = Asked(), await watched(network), network.pids()
    async with AsyncExitStack() as stack:
        callers = [await stack.enter_async_context(calling(node.web_port)) for node in network.nodes]
        for number, words in enumerate(queries):
            await _ask(network, callers[number % len(callers)], words, idle, found, pids)
    after = await watched(network)
    made = Counter({name: after[name] - before[name] for name in ("queries", "one_round", "messages")})
    found.one_round = made["one_round"] / (made["queries"] or 1)
    found.messages = made["messages"] / (made["queries"] or 1)
    return found


async def _ask(network: FiveNodes, caller: Caller, words: str, idle: float, found: Asked, pids: Sequence[int]) -> None:
    began, used = time.perf_counter(), network.used_s(pids)
    reply = await caller.get(search_path(words))
    spent, took = network.used_s(pids) - used, time.perf_counter() - began
    found.wall_ms.append(reply.ms)
    found.cpu_ms.append((spent - idle * took) * 1000)
    said = reply.said() if reply.is_answer else {"partial": True, "exact": False}
    found.whole += not said["partial"]
    found.exact += bool(said["exact"])


async def idle_cores(network: FiveNodes, for_s: float) -> float:
    """Return how many cores the network uses while nobody asks."""
    used, began = network.used_s(), time.perf_counter()
    await asyncio.sleep(for_s)
    return (network.used_s() - used) / (time.perf_counter() - began)


async def feed(network: FiveNodes, later: Sequence[Text]) -> None:
    """Hand in so many pages each second, until there are no more."""
    for start in range(0, len(later), A_SECOND):
        until = time.perf_counter() + 1.0
        await network.seed(later[start : start + A_SECOND])
        await asyncio.sleep(max(until - time.perf_counter(), 0.0))


async def watched(network: FiveNodes) -> dict[str, Any]:
    """Return the sums of what the nodes have seen of themselves."""
    whole, seconds = Counter[str](), Counter[str]()
    for node in network.nodes:
        network.report(node).unlink(missing_ok=True)
    signalled(network, signal.SIGUSR1)
    async with asyncio.timeout(REPORTED_WITHIN_S):
        for told in [await _read(network.report(node)) for node in network.nodes]:
            seconds.update(told.pop("seconds"))
            whole.update(told)
    return {**whole, **dict.fromkeys({"queries", "one_round", "messages"} - whole.keys(), 0), "seconds": seconds}


async def _read(report: Path) -> dict[str, Any]:
    while (found := _told(report)) is None:  # noqa: ASYNC110
        await asyncio.sleep(0.02)
    return found


def _told(report: Path) -> dict[str, Any] | None:
    """Read what a node wrote, None while it has not."""
    found: dict[str, Any] | None = json.loads(report.read_text()) if report.is_file() else None
    return found


async def sampled(network: FiveNodes, queries: Sequence[str]) -> dict[str, float]:
    """Return the seconds of processor time by chain of files while queries are asked."""
    signalled(network, signal.SIGUSR2)
    await ask_each(network, queries, 0.0)
    signalled(network, signal.SIGUSR2)
    await asyncio.sleep(0.1)
    return dict((await watched(network))["seconds"])


def signalled(network: FiveNodes, what: signal.Signals) -> None:
    """Send all nodes a signal."""
    names = {node.name for node in network.nodes}
    for child in network.children.running:
        if child.name in names:
            os.kill(child.process.pid, what)
