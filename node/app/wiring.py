"""The parts of a node, package by package, in the order in which they need each other: each is whole when it is made.

`node/app/node_core.py` makes one of each group, and runs what runs.
"""

from dataclasses import replace
from functools import partial

from crawl import (
    CrawlConfig,
    CrawlControl,
    CrawlDecision,
    Crawler,
    CrawlerPorts,
    OperatorBlocklist,
    signature,
)
from dht import PeerAudit, SiteShards
from index import (
    Agree,
    IndexConfig,
    LocalIndex,
    Searcher,
)
from node.app.environment import NodeEnvironment
from node.audit.evidence_desk import EvidenceDesk
from node.audit.evidence_keeper import EvidenceKeeper
from node.audit.second_look import SecondLook
from node.audit.second_looks import SecondLooks
from node.audit.site_turns import SiteTurns
from node.captures.network_reader import NetworkReader
from node.crawling.denial_sweep import DenialSweep
from node.crawling.fetch_pause import FetchPause
from node.crawling.frontier_sync import FrontierSync
from node.crawling.ingest import Ingest
from node.crawling.record_rules import RecordRules
from node.crawling.store_change_feed import StoreChangeFeed
from node.crawling.strategy_policy import StrategyPolicy
from node.crawling.url_lookup import UrlLookup
from node.crawling.waiting_for import waiting_for
from node.delegation.client_audit import ClientAudit
from node.delegation.client_dispatch import ClientDispatch
from node.delegation.client_worker import ClientWorker
from node.delegation.order_server import OrderServer
from node.delegation.routed_fetcher import RoutedFetcher
from node.delegation.site_token_exchange import SiteTokenExchange
from node.jobs.explain import Explanations
from node.jobs.job_progress import JobProgress
from node.jobs.page_import import PageImport
from node.jobs.resubmission import Resubmission
from node.jobs.seed_publisher import SeedPublisher
from node.jobs.sitemap_listing import SitemapListing
from node.jobs.submission import Submission
from node.sites.dns_proof import DnsProof
from node.sites.host_book import HostBook
from node.sites.host_record_writer import HostRecordWriter
from node.sites.host_records import HostRecords
from node.sites.mirror_finder import MirrorFinder
from node.sites.removal_request import RemovalRequests
from node.sites.site_removals import SiteRemovals
from node.sites.site_sharder import SiteSharder
from store import REMOVED, RecordCheck, Replicator, StoreConfig


class StoreParts:
    """Keeps records, here and at their owners, and knows where they lie."""

    def __init__(self, config: StoreConfig, env: NodeEnvironment, control: CrawlControl, audit: PeerAudit) -> None:
        self.records = env.store
        self.host_book = HostBook(env.clock)
        self.shards = SiteShards(env.overlay.view, self.host_book)
        check = RecordCheck(RecordRules(), self.shards, env.store.denial)
        self.replicator = Replicator(
            config,
            env.store,
            env.overlay,
            env.identity,
            check,
            env.new_rng(),
            expects_others=env.expects_others,
            audit=audit,
        )
        self.host_records = HostRecords(self.host_book, self.replicator, control.hear_aliases)
        self.ingest = Ingest(self.replicator, env.clock, self.shards.key_of)
        self.site_removals = SiteRemovals(env.store, env.clock)
        self.evidence = EvidenceKeeper(env.overlay, env.evidence_path, env.clock)
        self.denial_sweep = sweep = DenialSweep(env.overlay, env.store, env.identity, env.clock)
        learn = self.host_records.learn
        self.lookup = UrlLookup(env.store, self.replicator, self.shards, learn, sweep.is_vanishing)
        self.reader = NetworkReader(env.overlay, self.replicator, self.shards, learn, env.store.denial, env.clock)


class FetchParts:
    """Decides who may fetch, and has it done: by this node, other owners, clients."""

    def __init__(
        self,
        config: CrawlConfig,
        env: NodeEnvironment,
        shards: SiteShards,
        pause: FetchPause,
        control: CrawlControl,
        audit: PeerAudit,
    ) -> None:
        self._by_rules, self._denial = StrategyPolicy(lambda: env.overlay.view.strategy).decide, env.store.denial
        self.refusals = refusals = OperatorBlocklist(config.refuse)
        self.pause = pause
        self.proofs = proofs = DnsProof(env.fetcher, env.find_texts)
        self.client_dispatch = clients = ClientDispatch(env.overlay, env.clock, control.lend, audit)
        self.fetcher = RoutedFetcher(
            proofs,
            env.overlay,
            self.decide,
            config.max_body_bytes,
            env.new_rng(),
            max_own=config.max_open_fetches,
            by_client=clients.carry,
            audit=ClientAudit(env.parsers, audit, control.refetch, clients.refute),
            place=shards.key_of,
            refusals=refusals,
        )
        self.order_server = OrderServer(
            proofs,
            env.overlay,
            self.decide,
            config.max_body_bytes,
            pause_reason=pause.operator_reason,
            place=shards.key_of,
            refusals=refusals,
        )
        self.client_worker = ClientWorker(env.overlay, self.order_server.carry, env.new_rng(), pause.operator_reason)

    def decide(self, url: str) -> CrawlDecision:
        """Return what the strategy says of a canonical URL, and its site's owner as far as it is heard here."""
        decision = self._by_rules(url)
        is_removed = decision.allowed and self._denial.is_removed(url)
        return replace(decision, allowed=False, reason=REMOVED) if is_removed else decision

    def decide_here(self, url: str) -> CrawlDecision:
        """Return what the strategy says, and whether this node's operator lets nobody fetch it for the slot's sake."""
        decision = self.decide(url)
        declined = self.fetcher.declined(url) if decision.allowed else ""
        return replace(decision, refused_here=declined) if declined else decision

    def may_look_at(self, url: str) -> bool:
        """Tell whether this node may fetch a canonical URL for a second look: neither strategy nor operator forbids."""
        is_refused = self.refusals.reason_now(url) or self.pause.operator_reason()
        return self.decide(url).allowed and not is_refused


