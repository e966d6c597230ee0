"""The bodies of stored documents, and of pages that an archive brings.

Pure: values only.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from node.api.body import RequestBody, ResponseBody
from node.api.crawl import Url
from node.captures.capture import Capture, Lifetime, UnreadPart

MAX_IMPORTED = 1000  # pages in one request


class StoredDocument(ResponseBody):
    """A document as it is stored. `replicas`: ready replicas of its slot; `epoch` 0: an archive brought it."""

    id: str
    key: str
    version: str
    epoch: int
    author: str
    expires_day: int
    replicas: int
    url: str
    status: int
    gone: bool
    media_type: str
    charset: str
    language: str
    fetched_at: float
    title: str
    headings: list[str]
    text: str
    boilerplate: str
    signature: str
    published_at: float
    modified_at: float
    origin: str


class DocumentList(ResponseBody):
    """Stored documents in the order in which they were asked for; null where there is none."""

    documents: list[StoredDocument | None]


class DocumentsRead(ResponseBody):
    """A part of the stored pages. `unread`: what could not be read; `left_out`: how many are not shown, by reason;
    `lifetimes`: [page, first_seen, seen_at, gone_at] of each page, gone ones included, where they were asked for."""

    documents: list[Capture]
    next_cursor: str | None
    unread: list[UnreadPart]
    left_out: dict[str, int]
    lifetimes: list[Lifetime]


class ImportOrder(RequestBody):
    """The body of POST /api/v1/import: pages of one archive, and the archive's name."""

    file: Url
    pages: Annotated[list[Capture], Meta(max_length=MAX_IMPORTED)]
    dry_run: bool = False
    crawl: bool = False


class BroughtPage(msgspec.Struct, frozen=True):
    """The state of a page that was brought: `known`: the same version is stored; `older`: a newer version is stored.
    `refused` is for good, `later` for now; `reason` says why."""

    state: Literal["taken", "known", "older", "refused", "later"]
    reason: str = ""


class Imported(ResponseBody):
    """The states of pages, in the order in which they were brought."""

    pages: list[BroughtPage]
