"""Holds the URLs to fetch next: the known ones of the held slots, each when it is due and its site may be asked.

Pure: `now` is an argument, nothing waits. A view of the visits in the slots that this node holds. A URL is in one of
three places. It is *later* while its due time (wall clock) has not come, *ready* in its site's queue (site_queues.py),
and in *flight* until its outcome is settled. Memory holds a bounded number of those that wait, the ones that are due
first. Others are *left out*: they are in the replica alone until their time comes (left_out.py).
Source: Heydon & Najork 1999, section 3.1.
"""

import heapq
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from dataclasses import replace as replaced

from msgspec.structs import replace

from crawl.frontier.fetch_task import FetchTask, QueuedUrl, QueuePosition, UrlStage
from crawl.frontier.left_out import LeftOut
from crawl.frontier.mirror_alias import is_aliased
from crawl.frontier.site_queues import SiteQueues
from crawl.schedule.revisit_policy import RevisitStatistics
from crawl.schedule.url_state import Visit, VisitState, encode_visit, reach
from crawl.scope import domain_of
from dht import Now, Slot, host_matches, site_of, split_url

_STALE_LEAST = 1_000  # entries of the heap that no longer count, before it is worth a cleaning
_SITE_SHARE = 16  # of the room in memory, for the due URLs of one site: at 1 a second they last for 1.7 hours
_LEAVES_OUT = 4  # one in so many of the URLs that are not due leaves memory at a time: those due last


@dataclass(slots=True)
class _HeldSlot:
    epoch: int
    urls: dict[str, None] = field(default_factory=dict)


