"""What a running node answers to people and programs: the `Service` behind the web listener and the command line."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from crawl import BadUrl, ScopeKind, canonical_url
from dht import (
    AdoptedStrategy,
    BadStrategy,
    Clock,
    Network,
    NodeId,
    OverlayService,
    decode_signed,
    document_id,
    parse_document,
    slot_of,
)
from index import SearchRequest
from node.app.node_core import NodeCore
from node.app.strategy_preview import StrategyPreview
from node.jobs.job_progress import Followed
from node.version import VERSION
from node.views.balance import balance_json, load_json
from store import Document, Kind, Record, decode_document

Json = dict[str, Any]

SETTLED_FOR_S = 1.0  # a settled answer is kept for so long: it costs a message to every teammate


class NodeService:
    """Implements `node.service.Service`."""

    def __init__(
        self, node_core: NodeCore, overlay: OverlayService, network: Network, quota: int, clock: Clock
    ) -> None:
        self._core, self._overlay, self._strategies = node_core, overlay, overlay.strategies
        self._network, self._quota, self._clock = network, quota, clock
        self._settled: tuple[float, bool] = (-SETTLED_FOR_S, False)
        self._previews = StrategyPreview(node_core, overlay, clock)

    async def search(self, question: SearchRequest) -> Json:
        """See Service."""
        return await self._core.searcher.search(question)

    async def status(self) -> Json:
        """See Service."""
        view, kept, crawl = self._overlay.view, self._core.replicator.status(), self._core.crawler.status()
        live = [contact for peer in self._others() if view.is_live(peer) and (contact := view.contact(peer))]
        strategy = view.strategy
        return {
            "node_id": view.node_id.hex(),
            "version": VERSION,
            "network": {"name": self._network.name, "id": self._network.id},
            "members": len(view.members()),
            "role": "member" if self._overlay.takes_part else "client",
            "reachable": {
                f"ipv{family}": {"state": found.verdict.value, "tried": found.tried, "text": found.shown}
                for family, found in self._overlay.reachability().items()
            },
            "clients": {
                "waiting": self._core.client_dispatch.waiting,
                "carried": self._core.client_dispatch.carried,
                "distrusted": self._core.client_dispatch.distrusted,
                "polled": self._core.client_worker.polled,
                "carried_here": self._core.client_worker.carried,
            },
            "peers": {
                "live": len(live),
                "ipv4": sum(4 in c.families for c in live),
                "ipv6": sum(6 in c.families for c in live),
            },
            "refused_packets": dict(sorted(self._overlay.refused.items())),
            "slots": {
                "all": 2**strategy.slot_bits,
                "owned": kept.owned,
                "ready": kept.ready,
                "leased": len(view.leases()),
            },
            "documents": self._core.index.documents,
            "settled": await self._is_settled(),
            "under_replicated": kept.under_replicated,
            "owed": kept.owed,
            "crawl": {
                "state": crawl.state,
                "reason": self._core.crawl_reason() if self._overlay.takes_part else self._client_reason(),
                "frontier": crawl.waiting,
                "open": crawl.open,
                "fetched": crawl.fetched,
                "failed": crawl.failed,
                "refused": dict(crawl.refused),
                "refuse": {"entries": len(self._core.refusals), "told": len(self._core.refusals.public_hashes) // 4},
                "per_s": round(crawl.per_s, 2),
            },
            "balance": balance_json(self._overlay.balance()),
            "load": load_json(self._overlay.load),
            "strategy": {
                "version": strategy.version,
                "expires_at": strategy.expires_at,
                "next_at": strategy.next_at,
                "newest": self._strategies.newest.version,
                "effective_at": self._strategies.newest.effective_at,
                "forks": self._strategies.fork_count,
                "warnings": list(self._strategies.warnings(self._clock())),
            },
            "warnings": list(self._warnings()),
            "disk": {"used": kept.used_bytes, "quota": self._quota},
        }

    async def peers(self) -> list[Json]:
        """See Service."""
        return [self._peer(peer) for peer in self._overlay.view.members()]

    async def strategy(self, which: str = "") -> Json:
        """See Service. Besides the document's fields: digest, signed_by, warnings."""
        in_force, newest = self._overlay.view.strategy.version, self._strategies.newest.version
        numbers = {"": in_force, "newest": newest}
        version = numbers.get(which, int(which) if which.isascii() and which.isdecimal() and len(which) < 10 else 0)
        signed = self._strategies.signed(version)
        if signed is None:
            raise BadStrategy("version", f"{which!r} is not known here", f'ask for 1 to {newest}, or "newest"')
        strategy = parse_document(signed.document)
        return {
            **msgspec.to_builtins(strategy),
            "digest": signed.digest,
            "signed_by": [signature.key for signature in signed.signatures],
            "warnings": list(self._strategies.warnings(self._clock())),
        }

    async def strategy_log(self) -> Json:
        """See Service."""
        in_force = self._overlay.view.strategy.version
        versions = [_version(entry, in_force) for entry in self._strategies.history()]
        return {"versions": versions, "warnings": list(self._strategies.warnings(self._clock()))}

    async def preview_strategy(self, document: bytes) -> Json:
        """See Service."""
        return await self._previews.preview(document)

    async def document(self, urls: Sequence[str], *, local: bool = False) -> list[Json | None]:
        """See Service. A URL that is none, or not stored, gives null."""
        names = [known_url(url) for url in urls]
        if local:
            found = [self._core.store.find(Kind.DOCUMENT, document_id(url), content=False) for url in names]
        else:
            stored = await self._core.url_lookup.records(names, content=False)
            found = [stored.get(url) for url in names]
        return [self._document(record) if record else None for record in found]

    async def snapshot(self, url: str) -> tuple[Json, bytes] | None:
        """See Service."""
        url = known_url(url)
        record = (await self._core.url_lookup.records([url], content=True)).get(url)
        if record is None or record.content is None:
            return None
        if not may_be_shown(decode_document(record.body)):
            return None
        return self._document(record), record.content

    async def crawl(
        self,
        urls: Sequence[str],
        *,
        depth: int,
        scope: ScopeKind = "whole",
        sitemaps: Sequence[str] = (),
        dry_run: bool = False,
    ) -> Json:
        """See Service. Known URLs are accepted and not fetched anew."""
        return await self._core.submission.crawl(urls, sitemaps, depth, scope, dry_run)

    async def progress(self, asked: Sequence[Followed]) -> list[Json]:
        """See Service."""
        return await self._core.job_progress.of(asked)

    async def explain(self, url: str) -> Json:
        """See Service."""
        return await self._core.explanations.explain(url)

    def pause(self, paused: bool, for_s: float | None = None) -> str:
        """See Service."""
        return self._core.pause(paused, for_s)

    async def publish_strategy(self, document: bytes) -> Json:
        """See Service. Only the next version is taken from people; older ones and forks come from peers, who prove
        that they were published."""
        signed = decode_signed(document)
        strategy, newest = parse_document(signed.document), self._strategies.newest
        known = self._strategies.newest_digest == signed.digest
        if not known and strategy.network == self._network.id and strategy.version <= newest.version:
            reason = f"is {strategy.version}, the next one is {newest.version + 1}"
            raise BadStrategy("version", reason, "draft from `dse-node strategy show --json`")
        if not known and strategy.expires_at <= self._clock().wall:
            raise BadStrategy("expires_at", "is past", "sign it again with an instant that lies ahead")
        self._overlay.adopt(signed)
        return {**await self.strategy(), "adopted": not known}

    def _warnings(self) -> Iterator[str]:
        if reason := self._core.hindrance():
            yield reason
        if self._overlay.view.node_id.hex() in self._overlay.view.strategy.blocked:
            yield "the strategy blocks this node: its members do not speak with it; ask the network's publishers why"

    def _client_reason(self) -> str:
        polls = self._core.client_worker
        if polls.resting:
            return polls.resting
        return f"a client: asks {polls.polled} nodes for orders, {polls.carried} pages fetched for others"

    def _others(self) -> list[NodeId]:
        return [peer for peer in self._overlay.view.members() if peer != self._overlay.view.node_id]

    def _peer(self, peer: NodeId) -> Json:
        view = self._overlay.view
        contact, heartbeat = view.contact(peer), view.heartbeat(peer)
        if heartbeat is None:  # this node itself
            version, ready = view.strategy.version, self._core.replicator.ready_slots()
            leased, told = frozenset(view.leases()), self._core.refusals.public_hashes
            load, due = self._overlay.load, sum(self._core.crawler.due().values())
        else:
            version, ready, leased = heartbeat.strategy_version, heartbeat.ready_slots, heartbeat.leased_slots
            load, due, told = heartbeat.load, heartbeat.due, heartbeat.refuses
        return {
            "node_id": peer.hex(),
            "self": peer == view.node_id,
            "endpoints": [msgspec.to_builtins(endpoint) for endpoint in contact.endpoints] if contact else [],
            "live": view.is_live(peer),
            "families": sorted(contact.families) if contact else [],
            "strategy_version": version,
            "ready": len(ready),
            "leased": len(leased),
            "refuses": len(told) // 4,
            "due": due,
            "load": load_json(load),
            "last_heard_s": round(view.silent_s(peer) or 0.0, 1),
        }

    def _document(self, record: Record) -> Json:
        slot = slot_of(record.key, self._overlay.view.strategy.slot_bits)
        return document_json(record, decode_document(record.body), len(self._overlay.view.ready(slot)))

    async def _is_settled(self) -> bool:
        now = self._clock().steady
        if now - self._settled[0] >= SETTLED_FOR_S:
            self._settled = now, await self._core.settlement.is_settled()
        return self._settled[1]


