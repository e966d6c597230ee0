"""Writes the ranks of all URLs, and of all sites, as CSV, and as Parquet too where pyarrow is installed.

The graph knows names by hashes alone, so the pages are read once more, and each URL is written when it first occurs.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from io import TextIOWrapper
from pathlib import Path
from typing import BinaryIO

import numpy as np

from node.captures.capture import Capture, one_line
from node.cli.commands.output import write_whole
from node.extras.web_report.link_table import is_url, name_of_url, site_name
from node.extras.web_report.report import LONGEST_NAME, Measured

PAGE_COLUMNS = {"url": "string", "rank": "float64", "stored": "bool", "links": "int64", "votes": "int64"}
SITE_COLUMNS = {"site": "string", "rank": "float64", "pages": "int64", "linked_by": "int64"}
SUFFIXES = (".pages", ".sites")  # between the name of a report and the ending
Row = Sequence[object]


def write_rank_files(out: Path, measured: Measured, captures: Iterable[Capture]) -> list[Path]:
    """Write the files beside a report, and return their paths. Sites stand in the order of their ranks, URLs in that of
    the reading."""
    sites = dict[int, str]()
    files = [out.with_suffix(f"{suffix}.csv") for suffix in SUFFIXES]
    _write(files[0], PAGE_COLUMNS, _page_rows(measured, captures, sites))
    _write(files[1], SITE_COLUMNS, _site_rows(measured, sites))
    if find_spec("pyarrow") is None:
        return files
    return [*files, *(_as_parquet(*each) for each in zip(files, (PAGE_COLUMNS, SITE_COLUMNS), strict=True))]


def _page_rows(measured: Measured, captures: Iterable[Capture], sites: dict[int, str]) -> Iterator[Row]:
    """Yield a row for each URL, and note the names of all sites by their numbers."""
    graph, ranks, votes = measured.table.graph, measured.page_ranks.ranks, measured.votes
    links = np.bincount(graph.targets, minlength=graph.nodes)
    order = np.argsort(graph.names)
    is_left = np.ones(graph.nodes, dtype=np.bool_)
    for page in captures:
        urls = [page.url, *filter(is_url, page.links)]
        names = np.array(list(map(name_of_url, urls)), dtype=np.uint64)
        at = np.searchsorted(graph.names, names, sorter=order)
        nodes = order[np.minimum(at, graph.nodes - 1)]
        for number in np.flatnonzero((graph.names[nodes] == names) & is_left[nodes]).tolist():
            node, url = int(nodes[number]), urls[number]
            if not is_left[node]:  # the page links to it twice
                continue
            is_left[node] = False
            sites.setdefault(int(graph.sites[node]), site_name(url))
            shown = one_line(url)[:LONGEST_NAME]
            yield shown, f"{ranks[node]:.9g}", f"{node < graph.pages}".lower(), int(links[node]), int(votes[node])


def _site_rows(measured: Measured, sites: dict[int, str]) -> Iterator[Row]:
    ranks, counts = measured.site_ranks.ranks, measured.sites
    for site in sorted(sites, key=lambda number: (-ranks[number], sites[number])):
        yield one_line(sites[site]), f"{ranks[site]:.9g}", int(counts.pages[site]), int(counts.linked_by[site])


def _write(path: Path, columns: Iterable[str], rows: Iterable[Row]) -> None:
    def write(file: BinaryIO) -> None:
        text = TextIOWrapper(file, encoding="utf-8", errors="replace", newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
        text.detach()

    write_whole(path, write)


def _as_parquet(path: Path, columns: dict[str, str]) -> Path:
    """Write a CSV file once more as Parquet, a part at a time."""
    import pyarrow
    from pyarrow import csv as arrow_csv
    from pyarrow.parquet import ParquetWriter

    types = {name: pyarrow.type_for_alias(kind) for name, kind in columns.items()}
    options = arrow_csv.ConvertOptions(column_types=types)

    def write(file: BinaryIO) -> None:
        with (
            arrow_csv.open_csv(path, convert_options=options) as batches,
            ParquetWriter(file, batches.schema, compression="zstd") as writer,
        ):
            for batch in batches:
                writer.write_batch(batch)

    out = path.with_suffix(".parquet")
    write_whole(out, write)
    return out
