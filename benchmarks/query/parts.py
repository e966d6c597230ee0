"""Runs the parts of the benchmark."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from multiprocessing import get_context

from benchmarks import web
from benchmarks.figures import Row
from benchmarks.query import nodes, one_index
from benchmarks.search.extent import Extent

PARTS: Mapping[str, Callable[[Extent], list[Row]]] = {
    "nodes": nodes.rows,
    "node": one_index.rows,
    "page": lambda extent: web.page_rows(extent.quick),
    "start": lambda extent: web.first_page_rows(extent.quick),
}


def measured(parts: Sequence[str], extent: Extent) -> list[Row]:
    """Return the rows of parts. In a small run the others are measured while the network of five gets ready."""
    if not extent.quick or "nodes" not in parts:
        return [each for name in parts for each in part(name, extent)]
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        others = [pool.submit(part, name, extent) for name in parts if name != "nodes"]
        found = nodes.rows(extent, ready=lambda: wait(others))
        return found + [each for other in others for each in other.result()]


def part(name: str, extent: Extent) -> list[Row]:
    """Return the rows of one part."""
    return PARTS[name](extent)