def may_be_shown(document: Document) -> bool:
    """Whether a copy of the page may be shown: by its author's word (noarchive), and where there is a page at all."""
    return not (document.gone or document.noarchive)


def _version(entry: AdoptedStrategy, in_force: int) -> Json:
    strategy = entry.strategy
    return {
        "version": strategy.version,
        "digest": entry.digest,
        "signed_by": list(entry.signed_by),
        "effective_at": strategy.effective_at,
        "expires_at": strategy.expires_at,
        "next_at": strategy.next_at,
        "publishers": list(strategy.publishers),
        "threshold": strategy.threshold,
        "changes_publishers": entry.changes_publishers,
        "forks": list(entry.rivals),
        "in_force": strategy.version == in_force,
    }


def known_url(text: str) -> str:
    """The canonical form of a URL, or the text itself, which then names nothing."""
    try:
        return canonical_url(text)
    except BadUrl:
        return text


def document_json(record: Record, document: Document, replicas: int) -> Json:
    """A stored document as programs read it; `replicas`: ready replicas of its slot."""
    return {
        "id": record.id.hex(),
        "key": record.key.hex(),
        "version": record.version.digest.hex(),
        "epoch": record.version.epoch,
        "author": record.proof.author.hex(),
        "expires_day": record.expires_day,
        "replicas": replicas,
        "url": document.url,
        "status": document.status,
        "gone": document.gone,
        "media_type": document.media_type,
        "charset": document.charset,
        "language": document.language,
        "fetched_at": document.fetched_at,
        "title": document.title,
        "headings": list(document.headings),
        "text": document.text,
        "boilerplate": document.boilerplate,
    }
