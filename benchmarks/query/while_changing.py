"""Times queries of one node while its index changes: pages are indexed, a fifth of all documents is gone.

All of it happens in one process, without HTTP: what a server of pages adds is not measured here.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from statistics import median, quantiles
from urllib.parse import urlsplit

from benchmarks.figures import Row, row
from benchmarks.query.goals import AFTER_DELETIONS, WHILE_INDEXING
from benchmarks.query.timing import TimedQueries, timed
from benchmarks.search.one_node import OneNode
from index import DocumentChange, Text
from index.text.site_host import front_name

INDEXED_PER_S = 100
DELETED_OF = 5  # documents one
PAGES = 20  # times the first and the second are asked for


async def loaded_rows(
    node: OneNode, queries: Sequence[str], found: TimedQueries, more: Sequence[Text], has_goals: bool
) -> list[Row]:
    """Return the rows of one node under load. `found`: what the same queries took before, each asked once; `more` is
    indexed meanwhile, and then every fifth document deleted. A commit forgets all counts, so none helps later."""
    busy = await while_indexing(node, queries, more)
    goal = WHILE_INDEXING if has_goals else None
    what = f"typed query, wall p99, {INDEXED_PER_S} pages/s indexed / quiet"
    out = [row(what, [p99(busy) / p99(found.wall_ms)], "×", goal=goal)]
    node.log += [DocumentChange(change.id, None) for change in node.log[::DELETED_OF]]
    await node.follow()
    after, goal = await timed(node, queries), AFTER_DELETIONS if has_goals else None
    what = "typed query, CPU p50, a fifth deleted / none"
    return [*out, row(what, [median(after.cpu_ms) / median(found.cpu_ms)], "×", goal=goal)]


async def next_page_rows(node: OneNode) -> list[Row]:
    """Return the row of a site's name asked for, of the site with the most pages: what its second page of results
    takes, beside the first. The counts of both are remembered, so what is compared is finding and showing."""
    hosts = Counter(urlsplit(change.text.url).netloc for change in node.log if change.text)
    name = front_name(f"http://{hosts.most_common(1)[0][0]}/")
    first = await node.ask(name)
    ratios = []
    for _ in range(PAGES):
        first_ms, second_ms = await _cpu_ms(node, name, ""), await _cpu_ms(node, name, first["next_cursor"] or "")
        ratios.append(second_ms / first_ms)
    return [row("a site's name, CPU, second page of results / first", [median(ratios)], "×")]


async def _cpu_ms(node: OneNode, words: str, cursor: str) -> float:
    began = time.process_time()
    await node.ask(words, cursor=cursor)
    return (time.process_time() - began) * 1000


async def while_indexing(node: OneNode, queries: Sequence[str], more: Sequence[Text]) -> list[float]:
    """Return how long each query waited, in ms, while so many pages a second came."""
    async with asyncio.TaskGroup() as tasks:
        feeding = tasks.create_task(feed(node, more), name="feed")
        found = await timed(node, queries)
        feeding.cancel()
    await node.follow()
    return found.wall_ms


async def feed(node: OneNode, more: Sequence[Text]) -> None:
    """Hand the index so many pages each second, for as long as there are some."""
    for start in range(0, len(more), INDEXED_PER_S):
        until = time.perf_counter() + 1.0
        node.log += [DocumentChange(text.id, text) for text in more[start : start + INDEXED_PER_S]]
        await node.follow()
        await asyncio.sleep(max(until - time.perf_counter(), 0.0))


def p99(values: Sequence[float]) -> float:
    """Return the value that one of a hundred exceeds."""
    return quantiles(values, n=100)[98] if len(values) > 1 else values[0]
