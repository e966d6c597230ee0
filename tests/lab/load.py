"""Asks the nodes of the lab: every one every query, or at random and by the clock, and keeps what they answered."""

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import aiohttp

from node.extras.demo.checks import SAMPLE_QUERIES
from node.service.query_desk import KEPT_S
from tests.lab.host import Host

QUERIES = [row["q"] for row in json.loads(SAMPLE_QUERIES.read_text())]


@dataclass(frozen=True)
class Answer:
    """One node's answer to one query, as far as nodes are compared."""

    query: str
    host: str
    total: int
    urls: tuple[str, ...]
    is_exact: bool
    is_partial: bool
    coverage: float
    why: tuple[str, ...] = ()  # it is not exact


async def answers(hosts: Sequence[Host], queries: Sequence[str]) -> list[Answer]:
    """Ask every node every query, once what was answered before is not given again; who does not answer gives a total
    of -1."""
    await asyncio.sleep(KEPT_S)
    async with asyncio.TaskGroup() as tasks:
        asked = [tasks.create_task(_answers_of(host, queries)) for host in hosts]
    return [answer for task in asked for answer in task.result()]


async def _answers_of(host: Host, queries: Sequence[str]) -> list[Answer]:
    return [await answer(host, query) for query in queries]


async def answer(host: Host, query: str, deadline_ms: int = 5000) -> Answer:
    """Ask one node one query."""
    try:
        body = await host.search(query, deadline_ms=deadline_ms)
    except (aiohttp.ClientError, TimeoutError, AssertionError):
        return Answer(query, host.name, -1, (), False, True, 0.0)
    coverage, urls = body["coverage"], tuple(result["url"] for result in body["results"])
    share = coverage["answered"] / coverage["slots"] if coverage["slots"] else 0.0
    why = tuple(each["reason"] for each in body["why"])
    return Answer(query, host.name, body["total"], urls, body["exact"], body["partial"], share, why)


@dataclass(frozen=True)
class Asked:
    """One question: when it was put and answered (Unix seconds), and to whom."""

    began_at: float
    ended_at: float
    answer: Answer

    @property
    def took_s(self) -> float:
        return self.ended_at - self.began_at


@dataclass
class Load:
    """`async with Load(hosts, seed=1) as load` asks `rate` queries a second until the block ends. Nodes that have been
    killed, stopped or frozen are not asked. An error counts only of a node that has answered before and still runs.
    The queries are written to `diary`, a line each, to compare them with the nodes' logs."""

    hosts: Sequence[Host]
    seed: int
    rate: float = 4.0
    queries: Sequence[str] = tuple(QUERIES)
    deadline_ms: int = 3000
    diary: Path | None = None
    asked: list[Asked] = field(default_factory=list)
    _answered: set[int] = field(default_factory=set)  # process ids

    async def __aenter__(self) -> "Load":
        self._tasks = asyncio.TaskGroup()
        await self._tasks.__aenter__()
        self._asking = self._tasks.create_task(self._ask_on())
        return self

    async def __aexit__(self, *error: object) -> None:
        self._asking.cancel()
        await self._tasks.__aexit__(*error)  # type: ignore[arg-type]

    @property
    def errors(self) -> list[Asked]:
        """Questions that a living node did not answer."""
        return [asked for asked in self.asked if asked.answer.total < 0]

    def summary(self) -> str:
        """How many answers were which, in one line."""
        found = [asked.answer for asked in self.asked]
        took = sorted(asked.took_s for asked in self.asked) or [0.0]
        least = min((a.coverage for a in found), default=1)
        why = Counter(reason for answer in found for reason in answer.why)
        return (
            f"{len(found)} queries, {len(self.errors)} errors, {sum(a.is_partial for a in found)} partial, "
            f"{sum(a.is_exact for a in found)} exact (others: {dict(why)}), least coverage {least:.2f}, "
            f"p50 {took[len(took) // 2]:.2f} s, p99 {took[len(took) * 99 // 100]:.2f} s"
        )

    async def _ask_on(self) -> None:
        chance = random.Random(self.seed)
        while True:
            await asyncio.sleep(chance.expovariate(self.rate))
            running = [host for host in self.hosts if host.is_running and not host.is_frozen]
            if running:
                host, query = chance.choice(running), chance.choice(self.queries)
                self._tasks.create_task(self._ask(host, query))

    async def _ask(self, host: Host, query: str) -> None:
        began_at, process = time.time(), host.process
        found = await answer(host, query, self.deadline_ms)
        if found.total >= 0 and process:
            self._answered.add(process.pid)
        still_runs = process is host.process and host.is_running and not host.is_frozen
        if process and process.pid in self._answered and still_runs:
            self._keep(Asked(began_at, time.time(), found))

    def _keep(self, row: Asked) -> None:
        self.asked.append(row)
        if self.diary:
            with self.diary.open("a") as diary:
                diary.write(json.dumps(asdict(row)) + "\n")
