"""The link graph of a slot, or of a whole collection, as arrays that a solver reads from begin to end.

Pure: numbers of pages in, arrays out. Pages are those that links come from (live documents) and those that links lead
to; others may be named as known, and count only while another slot links to them. Redirects and aliases are followed to
their end and are no pages; a link that leads round in a circle does not count. Nor does one of a page to itself, and
several to one target count once. Documents hold no link that its author does not vouch for (`rel=nofollow`), so none is
here. Memory is some 70 bytes a link while a graph is built, 6 after.
"""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.rank.page_number import NAME_BITS, Numbers, names_of, slots_of

MOST_LINKS = 20_000_000  # 1.4 GB while they are built; a node of 10⁶ pages has 10⁷
MOST_HOPS = 10  # of redirects, one behind the other: the crawl follows no more
Rows = NDArray[np.int32]
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Border:
    """The links that leave a slot, by target: `sources[starts[n]:starts[n + 1]]` are the rows that link to
    `targets[n]`; targets stand by slot, and in a slot by name."""

    targets: Numbers
    slots: Places
    starts: Places
    sources: Rows


@dataclass(frozen=True, slots=True, eq=False)
class LinkGraph:
    """Pages by row: what has links from inside and gives some, then what gives none, then the others; each with most
    links from inside first, since a sweep then reads hubs before what hangs on them."""

    numbers: Numbers
    is_own: NDArray[np.bool_]  # documents and what they link to; the others are known, and may be linked from elsewhere
    is_alias: NDArray[np.bool_]  # known, and no page whoever links to it
    is_linking: NDArray[np.bool_]  # what has a link, here or to elsewhere
    degrees: NDArray[np.int32]  # distinct targets, wherever they lie
    starts: Places  # `sources[starts[n]:starts[n + 1]]` link to row n, for the first rows; the others have no such link
    sources: Rows
    border: Border
    left_out: int  # links beyond the bound, which were not read


def build_graph(
    links: Iterable[tuple[int, Sequence[int]]],
    *,
    known: Iterable[int] = (),
    aliases: Mapping[int, int] | None = None,
    slot: int = 0,
    slot_bits: int = 0,
    most_links: int = MOST_LINKS,
) -> LinkGraph:
    """Build the graph of a slot from the links of its documents: (number, numbers of targets), also of those without.

    `slot_bits` 0: all pages lie in one slot. `aliases`: where pages lead that redirect, or are others by another name;
    they give no links. No link beyond `most_links` is read, and their count is told."""
    aliases = aliases or {}
    documents, sources, targets, left_out = _read(links, aliases, most_links)
    sources, targets = _distinct(*_led(sources, targets, aliases))
    inside = slots_of(targets, slot_bits) == slot
    own = np.unique(np.concatenate((documents, targets[inside])))
    more = np.fromiter(known, np.uint64)
    numbers = np.union1d(own, more[slots_of(more, slot_bits) == slot])
    rows = np.searchsorted(numbers, sources)
    counts = np.bincount(np.searchsorted(numbers, targets[inside]), minlength=len(numbers))
    gives = np.bincount(rows, minlength=len(numbers)) > 0
    order = np.lexsort((-counts, ~gives, counts == 0))
    row_of = np.empty(len(order), np.int64)
    row_of[order] = np.arange(len(order))
    degrees = np.bincount(row_of[rows], minlength=len(order)).astype(np.int32)
    linked = counts[order]
    return LinkGraph(
        numbers=numbers[order],
        is_own=np.isin(numbers, own)[order],
        is_alias=np.isin(numbers, _sorted(aliases))[order],
        is_linking=degrees > 0,
        degrees=degrees,
        starts=np.concatenate(([0], np.cumsum(linked[linked > 0]))),
        sources=_by_target(row_of[rows[inside]], row_of[np.searchsorted(numbers, targets[inside])], len(order)),
        border=_border(row_of[rows[~inside]], targets[~inside], slot_bits),
        left_out=left_out,
    )


def end_of(page: int, aliases: Mapping[int, int]) -> int | None:
    """Return where a page leads in the end; None where that is nowhere: round in a circle, or too far."""
    for _ in range(MOST_HOPS + 1):
        if page not in aliases:
            return page
        page = aliases[page]
    return None


def _read(
    links: Iterable[tuple[int, Sequence[int]]], aliases: Mapping[int, int], most: int
) -> tuple[Numbers, Numbers, Numbers, int]:
    """The documents, and source and target of each of their links."""
    documents, degrees, targets, left_out = array("Q"), array("Q"), array("Q"), 0
    for page, found in links:
        if page in aliases:
            continue
        taken = found[: max(most - len(targets), 0)]
        left_out += len(found) - len(taken)
        documents.append(page)
        degrees.append(len(taken))
        targets.extend(taken)
    pages = np.frombuffer(documents, np.uint64) if documents else np.empty(0, np.uint64)
    sources = np.repeat(pages, np.frombuffer(degrees, np.uint64).astype(np.int64)) if documents else pages
    return pages, sources, np.frombuffer(targets, np.uint64) if targets else np.empty(0, np.uint64), left_out


def _led(sources: Numbers, targets: Numbers, aliases: Mapping[int, int]) -> tuple[Numbers, Numbers]:
    """Links as they lead in the end."""
    leading = np.flatnonzero(np.isin(targets, _sorted(aliases)))
    if not len(leading):
        return sources, targets
    names, places = np.unique(targets[leading], return_inverse=True)
    ends = [end_of(name, aliases) for name in names.tolist()]
    leads_nowhere = np.array([end is None for end in ends])
    led = targets.copy()
    led[leading] = np.array([end or 0 for end in ends], np.uint64)[places]
    counts = np.ones(len(targets), np.bool_)
    counts[leading] = ~leads_nowhere[places]
    return sources[counts], led[counts]


def _sorted(aliases: Mapping[int, int]) -> Numbers:
    return np.sort(np.fromiter(aliases, np.uint64, len(aliases)))


def _distinct(sources: Numbers, targets: Numbers) -> tuple[Numbers, Numbers]:
    """Each link once, none to its own page, by target and source."""
    other = sources != targets
    sources, targets = sources[other], targets[other]
    order = np.lexsort((sources, targets))
    sources, targets = sources[order], targets[order]
    new = np.ones(len(sources), np.bool_)
    new[1:] = (np.diff(sources) != 0) | (np.diff(targets) != 0)
    return sources[new], targets[new]


def _by_target(sources: Places, targets: Places, count: int) -> Rows:
    """The sources of links by the row of their target, then by their own."""
    order = np.argsort(targets * count + sources)
    return sources[order].astype(np.int32)


def _border(sources: Places, targets: Numbers, slot_bits: int) -> Border:
    places = slots_of(targets, slot_bits).astype(np.uint64) << np.uint64(NAME_BITS) | names_of(targets)
    order = np.argsort(places, kind="stable")
    _, starts = np.unique(places[order], return_index=True)
    found = targets[order][starts]
    return Border(found, slots_of(found, slot_bits), np.append(starts, len(targets)), sources[order].astype(np.int32))
