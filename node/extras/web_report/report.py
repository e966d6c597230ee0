"""The report: all that is measured of a graph, with names; what the page shows, and, as it stands, what the JSON says.

Pure, by a seed: the same pages give the same report.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import msgspec
import numpy as np
from numpy.typing import NDArray

from node.extras.web_report.cores import Cores, cores_of
from node.extras.web_report.degrees import Distribution, distribution_of
from node.extras.web_report.distances import Distances, distances_of
from node.extras.web_report.hubs import Ranked, hubs_and_authorities
from node.extras.web_report.link_table import FoundNames, WebTable
from node.extras.web_report.page_life import PageLife
from node.extras.web_report.page_rank import Ranks
from node.extras.web_report.parts import Parts, parts_of
from node.extras.web_report.site_list import ListCoverage, list_coverage
from node.extras.web_report.site_rank import rank_sites
from node.extras.web_report.sites import PageRow, SiteCounts, sites_of, top_pages, votes_of
from node.extras.web_report.spread import Spread, spread_of

SHOWN_RANKED, SHOWN_CORES, SHOWN_OF_A_CORE, SHOWN_SIZES = 20, 20, 8, 12
LONGEST_NAME = 2048  # characters: no canonical URL is longer


class ReportCoverage(msgspec.Struct, frozen=True):
    """Says what was read, and what was not: `left_out` by reason, `unread` by slot."""

    made_at: float = 0.0  # Unix seconds
    node: str = ""  # the address of the node that was asked
    left_out: dict[str, int] = {}
    unread: dict[str, str] = {}


class TextSizes(msgspec.Struct, frozen=True):
    """Bytes of pages' main text; `sizes`: pages below each power of two that are not below the one before."""

    total: int
    mean: float
    median: float
    largest: int
    sizes: tuple[tuple[int, int], ...]


class NamedScore(msgspec.Struct, frozen=True):
    """One hub or authority."""

    url: str
    score: float


class NamedPage(msgspec.Struct, frozen=True):
    """One URL, with how many sites and pages link to it, and whether it is stored."""

    url: str
    by_sites: int
    by_pages: int
    is_stored: bool


class VotedPage(msgspec.Struct, frozen=True):
    """One URL with its votes: links without navigation, at most ten of each site."""

    url: str
    votes: int
    by_pages: int
    is_stored: bool


class Spreads(msgspec.Struct, frozen=True):
    """How evenly stored pages are spread. `networks`: of sites alone whose host is an address."""

    top_levels: Spread
    domains: Spread
    sites: Spread
    networks: Spread


class NamedSite(msgspec.Struct, frozen=True):
    """One site, with its stored pages, the sites that link to it, and those that it links to."""

    site: str
    pages: int
    linked_by: int
    links_to: int


class RankedPage(msgspec.Struct, frozen=True):
    """One URL with its rank, and whether it is stored."""

    url: str
    rank: float
    is_stored: bool


class RankedSite(msgspec.Struct, frozen=True):
    """One site with its rank and its stored pages."""

    site: str
    rank: float
    pages: int


class PageRank(msgspec.Struct, frozen=True):
    """The best URLs and sites by PageRank. The ranks of all URLs add up to 1, and so do those of all sites.

    page_error, site_error: the ranks are together wrong by at most this.
    sweeps: over all links, for the ranks of URLs.
    """

    pages: tuple[RankedPage, ...]
    page_error: float
    sweeps: int
    sites: tuple[RankedSite, ...]
    site_error: float


class Community(msgspec.Struct, frozen=True):
    """One complete bipartite core: how large it is, and some of its pages."""

    fan_count: int
    centre_count: int
    fans: tuple[str, ...]
    centres: tuple[str, ...]


class Communities(msgspec.Struct, frozen=True):
    """The cores that were found among so many pages that could be in one; `sizes`: (fans, centres, cores)."""

    candidates: int
    candidate_centres: int
    found: int
    sizes: tuple[tuple[int, int, int], ...]
    largest: tuple[Community, ...]
    is_cut: bool


