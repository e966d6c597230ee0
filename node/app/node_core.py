"""One node without sockets, files and processes: everything that decides, made and run together.

`node/process/run_node.py` gives it the real environment, `node/extras/simulation/world.py` a simulated one; both
run this very object.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial

from crawl import CrawlConfig, CrawlControl, MirrorDetector
from dht import STRICT, PeerAudit, Supervisor
from index import IndexConfig
from node.app.disk_meter import DiskMeter
from node.app.environment import NodeEnvironment
from node.app.event_log import NodeState
from node.app.readiness_announcer import ReadinessAnnouncer
from node.app.wiring import AuditParts, CrawlParts, FetchParts, IndexParts, JobParts, SiteParts, StoreParts
from node.crawling.crawl_watch import CrawlWatch
from node.crawling.fetch_pause import FetchPause
from node.crawling.level_keeper import LevelKeeper
from node.crawling.slot_levels import SlotAgreement, SlotLevels
from node.crawling.trap_file import TrapFile
from node.crawling.why_idle import WorkLeft, crawl_reason, waiting_reason, work_left
from node.sites.host_control import HostControl
from store import StoreConfig

LIVE_SETTINGS = ("crawl.hours", "crawl.max_bytes_s", "crawl.refuse", "store.quota_bytes", "store.reserve_bytes")
COMPARED_S = 1.0  # between two looks at with whom the copies here have been compared


class NodeCore:
    """A crawler, a store and an index server at once. `run` until cancelled, then `close`."""

    def __init__(self, crawl: CrawlConfig, store: StoreConfig, index: IndexConfig, env: NodeEnvironment) -> None:
        overlay, machine, clock = env.member.overlay, env.machine, env.machine.clock
        self._overlay, self._clock, self.faults, self._limit = overlay, clock, machine.faults, env.web.limit
        self.control = control = CrawlControl(MirrorDetector(), clock)
        self.trap_file = TrapFile(machine.files.traps, control.traps)
        outage = lambda: env.web.outage() or waiting_reason(overlay.view)  # noqa: E731
        pause = FetchPause(crawl, store, machine.store, control, clock, outage)
        self.audit = PeerAudit(clock, machine.new_rng().random)
        self.store = StoreParts(store, env, control, self.audit)
        self.fetching = FetchParts(crawl, env, self.store, pause, control, self.audit)
        self.crawl = CrawlParts(crawl, env, self.store, self.fetching, control)
        self.sites = SiteParts(env, self.store, control)
        self.auditing = AuditParts(crawl, env, self.store, self.fetching, self.crawl, self.audit)
        levels = SlotLevels()
        agree = SlotAgreement(overlay, levels, clock).of
        self.index = IndexParts(index, env, self.store, agree, self.audit)
        self.jobs = JobParts(crawl, env, self.store, self.fetching, self.crawl.crawler)
        replicator, local, crawler = self.store.replicator, self.index.local, self.crawl.crawler
        self.crawl_watch = CrawlWatch(crawler, pause, overlay, machine.store, clock)
        self.hosts = HostControl(machine.files.wishes, self.fetching.refusals, crawler, overlay)
        self.levels = LevelKeeper(
            overlay,
            machine.store,
            replicator,
            local,
            self.store.changes,
            lambda: self.crawl.frontier_sync.is_current,
            levels,
            clock,
        )
        self._disk_meter = DiskMeter(machine.store, machine.files.measure)
        self._announcer = ReadinessAnnouncer(env, replicator, local, crawler)
        self._looked_at_sequence = self._spared_at_sequence = -1  # of the change log

    async def run(self, supervisor: Supervisor = STRICT) -> None:
        """Run everything but the overlay, until cancelled. `supervisor`: restarts what fails."""
        async with asyncio.TaskGroup() as tasks:

            def start(name: str, run: Callable[[], Awaitable[None]]) -> None:
                supervisor.start(tasks, name, run, self.store.records.note_refusal)

            start("replicator", partial(self.store.replicator.run, supervisor))
            start("index", partial(self.index.local.run, supervisor))
            start("audit", self.audit.checks.run)
            start("levels", self.levels.run)
            start("crawler", partial(self.crawl.crawler.run, supervisor))
            start("changes", self.store.changes.run)
            start("crawl-watch", self.crawl_watch.run)
            start("announcer", self._announcer.run)
            start("compared", self._tell_compared)
            start("disk-meter", self._disk_meter.run)
            start("fetch-pause", self.fetching.pause.run)
            start("denial-sweep", self.store.denial_sweep.run)
            start("host-records", self.store.host_records.run)
            start("site-sharder", self.sites.sharder.run)
            start("mirror-finder", self.sites.mirror_finder.run)
            start("client-worker", self.fetching.client_worker.run)
            start("resubmission", self.jobs.resubmission.run)

    async def _tell_compared(self) -> None:
        """While this node has no vote after a farewell, say with whom its copies have been compared."""
        view = self._overlay.view
        while True:
            if view.node_id in view.away():
                self._overlay.compared(self.store.replicator.compared())
            await asyncio.sleep(COMPARED_S)

    @property
    def bytes_per_s(self) -> float:
        """How many bytes a second this machine sends and receives of late."""
        return self._announcer.bytes_per_s

    def written(self) -> int:
        """Return the number of the newest change of the store."""
        return self.store.records.log.sequence

    async def pause(self) -> None:
        """Give up the newest records, which whoever follows the changes has read; call it a while after the last."""
        if self.index.local.is_current:
            await self.store.records.spare()

    async def spare(self) -> bool:
        """Give up the memory that only a node at work needs, once nothing has changed since the call before; tell
        whether that was now. Call it every minute."""
        before, now = self._looked_at_sequence, self.written()
        self._looked_at_sequence = now
        if before != now or now == self._spared_at_sequence or not self.index.local.is_current:
            return False
        self._spared_at_sequence = now
        await self.store.records.spare()
        await self.index.local.spare()
        return True

    def obey(self, crawl: CrawlConfig, store: StoreConfig) -> None:
        """Take over those settings that may change while a node runs (LIVE_SETTINGS), and no others."""
        self._limit(crawl.max_bytes_s)
        self.fetching.pause.obey(crawl.hours, store)
        self.fetching.refusals.set_entries(crawl.refuse)
        self.hosts.obey()
        self.store.records.room.set_quota(store.quota_bytes, store.reserve_bytes)

    async def close(self) -> None:
        """End threads and close files; the overlay and the fetcher belong to whoever made them."""
        async with AsyncExitStack() as closing:  # the last first, and each whatever the files of another refuse
            closing.callback(self.store.records.close)
            closing.push_async_callback(self.index.local.close)
            closing.callback(self._disk_meter.close)
            closing.callback(self.crawl.crawler.close)
            closing.callback(self.trap_file.close)

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

    def crawl_reason(self, clock: str = "") -> str:
        """Say in one line why the crawler does what it does. `clock`: how this machine's clock differs from others."""
        kept = self.store.replicator.status()
        status, is_current = self.crawl.crawler.status(), self.crawl.frontier_sync.is_current
        return crawl_reason(status, kept.owned, kept.ready, is_current, clock)
