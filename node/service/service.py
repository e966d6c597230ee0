"""Answers people and programs in a running node; the web listener knows nothing else of a node.

Answers are the bodies of the HTTP API (`node/api`); a search's is plain data.
"""

from collections.abc import Sequence

import msgspec

from crawl import BadUrl, ScopeKind, canonical_url
from dht import (
    AdoptedStrategy,
    BadStrategy,
    Clock,
    Key,
    Network,
    OverlayService,
    decode_signed,
    parse_document,
    slot_of,
    split_url,
    unknown_parts,
)
from index import SearchRequest
from node.api.body import Json
from node.api.crawl import Crawled, Explained, Followed, Pace, Removed, UrlProgress
from node.api.documents import BroughtPage, StoredDocument
from node.api.evidence import Accused
from node.api.operation import Begun, LeaveProgress, ScrubProgress
from node.api.peers import Peer
from node.api.status import Status
from node.api.strategy import Preview, StrategyLog, StrategyVersion
from node.app.departure import Departure
from node.app.node_core import NodeCore
from node.captures.capture import Capture, capture_of
from node.captures.network_reader import ArchivePart, ReadBounds
from node.captures.scope import Wish
from node.crawling.why_idle import waiting_for
from node.owner.condition import Outlook
from node.owner.desk import OwnerDesk
from node.owner.disk_outlook import full_in_days
from node.owner.figure_history import FigureHistory
from node.owner.log_ring import LogRing
from node.owner.member_desk import MemberDesk
from node.owner.member_page import Order, chosen_members
from node.owner.setting_desk import SettingDesk
from node.owner.site_desk import SiteDesk
from node.owner.slot_desk import SlotDesk
from node.service.machine_status import scrub_of
from node.service.node_status import NodeStatus
from node.service.query_desk import DeskSearch, QueryDesk
from node.service.slot_sample import SlotSample
from node.strategy.preview import StrategyPreview
from node.views.silence import SilenceWaits
from store import Document, Record, decode_document


