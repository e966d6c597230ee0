"""The parts of a node, package by package, in the order in which they need each other: each is whole when it is made.

`node/app/node_core.py` makes one of each group, and runs what runs.
"""

import asyncio
from dataclasses import replace
from functools import partial

from crawl import (
    AddressDenied,
    CrawlConfig,
    CrawlControl,
    CrawlDecision,
    Crawler,
    Fetched,
    OperatorBlocklist,
    TokenAnswer,
    UrlSeenTest,
    Visit,
    signature,
)
from dht import PeerAudit, RemoteError, SiteShards
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
from node.crawling.address_rules import AddressRules
from node.crawling.change_follower import ChangeFollower
from node.crawling.denial_sweep import DenialSweep
from node.crawling.due_anew import DueAgain
from node.crawling.fetch_pause import FetchPause
from node.crawling.fetch_rules import FetchRules, StrategyPolicy
from node.crawling.frontier_sync import FrontierSync
from node.crawling.ingest import Ingest
from node.crawling.store_change_feed import RecordRules, StoreChangeFeed
from node.crawling.unfinished_fetches import UnfinishedFetches
from node.crawling.url_lookup import UrlLookup
from node.crawling.why_idle import waiting_for
from node.delegation.client_audit import ClientAudit
from node.delegation.client_dispatch import ClientDispatch
from node.delegation.client_worker import ClientWorker
from node.delegation.order_server import OrderServer
from node.delegation.routed_fetcher import ClientFetches, RoutedFetcher
from node.delegation.site_token_exchange import SiteTokenExchange
from node.jobs.cancellation import Cancellation
from node.jobs.explain import Explanations
from node.jobs.job_progress import JobProgress
from node.jobs.job_schedule import JobSchedule
from node.jobs.page_import import CaptureReader, PageImport
from node.jobs.resubmission import Resubmission
from node.jobs.seed_publisher import SeedPublisher
from node.jobs.sitemap_listing import SitemapListing
from node.jobs.submission import Submission
from node.sites.asked_removals import AskedRemovals
from node.sites.dns_proof import DnsProof
from node.sites.host_book import HostBook
from node.sites.host_records import HostRecords, HostRecordWriter
from node.sites.mirror_finder import MirrorFinder
from node.sites.removal_request import RemovalRequests
from node.sites.site_removals import SiteRemovals
from node.sites.site_sharder import SiteSharder
from store import RecordCheck, Replicator, StoreConfig

FIND_WITHIN_S = 3.0  # a host's addresses, where somebody waits for an explanation


class StoreParts:
    """Keeps records, here and at their owners, and knows where they lie."""

    def __init__(self, config: StoreConfig, env: NodeEnvironment, control: CrawlControl, audit: PeerAudit) -> None:
        member, machine, overlay, clock = env.member, env.machine, env.member.overlay, env.machine.clock
        self.records = records = machine.store
        self.changes = ChangeFollower(records)
        self.host_book = HostBook(clock)
        self.shards = SiteShards(overlay.view, self.host_book)
        check = RecordCheck(RecordRules(), self.shards, records.denial)
        self.replicator = Replicator(
            records,
            overlay,
            member.identity,
            check,
            machine.new_rng(),
            expects_others=member.expects_others,
            audit=audit,
        )
        self.host_records = HostRecords(self.host_book, self.replicator, control.hear_aliases)
        self.site_removals = SiteRemovals(records, clock)
        self.changes.listen(self.site_removals.hear, self.site_removals.tend)
        self.evidence = EvidenceKeeper(overlay, machine.files.evidence, clock)
        self.denial_sweep = sweep = DenialSweep(overlay, records, member.identity, clock)
        learn = self.host_records.learn
        self.lookup = UrlLookup(records, self.replicator, self.shards, learn, sweep.is_vanishing)
        self.ingest = Ingest(self.replicator, clock, self.shards.key_of, self.lookup.find)
        self.reader = NetworkReader(overlay, self.replicator, self.shards, learn, records.denial, clock)


