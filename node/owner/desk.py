"""Tells the owner of a node what it does and has, notes its figures, and takes wishes of single hosts."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from time import process_time
from typing import Protocol

from crawl import ScopeKind, SiteGroup, SitePage, SiteWait, WaitingSite
from dht import Clock, MachineRefuses, NodeId, OverlayService, RemoteError, Slot
from node.api.crawl import Followed, Pace, Seed
from node.app.node_core import NodeCore
from node.crawling.machine_load import own_memory
from node.errors import NoRoom, NotJoined
from node.jobs.job_schedule import ScheduledJob
from node.owner.figure_history import STEP_S, FigureHistory, Figures
from node.owner.job_ledger import JobLedger, JobRow
from node.owner.log_ring import LogLine, LogRing
from node.owner.member_desk import MemberFigures
from node.owner.network_map import HeardPeer, HeardSlot, NetworkMap, network_map, place_of
from node.owner.query_meter import QueryMeter
from node.owner.setting_desk import SettingDesk
from node.owner.setting_list import SettingRow
from node.sites.host_wishes import Wish
from node.version import VERSION
from node.views.safe_text import plain

log = logging.getLogger(__name__)

SCHEDULE_LOOK_S = 60.0  # after a start, too: then this node holds the leases of its slots
PROGRESS_WITHIN_S = 3.0  # of asking what became of jobs; what is not known by then is asked at the next look
DETAIL_CHARS = 160


@dataclass(frozen=True, slots=True)
class SitesSeen:
    """Holds a page of the sites that wait, and the hosts of which the owner wishes something, both beginning as asked.

    `wished_count`: of such hosts, of which `wished` are the first."""

    page: SitePage
    wished: tuple[tuple[str, Wish], ...]
    wished_count: int


@dataclass(frozen=True, slots=True)
class ReportState:
    """Says how far the web report is. `sites`: a list that the report says how well it covers; `files`: what there is
    beside the page."""

    is_wanted: bool  # it waits for its turn, or is being made
    progress: str  # the newest line of the program that makes it
    problem: str  # of the last try, "" for none
    made_at: float  # Unix seconds; 0.0: there is none
    every_days: float  # 0: only by the button
    sites: str
    files: tuple[str, ...]


class ReportMaker(Protocol):
    """Makes the web report, one at a time."""

    async def run(self) -> None: ...

    def state(self) -> ReportState: ...

    def make(self, sites: str) -> None: ...

    def path_of(self, file: str) -> Path | None: ...


class OwnerDesk:
    """A running node, as its owner sees it beyond what everybody may. `history`: its figures over time."""

    def __init__(
        self,
        core: NodeCore,
        overlay: OverlayService,
        queries: QueryMeter,
        settings: SettingDesk,
        log: LogRing | None,
        clock: Clock,
        history: FigureHistory,
    ) -> None:
        self._core, self._overlay, self._queries, self._clock = core, overlay, queries, clock
        self._settings, self._log = settings, log
        self.asked_removals = core.jobs.asked_removals
        self.history, self.ledger = history, JobLedger()
        for job in sorted(core.jobs.schedule.jobs, key=lambda job: job.at):
            self.ledger.note(job.seeds, job.depth, job.at, job.every, job.number)
        self.meter, self.unread = core.fetching.meter, core.fetching.unread
        self.load = self.meter.step(STEP_S)  # of fetches, in the last step
        self.report: ReportMaker | None = None  # where its extra is installed: whoever runs the node sets it
        self.stop: Callable[[], None] = lambda: None
        """Ends the process; whoever runs the node sets it."""
        self._asking = asyncio.Lock()
        self._began_at = clock().steady
        self._last = self._began_at, 0  # when pages were counted last, and how many
        self._cpu_share, self._cpu_s = 0.0, process_time()  # of the process: since the last step, and before it

    async def run(self) -> None:
        """Note figures until cancelled."""
        await self.history.recall(self._clock().wall)
        while True:
            await asyncio.sleep(STEP_S)
            self.step()
            if self.ledger.is_cancelling(self._clock().wall):
                await self.jobs()

    def step(self) -> None:
        """Note the figures of this moment."""
        now, kept, cpu_s = self._clock(), self._core.store.replicator.status(), process_time()
        fetched, asked = self._core.crawl.crawler.status().fetched, self._queries.step()
        (before, fetched_before), self._last = self._last, (now.steady, fetched)
        passed_s = max(now.steady - before, 1e-3)
        self._cpu_share, self._cpu_s = (cpu_s - self._cpu_s) / passed_s, cpu_s
        self.load = load = self.meter.step(passed_s)
        figures = Figures(
            pages_per_s=(fetched - fetched_before) / passed_s,
            queries_per_min=asked[0] / passed_s * 60,
            p50_ms=nan if asked[1] is None else asked[1],
            p95_ms=nan if asked[2] is None else asked[2],
            peers=len(self._overlay.view.live() - {self._overlay.view.node_id}),
            disk_bytes=self._core.store.records.room.used_bytes,
            copies=kept.copies.mean if kept.copies.slots_by_copies else nan,
            too_few=kept.under_replicated,
            copying=kept.copies.copying,
            owed=kept.owed,
            in_bytes_s=load.in_bytes_s,
            out_bytes_s=load.out_bytes_s,
            fetch_p50_ms=load.p50_ms,
            fetch_p95_ms=load.p95_ms,
            **{f"answers_{name}": count for name, count in load.answers_min.items() if name != "1xx"},
            dns_ms=load.dns_ms,
            connections=self.meter.connections,
            unread=self.unread(),
        )
        self.history.add(now.wall, figures)

    def own_figures(self) -> MemberFigures:
        """Return what this node tells members that ask."""
        return MemberFigures(
            version=VERSION[:32],
            up_s=round(self._clock().steady - self._began_at),
            cpu=round(100 * self._cpu_share),
            memory=own_memory() or 0,
            bytes_s=round(self._core.bytes_per_s),
            fetched=round(self.history.fetched_of_day),
        )

    def network(self) -> NetworkMap:
        """Return what this node hears of all slots and members."""
        view = self._overlay.view
        ready, owners, owned, leases = view.ready_by_slot(), view.owners_by_slot(), view.owned(), view.leases()
        mine = self._core.store.replicator.ready_slots()
        slots = [
            HeardSlot(
                len(ready[n]),
                len(owners[n]),
                n in leases or bool(view.announced(n)),
                n in owned,
                n in mine,
                n in leases,
            )
            for n in map(Slot, range(2**view.strategy.slot_bits))
        ]
        return network_map(slots, list(map(self._heard, view.members())))

    def sites(self, beginning: str, group: SiteGroup, after: str, most: int) -> SitesSeen:
        """Return the sites whose URLs wait here, with what each waits for: first those that need attention."""
        page = self._core.crawl.crawler.sites(beginning, group, after, most)
        wished = self._core.hosts.wishes.beginning(beginning)
        return SitesSeen(replace(page, rows=tuple(map(self._judged, page.rows))), tuple(wished[:most]), len(wished))

    async def wish(self, host: str, wish: Wish) -> None:
        """Pause a host ("held"), refuse it, or ("") neither; outlasts a restart. Raises BadHostWish."""
        await self._core.hosts.wish(host, wish)

    async def note_job(
        self, seeds: Sequence[Seed], depth: int, scope: ScopeKind, exclude: Sequence[str], every: Pace
    ) -> None:
        """Remember a crawl that was handed in here, also after a restart. Where it has a pace, have it submitted
        again."""
        now = self._clock().wall
        number = self.ledger.note(seeds, depth, now, every)
        if seeds:
            job = ScheduledJob(number, now, every, depth, scope, tuple(seeds), tuple(exclude))
            await self._core.jobs.schedule.add(job)

    async def keep_schedule(self) -> None:
        """Submit jobs again when they are due, until cancelled."""
        while True:
            await asyncio.sleep(SCHEDULE_LOOK_S)
            await self._core.jobs.schedule.try_again()
            await self.submit_due()

    async def submit_due(self) -> None:
        """Submit again the jobs that are due now. A job that fails, as where the disk is full, is tried again in an
        hour; one that comes before this node has joined, at the next look."""
        schedule, now = self._core.jobs.schedule, self._clock().wall
        for job in schedule.due(now):
            try:
                await self._submit_again(job)
            except NotJoined as error:
                log.info("job waits number=%d reason=%s", job.number, error)
            except (RemoteError, MachineRefuses, NoRoom) as error:
                schedule.put_off(job.number, now)
                log.warning("job is tried again in an hour number=%d reason=%s", job.number, error)

    async def _submit_again(self, job: ScheduledJob) -> None:
        jobs, now = self._core.jobs, self._clock().wall
        pages = [seed.url for seed in job.seeds if not seed.sitemap]
        sitemaps = [seed.url for seed in job.seeds if seed.sitemap]
        told = await jobs.submission.crawl(pages, sitemaps, job.depth, job.scope, False, job.exclude)
        old = [Followed(seed.url, job.depth, seed.scope) for seed in told.seeds if seed.known]
        due = await jobs.seed_publisher.fetch_again(old)
        if await jobs.schedule.note_submitted(job.number, now):
            self.ledger.note(job.seeds, job.depth, now, job.every, job.number)
        log.info("job is submitted again number=%d addresses=%d due_now=%d", job.number, told.accepted, due)

    async def cancel(self, number: int) -> JobRow | None:
        """End a crawl, also one that repeats: give up what waits of it here now, and what pages that are being fetched
        still lead to. Return how far that is; None where there is no such job."""
        await self._core.jobs.schedule.drop(number)
        if self.ledger.cancel(number, self._clock().wall) is None:
            return None
        await self.jobs()  # which gives up what it finds waiting; the second look counts that
        await self.jobs()
        return next((row for row in self.ledger.rows() if row.number == number), None)

    async def jobs(self) -> Sequence[JobRow]:
        """Return the last crawls that were handed in here, each with what became of it so far. The URLs of a cancelled
        crawl that still wait are given up."""
        async with self._asking:
            try:
                async with asyncio.timeout(PROGRESS_WITHIN_S):
                    self.ledger.begin_round()
                    while batches := self.ledger.ask():
                        for wait, asked, is_cancelled in batches:
                            answers = await self._core.jobs.progress.answer([Followed(**each) for each in asked])
                            wait.take(asked, [answer.plain() for answer in answers])
                            if is_cancelled:
                                waiting = [answer.url for answer in answers if answer.state == "waiting"]
                                await self._core.jobs.cancellation.give_up(waiting)
                            await asyncio.sleep(0)  # what lies here is answered at once: others go on in between
            except (TimeoutError, RemoteError, MachineRefuses):  # what was known before is shown
                pass
        return self.ledger.rows()

    def log(self) -> Sequence[LogLine]:
        """Return the newest lines of the log, newest first."""
        return self._log.newest() if self._log is not None else ()

    def settings(self) -> Sequence[SettingRow]:
        """Return all settings in force, and where each comes from."""
        return self._settings.rows()

    async def set(self, key: str, typed: str) -> bool:
        """Write a setting into the node's file as its owner typed it; return whether it is in force at once. Raises
        ConfigError and MachineRefuses."""
        return await self._settings.set(key, typed)

    def _heard(self, peer: NodeId) -> HeardPeer:
        contact = self._overlay.view.contact(peer)
        hosts = tuple(endpoint.host for endpoint in contact.endpoints) if contact else ()
        return HeardPeer(place_of(peer), self._overlay.view.is_live(peer), hosts)

    def _judged(self, row: WaitingSite) -> WaitingSite:
        """Return a row with the refusal of this node's operator, which the crawler learns only when it is about to
        fetch."""
        if refused := self._core.fetching.refusals.reason(row.url):
            return replace(row, why=SiteWait.REFUSED, wait_s=0.0, detail=plain(refused, DETAIL_CHARS))
        return replace(row, detail=plain(row.detail, DETAIL_CHARS))
