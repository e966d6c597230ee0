"""Divides a graph into strongly connected parts, and into the bow-tie around the largest of them.

Pure. Parts and reachability come from scipy's compiled code, in time linear in the links however deep a graph is.
IN leads to the core, and the core leads to OUT. Tubes lead from IN to OUT past it, tendrils hang on IN or OUT, and the
rest is not connected with any of these. Source: Broder et al. 2000, section 3.2.
"""

import msgspec
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from node.extras.web_report.web_graph import Counts, Flags, Ids, WebGraph, starts_of

LARGEST = 10  # parts whose sizes are told


class Parts(msgspec.Struct, frozen=True):
    """How many pages are in which part of the bow-tie, how many strongly connected parts there are, of which sizes."""

    core: int
    to_core: int  # IN
    from_core: int  # OUT
    tubes: int
    tendrils: int
    apart: int
    strong_parts: int
    largest: tuple[int, ...]  # of strongly connected parts
    weak_parts: int
    largest_weak: int


def parts_of(graph: WebGraph) -> Parts:
    """Return the parts of the links between stored pages. Of parts that are equally large the core is that
    of the first page; where no two pages reach each other it is that page."""
    inner = graph.between_pages()
    if not inner.pages:
        return Parts(0, 0, 0, 0, 0, 0, 0, (), 0, 0)
    forth = _matrix(inner.starts, inner.targets)
    back = _matrix(*inner.reversed())
    count, part = connected_components(forth, directed=True, connection="strong")
    sizes = np.bincount(part, minlength=count)
    core = part == part[sizes[part].argmax()]
    weak_count, weak = connected_components(forth, directed=True, connection="weak")
    onward, backward = _reached(forth, core), _reached(back, core)
    from_core, to_core = onward & ~core, backward & ~core
    rest = (weak == weak[core.argmax()]) & ~(onward | backward)
    tubes = rest & _reached(forth, to_core) & _reached(back, from_core)
    around = sum(map(_count, (core, from_core, to_core, rest)))
    return Parts(
        core=_count(core),
        to_core=_count(to_core),
        from_core=_count(from_core),
        tubes=_count(tubes),
        tendrils=_count(rest & ~tubes),
        apart=inner.pages - around,
        strong_parts=int(count),
        largest=tuple(np.sort(sizes)[::-1][:LARGEST].tolist()),
        weak_parts=int(weak_count),
        largest_weak=int(np.bincount(weak).max()),
    )


def _matrix(starts: Counts, targets: Ids) -> csr_array:
    size = len(starts) - 1
    return csr_array((np.ones(len(targets)), targets, starts.astype(np.int32)), shape=(size, size))


def _reached(links: csr_array, begins: Flags) -> Flags:
    """Return the pages that some pages reach, themselves included, by way of one more page that links to them all."""
    size, first = links.shape[0], np.flatnonzero(begins).astype(np.int32)
    counts = np.append(np.diff(links.indptr), len(first))
    more = csr_array(
        (np.ones(len(links.indices) + len(first)), np.append(links.indices, first), starts_of(counts).astype(np.int32)),
        shape=(size + 1, size + 1),
    )
    reached = np.zeros(size + 1, dtype=np.bool_)
    reached[breadth_first_order(more, size, directed=True, return_predecessors=False)] = True
    return reached[:size]


def _count(flags: Flags) -> int:
    return int(np.count_nonzero(flags))
