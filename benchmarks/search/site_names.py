"""Types a site's name, and the domain as it is, and looks where its front page stands."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence

from benchmarks.figures import Row
from benchmarks.search.extent import Extent
from benchmarks.search.figure import figure, left_out
from benchmarks.search.goals import DOMAINS_FIRST, SITE_NAMES_FIRST, SITE_NAMES_MRR
from benchmarks.search.measures import reciprocal_rank
from benchmarks.search.one_node import one_node
from benchmarks.search.web_pages import WebPage, read_web

SILENT = frozenset(("www", "web", "m", "test", "com", "org", "net", "io", "co"))  # labels that name no site
MOST_ALIKE = 2  # fronts of one name; more are translations of each other, of which nobody can say which is meant


def rows(extent: Extent) -> list[Row]:
    """Return the rows of site names."""
    if extent.web is None:
        return [left_out("front page for a site's name", "needs --web DIR")]
    pages = read_web(extent.web)
    names = site_names(pages)
    asked = sorted(names)[: extent.most(len(names))]
    domains = [(typed, frozenset([place])) for place, page in enumerate(pages) for typed in _typed(page)]
    asked_domains = domains[: extent.most(len(domains))]
    queries = [*((name, names[name]) for name in asked), *asked_domains]
    ranks = asyncio.run(_ranks(pages, queries, extent.engine))
    found, of_domains = ranks[: len(asked)], [float(rank == 1) for rank in ranks[len(asked) :]]
    first = [float(rank == 1) for rank in found]
    return [
        figure(f"front page for a site's name ({len(asked)})", found, "MRR", goal=SITE_NAMES_MRR),
        figure("front page first for a site's name", first, goal=SITE_NAMES_FIRST),
        figure(f"front page first for a typed domain ({len(of_domains)})", of_domains, goal=DOMAINS_FIRST),
    ]


def _typed(page: WebPage) -> tuple[str, ...]:
    """Return how people type the domain of a front page."""
    return (page.host, f"www.{page.host.removeprefix('www.')}", f"https://{page.host}/") if page.is_front else ()


def site_names(pages: Sequence[WebPage]) -> dict[str, frozenset[int]]:
    """Return the places of the front pages that each name means: "python" and "python docs" for docs.python.test."""
    found: dict[str, set[int]] = defaultdict(set)
    for place, page in enumerate(pages):
        labels = [label for label in page.host.split(".") if label not in SILENT]
        if page.is_front and labels:
            found[_spoken(labels[-1:])].add(place)
            found[_spoken(reversed(labels))].add(place)
    return {name: frozenset(places) for name, places in found.items() if len(places) <= MOST_ALIKE}


def _spoken(labels: Iterable[str]) -> str:
    return " ".join(labels).replace("-", " ")


async def _ranks(pages: Sequence[WebPage], asked: Sequence[tuple[str, frozenset[int]]], engine: str) -> list[float]:
    async with one_node([page.text for page in pages], engine) as node:
        return [reciprocal_rank(await node.places(words), targets) for words, targets in asked]