class FetchParts:
    """Decides who may fetch, and has it done: by this node, other owners, clients. It is the crawler's `SiteAccess`."""

    def __init__(
        self,
        config: CrawlConfig,
        env: NodeEnvironment,
        store: StoreParts,
        pause: FetchPause,
        control: CrawlControl,
        audit: PeerAudit,
    ) -> None:
        overlay, machine, web, place = env.member.overlay, env.machine, env.web, store.shards.key_of
        strategy = StrategyPolicy(lambda: overlay.view.strategy)
        self.refusals = OperatorBlocklist(config.refuse)
        self.by_address = by_address = AddressRules(lambda: overlay.view.strategy)
        removed = machine.store.denial.is_removed
        self.rules = rules = FetchRules(strategy.decide, removed, self.refusals, by_address.judge)
        web.judge_addresses(rules.judge_address)
        self.pause, self.meter, self.unread = pause, web.meter, web.parsers.waiting
        self.proofs = proofs = DnsProof(web.fetcher, web.find_texts)
        self.client_dispatch = clients = ClientDispatch(overlay, machine.clock, control.lend, audit)
        checks = ClientAudit(web.parsers, audit, control.refetch, clients.refute)
        self.fetcher = RoutedFetcher(
            proofs,
            overlay,
            rules,
            machine.new_rng(),
            max_own=config.max_open_fetches,
            clients=ClientFetches(clients.carry, config.max_body_bytes, checks),
            place=place,
        )
        self.order_server = OrderServer(
            proofs,
            overlay,
            rules,
            config.max_body_bytes,
            pause_reason=pause.operator_reason,
            place=place,
        )
        self.tokens = tokens = SiteTokenExchange(overlay, store.shards, store.replicator, machine.clock)
        self.unfinished = UnfinishedFetches(machine.store, overlay.view.node_id, machine.clock)
        self.fetch, self.locate, self.late, self.release = self.fetcher.fetch, web.locate, web.late, tokens.release
        self.chosen, self.others = self.fetcher.chosen, self.fetcher.others
        self.address_words, self._find_way = by_address.words, web.find_way
        self.client_worker = ClientWorker(overlay, self.order_server.carry, machine.new_rng(), pause.operator_reason)

    def decide(self, url: str) -> CrawlDecision:
        """Return what the strategy says, and whether this node's operator lets nobody fetch it for the slot's sake."""
        decision = self.rules.decide(url)
        declined = self.fetcher.declined(url) if decision.allowed else ""
        return replace(decision, refused_here=declined) if declined else decision

    async def elsewhere(self, visit: Visit) -> Fetched | None:
        """Return what is at a URL where this node has stored it a moment ago, or another than its site says that."""
        return self.unfinished.read(visit) or await self.proofs.find(visit.url)

    async def acquire(self, visit: Visit) -> TokenAnswer:
        """Ask for the token that a request needs, but let a URL wait whose page another node delivers just now."""
        later = self.unfinished.postponed(visit)
        return await self.tokens.acquire(visit) if later is None else TokenAnswer(known=later)

    async def denied(self, url: str) -> AddressDenied | None:
        """Return what a fetch by this node would raise for the addresses of a URL's host; None where nothing."""
        try:
            async with asyncio.timeout(FIND_WITHIN_S):
                await self._find_way(url)
        except AddressDenied as denied:
            return denied
        except (RemoteError, TimeoutError):  # the fetch will say so
            pass
        return None

    def may_look_at(self, url: str) -> bool:
        """Tell whether this node may fetch a canonical URL for a second look: neither strategy nor operator forbids."""
        is_refused = self.refusals.reason_now(url) or self.pause.operator_reason()
        return self.rules.is_allowed(url) and not is_refused


class CrawlParts:
    """Crawls, and keeps the crawler's frontier true."""

    def __init__(
        self, config: CrawlConfig, env: NodeEnvironment, store: StoreParts, fetching: FetchParts, control: CrawlControl
    ) -> None:
        overlay, machine, web, clock = env.member.overlay, env.machine, env.web, env.machine.clock
        rng = machine.new_rng()
        seen = UrlSeenTest(machine.files.seen, rng.randbytes(16), faults=machine.faults)
        self.crawler = Crawler(config, fetching, web.parsers, store.ingest, seen, control, clock, rng)
        allowed, by_address = fetching.rules.is_allowed, fetching.by_address
        due = DueAgain(machine.store, allowed, by_address, store.denial_sweep, store.evidence, clock)
        hosts = store.host_records
        self.frontier_sync = FrontierSync(self.crawler, machine.store, overlay, store.shards, hosts, due, store.changes)


