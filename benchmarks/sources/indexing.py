"""Measures index time, hits and query time over 10 and 100 MB of documents, as the thesis of 2006 did (tables 21 … 24).

Documents are the pages of the bundled sample, as HTML, each host under as many names as the size takes. They are
parsed, analysed and indexed by one node, and asked as every query is: counting, scoring, checks, snippets. The values
of the thesis did not survive, so there are no figures beside ours. Pages that repeat under several names are like
mirrors: a query folds them.
"""

import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

from benchmarks.figures import Row, row
from benchmarks.query.timing import run_as_node, timed
from benchmarks.search.one_node import OneNode, one_node
from benchmarks.search.web_pages import WebPage, read_page, read_web
from index import Text
from node.extras.demo.sample_web import unpack_sample

SIZES_MB, QUICK_SIZES_MB = (10, 100), (1, 10)
ROUNDS = 3
ASKED = 30  # times each query is asked
WARM_UP = 3
QUERIES = (
    "database",  # a word of many pages
    "xBestIndex",  # of few
    "数据库",
    "text file connection",
    '"shared memory"',
    "apache AND proxy",
    "how do I sort a list in python",
)


def rows(quick: bool) -> list[Row]:
    """Return the rows of each size, by turns."""
    with tempfile.TemporaryDirectory() as name:
        unpack_sample(Path(name))
        pages = read_web(Path(name))
    return [
        each for mb in (QUICK_SIZES_MB if quick else SIZES_MB) for each in size_rows(pages, mb, 1 if quick else ROUNDS)
    ]


def size_rows(pages: Sequence[WebPage], mb: float, rounds: int, asked: int = ASKED) -> list[Row]:
    """Return the rows of so many MB of documents, each query asked so often in each round."""
    parsed_s, indexed_s, wall_s = list[float](), list[float](), list[float]()
    cpu_ms: dict[str, list[float]] = {words: [] for words in QUERIES}
    waited_ms: dict[str, list[float]] = {words: [] for words in QUERIES}
    hits, size_mb, texts = dict[str, int](), 0.0, list[Text]()

    async def measured(folder: Path) -> None:
        nonlocal size_mb
        began = time.process_time()
        async with one_node(texts, "tantivy", folder) as node:
            indexed_s.append(time.process_time() - began)
            wall_s.append(node.built_s)
            size_mb = _size_mb(folder)
            for words in QUERIES:
                hits[words] = await _hits(node, words)
                await timed(node, [words] * WARM_UP)
                found = await timed(node, [words] * asked)
                cpu_ms[words] += found.cpu_ms
                waited_ms[words] += found.wall_ms

    for _ in range(rounds):
        began = time.process_time()
        texts = [read_page(url, html).text for url, html in documents(pages, mb)]
        parsed_s.append(time.process_time() - began)
        with tempfile.TemporaryDirectory() as folder:
            run_as_node(measured(Path(folder)))
    about = f"{mb:g} MB, {len(texts):,} documents"
    return [
        row(f"parsing, CPU, {about}", parsed_s, "s"),
        row(f"index time, CPU, {about}", indexed_s, "s"),
        row(f"index time, wall, {about}", wall_s, "s"),
        row(f"size of the index, {about}", [size_mb], "MB"),
        *(row(f"hits of {words}, {mb:g} MB", [hits[words]], "pages") for words in QUERIES),
        *(row(f"query time of {words}, CPU, {mb:g} MB", cpu_ms[words], "ms") for words in QUERIES),
        *(row(f"query time of {words}, wall, {mb:g} MB", waited_ms[words], "ms") for words in QUERIES),
    ]


def documents(pages: Sequence[WebPage], mb: float) -> Iterator[tuple[str, bytes]]:
    """Yield addresses and HTML of pages, and of these under further names of their hosts, until so many MB are full."""
    left = int(mb * 1e6)
    for number in count():
        for page in pages:
            left -= len(page.html)
            if left < 0:
                return
            yield page.url.replace(".test/", f"{number or ''}.test/", 1), page.html


async def _hits(node: OneNode, words: str) -> int:
    return int((await node.ask(words))["total"])


def _size_mb(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6
