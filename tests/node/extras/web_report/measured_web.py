"""A process of its own that makes a web of so many links and measures it: prints seconds of processor time, and
megabytes at most. A third of its links go to few pages, a third stay in their site."""

import json
import resource
import sys
import time
from array import array

import numpy as np

from node.extras.web_report.link_table import LinkTable
from node.extras.web_report.page_life import page_life
from node.extras.web_report.page_rank import OneSweeper, in_links, rank
from node.extras.web_report.report import ReportCoverage, measure, report_of

OUT, PAGES_A_SITE, STORED = 20, 50, 0.5


def made(links: int) -> LinkTable:
    """A table of pages whose links go to pages of their site, to well-known pages, and to any, a third each."""
    rng, pages = np.random.default_rng(1), links // OUT
    urls = int(pages / STORED)
    names = rng.integers(0, 1 << 64, urls, dtype=np.uint64)
    sites = rng.integers(0, 1 << 64, urls // PAGES_A_SITE + 1, dtype=np.uint64)
    near = np.repeat(np.arange(pages), OUT) // PAGES_A_SITE * PAGES_A_SITE
    targets = np.minimum(near + rng.integers(0, PAGES_A_SITE, links), urls - 1)
    kind = rng.integers(0, 3, links)
    known = (urls * rng.random(links) ** 6).astype(np.int64)
    targets = np.where(kind == 1, known, np.where(kind == 2, rng.integers(0, urls, links), targets))
    table = LinkTable(links)
    fill(table._names, names[:pages])
    fill(table._sites, sites[np.arange(pages) // PAGES_A_SITE])
    fill(table._counts, np.full(pages, OUT, dtype=np.uint64))
    fill(table._sizes, rng.integers(0, 30_000, pages, dtype=np.uint64))
    fill(table._languages, np.zeros(pages, dtype=np.uint64))
    table._codes["en"] = 0
    fill(table._targets, names[targets])
    fill(table._target_sites, sites[targets // PAGES_A_SITE])
    fill(table._site_names, sites)
    fill(table._domains, sites)
    for groups in (table._top_levels, table._networks):
        groups._of_origins.extend([-1] * len(sites))
    return table


def fill(values: "array[int]", numbers: "np.ndarray[tuple[int], np.dtype[np.uint64]]") -> None:
    """Put numbers into an array as a page after the other would."""
    values.frombytes(numbers.astype(np.uint64).tobytes())


if __name__ == "__main__":
    table = made(int(sys.argv[1]))
    began = time.process_time()
    web = table.table()
    links = in_links(web.graph)
    measured = measure(web, rank(links, OneSweeper(links)), 1)
    report = report_of(measured, measured.wanted(), ReportCoverage(), 1, page_life(()))
    seconds = time.process_time() - began
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print(json.dumps({"seconds": seconds, "megabytes": megabytes, "links": report.links, "pages": report.pages}))
