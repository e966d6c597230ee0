"""Asks one node of a network many queries at once: how many it bears, and how it says no to what is above that."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import quantiles

from benchmarks.query.caller import Reply, calling, search_path

CLIENTS = (1, 2, 4, 8, 16, 32)
POOL = 400  # connections, of which an overload takes one for each query under way
REFUSALS = (429, 503)
REFUSED_S = 0.25  # until a client asks again


@dataclass(slots=True)
class Load:
    """Holds what came of many queries."""

    replies: list[Reply] = field(default_factory=list)
    silent: int = 0  # no reply within 20 s, or no connection free
    took_s: float = 0.0

    @property
    def answers(self) -> list[float]:
        """How long each answer took, in ms."""
        return [each.ms for each in self.replies if each.is_answer]

    @property
    def refusals(self) -> list[float]:
        """How long it took until each refusal came, in ms."""
        return [each.ms for each in self.replies if each.status in REFUSALS]

    @property
    def partial(self) -> int:
        """How many answers were not whole."""
        return sum(each.is_answer and bool(each.said()["partial"]) for each in self.replies)

    @property
    def per_s(self) -> float:
        """Answers a second."""
        return len(self.answers) / self.took_s if self.took_s else 0.0


def percentile(values: Sequence[float], percent: int) -> float:
    """Return the value that so many of a hundred do not exceed, 0 for none."""
    return quantiles(values, n=100)[percent - 1] if len(values) > 1 else max(values, default=0.0)


async def together(port: int, queries: Iterator[str], clients: int, for_s: float) -> Load:
    """Let so many clients ask, each one query after the other, for so long; whoever is refused waits a moment."""
    found, began = Load(), time.perf_counter()

    async def client() -> None:
        async with calling(port) as caller:
            while time.perf_counter() - began < for_s:
                found.replies.append(reply := await caller.get(search_path(next(queries))))
                if not reply.is_answer:
                    await asyncio.sleep(REFUSED_S)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(clients):
            tasks.create_task(client())
    found.took_s = time.perf_counter() - began
    return found


async def overload(port: int, queries: Iterator[str], per_s: float, for_s: float) -> Load:
    """Send queries at a rate, whether those before were answered or not; wait for all."""
    found, began, open_ = Load(), time.perf_counter(), asyncio.Semaphore(POOL)

    async def one(words: str) -> None:
        if open_.locked():
            found.silent += 1
            return
        async with open_, calling(port) as caller:
            try:
                found.replies.append(await caller.get(search_path(words)))
            except (TimeoutError, OSError, asyncio.IncompleteReadError):
                found.silent += 1

    async with asyncio.TaskGroup() as tasks:
        for number in range(int(per_s * for_s)):
            await asyncio.sleep(max(began + number / per_s - time.perf_counter(), 0.0))
            tasks.create_task(one(next(queries)))
    found.took_s = time.perf_counter() - began
    return found