class CrawlParts:
    """Crawls, and keeps the crawler's frontier true."""

    def __init__(
        self, config: CrawlConfig, env: NodeEnvironment, store: StoreParts, fetching: FetchParts, control: CrawlControl
    ) -> None:
        self.refetch = control.refetch
        self.tokens = SiteTokenExchange(env.overlay, store.shards, store.replicator, env.clock)
        ports = CrawlerPorts(
            store.ingest,
            fetching.fetcher,
            env.parsers,
            fetching.decide_here,
            self.tokens,
            store.lookup,
            env.locate,
            env.late,
            fetching.proofs.find,
        )
        self.crawler = Crawler(config, ports, control, env.clock, env.new_rng(), env.seen_path, env.faults)
        self.frontier_sync = FrontierSync(
            self.crawler,
            env.store,
            env.overlay,
            store.shards,
            store.host_book,
            store.host_records.hear,
            lambda url: fetching.decide(url).allowed,
            store.denial_sweep,
            env.clock,
            store.evidence,
        )


class SiteParts:
    """Decides for the network how the sites at home here are spread, and what they are mirrors of."""

    def __init__(self, env: NodeEnvironment, store: StoreParts, control: CrawlControl) -> None:
        overlay, clock = env.overlay, env.clock
        records, replicator, lookup = store.host_records, store.replicator, store.lookup
        self.writer = writer = HostRecordWriter(env.store, replicator, store.host_book, clock)
        self.sharder = SiteSharder(
            env.spreading, overlay, env.store, replicator, store.shards, records, writer, clock, env.new_rng()
        )
        self.mirror_finder = MirrorFinder(overlay, control, lookup, records, writer, clock)


class AuditParts:
    """Looks again at pages of other authors, and keeps evidence where they differ."""

    def __init__(
        self,
        config: CrawlConfig,
        env: NodeEnvironment,
        store: StoreParts,
        fetching: FetchParts,
        crawl: CrawlParts,
        audit: PeerAudit,
    ) -> None:
        overlay, clock, evidence = env.overlay, env.clock, store.evidence
        turns = SiteTurns(overlay, crawl.crawler, crawl.tokens, store.shards, fetching.decide, clock)
        fetcher = DnsProof(env.second_look_fetcher or env.fetcher, env.find_texts)
        self.evidence = evidence
        self.look = SecondLook(
            config, fetcher, fetcher.find, env.find_way, env.parsers, turns, fetching.may_look_at, clock
        )
        fetched = lambda: crawl.crawler.fetched  # noqa: E731
        self.second_looks = SecondLooks(overlay, env.store, env.identity, audit, self.look, evidence, fetched, clock)
        self.desk = EvidenceDesk(overlay, evidence, store.replicator, self.look, clock)
        audit.checks.repeat(self.second_looks.step)
        audit.checks.repeat(evidence.step)


class IndexParts:
    """Indexes what lies here, and searches through the whole network. Blocks while files are opened."""

    def __init__(
        self, config: IndexConfig, env: NodeEnvironment, store: StoreParts, agree: Agree, audit: PeerAudit
    ) -> None:
        feed = StoreChangeFeed(env.store)
        no_room = partial(env.store.no_room, 0)
        self.local = LocalIndex.open(config, env.index_path, env.overlay, feed, agree, env.faults, no_room)
        read, rng = store.lookup.texts, env.new_rng()
        self.searcher = Searcher(env.overlay, self.local, read, env.clock, rng, signature, audit, env.tracer)


class JobParts:
    """Takes crawls and pages from people, and says what becomes of them."""

    def __init__(
        self, config: CrawlConfig, env: NodeEnvironment, store: StoreParts, fetching: FetchParts, crawler: Crawler
    ) -> None:
        overlay, lookup, clock = env.overlay, store.lookup, env.clock
        decide, refusals = fetching.decide, fetching.refusals
        self.seed_publisher = SeedPublisher(store.ingest.submit, overlay, decide, clock, env.new_rng())
        self.removals = RemovalRequests(fetching.proofs, self.seed_publisher, lookup, store.shards)
        self.listing = SitemapListing(overlay, lookup, crawler.listed)
        self.progress = JobProgress(lookup, self.listing, decide, clock)
        self.resubmission = Resubmission(self.progress.answer, self.seed_publisher.publish, clock)
        waits_for = partial(waiting_for, overlay.view)
        self.submission = Submission(self.seed_publisher, waits_for, decide, refusals, lookup, self.resubmission, clock)
        replicator, ingest, seeds = store.replicator, store.ingest, self.seed_publisher
        self.page_import = PageImport(
            config, overlay, env.parsers, replicator, ingest, lookup, decide, refusals, seeds, clock
        )
        self.explanations = Explanations(overlay, store.shards, crawler, lookup, decide, refusals, clock)
