"""The bodies of searches. The package `index` writes them as plain data, in these shapes.

Pure: values only.
"""

from typing import Literal

from msgspec import UNSET, UnsetType

from index import Reason
from node.api.body import Json, ResponseBody


class SearchDoubt(ResponseBody):
    """A reason for which an answer may not be the network's: in how many slots, and with which peers it lies."""

    reason: Reason
    slots: int
    peers: list[str]
    peer_count: int


class Coverage(ResponseBody):
    """The slots that were asked for and that answered; `late`: peers that did not answer in time."""

    slots: int
    answered: int
    peers_asked: int
    peers_answered: int
    late: list[str]


class QueryReading(ResponseBody):
    """A piece of a query that may mean something else, and how it was read."""

    read_as: str
    piece: str


class QueryAlternative(ResponseBody):
    """Words of the query that others mean the same as, one of which was looked for as well; `pages` hold it."""

    typed: str
    used: str
    kind: Literal["correction", "joined", "split"]
    pages: int


class ImageFound(ResponseBody):
    """An image of a page: its address, its own words, the caption and heading beside it, and its size in pixels as the
    page declares it (0: unknown)."""

    url: str
    text: str
    caption: str
    heading: str
    width: int
    height: int


class SearchResult(ResponseBody):
    """One page that was found. `highlights`: offsets into the snippet; `images`: the three that fit best; `similar`:
    addresses of its copies."""

    url: str
    title: str
    heading: str
    snippet: str
    highlights: list[list[int]]
    score: float
    language: str
    fetched_at: float
    date: float | None
    id: str
    replicas: int
    site_more: int
    origin: str
    images: list[ImageFound]
    similar: list[str]
    similar_count: int
    pinned: bool
    explain: Json | UnsetType = UNSET


class DefinitionFound(ResponseBody):
    """A sentence of a page that says what a term is, for a query that asks that."""

    term: str
    text: str
    url: str
    title: str


class FacetCount(ResponseBody):
    """A name within a facet, and how many matches have it."""

    name: str
    count: int


FacetName = Literal["site", "language", "year", "type"]


class Search(ResponseBody):
    """The answer to a search. `related`: queries from titles and headings of these results; `age_s`: of an answer that
    was given before."""

    query: str
    readings: list[QueryReading]
    alternatives: list[QueryAlternative]
    took_ms: float
    exact: bool
    whole: bool
    partial: bool
    why: list[SearchDoubt]
    coverage: Coverage
    total: int
    total_is: Literal["exact", "about", "at_least"]
    results: list[SearchResult]
    definition: DefinitionFound | None
    related: list[str]
    suggestions: list[str]
    corrections: list[str]
    facets: dict[FacetName, list[FacetCount]]
    facets_cut: list[FacetName]
    next_cursor: str | None
    age_s: float | UnsetType = UNSET


class Suggestions(ResponseBody):
    """Queries that somebody who typed `query` may be about to ask."""

    query: str
    suggestions: list[str]
