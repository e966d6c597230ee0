"""Gathers pages and their links in arrays, one page after the other, and makes the graph of them.

Pure. A link takes 16 bytes here, and some 60 for a moment when the graph is made; 10**7 of them stay below 2 GB with
all that is measured. The figures that strangers choose are bounded: links in all, names of languages.
"""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from crawl import domain_of
from dht import site_of, split_url
from node.captures.capture import Capture
from node.extras.web_report.spread import network_of, top_level_of
from node.extras.web_report.web_graph import Ids, Names, WebGraph, graph_of

MAX_LINKS = 10_000_000  # measured in 970 MB by `tests/node/extras/web_report/test_scale.py`
MAX_LANGUAGES = 256  # there are 184 codes of two letters
MAX_GROUPS = 10_000  # top-level domains, of which there are 1,400, and as many networks
MAX_ORIGINS = 1 << 14  # sites that are remembered, since most links of a page lead to few
OTHER = "other"


def name_of_url(url: str) -> int:
    """Return the 64 bits by which a graph knows a URL, or a site."""
    return int.from_bytes(blake2b(url.encode(errors="replace"), digest_size=8).digest(), "little")


@dataclass(frozen=True, slots=True, eq=False)
class WebTable:
    """Holds a graph, and further figures of its pages and sites."""

    graph: WebGraph
    domains: Ids  # of each site: number of its registrable domain
    languages: dict[str, int]  # pages by language
    text_bytes: NDArray[np.int64]  # of each page's main text, in UTF-8
    cut_links: int  # beyond the bound: they are in no figure
    top_levels: "SiteGroups"
    networks: "SiteGroups"  # of sites whose host is an address: records hold no other addresses


@dataclass(frozen=True, slots=True, eq=False)
class SiteGroups:
    """Holds the number of each site's group, -1 where it is in none, and the groups' names."""

    of_site: Ids
    names: tuple[str, ...]


class LinkTable:
    """Takes pages in any order; one that comes again is passed over."""

    def __init__(self, max_links: int = MAX_LINKS) -> None:
        self._max_links = max_links
        self._names, self._sites, self._counts = array("Q"), array("Q"), array("Q")  # of pages
        self._targets, self._target_sites = array("Q"), array("Q")  # of links
        self._languages, self._sizes = array("Q"), array("Q")
        self._codes = dict[str, int]()
        self._origins = dict[str, int]()
        self._site_names, self._domains = array("Q"), array("Q")  # of origins, as they were looked up
        self._top_levels, self._networks = _Groups(), _Groups()  # of the same
        self._cut = 0

    def add(self, page: Capture) -> None:
        """Add a page with its links."""
        links = [link for link in page.links if is_url(link)]
        room = self._max_links - len(self._targets)
        self._cut += max(0, len(links) - room)
        links = links[:room]
        self._targets.extend(map(name_of_url, links))
        self._target_sites.extend(map(self._site, links))
        self._names.append(name_of_url(page.url))
        self._sites.append(self._site(page.url))
        self._counts.append(len(links))
        self._sizes.append(len(page.text.encode(errors="replace")))
        code = page.language if len(self._codes) < MAX_LANGUAGES or page.language in self._codes else OTHER
        self._languages.append(self._codes.setdefault(code, len(self._codes)))

    def table(self) -> WebTable:
        """Return what was added as a graph. The arrays are used up: nothing can be added later."""
        page_names, first = np.unique(_numbers(self._names), return_index=True)
        page_sites = _numbers(self._sites)[first]
        languages = np.bincount(_numbers(self._languages)[first].astype(np.int64), minlength=len(self._codes)).tolist()
        by_code = dict(zip(self._codes, languages, strict=True))
        graph = self._graph(page_names, page_sites, first)
        sizes = _numbers(self._sizes)[first].astype(np.int64)
        known, origins = np.unique(_numbers(self._site_names), return_index=True)
        origins = origins[np.searchsorted(known, graph.site_names)]
        domains = np.unique(_numbers(self._domains)[origins], return_inverse=True)[1].astype(np.int32)
        groups = (each.of_sites(origins) for each in (self._top_levels, self._networks))
        return WebTable(graph, domains, by_code, sizes, self._cut, *groups)

    def _graph(self, page_names: Names, page_sites: Names, first: NDArray[np.int64]) -> WebGraph:
        sources = self._sources(page_names, first)
        kept = sources >= 0
        targets, target_sites = _numbers(self._targets)[kept], _numbers(self._target_sites)[kept]
        self._targets, self._target_sites = array("Q"), array("Q")
        links = sources[kept]
        unique, where, inverse = np.unique(targets, return_index=True, return_inverse=True)
        ids, is_other = _ids(unique, page_names)
        names = np.concatenate([page_names, unique[is_other]])
        others = target_sites[where[is_other]]
        site_names, sites = np.unique(np.concatenate([page_sites, others]), return_inverse=True)
        links *= max(1, len(names))
        links += ids[inverse]
        return graph_of(len(page_names), links, names, sites.astype(np.int32), site_names)

    def _sources(self, page_names: Names, first: NDArray[np.int64]) -> NDArray[np.int64]:
        """The page of each link, -1 where the page was read before."""
        rows = np.full(len(self._names), -1, dtype=np.int64)
        rows[first] = np.arange(len(page_names))
        return np.repeat(rows, _numbers(self._counts).astype(np.int64))

    def _site(self, url: str) -> int:
        """The name of a URL's site."""
        origin = url[:end] if (end := url.find("/", len("https://"))) > 0 else url
        found = self._origins.get(origin)
        if found is None:
            if len(self._origins) >= MAX_ORIGINS:
                self._origins.clear()
            found = self._origins[origin] = name_of_url(site_name(url))
            self._site_names.append(found)
            host = host_name(url)
            network = network_of(host)
            self._domains.append(name_of_url(domain_of(host)))
            self._top_levels.add("" if network else top_level_of(host))
            self._networks.add(network)
        return found