class WebReport(msgspec.Struct, frozen=True):
    """The shape of the web as one network keeps it."""

    coverage: ReportCoverage
    pages: int  # stored
    urls: int  # stored, or linked to
    links: int  # from a stored page to another URL, each once
    links_between_pages: int  # to a stored page
    links_between_sites: int
    cut_links: int  # beyond the bound: in no figure
    sites: int  # known
    sites_with_pages: int
    languages: tuple[tuple[str, int], ...]  # pages, the most first; "" unknown
    text: TextSizes
    links_out: Distribution  # of stored pages
    links_in: Distribution  # of known URLs
    site_pages: Distribution  # of sites with pages
    site_links_in: Distribution  # of known sites: the sites that link to each
    parts: Parts
    distances: Distances
    hubs: tuple[NamedScore, ...]
    authorities: tuple[NamedScore, ...]
    communities: Communities
    top_sites: tuple[NamedSite, ...]
    top_pages: tuple[NamedPage, ...]
    page_rank: PageRank
    votes: Distribution  # of known URLs
    most_voted: tuple[VotedPage, ...]
    spreads: Spreads
    life: PageLife
    listed: ListCoverage | None  # None: no list was given


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """Holds what was measured of a table, where URLs and sites are numbers yet."""

    table: WebTable
    sites: SiteCounts
    top_pages: Sequence[PageRow]
    parts: Parts
    distances: Distances
    hubs: Sequence[Ranked]
    authorities: Sequence[Ranked]
    cores: Cores
    page_ranks: Ranks
    site_ranks: Ranks
    votes: NDArray[np.int64]  # of each URL

    @property
    def most_voted(self) -> list[int]:
        """The URLs with most votes."""
        order = np.lexsort((np.arange(len(self.votes)), -self.votes))[:SHOWN_RANKED]
        return [node for node in order.tolist() if self.votes[node]]

    def wanted(self) -> FoundNames:
        """Return the names that the report shows, to be looked for."""
        graph, shown = self.table.graph, self.cores.found[:SHOWN_CORES]
        nodes = {each.node for each in (*self.hubs, *self.authorities)} | {row.node for row in self.top_pages}
        nodes |= {*self.page_ranks.best(SHOWN_RANKED), *self.most_voted}
        nodes |= {n for core in shown for n in (*core.fans[:SHOWN_OF_A_CORE], *core.centres[:SHOWN_OF_A_CORE])}
        sites = {*self.sites.top(), *self.site_ranks.best(SHOWN_RANKED)}
        site_names = {int(graph.site_names[site]) for site in sites}
        return FoundNames({int(graph.names[node]): "" for node in nodes}, dict.fromkeys(site_names, ""))


def measure(table: WebTable, page_ranks: Ranks, seed: int) -> Measured:
    """Measure a graph, of which the ranks of all nodes are computed; chance is that of the seed alone."""
    graph, sites = table.graph, sites_of(table.graph)
    hubs, authorities = hubs_and_authorities(graph)
    return Measured(
        table=table,
        sites=sites,
        top_pages=top_pages(graph),
        parts=parts_of(graph),
        distances=distances_of(graph, Random(seed)),
        hubs=hubs,
        authorities=authorities,
        cores=cores_of(graph),
        page_ranks=page_ranks,
        site_ranks=rank_sites(graph, table.domains),
        votes=votes_of(graph),
    )