class Service:
    """A node that runs in this process, as HTTP and the command line see it. `owner`: what its owner alone sees."""

    def __init__(
        self,
        node_core: NodeCore,
        overlay: OverlayService,
        network: Network,
        departure: Departure,
        clock: Clock,
        settings: SettingDesk,
        log: LogRing | None = None,
        history: FigureHistory | None = None,
    ) -> None:
        self._core, self._overlay, self._strategies = node_core, overlay, overlay.strategies
        self._network, self._departure, self._clock = network, departure, clock
        self._queries = QueryDesk(node_core.index.searcher, overlay, clock)
        self._status = NodeStatus(node_core, overlay, network, self._queries.meter, departure, clock)
        self._sample = SlotSample(overlay, clock)
        history = history or FigureHistory()
        self.owner = OwnerDesk(node_core, overlay, self._queries.meter, settings, log, clock, history)
        self.members = MemberDesk(self._status.peers, overlay, self.owner.own_figures)
        self.sites = SiteDesk(node_core.crawl.crawler, overlay, clock)
        self.slots = SlotDesk(overlay, node_core.store.records, node_core.store.replicator)
        self._previews = StrategyPreview(node_core.store.records, node_core.store.replicator, overlay, clock)

    async def search(self, question: SearchRequest, caller: str = "") -> Json:
        """Answer a search: the body of /api/v1/search. `caller`: the address that asks, "" for this machine. Raises
        QueryError (an InputError with `position`) where the cursor is not the query's, and TooBusy."""
        return await self.begin(question, caller).answer()

    def begin(self, question: SearchRequest, caller: str = "") -> DeskSearch:
        """Return a search that can tell what it has found before it is over; `search` is its answer."""
        return self._queries.begin(question, caller)

    async def suggest(self, typed: str) -> list[str]:
        """Return what somebody who typed this may be about to ask, by what is indexed on this node alone."""
        return await self._core.index.searcher.suggest(typed)

    async def status(self) -> Status:
        """Return what the node is, holds and does: the body of /api/v1/status."""
        status = await self._status.status()
        if status.network.documents is None:
            status.network.documents = await self._sample.documents()
        grown = self.owner.history.disk_of_day
        status.disk.full_in_days = full_in_days(grown, status.disk.used, status.disk.quota)
        return status

    async def outlook(self, waits: SilenceWaits) -> Outlook:
        """Return what this node needs of its owner now, and what it tells other members of that."""
        return self._status.outlook(waits)

    async def peers(self, find: str = "", order: Order | None = None) -> list[Peer]:
        """Return the members of the network, this node included, in whose words `find` stands; by id where no order is
        asked for."""
        peers = self._status.peers()
        return chosen_members(peers, find, order) if find or order else peers

    async def member_keys(self) -> Sequence[bytes]:
        """Return the public keys of the other members of the network, as this node knows them."""
        view = self._overlay.view
        return [said.public_key for peer in view.members() if (said := view.peers.heartbeat(peer))]

    def warnings(self) -> list[str]:
        """Say what keeps this node from doing all that it should, one sentence each; empty where nothing does."""
        return list(self._status.warnings())

    async def strategy(self, which: str = "") -> Json:
        """Return the strategy in force, the "newest", or a version by its number, with its digest, signers and
        warnings. Raises BadStrategy where that version is not known."""
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
            "not_understood": list(unknown_parts(signed.document)),
            "warnings": list(self._strategies.warnings(self._clock())),
        }

    async def strategy_log(self) -> StrategyLog:
        """Return all known versions, oldest first."""
        in_force = self._overlay.view.strategy.version
        versions = [_version(entry, in_force) for entry in self._strategies.history()]
        return StrategyLog(versions=versions, warnings=list(self._strategies.warnings(self._clock())))

    async def preview_strategy(self, document: bytes) -> Preview:
        """Return what a draft or signed document would move and change; raises BadStrategy."""
        return await self._previews.preview(document)

    async def document(self, urls: Sequence[str], *, local: bool = False) -> list[StoredDocument | None]:
        """Return stored documents by URL, in order; null for a URL that is none, or not stored. `local`: only what lies
        on this node's own disk."""
        names = [known_url(url) for url in urls]
        if local:
            found = [self._core.store.lookup.here(url) for url in names]
        else:
            stored = await self._core.store.lookup.records(names, content=False)
            found = [stored.get(url) for url in names]
        return [self._document(record) if record else None for record in found]

    async def archive(self, wish: Wish, start: Key, bounds: ReadBounds, *, content: bool) -> ArchivePart:
        """Read stored pages that are wished for, from a key on and in the order of keys, that their authors let others
        show, with or without contents."""
        return await self._core.store.reader.read(wish, start, bounds, content=content)

    async def take_pages(
        self, captures: Sequence[Capture], file: str, *, dry_run: bool, crawl: bool
    ) -> Sequence[BroughtPage]:
        """Take pages of an archive into the network, in this node's name, and say of each what became of it. A dry run
        writes nothing; `crawl`: their URLs are to be fetched, too. Raises NotImporter and NotJoined."""
        return await self._core.jobs.page_import.take(captures, file, is_dry=dry_run, crawls=crawl)

    async def snapshot(self, url: str) -> Capture | None:
        """Return a page with its stored content, read from any ready replica; None where it may not be shown."""
        url = known_url(url)
        record = (await self._core.store.lookup.records([url], content=True)).get(url)
        if record is None or record.content is None:
            return None
        document = decode_document(record.body)
        return capture_of(record, document) if may_be_shown(document) else None

    async def crawl(
        self,
        urls: Sequence[str],
        *,
        depth: int,
        scope: ScopeKind = "whole",
        sitemaps: Sequence[str] = (),
        dry_run: bool = False,
        every: Pace = "",
        exclude: Sequence[str] = (),
    ) -> Crawled:
        """Hand seeds, and sitemaps whose pages are seeds, to their owners; a dry run writes nothing. Known URLs are
        accepted and not fetched anew. `every`: the pace at which this node submits the job again; then it fetches
        them. `exclude`: patterns of URLs that the job leaves out. Raises BadExclude."""
        if every:
            self._core.jobs.schedule.check(len(urls) + len(sitemaps))
        told = await self._core.jobs.submission.crawl(urls, sitemaps, depth, scope, dry_run, exclude)
        if not dry_run:
            await self.owner.note_job(told.seeds, depth, scope, exclude, every)
        return told

    async def remove(self, url: str, *, is_check: bool = False) -> Removed:
        """Have all URLs removed that begin so, where a file at their site says that its owner wants it; a check removes
        nothing. Raises NotProved."""
        removals = self._core.jobs.removals
        return await (removals.check(url) if is_check else removals.remove(url))

    async def progress(self, asked: Sequence[Followed]) -> list[UrlProgress]:
        """Return what became of URLs, in order."""
        return await self._core.jobs.progress.answer(asked)

    async def explain(self, url: str) -> Explained:
        """Say whether a URL would be fetched, by which node, when, and why not; with the job of this node that leaves
        it out, where nobody has found it."""
        told = await self._core.jobs.explanations.explain(url)
        if told.answer == "unknown" and (number := self.owner.ledger.excluding(told.canonical or "")):
            return msgspec.structs.replace(told, why=f"excluded by job {number} of this node; {told.why}")
        return told

    async def evidence(self, *, fetches: bool) -> Accused:
        """Return the evidence against authors of pages. `fetches`: fetch some pages of each author again where there
        is enough."""
        return await self._core.auditing.desk.accused(fetches=fetches)

    def pause(self, paused: bool, for_s: float | None = None) -> str:
        """Fetch nothing for so many seconds or (None) until told otherwise, or go on; return why nothing is fetched
        now, or ""."""
        pause = self._core.fetching.pause
        if paused:
            pause.pause(for_s)
        else:
            pause.resume()
        return pause.operator_reason()

    async def begin_alone(self, *, is_sure: bool) -> Begun:
        """Say for which silent members this node waits and whether it may go on without them; where `is_sure`, do so
        until they are heard."""
        view = self._overlay.view
        silent, refusal = waiting_for(view), self._overlay.farewells.why_not_declare()
        if is_begun := is_sure and bool(silent) and not refusal:
            await self._overlay.farewells.declare(view.votes.waits_for())
        live = len(view.live().intersection(view.members()) - {view.node_id})
        return Begun(live, silent, refusal, is_begun)

    def leave(self, *, at_once: bool, is_sure: bool) -> LeaveProgress:
        """Begin to leave the network for good, handing everything over, or `at_once` where the operator `is_sure`; say
        how far it is. Raises NobodyElse."""
        return self._departure.leave(at_once=at_once, is_sure=is_sure)

    def scrub(self) -> ScrubProgress:
        """Have all that lies on this node's disk read at once, unless that goes on already; say how far it is."""
        self._core.store.replicator.scrub_now()
        return scrub_of(self._core.store.records.scrub.status())

    async def publish_strategy(self, document: bytes) -> Json:
        """Verify a signed strategy document, adopt it and spread it; raises BadStrategy."""
        # Only the next version is taken from people; older ones and forks come from peers, who prove that they were
        # published.
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

    def _document(self, record: Record) -> StoredDocument:
        slot = slot_of(record.key, self._overlay.view.strategy.slot_bits)
        return stored_document(record, decode_document(record.body), len(self._overlay.view.ready(slot)))