class Frontier:
    """Holds the URLs of the held slots. `limit` bounds those that wait in memory, `sites` queues those that are due,
    `statistics` counts the pages of held slots, those that are left out included."""

    def __init__(self, limit: int, sites: SiteQueues, statistics: RevisitStatistics) -> None:
        self._limit, self._sites, self.statistics = limit, sites, statistics
        self._slots: dict[Slot, _HeldSlot] = {}
        self._entries: dict[str, QueuedUrl] = {}  # later and ready
        self._waiting_by_site: dict[str, int] = {}  # of these
        self._later: list[tuple[float, int, QueuedUrl]] = []  # (due_at wall, number, URL)
        self._in_flight: dict[str, FetchTask] = {}
        self._in_flight_by_slot: Counter[Slot] = Counter()
        self._due_again: set[str] = set()  # URLs in flight that are due again as soon as their outcome is settled
        self.left_out = LeftOut()
        self._number = 0

    def __len__(self) -> int:
        """Count the URLs in memory that wait, due or not."""
        return len(self._entries)

    def due_count(self, now: Now, within_s: float = 0.0) -> int:
        """Count the URLs that wait for nothing but their site's turn, now or in so many seconds, without those in
        flight. A slot of which URLs are left out that are due counts as one."""
        until, count, places = now.wall + within_s, len(self._sites), [0]
        while places:  # a walk over the top of the heap
            place = places.pop()
            if place < len(self._later) and self._later[place][0] <= until:
                count += self._later[place][2].stage is UrlStage.LATER
                places += (2 * place + 1, 2 * place + 2)
        return count + self.left_out.due_count(until)

    @property
    def in_flight(self) -> int:
        """Count the URLs that were taken and whose outcome is not settled."""
        return len(self._in_flight)

    def in_flight_of(self, slot: Slot) -> int:
        """Count the URLs in flight that were taken from this slot."""
        return self._in_flight_by_slot[slot]

    def take_refill(self, now: Now) -> Slot | None:
        """Return a slot of which URLs that were left out are due; None where none is, or so many others are due that
        there is no room. The caller gives `refill` all visits of the slot's replica."""
        return self.left_out.take(now.wall) if 2 * len(self._sites) <= self._limit else None

    @property
    def held_count(self) -> int:
        """Count the due URLs of hosts that the owner has paused."""
        return self._sites.held_ready

    @property
    def waiting_by_site(self) -> Mapping[str, int]:
        """Count the URLs that wait, due or not, by site; sites without any are left out."""
        return self._waiting_by_site

    def first_due(self, sites: Collection[str]) -> dict[str, Visit]:
        """Return the visit of each of some sites that falls due first, of those that are not due yet. Goes over all
        URLs: for people."""
        found: dict[str, tuple[float, int, QueuedUrl]] = {}
        for item in self._later:
            entry = item[2]
            if entry.site in sites and entry.stage is UrlStage.LATER:
                found[entry.site] = min(item, found.get(entry.site, item))
        return {site: entry.visit for site, (_, _, entry) in found.items()}

    @property
    def slots(self) -> tuple[Slot, ...]:
        """List the held slots."""
        return tuple(self._slots)

    def epoch(self, slot: Slot) -> int | None:
        """Return the epoch under which a slot is held, None for a slot that is not."""
        held = self._slots.get(slot)
        return held.epoch if held else None

    def hold(self, slot: Slot, epoch: int, visits: Iterable[Visit], now: Now) -> None:
        """Take a slot over with all its visits, in place of what was known of it."""
        self.drop(slot)
        self._slots[slot] = _HeldSlot(epoch)
        for visit in visits:
            self.observe(slot, visit, now)

    def drop(self, slot: Slot) -> None:
        """Forget a slot; what is in flight stays in flight, and returns to it if it is held again by then."""
        held = self._slots.pop(slot, None)
        self.left_out.forget(slot)
        if held is None:
            return
        for url in held.urls:
            self._forget(url)
        self.statistics.forget(slot)
        self._sites.prune(dict.fromkeys(map(site_of, held.urls)))
        self._clean_later()

    def move_in_flight(self, slot_of: Callable[[str], Slot]) -> None:
        """Give URLs in flight to the slots that `slot_of` names, after slots were resized or sites lie elsewhere."""
        for url, task in self._in_flight.items():
            task.slot = slot_of(url)
        self._in_flight_by_slot = Counter(task.slot for task in self._in_flight.values())

    def observe(self, slot: Slot, visit: Visit, now: Now) -> None:
        """Take note of a visit in a slot's replica: a found URL, or somebody's outcome. A URL in flight stays so."""
        held = self._slots.get(slot)
        if held is None:
            return
        url = visit.url
        if task := self._in_flight.get(url):
            task.newer = _newest(task.newer, visit)
            return
        known = self._entries.get(url)
        if known is not None:
            if known.says(visit) or _newest(before := known.visit, visit) is before:
                return
            self._forget(url)
        elif self.left_out.has(visit):
            return
        self.statistics.add(slot, visit)
        self._take(visit, slot, held, now, known.links if known else 0)

    def refill(self, slot: Slot, visit: Visit, now: Now) -> None:
        """Take up a visit of a slot that `take_refill` returned; those that wait here already stay as they are."""
        held = self._slots.get(slot)
        if held is not None and visit.url not in self._entries and visit.url not in self._in_flight:
            self._take(self.left_out.reviewed(slot, visit), slot, held, now)

    def add_links(self, page: str, urls: Iterable[str]) -> None:
        """Note that a page, fetched for the first time, links to these URLs: to each one that waits, and to each site
        of another domain. A URL that was unknown until now does not count its first link, because every URL has one."""
        entries, own, found = self._entries, page[: page.index("/", len("https://")) + 1], dict.fromkeys(urls)
        for url in found:
            if (entry := entries.get(url)) is not None:
                self._sites.add_link(entry)
        domain = domain_of(split_url(page).host)
        elsewhere = {at.site: at.host for url in found if not url.startswith(own) and (at := split_url(url))}
        for site, host in elsewhere.items():
            if not host_matches(f"*.{domain}", host):
                self._sites.add_domain(site, domain)

    def find(self, url: str) -> Visit | None:
        """Return what is known of a URL that waits; None where it is unknown, in flight or in no held slot."""
        entry = self._entries.get(url)
        return entry.visit if entry else None

    def position(self, url: str, now: Now) -> QueuePosition:
        """Tell where a URL stands, and what its site waits for."""
        position = self._sites.position(url, self._entries.get(url), now.steady)
        return replaced(position, stage=UrlStage.OPEN) if url in self._in_flight else position

    def make_due(self, url: str, now: Now) -> None:
        """Make a URL that waits due at once. Known here alone: a later holder goes by the due time in the replica."""
        entry = self._entries.get(url)
        if entry is not None and entry.stage is UrlStage.LATER:
            visit = replace(entry.visit, due_at=now.wall)
            self._forget(url)
            self.statistics.add(entry.slot, visit)
            self._insert(visit, entry.slot, entry.epoch, now)

    def aliased_urls(self, origins: tuple[str, ...]) -> list[str]:
        """List URLs of some origins that wait because the origin was an alias. Goes over all URLs: seldom wanted. Those
        that are left out are looked at again, too."""
        self.left_out.look_again()
        return [url for url, known in self._entries.items() if url.startswith(origins) and is_aliased(known.visit)]

    def review(self, beginning: str, slot: Slot | None, is_due: Callable[[Visit], bool], now: Now) -> None:
        """Make URLs due at once that begin so and of which `is_due` says so; those of one held slot, or (None) all."""
        for held in self._slots.values() if slot is None else filter(None, [self._slots.get(slot)]):
            for url in [url for url in held.urls if url.startswith(beginning)]:
                entry = self._entries.get(url)
                if entry is not None and is_due(entry.visit):
                    self.make_due(url, now)
        self.left_out.review(beginning, slot, is_due, now.wall)

    def refetch(self, url: str, now: Now) -> None:
        """Make a URL due at once, one in flight when its outcome is settled; known here alone."""
        if url in self._in_flight:
            self._due_again.add(url)
        elif url in self._entries:
            self.make_due(url, now)
        else:
            self.left_out.want(url)

    def pop(self, now: Now) -> FetchTask | None:
        """Return the next URL to fetch. Its site is taken until `SiteQueues.end_request`, the URL until `settle`.
        None: ask again at `next_due`."""
        while self._later and self._later[0][0] <= now.wall:
            _, _, entry = heapq.heappop(self._later)
            if entry.stage is UrlStage.LATER:
                self._sites.push(entry)
        task = self._sites.pop(now.steady)
        if task is not None:
            self._forget(task.visit.url)
            self._in_flight[task.visit.url] = task
            self._in_flight_by_slot[task.slot] += 1
        return task

    def next_due(self, now: Now) -> float | None:
        """Return the seconds until `pop` may give something (≥ 0), None if nothing is scheduled."""
        waits = [self._later[0][0] - now.wall] if self._later else []
        if (free_at := self._sites.next_due()) is not None:
            waits.append(free_at - now.steady)
        return max(0.0, min(waits)) if waits else None

    def settle(self, task: FetchTask, outcome: Visit | None, now: Now) -> None:
        """End a task whose outcome is recorded, or which was not fetched and waits again (None)."""
        url = task.visit.url
        del self._in_flight[url]
        self._in_flight_by_slot[task.slot] -= 1
        if task.slot in self._slots:
            self.observe(task.slot, _newest(task.newer, outcome or task.visit), now)
            if url in self._due_again and outcome is not None:
                self.make_due(url, now)
        self._due_again.discard(url)
        self._sites.sweep(now.steady)

    def _take(self, visit: Visit, slot: Slot, held: _HeldSlot, now: Now, links: int = 0) -> None:
        """Put a visit into memory, or leave it out where there is no room for it, or will not be before it is due."""
        if len(self._entries) >= self._limit and visit.due_at < self.left_out.horizon:
            self._make_room()
        if len(self._entries) >= self._limit or visit.due_at >= self.left_out.horizon or self._is_crowded(visit, now):
            self.left_out.add(slot, visit)
            held.urls.pop(visit.url, None)
            return
        self.left_out.remove(visit.url)
        held.urls[visit.url] = None
        self._insert(visit, slot, held.epoch, now, links)

    def _is_crowded(self, visit: Visit, now: Now) -> bool:
        """Whether a due URL is one of so many of its site that those of others would find no room."""
        if visit.due_at > now.wall or 2 * len(self._entries) < self._limit:
            return False
        return _SITE_SHARE * self._sites.queued(site_of(visit.url)) >= self._limit

    def _make_room(self) -> None:
        """Leave out the URLs that are due last, unless nearly all are due already."""
        if _LEAVES_OUT * (len(self._entries) - len(self._sites)) < self._limit:
            return
        later = [item for item in self._later if item[2].stage is UrlStage.LATER]
        horizon = sorted(due_at for due_at, _, _ in later)[-len(later) // _LEAVES_OUT]
        for due_at, _, entry in later:
            if due_at >= horizon:
                visit = entry.visit
                self.left_out.add(entry.slot, visit)
                self._slots[entry.slot].urls.pop(visit.url, None)
                self._remove(visit.url)
        self.left_out.leave_from(horizon)
        self._clean_later()

    def _insert(self, visit: Visit, slot: Slot, epoch: int, now: Now, links: int = 0) -> None:
        self._number += 1
        site = sys.intern(site_of(visit.url))  # one text for all URLs of a site
        entry = self._entries[visit.url] = QueuedUrl(visit, slot, epoch, site, links=links)
        self._waiting_by_site[site] = self._waiting_by_site.get(site, 0) + 1
        if visit.due_at > now.wall:
            entry.known = encode_visit(visit)
            heapq.heappush(self._later, (visit.due_at, self._number, entry))
            self._clean_later()
        else:
            self._sites.push(entry)

    def _forget(self, url: str) -> None:
        """Take a URL out of memory whose visit does not count any more."""
        if (entry := self._entries.get(url)) is not None:
            self.statistics.remove(entry.slot, entry.visit)
            self._remove(url)

    def _remove(self, url: str) -> None:
        entry = self._entries.pop(url)
        if left := self._waiting_by_site[entry.site] - 1:
            self._waiting_by_site[entry.site] = left
        else:
            del self._waiting_by_site[entry.site]
        if entry.stage is UrlStage.READY:
            self._sites.discard(entry)
        entry.stage, entry.known = UrlStage.UNKNOWN, b""

    def _clean_later(self) -> None:
        """Drop what no longer counts from the heap, whenever that is a fifth of it."""
        if 4 * len(self._later) > 5 * len(self._entries) + 4 * _STALE_LEAST:
            self._later = [item for item in self._later if item[2].stage is UrlStage.LATER]
            heapq.heapify(self._later)


def _newest(known: Visit | None, seen: Visit) -> Visit:
    """Return the visit that wins in the store: the later outcome, else the further reach, `known` if they are equal."""
    if known is None:
        return seen
    if known.state != VisitState.WAITING or seen.state != VisitState.WAITING:
        return seen if seen.visited_at > known.visited_at else known
    return seen if reach(seen) > reach(known) else known
