"""Defines the node as the web listener sees it: `node/service/node_service.py` and the tests' fake implement it.

Pure: values and a protocol. Answers are the bodies of the HTTP API (`node/api`); a search's is plain data. HTTP
shows the captures of the archive in several shapes.
"""

from collections.abc import Sequence
from typing import Protocol

from crawl import ScopeKind
from dht import Key
from index import SearchRequest
from node.api.body import Json
from node.api.crawl import Crawled, Explained, Followed, Removed, UrlProgress
from node.api.documents import BroughtPage, StoredDocument
from node.api.evidence import Accused
from node.api.operation import LeaveProgress, ScrubProgress
from node.api.peers import Peer
from node.api.status import Status
from node.api.strategy import Preview, StrategyLog
from node.captures.capture import Capture
from node.captures.network_reader import ArchivePart, ReadBounds
from node.captures.scope import Wish
from node.owner.owner_service import OwnerService


class SearchRun(Protocol):
    """One search: `answer` carries it out, and is called once; meanwhile `so_far` tells what it has found."""

    async def answer(self) -> Json:
        """Return the body of /api/v1/search. Raises QueryError (an InputError with `position`) where the cursor is not
        the query's."""

    async def so_far(self) -> Json | None:
        """Return the answer as it is where nothing more comes, None where nothing was found yet. No peer is asked a
        question that `answer` does not ask it."""


class Service(Protocol):
    """A running node, as HTTP and the command line see it."""

    @property
    def owner(self) -> OwnerService:
        """The part of the node that its owner alone sees and changes."""

    async def search(self, question: SearchRequest) -> Json:
        """Answer a search: the body of /api/v1/search. Raises QueryError (an InputError with `position`) where the
        cursor is not the query's."""

    def begin(self, question: SearchRequest) -> SearchRun:
        """Return a search that can tell what it has found before it is over; `search` is its answer."""

    async def suggest(self, typed: str) -> list[str]:
        """Return what somebody who typed this may be about to ask, by what is indexed on this node alone."""

    async def status(self) -> Status:
        """Return what the node is, holds and does: the body of /api/v1/status."""

    async def peers(self) -> list[Peer]:
        """Return the members of the network, this node included."""

    async def member_keys(self) -> Sequence[bytes]:
        """Return the public keys of the other members of the network, as this node knows them."""

    def warnings(self) -> list[str]:
        """Say what keeps this node from doing all that it should, one sentence each; empty where nothing does."""

    async def strategy(self, which: str = "") -> Json:
        """Return the strategy in force, the "newest", or a version by its number, with its digest, signers and
        warnings. Raises BadStrategy where that version is not known."""

    async def strategy_log(self) -> StrategyLog:
        """Return all known versions, oldest first."""

    async def preview_strategy(self, document: bytes) -> Preview:
        """Return what a draft or signed document would move and change; raises BadStrategy."""

    async def document(self, urls: Sequence[str], *, local: bool = False) -> list[StoredDocument | None]:
        """Return stored documents by URL, in order; null for a URL that is none, or not stored. `local`: only what lies
        on this node's own disk."""

    async def archive(self, wish: Wish, start: Key, bounds: ReadBounds, *, content: bool) -> ArchivePart:
        """Read stored pages that are wished for, from a key on and in the order of keys, that their authors let others
        show, with or without contents."""

    async def take_pages(
        self, captures: Sequence[Capture], file: str, *, dry_run: bool, crawl: bool
    ) -> Sequence[BroughtPage]:
        """Take pages of an archive into the network, in this node's name, and say of each what became of it. A dry run
        writes nothing; `crawl`: their URLs are to be fetched, too. Raises NotImporter and NotJoined."""

    async def snapshot(self, url: str) -> Capture | None:
        """Return a page with its stored content, read from any ready replica; None where it may not be shown."""

    async def crawl(
        self,
        urls: Sequence[str],
        *,
        depth: int,
        scope: ScopeKind = "whole",
        sitemaps: Sequence[str] = (),
        dry_run: bool = False,
    ) -> Crawled:
        """Hand seeds, and sitemaps whose pages are seeds, to their owners; a dry run writes nothing. Known URLs are
        accepted and not fetched anew."""

    async def remove(self, url: str) -> Removed:
        """Have all URLs removed that begin so, where a file at their site says that its owner wants it. Raises
        NotProved."""

    async def progress(self, asked: Sequence[Followed]) -> list[UrlProgress]:
        """Return what became of URLs, in order."""

    async def explain(self, url: str) -> Explained:
        """Say whether a URL would be fetched, by which node, when, and why not."""

    async def evidence(self, *, fetches: bool) -> Accused:
        """Return the evidence against authors of pages. `fetches`: fetch some pages of each author again where there
        is enough."""

    def pause(self, paused: bool, for_s: float | None = None) -> str:
        """Fetch nothing for so many seconds or (None) until told otherwise, or go on; return why nothing is fetched
        now, or ""."""

    def leave(self, *, at_once: bool, is_sure: bool) -> LeaveProgress:
        """Begin to leave the network for good, handing everything over, or `at_once` where the operator `is_sure`; say
        how far it is. Raises NobodyElse."""

    def scrub(self) -> ScrubProgress:
        """Have all that lies on this node's disk read at once, unless that goes on already; say how far it is."""

    async def publish_strategy(self, document: bytes) -> Json:
        """Verify a signed strategy document, adopt it and spread it; raises BadStrategy."""