@dataclass(slots=True)
class FoundNames:
    """Looks for the URLs, and the sites, that stand behind some names."""

    urls: dict[int, str]  # "" as long as one is not found
    sites: dict[int, str]

    def look_in(self, pages: Iterable[Capture]) -> "FoundNames":
        """Look through pages and their links; return itself."""
        urls = {name for name, url in self.urls.items() if not url}
        sites = {name for name, site in self.sites.items() if not site}
        for page in pages:
            if not (urls or sites):
                break
            for url in (page.url, *filter(is_url, page.links)):
                if (name := name_of_url(url)) in urls:
                    self.urls[name] = url
                    urls.discard(name)
                if sites and (site := name_of_url(text := site_name(url))) in sites:
                    self.sites[site] = text
                    sites.discard(site)
        return self


def is_url(text: str) -> bool:
    """Tell whether a link is one to the web; a node that lies may give anything."""
    return text.startswith(("http://", "https://"))


def site_name(url: str) -> str:
    """Return the site of a URL, "" where it has none."""
    try:
        return site_of(url)
    except ValueError:
        return ""


def host_name(url: str) -> str:
    """Return the host of a URL, "" where it has none."""
    try:
        return split_url(url).host
    except ValueError:
        return ""


class _Groups:
    """Notes the group of one origin after the other, "" for none."""

    def __init__(self) -> None:
        self._codes, self._of_origins = dict[str, int](), array("i")

    def add(self, name: str) -> None:
        name = name if len(self._codes) < MAX_GROUPS or name in self._codes else OTHER
        self._of_origins.append(self._codes.setdefault(name, len(self._codes)) if name else -1)

    def of_sites(self, origins: NDArray[np.int64]) -> SiteGroups:
        return SiteGroups(np.array(self._of_origins, dtype=np.int32)[origins], tuple(self._codes))


def _ids(unique: Names, page_names: Names) -> tuple[Ids, NDArray[np.bool_]]:
    """The number of each of some names, and which of them are no page's: their numbers come after those of pages."""
    if not len(page_names):
        return np.arange(len(unique), dtype=np.int32), np.ones(len(unique), dtype=np.bool_)
    at = np.minimum(np.searchsorted(page_names, unique), len(page_names) - 1)
    is_other = page_names[at] != unique
    at[is_other] = len(page_names) + np.arange(np.count_nonzero(is_other))
    return at.astype(np.int32), is_other


def _numbers(values: "array[int]") -> Names:
    return np.frombuffer(values, dtype=np.uint64) if len(values) else np.zeros(0, dtype=np.uint64)
