"""The parts of a node, made in the order in which they need each other; every part is whole when it is made.

From top to bottom: what the store knows, who may fetch and who does, the crawler, what is known of whole sites, the
index, and what people ask for. `node/app/node_core.py` runs them.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from crawl import (
    CrawlConfig,
    CrawlControl,
    CrawlDecision,
    Crawler,
    CrawlerPorts,
    FetchHours,
    OperatorBlocklist,
)
from dht import SiteShards
from index import IndexConfig, LocalIndex, Searcher
from node.app.environment import NodeEnvironment
from node.app.fetch_pause import FetchPause
from node.crawling.frontier_sync import FrontierSync
from node.crawling.ingest import Ingest, visit_flaw
from node.crawling.operator_pause import OperatorPause
from node.crawling.store_change_feed import StoreChangeFeed
from node.crawling.strategy_policy import StrategyPolicy
from node.crawling.url_lookup import UrlLookup
from node.delegation.client_audit import ClientAudit
from node.delegation.client_dispatch import ClientDispatch
from node.delegation.client_worker import ClientWorker
from node.delegation.order_server import OrderServer
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
from node.sites.mirror_finder import MirrorFinder
from node.sites.site_sharder import SiteSharder
from store import RecordStore, Replicator, StoreConfig


@dataclass(frozen=True, slots=True)
class StoreParts:
    """What this node keeps, and finds at others."""

    records: RecordStore
    replicator: Replicator
    ready_changed: asyncio.Event  # set whenever the replicator's ready slots are others
    shards: SiteShards
    host_book: HostBook
    host_records: HostRecords
    ingest: Ingest
    lookup: UrlLookup


def wire_store(config: StoreConfig, env: NodeEnvironment, control: CrawlControl) -> StoreParts:
    """Make what keeps records, and knows where they lie."""
    ready_changed, host_book = asyncio.Event(), HostBook(env.clock)
    shards = SiteShards(env.overlay.view, host_book)
    replicator = Replicator(
        config,
        env.store,
        env.overlay,
        env.identity,
        env.clock,
        env.new_rng(),
        on_ready=lambda slots: ready_changed.set(),
        expects_others=env.expects_others,
        body_flaw=visit_flaw,
        places=shards,
    )
    host_records = HostRecords(host_book, replicator, control.hear_aliases)
    ingest = Ingest(replicator, env.clock, shards.place)
    lookup = UrlLookup(replicator, shards, host_records.learn)
    return StoreParts(env.store, replicator, ready_changed, shards, host_book, host_records, ingest, lookup)


@dataclass(frozen=True, slots=True)
class FetchParts:
    """Who may fetch, and who does: this node, other owners, clients."""

    decide: Callable[[str], CrawlDecision]
    refusals: OperatorBlocklist
    operator_pause: OperatorPause
    pause: FetchPause
    client_dispatch: ClientDispatch
    fetcher: RoutedFetcher
    order_server: OrderServer
    client_worker: ClientWorker


def wire_fetching(
    config: CrawlConfig, env: NodeEnvironment, store: StoreParts, room_bytes: int, control: CrawlControl
) -> FetchParts:
    """Make what stands between the crawler and the web. `room_bytes`: with less room than this nothing is fetched."""
    decide = StrategyPolicy(lambda: env.overlay.view.strategy).decide
    refusals = OperatorBlocklist(config.refuse)
    operator = OperatorPause(FetchHours.parse(config.hours), env.clock)
    clients = ClientDispatch(env.overlay, env.clock, control.lend)
    fetcher = RoutedFetcher(
        env.fetcher,
        env.overlay,
        decide,
        config.max_body_bytes,
        env.new_rng(),
        max_own=config.max_open_fetches,
        by_client=clients.carry,
        audit=ClientAudit(env.parsers, env.new_rng(), control.refetch, clients.distrust),
        place=store.shards.place,
        refusals=refusals,
    )
    orders = OrderServer(
        env.fetcher,
        env.overlay,
        decide,
        config.max_body_bytes,
        pause_reason=operator.reason,
        place=store.shards.place,
        refusals=refusals,
    )
    return FetchParts(
        decide,
        refusals,
        operator,
        FetchPause(operator, env.store, room_bytes, control),
        clients,
        fetcher,
        orders,
        ClientWorker(env.overlay, orders.carry, env.new_rng(), operator.reason),
    )


@dataclass(frozen=True, slots=True)
class CrawlParts:
    """The crawler, and what keeps its frontier true."""

    crawler: Crawler
    frontier_sync: FrontierSync


def wire_crawl(
    config: CrawlConfig, env: NodeEnvironment, store: StoreParts, fetching: FetchParts, control: CrawlControl
) -> CrawlParts:
    """Make the crawler, which is told by `control` what it should know while it runs."""

    def decide(url: str) -> CrawlDecision:
        """What the strategy says, and whether this node's operator lets nobody fetch it for the slot's sake."""
        decision = fetching.decide(url)
        declined = fetching.fetcher.declined(url) if decision.allowed else ""
        return replace(decision, refused_here=declined) if declined else decision

    ports = CrawlerPorts(
        store.ingest,
        fetching.fetcher,
        env.parsers,
        decide,
        SiteTokenExchange(env.overlay, store.shards, store.replicator, env.clock),
        store.lookup,
        env.locate,
        env.late,
    )
    crawler = Crawler(config, ports, control, env.clock, env.new_rng(), env.seen_path)
    env.overlay.crawls(crawler)
    sync = FrontierSync(crawler, env.store, env.overlay, store.shards, store.host_book, store.host_records.hear)
    return CrawlParts(crawler, sync)


@dataclass(frozen=True, slots=True)
class SiteParts:
    """What the holder of a site's home slot decides for the network."""

    writer: HostRecordWriter
    sharder: SiteSharder
    mirror_finder: MirrorFinder


