"""Says which sites of a list are known, and how many pages of each are stored.

Pure. A list has a host or a URL in each line; a line that begins with # is a note.
"""

from collections.abc import Sequence

import msgspec
import numpy as np

from crawl import BadUrl, canonical_url
from dht import site_of
from node.extras.web_report.link_table import name_of_url
from node.extras.web_report.sites import SiteCounts
from node.extras.web_report.web_graph import WebGraph

MAX_LISTED = 100_000  # sites: some 20 MB of JSON


class ListedSite(msgspec.Struct, frozen=True):
    """One site of the list; `is_known`: some page of it is stored or linked to."""

    site: str
    is_known: bool
    pages: int


class ListCoverage(msgspec.Struct, frozen=True):
    """How many sites of a list are known, how many have stored pages, and how many pages these have."""

    listed: int
    known: int
    fetched: int
    pages: int
    sites: tuple[ListedSite, ...]  # in the order of the list


def read_list(text: str) -> list[str]:
    """Return the sites of a list, each once; raises ValueError for a line that names none, and for too many."""
    found = dict[str, None]()
    for number, line in enumerate(text.splitlines(), 1):
        if not (word := line.strip()) or word.startswith("#"):
            continue
        try:
            found[site_of(canonical_url(word if "://" in word else f"http://{word}/"))] = None
        except (BadUrl, ValueError):
            raise ValueError(f"line {number} names no site: {word[:80]!r}") from None
        if len(found) > MAX_LISTED:
            raise ValueError(f"more than {MAX_LISTED:,} sites")
    return list(found)


def list_coverage(listed: Sequence[str], graph: WebGraph, counts: SiteCounts) -> ListCoverage:
    """Return how well a graph covers a list of sites."""
    names = np.array([name_of_url(site) for site in listed], dtype=np.uint64)
    at = np.searchsorted(graph.site_names, names)
    at = np.minimum(at, max(0, len(graph.site_names) - 1))
    is_known = graph.site_names[at] == names if len(graph.site_names) else np.zeros(len(names), dtype=np.bool_)
    pages = counts.pages[at] * is_known if len(graph.site_names) else np.zeros(len(names), dtype=np.int64)
    rows = zip(listed, is_known.tolist(), pages.tolist(), strict=True)
    return ListCoverage(
        len(listed),
        int(np.count_nonzero(is_known)),
        int(np.count_nonzero(pages)),
        int(pages.sum()),
        tuple(ListedSite(*row) for row in rows),
    )
