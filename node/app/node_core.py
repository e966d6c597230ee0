"""One node without sockets, files and processes: everything that decides, made and run together.

`node/process/run_node.py` gives it the real environment, `node/simulation/world.py` a simulated one; both run this very
object.
"""

import asyncio

from crawl import CrawlConfig, CrawlControl, MirrorDetector
from index import IndexConfig
from node.app.environment import NodeEnvironment
from node.app.event_log import EventLog, NodeState
from node.app.readiness_announcer import ReadinessAnnouncer
from node.app.wiring import CrawlParts, FetchParts, IndexParts, JobParts, SiteParts, StoreParts
from node.crawling.fetch_pause import FetchPause
from node.crawling.settlement import LocalReport, Settlement
from node.crawling.why_idle import crawl_reason
from store import StoreConfig


class NodeCore:
    """A crawler, a store and an index server at once. `run` until cancelled, then `close`."""

    def __init__(self, crawl: CrawlConfig, store: StoreConfig, index: IndexConfig, env: NodeEnvironment) -> None:
        self._overlay, self._clock = env.overlay, env.clock
        control = CrawlControl(MirrorDetector(env.new_rng(), env.sampling.sample_every_s), env.clock)
        pause = FetchPause(crawl, store, env.store, control, env.clock)
        self.store = StoreParts(store, env, control)
        self.fetching = FetchParts(crawl, env, self.store.shards, pause, control)
        self.crawl = CrawlParts(crawl, env, self.store, self.fetching, control)
        self.sites = SiteParts(env, self.store, control)
        self.index = IndexParts(index, env, self.store.lookup)
        self.jobs = JobParts(env, self.store, self.fetching, self.crawl.crawler)
        replicator, local, crawler = self.store.replicator, self.index.local, self.crawl.crawler
        report = LocalReport(env.overlay, env.store, replicator, local, crawler, self.crawl.frontier_sync)
        self.settlement = Settlement(env.overlay, report.now)
        self._announcer = ReadinessAnnouncer(env, replicator, local, crawler, store.quota_bytes)

    async def run(self) -> None:
        """Run everything but the overlay, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.store.replicator.run(), name="replicator")
            tasks.create_task(self.index.local.run(), name="index")
            tasks.create_task(self.crawl.crawler.run(), name="crawler")
            tasks.create_task(self.crawl.frontier_sync.run(), name="frontier-sync")
            tasks.create_task(self._announcer.run(), name="announcer")
            tasks.create_task(self.fetching.pause.run(), name="fetch-pause")
            tasks.create_task(self.store.host_records.run(), name="host-records")
            tasks.create_task(self.sites.sharder.run(), name="site-sharder")
            tasks.create_task(self.sites.mirror_finder.run(), name="mirror-finder")
            tasks.create_task(self.fetching.client_worker.run(), name="client-worker")

    async def close(self) -> None:
        """End threads and close files; the overlay and the fetcher belong to whoever made them."""
        self.crawl.crawler.close()
        await self.index.local.close()
        self.store.records.close()

    async def state(self, event_log: EventLog | None = None) -> NodeState:
        """Return this node's state; other owners are asked whether all is settled only where the log wants to know."""
        view, kept, crawl = self._overlay.view, self.store.replicator.status(), self.crawl.crawler.status()
        documents = self.index.local.documents
        asks = event_log is not None and event_log.is_curious(documents, crawl.state)
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
            is_settled=asks and await self.settlement.is_settled(),
        )

    def crawl_reason(self) -> str:
        """Say in one line why the crawler does what it does."""
        kept = self.store.replicator.status()
        return crawl_reason(self.crawl.crawler.status(), kept.owned, kept.ready, self.crawl.frontier_sync.is_current)
