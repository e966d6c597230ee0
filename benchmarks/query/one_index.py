"""Times queries over made-up documents of real lines: the processor's time of the whole process, and the wall's.

Each query is asked once, so that no cache answers. Documents are put together from lines of the pages of --web, drawn
at random, in the lengths of those pages. Titles are the pages' own; natural questions add stop words to their words.
"""

import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import quantiles

from benchmarks.figures import Row, row
from benchmarks.query.cold_start import cold_rows
from benchmarks.query.goals import CPU_DOCUMENTS, FORWARD_MB, NATURAL_CPU_MS, TYPED_CPU_MS
from benchmarks.query.timing import TimedQueries, run_as_node, timed
from benchmarks.query.while_changing import loaded_rows, next_page_rows
from benchmarks.search.extent import Extent
from benchmarks.search.figure import left_out
from benchmarks.search.one_node import one_node
from benchmarks.search.web_pages import WebPage, read_web
from dht import document_id, placement_key
from index import Text
from index.text.stop_words import languages_of
from node.process.memory_upkeep import spare_collector

QUERIES = 300
WARM_UP = 20  # queries that are not timed
MOST_LINES = 60
HOSTS = 600  # of a few hosts most of 256 slots would hold nothing
MOST_MORE = 10_000  # documents that are indexed while queries are asked: as many as come in 100 s
NO_GOALS = (None, None)
QUESTIONS = ("how do I use {} with {}", "what is the best way to get {} from a {}", "why does {} not work in {}")


def rows(extent: Extent) -> list[Row]:
    """Return the rows of queries on a quiet node, under load, and by a process that has just begun."""
    assert extent.web is not None
    count, pages, chance = extent.documents, read_web(extent.web), random.Random(1)
    texts, typed, natural = made_up(pages, count, chance), titles(pages, chance), questions(pages, chance)
    more = made_up(pages, min(count, MOST_MORE), chance, first=count)
    most, has_goals = extent.most(QUERIES), count >= CPU_DOCUMENTS
    limits = (TYPED_CPU_MS, NATURAL_CPU_MS) if has_goals else (NO_GOALS, NO_GOALS)

    async def measured(folder: Path) -> list[Row]:
        async with one_node(texts, extent.engine, folder) as node:
            spare_collector()  # as a node does
            await timed(node, titles(pages, random.Random(2))[:WARM_UP])
            found = await timed(node, typed[:most])
            out = time_rows("one node, a title", found, limits[0])
            out.append(row("documents indexed", [len(texts) / node.built_s], "/s"))
            out.append(row("forward records", [forward_mb(folder)], "MB", goal=FORWARD_MB if has_goals else None))
            if extent.quick:
                return out
            out += time_rows("one node, a natural question", await timed(node, natural[:most]), limits[1])
            out += await next_page_rows(node)
            return out + await loaded_rows(node, typed[:most], found, more, has_goals)

    with tempfile.TemporaryDirectory() as path:
        out = run_as_node(measured(Path(path)))
        if not extent.quick:
            out += cold_rows(Path(path), [*texts, *more], typed, extent.engine, has_goals)
    return [row("one node, of so many documents", [float(count)], ""), *out]


def forward_mb(folder: Path) -> float:
    """Return the size of an index's forward records, their log included."""
    return sum(file.stat().st_size for file in folder.rglob("forward.sqlite*")) / 1e6


def time_rows(what: str, found: TimedQueries, goals: Sequence[float | None]) -> list[Row]:
    """Return the rows of p50 and p95 of processor time, which have goals, and wall time."""
    if len(found.cpu_ms) < 2:
        return [left_out(what, "too few queries can be made of these pages")]
    out = []
    for name, values, limits in (("CPU", found.cpu_ms, goals), ("wall", found.wall_ms, NO_GOALS)):
        cuts = quantiles(values, n=20)
        for rank, value, limit in (("p50", cuts[9], limits[0]), ("p95", cuts[18], limits[1])):
            out.append(row(f"{what}, {name} {rank}", [value], "ms", goal=limit))
    return out


def made_up(pages: Sequence[WebPage], count: int, chance: random.Random, first: int = 0) -> list[Text]:
    """Return documents of lines that stand on pages of one language, each as many as one of those pages has; their
    addresses are numbered from `first` on."""
    lines: dict[str, list[str]] = {}
    for page in pages:
        lines.setdefault(page.found.language, []).extend(page.found.text.split("\n"))
    out = []
    for number in range(first, first + count):
        page = chance.choice(pages)
        have = lines[page.found.language]
        body = "\n".join(chance.choices(have, k=min(page.found.text.count("\n") + 1, MOST_LINES)))
        url, title = f"http://site{number % HOSTS}.test/{number}.html", chance.choice(have)[:80]
        version = number.to_bytes(32, "big")
        found = Text(document_id(url), placement_key(url), version, url, title, (), body, page.found.language, 0.0)
        out.append(found)
    return out


def titles(pages: Sequence[WebPage], chance: random.Random) -> list[str]:
    """Return the titles of pages, each once."""
    return chance.sample(found := sorted({page.found.title for page in pages if page.found.title}), len(found))


def questions(pages: Sequence[WebPage], chance: random.Random) -> list[str]:
    """Return English questions about words of the pages."""
    words = sorted({word for page in pages if page.found.language == "en" for word in page.found.title.lower().split()})
    words = [word for word in words if word.isalpha() and not languages_of(word)]
    return [chance.choice(QUESTIONS).format(*chance.sample(words, 2)) for _ in range(QUERIES)] if words[1:] else []
