"""The web listener asks a node through a protocol, which `node/service/node_service.py` and the tests' fake implement.

Pure: values and a protocol. Every answer is plain data, ready for JSON, in the shapes of the HTTP contract; what the
archive reads are values that HTTP shows in several shapes.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from crawl import ScopeKind
from dht import Key
from index import SearchRequest
from node.captures.capture import Capture
from node.captures.network_reader import ArchivePart, ReadBounds
from node.captures.scope import Wish
from node.jobs.job_progress import Followed
from node.jobs.page_import import BroughtPage
from node.owner.owner_service import OwnerService

Json = dict[str, Any]


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
        """What its owner alone sees and may."""

    async def search(self, question: SearchRequest) -> Json:
        """Answer a search: the body of /api/v1/search. Raises QueryError (an InputError with `position`) where the
        cursor is not the query's."""

    def begin(self, question: SearchRequest) -> SearchRun:
        """Return a search that can tell what it has found before it is over; `search` is its answer."""

    async def suggest(self, typed: str) -> list[str]:
        """Return what somebody who typed this may be about to ask, by what is indexed on this node alone."""

    async def status(self) -> Json:
        """Return what the node is, holds and does: the body of /api/v1/status."""

    async def peers(self) -> list[Json]:
        """Return one object a member: node_id, self, endpoints, live, families, strategy_version, ready, leased,
        refuses, due, load (percent: cpu, memory, disk, network), clock_off_s, last_heard_s."""

    async def member_keys(self) -> Sequence[bytes]:
        """Return the public keys of the other members of the network, as this node knows them."""

    def warnings(self) -> list[str]:
        """Say what keeps this node from doing all that it should, one sentence each; empty where nothing does."""

    async def strategy(self, which: str = "") -> Json:
        """Return the strategy in force, the "newest", or a version by its number, with its digest, signers and
        warnings. Raises BadStrategy where that version is not known."""

    async def strategy_log(self) -> Json:
        """Return all known versions, oldest first: {versions: [{version, digest, signed_by, effective_at, expires_at,
        next_at, publishers, threshold, changes_publishers, forks, in_force}], warnings}."""

    async def preview_strategy(self, document: bytes) -> Json:
        """Return what a draft or signed document would move and change; raises BadStrategy."""

    async def document(self, urls: Sequence[str], *, local: bool = False) -> list[Json | None]:
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
    ) -> Json:
        """Hand seeds, and sitemaps whose pages are seeds, to their owners; a dry run writes nothing. Known URLs are
        accepted and not fetched anew. Returns {accepted, refused: [{url, reason}], seeds: [{url, scope, sitemap,
        known}], behind, following, waits, dry_run}.

        `known` says what is known of a seed, "" where it is new.
        `behind` counts the addresses behind known seeds that are handed in, too; `following`: more may be found.
        `waits` names the members without which the seeds are not safe yet, "" where they are safe."""

    async def remove(self, url: str) -> Json:
        """Have all URLs removed that begin so, where a file at their site says that its owner wants it: {site, prefix,
        proofs}. Raises NotProved."""

    async def progress(self, asked: Sequence[Followed]) -> list[Json]:
        """Return what became of URLs, in order: {url, state, reason, found: [{url, depth, scope}]} each."""

    async def explain(self, url: str) -> Json:
        """Say whether a URL would be fetched, by whom, when, and why not: {url, canonical, answer: yes | now | later |
        no | unknown, why, changed, id, placement, rule, owners, holder, known, crawler}; only the first four where it
        is no URL."""

    async def evidence(self, *, fetches: bool) -> Json:
        """Return the evidence against authors of pages: {domains_needed, authors: [{node_id, domains, counts,
        no_votes_until, again, confirmed, pieces}]}. `fetches`: fetch some pages of each author again where there is
        enough; `again` says by domain what that showed."""

    def pause(self, paused: bool, for_s: float | None = None) -> str:
        """Fetch nothing for so many seconds or (None) until told otherwise, or go on; return why nothing is fetched
        now, or ""."""

    def leave(self, *, at_once: bool, is_sure: bool) -> Json:
        """Begin to leave the network for good, handing everything over, or `at_once` where the operator `is_sure`; say
        how far it is: {state: here | leaving | gone, slots, documents, at_risk, silent}. Raises NobodyElse."""

    def scrub(self) -> Json:
        """Have all that lies on this node's disk read at once, unless that goes on already; say how far it is, as
        /api/v1/status does: {begun_at, share, ended_at, found, found_before, lost, healed, read_records, asked_at,
        read_at, damaged, came_back, open}."""

    async def publish_strategy(self, document: bytes) -> Json:
        """Verify a signed strategy document, adopt it and spread it; raises BadStrategy."""
