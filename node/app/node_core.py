"""One node without sockets, files and processes: everything that decides, wired by hand.

`node/process/run_node.py` gives it the real shells, `node/simulation/world.py` the simulated ones; both run this very
object.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from random import Random

from crawl import (
    BandwidthWait,
    CrawlConfig,
    CrawlControl,
    CrawlDecision,
    Crawler,
    CrawlerPorts,
    Fetcher,
    FetchHours,
    Locate,
    MirrorDetector,
    OperatorBlocklist,
    Parsers,
    nowhere,
)
from dht import Clock, DocumentId, Identity, Key, Overlay, ShardPolicy, SiteShards, Slot, resize_inside
from index import IndexConfig, LocalIndex, Searcher, Text
from node.app.event_log import EventLog, NodeState
from node.crawling.frontier_sync import FrontierSync, slot_range
from node.crawling.ingest import Ingest, visit_flaw
from node.crawling.machine_load import LoadMeter, MachineReading
from node.crawling.operator_pause import OperatorPause
from node.crawling.settlement import Report, Settlement, report_of
from node.crawling.store_change_feed import StoreChangeFeed, text_of
from node.crawling.strategy_policy import StrategyPolicy
from node.crawling.url_lookup import UrlLookup
from node.crawling.why_idle import crawl_reason
from node.delegation.client_audit import ClientAudit
from node.delegation.client_dispatch import ClientDispatch
from node.delegation.client_worker import ClientWorker
from node.delegation.routed_fetcher import RoutedFetcher
from node.delegation.site_token_exchange import SiteTokenExchange
from node.jobs.explain import Explanations
from node.jobs.job_progress import JobProgress
from node.jobs.resubmission import Resubmission
from node.jobs.seed_publisher import SeedPublisher
from node.jobs.sitemap_listing import SitemapListing
from node.jobs.submission import Submission
from node.sites.host_book import HostBook
from node.sites.host_record_writer import HostRecordWriter
from node.sites.host_records import HostRecords
from node.sites.mirror_finder import MirrorFinder, Sampling
from node.sites.site_sharder import SiteSharder
from store import Kind, RecordStore, Replicator, StoreConfig

ANNOUNCE_EVERY_S = 1.0  # how soon a slot that became ready, and indexed, is announced
ANNOUNCE_DUE = 5  # rounds between two announcements of how much is due
SPREADING, SAMPLING = ShardPolicy(), Sampling()
LAST_ROOM = 0.05  # of the quota: kept for copies of what others fetch


@dataclass(frozen=True, slots=True)
class NodeEnvironment:
    """What a daemon needs from the outside world."""

    identity: Identity
    overlay: Overlay
    store: RecordStore
    fetcher: Fetcher
    parsers: Parsers
    clock: Clock
    rng: Random
    index_path: Path | None  # None: in memory
    seen_path: Path | None  # the same; emptied at every start
    expects_others: bool  # the peer cache or the network file names somebody
    locate: Locate = nowhere  # where the fetcher will find a host
    late: BandwidthWait = lambda: 0.0  # until the fetcher's bandwidth limit lets another fetch begin
    machine: Callable[[], MachineReading] = MachineReading  # how busy it is; by default nothing is told
    spreading: ShardPolicy = SPREADING  # which sites are big enough to be spread
    sampling: Sampling = SAMPLING  # how often aliases of hosts are looked for, and looked after


class NodeCore:
    """A crawler, a store and an index server at once. `run` until cancelled, then `close`."""

    def __init__(self, crawl: CrawlConfig, store: StoreConfig, index: IndexConfig, env: NodeEnvironment) -> None:
        self.overlay, self.store = env.overlay, env.store
        self._shown: frozenset[Slot] = frozenset()
        self._shown_bits = env.overlay.view.strategy.slot_bits
        self._clock, self._machine, self._meter = env.clock, env.machine, LoadMeter()
        self._quota_bytes = store.quota_bytes
        mirrors = MirrorDetector(Random(env.rng.random()), env.sampling.sample_every_s)
        self.crawl_control = control = CrawlControl(mirrors, env.clock)
        self.host_book = HostBook(env.clock)
        self.places = SiteShards(env.overlay.view, self.host_book)
        self._last_room_bytes = last_room_bytes(crawl, store)
        self.replicator = Replicator(
            store,
            env.store,
            env.overlay,
            env.identity,
            env.clock,
            Random(env.rng.random()),
            on_ready=self._show,
            expects_others=env.expects_others,
            body_flaw=visit_flaw,
            places=self.places,
        )
        self.host_records = HostRecords(self.host_book, self.replicator, control.hear_aliases)
        self.ingest = Ingest(self.replicator, env.clock, self.places.place)
        self.url_lookup = UrlLookup(self.replicator, self.places, self.host_records.learn)
        self.decide = StrategyPolicy(lambda: env.overlay.view.strategy).decide
        self.seed_publisher = SeedPublisher(
            self.ingest.discover, env.overlay, self.decide, env.clock, Random(env.rng.random())
        )
        self.client_dispatch = ClientDispatch(env.overlay, env.clock, control.lend)
        self.refusals = OperatorBlocklist(crawl.refuse)
        self._fetcher = fetcher = RoutedFetcher(
            env.fetcher,
            env.overlay,
            self.decide,
            crawl.max_body_bytes,
            Random(env.rng.random()),
            max_own=crawl.max_open_fetches,
            by_client=self.client_dispatch.carry,
            checks=ClientAudit(
                env.parsers,
                Random(env.rng.random()),
                control.refetch,
                self.client_dispatch.distrust,
            ),
            place=self.places.place,
            refusals=self.refusals,
        )
        self.client_worker = ClientWorker(env.overlay, fetcher.carry, Random(env.rng.random()))
        self._operator_pause = OperatorPause(FetchHours.parse(crawl.hours))
        self.crawler = Crawler(
            crawl,
            CrawlerPorts(
                self.ingest,
                fetcher,
                env.parsers,
                self._decide_here,
                SiteTokenExchange(env.overlay, self.places, self.replicator, env.clock),
                self.url_lookup,
                env.locate,
                env.late,
            ),
            control,
            env.clock,
            Random(env.rng.random()),
            env.seen_path,
        )
        env.overlay.crawls(self.crawler)
        self._frontier_sync = FrontierSync(
            self.crawler, env.store, env.overlay, self.places, self.host_book, self.host_records.hear
        )
        host_writer = HostRecordWriter(env.store, self.replicator, self.host_book, env.clock)
        self._site_sharder = SiteSharder(
            env.spreading,
            env.overlay,
            env.store,
            self.replicator,
            self.places,
            self.host_records,
            host_writer,
            env.clock,
            Random(env.rng.random()),
        )
        self._mirror_finder = MirrorFinder(
            env.sampling,
            env.overlay,
            control,
            self.url_lookup,
            self.host_records,
            host_writer,
            env.clock,
            Random(env.rng.random()),
        )
        self.index = LocalIndex.open(index, env.index_path, env.overlay, StoreChangeFeed(env.store))
        self.searcher = Searcher(index, env.overlay, self.index, self.read_texts, env.clock, Random(env.rng.random()))
        self.settlement = Settlement(env.overlay, self.report)
        lists = SitemapListing(env.overlay, self.url_lookup, self.crawler.listed)
        self.job_progress = JobProgress(self.url_lookup, lists, self.decide, env.clock)
        behind = Resubmission(self.job_progress.of, env.clock)
        self.submission = Submission(
            self.seed_publisher, self.decide, self.refusals, self.url_lookup, behind.find, env.clock
        )
        self.explanations = Explanations(
            env.overlay,
            self.places,
            self.crawler,
            self.url_lookup,
            self.decide,
            self.refusals,
            env.clock,
        )

    async def run(self) -> None:
        """Everything but the overlay, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.replicator.run(), name="replicator")
            tasks.create_task(self.index.run(), name="index")
            tasks.create_task(self.crawler.run(), name="crawler")
            tasks.create_task(self._frontier_sync.run(), name="holding")
            tasks.create_task(self._announce(), name="announce")
            tasks.create_task(self.host_records.run(), name="hosts")
            tasks.create_task(self._site_sharder.run(), name="spreader")
            tasks.create_task(self._mirror_finder.run(), name="aliasing")
            tasks.create_task(self.client_worker.run(), name="polls")

    def pause(self, paused: bool, for_s: float | None = None) -> str:
        """Fetch nothing, for this node or for others, for so long or (None) until told otherwise; the reason that is
        shown meanwhile."""
        if paused:
            self._operator_pause.pause(self._clock().steady, self._local(), for_s)
        else:
            self._operator_pause.resume()
        self._stand()
        return self.standstill()

    def standstill(self) -> str:
        """Why the owner of this machine lets it fetch nothing just now, "" where it may."""
        return self._operator_pause.paused(self._clock().steady) or self._operator_pause.closed(self._local())

    def _stand(self) -> None:
        """Tell everybody who would fetch."""
        reason = self.standstill()
        self.client_worker.resting = self._fetcher.resting = reason
        self.crawl_control.pause(reason or self.hindrance())

    def _local(self) -> datetime:
        return datetime.fromtimestamp(self._clock().wall)  # what the clock on the wall shows

    async def close(self) -> None:
        """End threads and close files; the overlay and the fetcher belong to whoever made them."""
        self.crawler.close()
        await self.index.close()
        self.store.close()

    def report(self) -> Report:
        """What this node's ready slots hold and have indexed; none while index or frontier lag behind the store."""
        bits = self.overlay.view.strategy.slot_bits
        slots = (
            sorted(self.replicator.ready_slots()) if self.index.is_current and self._frontier_sync.is_current else []
        )
        stored = {slot: self.store.summary(*slot_range(slot, bits)).fingerprint for slot in slots}
        indexed = {slot: self.index.indexed(slot)[1] for slot in slots}
        crawl, status = self.crawler.status(), self.replicator.status()
        return report_of(bits, stored, indexed, status.owed_now, crawl.waiting + crawl.open)

    async def moment(self, diary: EventLog | None = None) -> NodeState:
        """This node as its diary sees it; the team is asked only where the diary is curious."""
        view, kept, crawl = self.overlay.view, self.replicator.status(), self.crawler.status()
        asks = diary is not None and diary.is_curious(self.index.documents, crawl.state)
        return NodeState(
            at=self._clock().steady,
            live=frozenset(p.hex() for p in view.members() if p != view.node_id and view.is_live(p)),
            owned=kept.owned,
            ready=kept.ready,
            crawl=crawl.state,
            hindrance=self.hindrance(),
            waiting=crawl.waiting,
            fetched=crawl.fetched,
            failed=crawl.failed,
            documents=self.index.documents,
            is_settled=asks and await self.settlement.is_settled(),
        )

    def _decide_here(self, url: str) -> CrawlDecision:
        """What the strategy says, and whether this node's operator lets nobody fetch it for the slot's sake."""
        decision = self.decide(url)
        declined = self._fetcher.declined(url) if decision.allowed else ""
        return replace(decision, refused_here=declined) if declined else decision

    def crawl_reason(self) -> str:
        """Why the crawler does what it does, in one line."""
        kept = self.replicator.status()
        return crawl_reason(self.crawler.status(), kept.owned, kept.ready, self._frontier_sync.is_current)

    def hindrance(self) -> str:
        """Why this node must not fetch just now, "" where it may."""
        reason = self.store.no_room(self._last_room_bytes)
        return f"no room for new pages: {reason}; raise store.quota_bytes or free some space" if reason else ""

    async def read_texts(self, wanted: Sequence[tuple[DocumentId, Key]]) -> Mapping[DocumentId, Text | None]:
        """Signed documents, from this node or a ready replica, as the searcher shows them."""
        records = await self.replicator.read_many([(Kind.DOCUMENT, id, key) for id, key in wanted])
        return {id: text_of(records.get((Kind.DOCUMENT, id))) for id, _ in wanted}

    def _show(self, ready: frozenset[Slot]) -> None:
        """Announce slots that are reconciled and indexed; a new one waits until the index has caught up with it."""
        bits = self.overlay.view.strategy.slot_bits
        self._shown, self._shown_bits = resize_inside(self._shown, self._shown_bits, bits), bits
        shown = ready if self.index.is_current else ready & self._shown
        if shown != self._shown:
            self._shown = shown
            self._tell()

    def _tell(self, *, looks: bool = False) -> None:
        """Announce what is ready and due; how busy the machine is where that was looked at."""
        load = self._meter.take(self._clock().steady, self._machine(), self._disk_share()) if looks else None
        self.overlay.announce(self._shown, sum(self.crawler.due().values()), load)

    def _disk_share(self) -> float:
        return self.store.used_bytes / self._quota_bytes

    async def _announce(self) -> None:
        rounds = 0
        while True:
            self._show(self.replicator.ready_slots())
            if rounds % ANNOUNCE_DUE == 0:
                self._tell(looks=True)
            self._stand()
            rounds += 1
            await asyncio.sleep(ANNOUNCE_EVERY_S)


def last_room_bytes(crawl: CrawlConfig, store: StoreConfig) -> int:
    """A node that has no more room than this fetches nothing: two of the largest pages must always fit, or an open
    fetch would wait for room that never comes."""
    largest = crawl.max_body_bytes + 4 * crawl.max_text_chars
    return max(int(store.quota_bytes * LAST_ROOM), 2 * largest)
