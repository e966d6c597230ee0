"""Measures indexing and PageRank by 1, 2, 3 and 4 workers, as the engine of 2018 did on Redis.

A worker is a process that has a share of the pages to index, or a block of the pages to rank. Where the system can cap
processes, each gets the same share of a core, as in `crawlers.py`. Indexing is of as many pages as in 2018: those of
the bundled sample under several names become terms, forward records and postings. Ranks are of as many pages of a
made-up web as the source had sites, computed as by `web-report --processes N`. The source's graph is not known.
"""

import tempfile
import time
from collections.abc import Sequence
from contextlib import nullcontext
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from benchmarks.crawl.cap import can_cap, capped
from benchmarks.figures import Row, row
from benchmarks.pagerank.by_processes import Computed, compute
from benchmarks.pagerank.made_up_web import MadeUpWeb, make_up
from benchmarks.search.web_pages import WebPage, read_page, read_web
from benchmarks.sources.crawlers import SHARE
from benchmarks.sources.indexing import documents
from benchmarks.sources.published import INDEXED_2018, PAGES_2018, RANKED_2018, SITES_2018, beside
from index import DocumentChange, IndexConfig, Text
from index.engine.index_files import IndexFiles
from node.extras.demo.sample_web import unpack_sample
from node.extras.web_report.page_rank import in_links

WORKERS = (1, 2, 3, 4)
ROUNDS = 3
QUICK_PAGES, QUICK_RANKED = 120, 3_000
PAGES_A_SITE, LINKS_A_PAGE = 28, 10  # as in benchmarks/pagerank: 10⁶ pages, 10⁷ links
ENOUGH_MB = 1_000.0
SEED = 1


def rows(quick: bool) -> list[Row]:
    """Return the rows of indexing, then those of ranks."""
    with tempfile.TemporaryDirectory() as name:
        unpack_sample(Path(name))
        pages = read_web(Path(name))
    share, rounds = SHARE if can_cap() else None, 1 if quick else ROUNDS
    ranked = QUICK_RANKED if quick else SITES_2018
    web = make_up(SEED, ranked // PAGES_A_SITE, ranked, LINKS_A_PAGE * ranked)
    found = index_rows(texts_of(pages, QUICK_PAGES if quick else PAGES_2018), WORKERS, rounds, share)
    return found + rank_rows(web, WORKERS, rounds, share)


def texts_of(pages: Sequence[WebPage], most: int) -> list[Text]:
    """Return the texts of so many pages, hosts under further names where there are fewer."""
    return [read_page(url, html).text for url, html in islice(documents(pages, ENOUGH_MB), most)]


def index_rows(texts: Sequence[Text], workers: Sequence[int], rounds: int, share: float | None) -> list[Row]:
    """Return the rows of indexing these texts by so many processes, by turns."""
    found = [(n, *_indexed(texts, n, share)) for _ in range(rounds) for n in workers]
    rates = {n: [len(texts) / wall_s for of, wall_s, _ in found if of == n] for n in workers}
    cpu_ms = {n: [cpu_s * 1e3 / len(texts) for of, _, cpu_s in found if of == n] for n in workers}
    about = f"{len(texts)} pages, {_where(share)}"
    return [
        *beside(f"pages indexed, wall ({about})", rates, INDEXED_2018),
        *(row(f"CPU of a page indexed, by {n} ({about})", cpu_ms[n], "ms") for n in workers),
    ]


def rank_rows(web: MadeUpWeb, workers: Sequence[int], rounds: int, share: float | None) -> list[Row]:
    """Return the rows of ranking these pages by so many processes, by turns."""
    found, links = dict[int, list[Computed]](), in_links(web.graph())
    for _ in range(rounds):
        for n in workers:
            found.setdefault(n, []).append(compute(links, n, share))
    about = f"{len(web.site):,} pages, {len(web.targets):,} links, {_where(share)}"
    return [
        *beside(f"PageRank, wall ({about})", {n: [e.wall_s for e in runs] for n, runs in found.items()}, RANKED_2018),
        *(row(f"CPU of PageRank, by {n}", [each.cpu_s for each in found[n]], "s") for n in workers),
        *(row(f"sweeps until proved to a millionth, by {n}", [e.ranks.sweeps for e in found[n]], "") for n in workers),
    ]


def _where(share: float | None) -> str:
    return f"each {share:g} of a core" if share else "not capped"


def _indexed(texts: Sequence[Text], workers: int, share: float | None) -> tuple[float, float]:
    """Index each a share of some texts in so many processes; return the wall of all and the CPU seconds of each added
    up."""
    spawned = get_context("spawn")
    lines, started = list[Connection](), []
    try:
        for n in range(workers):
            here, there = spawned.Pipe()
            child = spawned.Process(target=_index, args=(there,), daemon=True)
            child.start()
            lines.append(here)
            started.append(child)
            here.send(texts[n::workers])
        assert all(line.recv() == "ready" for line in lines)
        with capped([child.pid or 0 for child in started], share) if share else nullcontext():
            began = time.perf_counter()
            for line in lines:
                line.send("go")
            cpu_s = [float(line.recv()) for line in lines]
            wall_s = time.perf_counter() - began
        for line in lines:
            line.send("done")
    finally:
        for child in started:
            child.join(30)
    return wall_s, sum(cpu_s)


def _index(line: Connection) -> None:
    """Index a share of the texts, in a process of its own; it stays until told, so that its cap can be lifted."""
    texts: Sequence[Text] = line.recv()
    with tempfile.TemporaryDirectory() as folder:
        files = IndexFiles(IndexConfig(), Path(folder))
        line.send("ready")
        line.recv()
        began = time.process_time()
        files.apply([DocumentChange(text.id, text) for text in texts], b"1")
        line.send(time.process_time() - began)
        line.recv()
        files.close()