def may_be_shown(document: Document) -> bool:
    """Tell whether a copy of the page may be shown: its author allows it (no noarchive), and there is a page at all."""
    return not (document.gone or document.noarchive)


def _version(entry: AdoptedStrategy, in_force: int) -> StrategyVersion:
    strategy = entry.strategy
    about = {
        "digest": entry.digest,
        "signed_by": entry.signed_by,
        "changes_publishers": entry.changes_publishers,
        "forks": entry.rivals,
        "in_force": strategy.version == in_force,
    }
    return msgspec.convert(msgspec.structs.asdict(strategy) | about, StrategyVersion)


def known_url(text: str) -> str:
    """Return the canonical form of a URL, or the text itself, which then names nothing; raises BadUrl for what cannot
    even be taken apart."""
    try:
        return canonical_url(text)
    except BadUrl as error:
        try:
            split_url(text)
        except ValueError:
            raise error from None
        return text


def stored_document(record: Record, document: Document, replicas: int) -> StoredDocument:
    """Return a stored document as programs read it; `replicas`: ready replicas of its slot."""
    about = {
        "id": record.id.hex(),
        "key": record.key.hex(),
        "version": record.version.digest.hex(),
        "epoch": record.version.epoch,
        "author": record.proof.author.hex(),
        "expires_day": record.expires_day,
        "replicas": replicas,
        "signature": document.signature.hex(),
    }
    return msgspec.convert(msgspec.structs.asdict(document) | about, StoredDocument)
