"""Takes the time of queries, one after the other: the processor's of the whole process, and the wall's."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.search.one_node import OneNode


@dataclass(frozen=True, slots=True)
class TimedQueries:
    """The milliseconds of processor and wall that each query took."""

    cpu_ms: list[float] = field(default_factory=list)
    wall_ms: list[float] = field(default_factory=list)


async def timed(node: OneNode, queries: Sequence[str]) -> TimedQueries:
    """Ask queries one after the other."""
    found = TimedQueries()
    for words in queries:
        began, used = time.perf_counter(), time.process_time()
        await node.ask(words)
        found.cpu_ms.append((time.process_time() - used) * 1000)
        found.wall_ms.append((time.perf_counter() - began) * 1000)
    return found
