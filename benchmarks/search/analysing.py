"""Measures the cost of indexing a page: processor time, round by round."""

import time
from collections.abc import Sequence
from statistics import median

from benchmarks.figures import Row, row
from benchmarks.search.extent import Extent
from benchmarks.search.figure import left_out
from benchmarks.search.web_pages import read_web
from index import DocumentChange, IndexConfig, Text
from index.engine.index_files import IndexFiles
from index.text.analyzer import forget

ROUNDS = 5
QUICK_PAGES = 200


def rows(extent: Extent) -> list[Row]:
    """Return the rows of indexing real pages."""
    if extent.web is None:
        return [left_out("indexing a page", "needs --web DIR")]
    texts = [page.text for page in read_web(extent.web)]
    texts = texts[:: max(len(texts) // QUICK_PAGES, 1)] if extent.quick else texts
    rounds = [page_ms(texts, extent.engine) for _ in range(ROUNDS)]
    return [row("indexing a page, CPU, the engine's thread included", [median(rounds)], "ms")]


def page_ms(texts: Sequence[Text], engine: str) -> float:
    """Return the milliseconds of processor time that each of these pages takes until it can be found, where no word is
    remembered at first."""
    forget()
    files = IndexFiles(IndexConfig(engine=engine), None)
    began = time.process_time()
    files.apply([DocumentChange(text.id, text) for text in texts], b"1")
    took_s = time.process_time() - began
    files.close()
    return took_s * 1000 / len(texts)