def wire_sites(env: NodeEnvironment, store: StoreParts, control: CrawlControl) -> SiteParts:
    """Make what spreads big sites, and finds mirrors."""
    writer = HostRecordWriter(env.store, store.replicator, store.host_book, env.clock)
    sharder = SiteSharder(
        env.spreading,
        env.overlay,
        env.store,
        store.replicator,
        store.shards,
        store.host_records,
        writer,
        env.clock,
        env.new_rng(),
    )
    mirrors = MirrorFinder(
        env.sampling, env.overlay, control, store.lookup, store.host_records, writer, env.clock, env.new_rng()
    )
    return SiteParts(writer, sharder, mirrors)


@dataclass(frozen=True, slots=True)
class IndexParts:
    """The index of what lies here, and searches through the whole network."""

    local: LocalIndex
    searcher: Searcher


def wire_index(config: IndexConfig, env: NodeEnvironment, store: StoreParts) -> IndexParts:
    """Open the index; blocks while files are read."""
    local = LocalIndex.open(config, env.index_path, env.overlay, StoreChangeFeed(env.store))
    return IndexParts(local, Searcher(config, env.overlay, local, store.lookup.texts, env.clock, env.new_rng()))


@dataclass(frozen=True, slots=True)
class JobParts:
    """What people hand in, and ask about it."""

    seed_publisher: SeedPublisher
    listing: SitemapListing
    progress: JobProgress
    submission: Submission
    explanations: Explanations


def wire_jobs(env: NodeEnvironment, store: StoreParts, fetching: FetchParts, crawler: Crawler) -> JobParts:
    """Make what takes crawls from people, and says what becomes of them."""
    decide, refusals, clock = fetching.decide, fetching.refusals, env.clock
    seeds = SeedPublisher(store.ingest.discover, env.overlay, decide, clock, env.new_rng())
    listing = SitemapListing(env.overlay, store.lookup, crawler.listed)
    progress = JobProgress(store.lookup, listing, decide, clock)
    resubmission = Resubmission(progress.of, clock)
    submission = Submission(seeds, decide, refusals, store.lookup, resubmission.find, clock)
    explanations = Explanations(env.overlay, store.shards, crawler, store.lookup, decide, refusals, clock)
    return JobParts(seeds, listing, progress, submission, explanations)
