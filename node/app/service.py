"""What the web listener needs from a node: one protocol, implemented by `node/app/node_service.py` and the tests' fake.

Pure: values and a protocol. Every answer is plain data, ready for JSON, in the shapes of the HTTP contract.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from crawl import ScopeKind
from index import SearchRequest
from node.jobs.job_progress import Followed

Json = dict[str, Any]


class Service(Protocol):
    """A running node, seen from HTTP."""

    async def search(self, question: SearchRequest) -> Json:
        """The body of /api/v1/search; raises QueryError (an InputError with `position`) where the query is none."""

    async def status(self) -> Json:
        """The body of /api/v1/status."""

    async def peers(self) -> list[Json]:
        """One object a member: node_id, endpoints, live, families, strategy_version, ready, leased, due,
        load (percent: cpu, memory, disk, network), last_heard_s."""

    async def strategy(self, which: str = "") -> Json:
        """The strategy in force, the "newest" or a version by its number: digest, signers, warnings besides."""

    async def strategy_log(self) -> Json:
        """{versions: [{version, digest, signed_by, effective_at, expires_at, next_at, publishers, threshold,
        changes_publishers, forks, in_force}], warnings}, oldest first."""

    async def preview_strategy(self, document: bytes) -> Json:
        """What a draft or signed document would move and change; raises BadStrategy."""

    async def document(self, urls: Sequence[str], *, local: bool = False) -> list[Json | None]:
        """Stored documents by URL, in order; `local`: only what lies on this node's own disk."""

    async def snapshot(self, url: str) -> tuple[Json, bytes] | None:
        """A document and its stored content, read from any ready replica."""

    async def crawl(
        self,
        urls: Sequence[str],
        *,
        depth: int,
        scope: ScopeKind = "whole",
        sitemaps: Sequence[str] = (),
        dry_run: bool = False,
    ) -> Json:
        """Hand seeds, and sitemaps whose pages are seeds, to their owners: {accepted: n, refused: [{url, reason}],
        seeds: [{url, scope, sitemap, known}]}; `known`: as what, so that nothing changes. A dry run writes nothing."""

    async def progress(self, asked: Sequence[Followed]) -> list[Json]:
        """What became of URLs: {url, state, reason, found: [{url, depth, scope}]} each, in order."""

    async def explain(self, url: str) -> Json:
        """Would a URL be fetched, by whom, when, why not: {url, canonical, answer: yes | now | later | no, why,
        changed, placement, rule, owners, holder, known, crawler}."""

    def pause(self, paused: bool, for_s: float | None = None) -> str:
        """Fetch nothing, for so many seconds or (None) until told otherwise; why nothing is fetched now, or ""."""

    async def publish_strategy(self, document: bytes) -> Json:
        """Verify a signed strategy document, adopt it and spread it; raises BadStrategy."""
