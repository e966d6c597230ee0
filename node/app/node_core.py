"""One node without sockets, files and processes: everything that decides, made and run together.

`node/process/run_node.py` gives it the real environment, `node/simulation/world.py` a simulated one; both run this very
object.
"""

import asyncio
from collections.abc import Awaitable, Callable

from crawl import CrawlConfig, CrawlControl, MirrorDetector
from dht import MachineRefuses, PeerAudit
from index import IndexConfig
from node.app.disk_meter import DiskMeter
from node.app.environment import NodeEnvironment
from node.app.event_log import NodeState
from node.app.readiness_announcer import ReadinessAnnouncer
from node.app.wiring import CrawlParts, FetchParts, IndexParts, JobParts, SiteParts, StoreParts, WitnessParts
from node.crawling.fetch_pause import FetchPause
from node.crawling.level_keeper import LevelKeeper
from node.crawling.slot_agreement import SlotAgreement
from node.crawling.slot_levels import SlotLevels
from node.crawling.why_idle import crawl_reason
from node.crawling.work_left import WorkLeft, work_left
from node.owner.host_control import HostControl
from node.ranking.rank_keeper import RankKeeper
from node.ranking.rank_lookup import RankLookup
from store import StoreConfig

LIVE_SETTINGS = ("crawl.hours", "crawl.max_bytes_s", "crawl.refuse", "store.quota_bytes", "store.reserve_bytes")
COMPARED_S = 1.0  # between two looks at with whom the copies here have been compared
AGAIN_S = 10.0  # until what the machine refused to read is tried again