def report_of(
    measured: Measured,
    names: FoundNames,
    coverage: ReportCoverage,
    seed: int,
    life: PageLife,
    listed: Sequence[str] | None = None,
) -> WebReport:
    """Return the report of what was measured, with the names that were found; fits the laws of degrees. `listed`: sites
    of which the report says how well they are covered; None: it says nothing of that."""
    table, graph, rng = measured.table, measured.table.graph, Random(seed)
    counts = measured.sites
    with_pages = counts.pages[counts.pages > 0]
    linked = np.bincount(graph.targets, minlength=graph.nodes)

    def url(node: int) -> str:
        return names.urls[int(graph.names[node])][:LONGEST_NAME]

    def site(number: int) -> str:
        return names.sites[int(graph.site_names[number])]

    return WebReport(
        coverage=coverage,
        pages=graph.pages,
        urls=graph.nodes,
        links=len(graph.targets),
        links_between_pages=int(np.count_nonzero(graph.targets < graph.pages)),
        links_between_sites=int(np.count_nonzero(graph.sites[graph.sources] != graph.sites[graph.targets])),
        cut_links=table.cut_links,
        sites=len(graph.site_names),
        sites_with_pages=len(with_pages),
        languages=tuple(sorted(table.languages.items(), key=lambda each: (-each[1], each[0]))),
        text=_text_sizes(table.text_bytes),
        links_out=distribution_of(np.diff(graph.starts), rng),
        links_in=distribution_of(linked, rng),
        site_pages=distribution_of(with_pages, rng),
        site_links_in=distribution_of(counts.linked_by, rng),
        parts=measured.parts,
        distances=measured.distances,
        hubs=tuple(NamedScore(url(each.node), each.score) for each in measured.hubs),
        authorities=tuple(NamedScore(url(each.node), each.score) for each in measured.authorities),
        communities=_communities(measured.cores, url),
        top_sites=tuple(
            NamedSite(site(n), int(counts.pages[n]), int(counts.linked_by[n]), int(counts.links_to[n]))
            for n in counts.top()
        ),
        top_pages=tuple(
            NamedPage(url(row.node), row.by_sites, row.by_pages, row.node < graph.pages) for row in measured.top_pages
        ),
        page_rank=_page_rank(measured, url, site),
        votes=distribution_of(measured.votes, rng),
        most_voted=tuple(
            VotedPage(url(n), int(measured.votes[n]), int(linked[n]), n < graph.pages) for n in measured.most_voted
        ),
        spreads=_spreads(table, counts),
        life=life,
        listed=None if listed is None else list_coverage(listed, graph, counts),
    )


def _spreads(table: WebTable, counts: SiteCounts) -> Spreads:
    top_levels, networks = table.top_levels, table.networks
    return Spreads(
        top_levels=spread_of(top_levels.of_site, counts.pages, top_levels.names),
        domains=spread_of(table.domains, counts.pages, ()),
        sites=spread_of(np.arange(len(counts.pages)), counts.pages, ()),
        networks=spread_of(networks.of_site, counts.pages, networks.names),
    )


def _page_rank(measured: Measured, url: Callable[[int], str], site: Callable[[int], str]) -> PageRank:
    pages, sites, stored = measured.page_ranks, measured.site_ranks, measured.table.graph.pages
    return PageRank(
        pages=tuple(RankedPage(url(n), float(pages.ranks[n]), n < stored) for n in pages.best(SHOWN_RANKED)),
        page_error=pages.error,
        sweeps=pages.sweeps,
        sites=tuple(
            RankedSite(site(n), float(sites.ranks[n]), int(measured.sites.pages[n])) for n in sites.best(SHOWN_RANKED)
        ),
        site_error=sites.error,
    )


def _communities(cores: Cores, url: Callable[[int], str]) -> Communities:
    sizes = Counter((len(core.fans), len(core.centres)) for core in cores.found)
    largest = tuple(
        Community(
            len(core.fans),
            len(core.centres),
            tuple(map(url, core.fans[:SHOWN_OF_A_CORE])),
            tuple(map(url, core.centres[:SHOWN_OF_A_CORE])),
        )
        for core in cores.found[:SHOWN_CORES]
    )
    common = sorted(sizes.items(), key=lambda each: (-each[1], each[0]))[:SHOWN_SIZES]
    told = tuple((fans, centres, count) for (fans, centres), count in common)
    return Communities(cores.fans, cores.centres, len(cores.found), told, largest, cores.is_cut)


def _text_sizes(sizes: NDArray[np.int64]) -> TextSizes:
    if not len(sizes):
        return TextSizes(0, 0.0, 0.0, 0, ())
    doubled = np.bincount(np.ceil(np.log2(sizes + 1.0)).astype(np.int64))  # below 1, 2, 4, 8 …
    steps = tuple((1 << at, count) for at, count in enumerate(doubled.tolist()) if count)
    return TextSizes(int(sizes.sum()), float(sizes.mean()), float(np.median(sizes)), int(sizes.max()), steps)
