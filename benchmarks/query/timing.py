"""Takes the time of queries, one after the other: the processor's of the whole process, and the wall's."""

import asyncio
import time
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import uvloop

from benchmarks.search.one_node import OneNode

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class TimedQueries:
    """The milliseconds of processor and wall that each query took."""

    cpu_ms: list[float] = field(default_factory=list)
    wall_ms: list[float] = field(default_factory=list)


def run_as_node(asking: Coroutine[Any, Any, Result]) -> Result:
    """Run what is timed on the event loop that a node has."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(asking)


async def timed(node: OneNode, queries: Sequence[str]) -> TimedQueries:
    """Ask queries one after the other."""
    found = TimedQueries()
    for words in queries:
        began, used = time.perf_counter(), time.process_time()
        await node.ask(words)
        found.cpu_ms.append((time.process_time() - used) * 1000)
        found.wall_ms.append((time.perf_counter() - began) * 1000)
    return found
