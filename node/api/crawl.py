"""The bodies that hand URLs in, follow them, explain them and have them removed.

Pure: values only.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from crawl import MAX_SCOPE_CHARS, ScopeKind
from node.api.body import Json, RequestBody, ResponseBody

Verdict = Literal["yes", "now", "later", "no", "unknown"]
Pace = Literal["", "daily", "weekly"]  # of a job that is submitted again; "": it is not
Url = Annotated[str, Meta(max_length=2048)]


class CrawlOrder(RequestBody):
    """The body of POST /api/v1/crawl: seeds and sitemaps, how many links to follow from them, and how far.

    `every`: the pace at which this node submits the job again. `exclude`: RE2 patterns; the job leaves out each URL
    that one of them matches."""

    urls: list[str] = msgspec.field(default_factory=list)
    depth: int = 0
    scope: ScopeKind = "whole"
    sitemaps: list[str] = msgspec.field(default_factory=list)
    dry_run: bool = False
    every: Pace = ""
    exclude: list[str] = msgspec.field(default_factory=list)


class Refused(ResponseBody):
    """An address that was not taken, and why."""

    url: str
    reason: str


class Seed(ResponseBody):
    """A seed that was taken. `scope`: how far links lead, with the patterns of `exclude` behind "/#". `known`: what is
    known of it already, "" where it is new."""

    url: str
    scope: str
    sitemap: bool
    known: str


class Crawled(ResponseBody):
    """Says which seeds were taken, and which addresses were refused.

    `behind` counts the addresses behind known seeds that are handed in, too; `following`: more may be found.
    `waits` names the members without which the seeds are not safe yet, "" where they are safe."""

    accepted: int
    refused: list[Refused]
    seeds: list[Seed]
    behind: int
    following: bool
    waits: str
    dry_run: bool


class RemovalOrder(RequestBody):
    """The body of POST /api/v1/remove: how the URLs begin that shall go."""

    url: Url


class Removed(ResponseBody):
    """The site and the beginning of paths that are removed, and the addresses of the proofs."""

    site: str
    prefix: str
    proofs: list[str]


class Followed(RequestBody):
    """One URL, with the depth and scope that it was handed in or found with."""

    url: Url
    depth: Annotated[int, Meta(ge=0, le=1000)] = 0
    scope: Annotated[str, Meta(max_length=MAX_SCOPE_CHARS)] = ""


class ProgressOrder(RequestBody):
    """The body of POST /api/v1/crawl/progress."""

    urls: list[Followed]


class UrlProgress(ResponseBody):
    """The state of a URL, and the links found there to go on with; `state` is "unknown" where nobody knows the URL."""

    url: str
    state: str
    reason: str
    found: list[Followed]


class ProgressList(ResponseBody):
    """The states of URLs, in the order in which they were asked for."""

    urls: list[UrlProgress]


class Explained(ResponseBody):
    """Whether a URL would be fetched, by whom, when, and why not. An address that is no URL has four fields alone.

    `placement`: where it lies; `rule`: what the strategy says of it; `known`: what was found there. `fetcher`: which
    node makes the request, and why. `crawler`: what the holder of its slot says."""

    url: str
    canonical: str | None
    answer: Verdict
    why: str
    changed: list[str] | UnsetType = UNSET
    id: str | UnsetType = UNSET
    placement: Json | UnsetType = UNSET
    rule: Json | UnsetType = UNSET
    owners: list[Json] | UnsetType = UNSET
    holder: Json | UnsetType | None = UNSET
    fetcher: Json | UnsetType | None = UNSET
    known: Json | UnsetType | None = UNSET
    crawler: Json | UnsetType | None = UNSET