class SiteParts:
    """Decides for the network how the sites at home here are spread, and what they are mirrors of."""

    def __init__(self, env: NodeEnvironment, store: StoreParts, control: CrawlControl) -> None:
        overlay, machine, clock = env.member.overlay, env.machine, env.machine.clock
        records, replicator, lookup = store.host_records, store.replicator, store.lookup
        self.writer = writer = HostRecordWriter(machine.store, replicator, store.host_book, clock)
        self.sharder = SiteSharder(
            env.member.spreading, overlay, machine.store, replicator, store.shards, records, writer, machine.new_rng()
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
        overlay, web, clock, evidence = env.member.overlay, env.web, env.machine.clock, store.evidence
        turns = SiteTurns(overlay, crawl.crawler, fetching.tokens, store.shards, fetching.rules.decide, clock)
        fetcher = DnsProof(web.second_look_fetcher or web.fetcher, web.find_texts)
        self.evidence = evidence
        self.look = SecondLook(
            config, fetcher, fetcher.find, web.find_way, web.parsers, turns, fetching.may_look_at, clock
        )
        fetched = lambda: crawl.crawler.fetched  # noqa: E731
        self.second_looks = SecondLooks(
            overlay, store.records, env.member.identity, audit, self.look, evidence, fetched, clock
        )
        store.changes.listen(self.second_looks.hear)
        self.desk = EvidenceDesk(overlay, evidence, store.replicator, self.look, clock)
        audit.checks.repeat(self.second_looks.step)
        audit.checks.repeat(evidence.step)


class IndexParts:
    """Indexes what lies here, and searches through the whole network. Blocks while files are opened."""

    def __init__(
        self, config: IndexConfig, env: NodeEnvironment, store: StoreParts, agree: Agree, audit: PeerAudit
    ) -> None:
        overlay, machine = env.member.overlay, env.machine
        feed = StoreChangeFeed(store.changes, machine.store)
        no_room = partial(machine.store.no_room, 0)
        self.local = LocalIndex(config, machine.files.index, overlay, feed, agree, machine.faults, no_room)
        read, rng = store.lookup.texts, machine.new_rng()
        self.searcher = Searcher(overlay, self.local, read, machine.clock, rng, signature, audit, machine.tracer)


class JobParts:
    """Takes crawls and pages from people, and says what becomes of them."""

    def __init__(
        self, config: CrawlConfig, env: NodeEnvironment, store: StoreParts, fetching: FetchParts, crawler: Crawler
    ) -> None:
        overlay, lookup, clock = env.member.overlay, store.lookup, env.machine.clock
        rules, decide = fetching.rules, fetching.rules.decide
        self.cancellation = Cancellation(lookup.find, store.ingest.record_now, store.shards.key_of, overlay, clock)
        submit, rng = store.ingest.submit, env.machine.new_rng()
        self.seed_publisher = SeedPublisher(submit, self.cancellation, overlay, decide, clock, rng)
        self.removals = RemovalRequests(fetching.proofs, self.seed_publisher, lookup, store.shards)
        self.listing = SitemapListing(overlay, lookup, crawler.listed)
        self.progress = JobProgress(lookup, self.listing, decide, clock)
        self.schedule = JobSchedule(env.machine.files.schedule, env.machine.faults)
        self.asked_removals = AskedRemovals(env.machine.files.asked_removals)
        publish, take_up = self.seed_publisher.publish, self.cancellation.take_up
        self.resubmission = Resubmission(self.progress.answer, publish, clock, take_up)
        waits_for = partial(waiting_for, overlay.view)
        no_room = lambda: fetching.pause.room_reason() if len(overlay.view.members()) == 1 else ""  # noqa: E731
        self.submission = Submission(self.seed_publisher, waits_for, rules, lookup, self.resubmission, clock, no_room)
        replicator, ingest, seeds = store.replicator, store.ingest, self.seed_publisher
        reader = CaptureReader(config, env.web.parsers, clock)
        self.page_import = PageImport(overlay, reader, replicator, ingest, lookup, rules, seeds, clock)
        self.explanations = Explanations(overlay, store.shards, crawler, lookup, rules, fetching, clock)