class NodeCore:
    """A crawler, a store and an index server at once. `run` until cancelled, then `close`."""

    def __init__(self, crawl: CrawlConfig, store: StoreConfig, index: IndexConfig, env: NodeEnvironment) -> None:
        self._overlay, self._clock, self.faults, self._limit = env.overlay, env.clock, env.faults, env.limit
        self.control = control = CrawlControl(MirrorDetector(env.new_rng(), env.sampling.sample_every_s), env.clock)
        pause = FetchPause(crawl, store, env.store, control, env.clock, env.outage)
        self.audit = PeerAudit(env.clock, env.new_rng().random)
        self.store = StoreParts(store, env, control, self.audit)
        self.fetching = FetchParts(crawl, env, self.store.shards, pause, control)
        self.crawl = CrawlParts(crawl, env, self.store, self.fetching, control)
        self.sites = SiteParts(env, self.store, control)
        self.witnessing = WitnessParts(crawl, env, self.store, self.fetching, self.crawl)
        levels = SlotLevels()
        agree = SlotAgreement(env.overlay, levels, env.clock).of
        self.index = IndexParts(index, env, self.store, agree, self.audit)
        self.jobs = JobParts(crawl, env, self.store, self.fetching, self.crawl.crawler)
        replicator, local, crawler = self.store.replicator, self.index.local, self.crawl.crawler
        self.hosts = HostControl(env.wishes_path, self.fetching.refusals, crawler, env.overlay)
        self.levels = LevelKeeper(
            env.overlay,
            env.store,
            replicator,
            local,
            lambda: self.crawl.frontier_sync.is_current,
            levels,
            env.clock,
        )
        self.ranking = RankKeeper(env.overlay, env.store, local, self.store.shards, env.clock)
        self.rank_lookup = RankLookup(env.overlay, self.ranking, self.store.shards)
        self._disk_meter = DiskMeter(env.store, env.measure_files)
        self._announcer = ReadinessAnnouncer(env, replicator, local, crawler)
        self._looked_at_sequence = self._spared_at_sequence = -1  # of the change log

    async def run(self) -> None:
        """Run everything but the overlay, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.store.replicator.run(), name="replicator")
            tasks.create_task(self.index.local.run(), name="index")
            tasks.create_task(self._patiently(self.index.searcher.hit_audit.line.run), name="hit-audit")
            tasks.create_task(self.index.teller.run(), name="directory")
            tasks.create_task(self._patiently(self.index.level_audit.run), name="level-audit")
            tasks.create_task(self._patiently(self.index.searcher.level_proofs.line.run), name="level-proofs")
            tasks.create_task(self._patiently(self.index.evidence.run), name="terms-evidence")
            tasks.create_task(self.levels.run(), name="levels")
            tasks.create_task(self.crawl.crawler.run(), name="crawler")
            tasks.create_task(self._patiently(self.crawl.frontier_sync.run), name="frontier-sync")
            tasks.create_task(self._patiently(self.crawl.standing_review.run), name="standing-review")
            tasks.create_task(self.store.anchors.run(), name="anchors")
            tasks.create_task(self._announcer.run(), name="announcer")
            tasks.create_task(self._tell_compared(), name="compared")
            tasks.create_task(self._disk_meter.run(), name="disk-meter")
            tasks.create_task(self.fetching.pause.run(), name="fetch-pause")
            tasks.create_task(self._patiently(self.store.denial_sweep.run), name="denial-sweep")
            tasks.create_task(self._patiently(self.store.site_removals.run), name="site-removals")
            tasks.create_task(self._patiently(self.store.host_records.run), name="host-records")
            tasks.create_task(self._patiently(self.sites.sharder.run), name="site-sharder")
            tasks.create_task(self._patiently(self.sites.mirror_finder.run), name="mirror-finder")
            tasks.create_task(self._patiently(self.witnessing.witness.run), name="witness")
            tasks.create_task(self._patiently(self.witnessing.board.run), name="evidence-board")
            tasks.create_task(self._patiently(self.witnessing.anchor_audit.run), name="anchor-audit")
            tasks.create_task(self._patiently(self.ranking.read), name="ranks-read")
            tasks.create_task(self._patiently(self.ranking.compute), name="ranks-compute")
            tasks.create_task(self.fetching.client_worker.run(), name="client-worker")
            tasks.create_task(self._patiently(self.jobs.resubmission.run), name="resubmission")

    async def _tell_compared(self) -> None:
        """While this node has no vote after a farewell, say with whom its copies have been compared."""
        view = self._overlay.view
        while True:
            if view.node_id in view.away():
                self._overlay.compared(self.store.replicator.compared())
            await asyncio.sleep(COMPARED_S)

    async def _patiently(self, run: Callable[[], Awaitable[None]]) -> None:
        """Run what reads the store, and again a little later where the machine refuses."""
        while True:
            try:
                return await run()
            except MachineRefuses as error:
                self.store.records.note_refusal(error)
                await asyncio.sleep(AGAIN_S)

    async def spare(self) -> bool:
        """Give up the memory that only a node at work needs, once nothing has changed since the call before; tell
        whether that was now. Call it every minute."""
        before, now = self._looked_at_sequence, self.store.records.log.sequence
        self._looked_at_sequence = now
        if before != now or now == self._spared_at_sequence or not self.index.local.is_current:
            return False
        self._spared_at_sequence = now
        self.store.replicator.terms.clear()
        await self.store.records.spare()
        await self.index.local.spare()
        return True

    def obey(self, crawl: CrawlConfig, store: StoreConfig) -> None:
        """Take over those settings that may change while a node runs (LIVE_SETTINGS), and no others."""
        self._limit(crawl.max_bytes_s)
        self.fetching.pause.obey(crawl.hours, store)
        self.fetching.refusals.set_entries(crawl.refuse)
        self.hosts.obey()
        self.store.records.set_quota(store.quota_bytes, store.reserve_bytes)

    async def close(self) -> None:
        """End threads and close files; the overlay and the fetcher belong to whoever made them."""
        self.crawl.crawler.close()
        self._disk_meter.close()
        await self.index.teller.close()
        await self.index.local.close()
        self.store.records.close()

    def state(self) -> NodeState:
        """Return this node's state."""
        view, kept, crawl = self._overlay.view, self.store.replicator.status(), self.crawl.crawler.status()
        documents = self.index.local.documents
        return NodeState(
            at=self._clock().steady,
            live=frozenset(p.hex() for p in view.members() if p != view.node_id and view.is_live(p)),
            owned=kept.owned,
            ready=kept.ready,
            crawl=crawl.state,
            pause_reason=self.fetching.pause.room_reason(),
            waiting=crawl.waiting,
            fetched=crawl.fetched,
            failed=crawl.failed,
            documents=documents,
            is_settled=self.is_settled(),
        )

    def work_left(self) -> WorkLeft:
        """Return what is left to be fetched in the network, as far as this node hears."""
        return work_left(self._overlay.view, sum(self.crawl.crawler.due().values()))

    def is_settled(self) -> bool:
        """Tell whether nothing is left to be fetched, and all copies are alike and indexed."""
        return self.work_left().is_none and self.levels.are_alike()

    def crawl_reason(self) -> str:
        """Say in one line why the crawler does what it does."""
        kept = self.store.replicator.status()
        return crawl_reason(self.crawl.crawler.status(), kept.owned, kept.ready, self.crawl.frontier_sync.is_current)
