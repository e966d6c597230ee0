"""Which site may be asked next: a queue of ready URLs for each site, and a heap of the sites by the end of their rest.

Pure: `now` is steady time in seconds. A site takes part in the race for turns while it has ready URLs and no open
request. It is in line for a turn once its rest is over (turn_order.py), and has it if its server's address has room. A
site can also be *borrowed*, for one request that a URL of another site leads to.
Source: Heydon & Najork 1999, section 3.1 (back queues, one a host, and a heap of hosts).
"""

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from math import inf

from crawl.frontier.due_work import DELAY_S, DueWork
from crawl.frontier.fetch_task import FetchTask, QueuedUrl, QueuePosition, UrlStage
from crawl.frontier.turn_order import TurnOrder, domain_bit, fame
from crawl.politeness.address_limits import AddressLimits
from dht import Slot, site_of, split_url

MAX_AHEAD = 10_000  # URLs counted before another one; further ones are not looked at
MAX_UNLOCATED = 10_000  # new sites whose address is to be looked up; that of others is, at their first turn
BUSY_S = 1.0  # until a site with an open request is asked for again
HELD_S = 60.0  # until a site that the owner has paused is asked for again
COUNTED_AFTER_S = 7 * 86_400.0  # from the first turn on: until then too few pages were read to say that few link


@dataclass(slots=True)
class _SiteQueue:
    ready: list[tuple[int, int, QueuedUrl]] = field(default_factory=list)  # (place, number, URL)
    domains: int = 0  # others that link to it, as bits
    free_at: float = 0.0
    wanted_until: float = 0.0  # a borrower will come for it by then
    is_open: bool = False  # a request is under way
    is_racing: bool = False  # in the heap of rests, or in line for a turn or for its address
    address: str = ""


class SiteQueues:
    """Queues the ready URLs by site, deepest scope first, then those that most pages link to.

    `addresses` bounds the requests to one server."""

    def __init__(self, addresses: AddressLimits) -> None:
        self._addresses = addresses
        self._sites: dict[str, _SiteQueue] = {}
        self._rests: list[tuple[float, int, str]] = []  # (free_at, number, site)
        self._turns = TurnOrder()  # those whose rest is over
        self._unlocated: dict[str, None] = {}  # new sites whose address nobody has looked up yet
        self._held: frozenset[str] = frozenset()  # hosts whose sites get no turn
        self.held_ready = 0  # ready URLs of these
        self._due_work = DueWork()
        self._ready = 0
        self._number = 0
        self._swept = 1_000
        self._counted_at = inf  # from then on it is said how many domains link to a site

    def __len__(self) -> int:
        """Count the ready URLs."""
        return self._ready

    def due_work(self) -> Mapping[Slot, int]:
        """Count the URLs that politeness lets be fetched within ten minutes, by slot; slots without any are missing."""
        return self._due_work.by_slot()

    def hold_hosts(self, hosts: frozenset[str]) -> None:
        """Give the sites of these hosts, and of no others, no turns from now on; their URLs wait as they are, and count
        as little work. Goes over all sites: seldom wanted."""
        before, self._held = self._held, hosts
        if before == hosts:
            return
        self.held_ready = 0
        for site, queue in self._sites.items():
            was_held, is_held = _is_of(site, before), _is_of(site, hosts)
            if is_held:
                self.held_ready += sum(map(_counts, queue.ready))
            if is_held and not was_held:
                self._due_work.set_delay(site, inf)
            elif was_held and not is_held:
                self._due_work.set_delay(site, DELAY_S)
                self._race(site, queue)

    def is_held(self, site: str) -> bool:
        """Tell whether a site gets no turns because the owner has paused its host."""
        return bool(self._held) and _is_of(site, self._held)

    def push(self, entry: QueuedUrl) -> None:
        """Queue a URL that has become ready at its site."""
        entry.stage, entry.known = UrlStage.READY, entry.visit
        self._ready += 1
        site = entry.site
        self._due_work.add(entry.slot, site)
        if self.is_held(site):
            self._due_work.set_delay(site, inf)
            self.held_ready += 1
        queue = self._sites.get(site)
        if queue is None:
            queue = self._sites[site] = _SiteQueue()
            if len(self._unlocated) < MAX_UNLOCATED:
                self._unlocated[site] = None
        self._enter(queue, entry)
        self._race(site, queue)

    def add_link(self, entry: QueuedUrl) -> None:
        """Note that one more page links to a URL that waits."""
        entry.links += 1
        if entry.links & (entry.links - 1) == 0 and entry.stage is UrlStage.READY:  # it has another place now
            self._enter(self._sites[entry.site], entry)

    def add_domain(self, site: str, domain: str) -> None:
        """Note that a registrable domain links to a site of another: it counts once, while the site is known."""
        queue, bit = self._sites.get(site), domain_bit(domain)
        if queue and not queue.domains & bit:
            queue.domains |= bit
            self._turns.value(site, fame(queue.domains))

    def discard(self, entry: QueuedUrl) -> None:
        """Count a ready URL no more; its queue passes it over, or is pruned."""
        entry.stage = UrlStage.UNKNOWN
        self._ready -= 1
        self._due_work.add(entry.slot, entry.site, -1)
        self.held_ready -= self.is_held(entry.site)

    def prune(self, sites: Iterable[str]) -> None:
        """Take discarded URLs out of the queues of some sites."""
        for site in sites:
            if queue := self._sites.get(site):
                queue.ready = list(filter(_counts, queue.ready))
                heapq.heapify(queue.ready)

    def pop(self, now: float) -> FetchTask | None:
        """Return the next URL to fetch; its site is taken until `end_request`. None: ask at `next_due`."""
        for site in self._addresses.due(now):
            self._sites[site].is_racing = False
            self._race(site, self._sites[site])
        while self._rests and self._rests[0][0] <= now:
            site = heapq.heappop(self._rests)[2]
            self._turns.join(site, fame(self._sites[site].domains))
        while (next_site := self._turns.pop()) is not None:
            site, queue = next_site, self._sites[next_site]
            queue.is_racing = False
            while queue.ready and not _counts(queue.ready[0]):
                heapq.heappop(queue.ready)
            if queue.is_open or queue.free_at > now or self.is_held(site):  # it was borrowed or held meanwhile
                self._pass(site, queue, now)
            elif now < queue.wanted_until:
                self._pass(site, queue, now, queue.wanted_until)
            elif not queue.ready:
                self._pass(site, queue, now)
            elif queue.address and self._addresses.wait_s(queue.address, now) != 0.0:
                queue.is_racing = True
                self._addresses.line_up(queue.address, site, now)
            else:
                return self._take(site, queue, now)
        return None

    def next_due(self) -> float | None:
        """Return the steady instant when `pop` may give something, None if nothing is ready."""
        if self._turns:
            return -inf
        instants = [self._rests[0][0]] if self._rests else []
        if (free_at := self._addresses.next_due()) is not None:
            instants.append(free_at)
        return min(instants, default=None)

    def position(self, url: str, entry: QueuedUrl | None, now: float) -> QueuePosition:
        """Tell how many URLs of its site are before a URL that waits, and what the site waits for. `entry`: None where
        the URL does not wait."""
        queue = self._sites.get(site_of(url)) or _SiteQueue()
        ahead = 0
        if entry is not None and entry.stage is UrlStage.READY:
            queued = [item for item in islice(queue.ready, MAX_AHEAD) if _counts(item)]
            mine = next((item[:2] for item in queued if item[2] is entry), (entry.place, self._number))
            ahead = sum(item[:2] < mine for item in queued)
        stage = entry.stage if entry is not None else UrlStage.UNKNOWN
        return QueuePosition(stage, ahead, max(0.0, queue.free_at - now), queue.is_open)

    def queued(self, site: str) -> int:
        """Count the URLs in a site's queue, some of which may not be ready any more."""
        return len(queue.ready) if (queue := self._sites.get(site)) else 0

    def has_ready(self, site: str) -> bool:
        """Tell whether a site has a ready URL."""
        queue = self._sites.get(site)
        return queue is not None and bool(queue.ready)

    def ready_of(self, site: str) -> tuple[int, str]:
        """Count the ready URLs of a site, up to a bound, and return one of them, "" where there is none."""
        queue = self._sites.get(site) or _SiteQueue()
        urls = [item[2].visit.url for item in islice(queue.ready, MAX_AHEAD) if _counts(item)]
        return len(urls), urls[0] if urls else ""

    def end_request(self, task: FetchTask, now: float, delay_s: float, address: str = "") -> None:
        """End the request to a task's site, which then rests so long; 0.0: none was made. `address`: who answered."""
        if not delay_s:
            self.leave_address(task, now)
        self._end(task.site, task.address, now, delay_s, address)

    def borrow(self, site: str, by: str, now: float) -> float:
        """Take a site for one request that a task of the site `by` leads to. 0.0: `give_back` must follow; else the
        seconds until it is worth asking again: until then the site steps aside, or its own URLs would always be first.
        """
        if self.is_held(site):
            return HELD_S
        queue = self._sites.setdefault(site, _SiteQueue())
        room_s = self._addresses.wait_s(queue.address, now) if queue.address else 0.0
        wait_s = BUSY_S if queue.is_open or room_s is None else max(room_s, queue.free_at - now)
        if wait_s > 0:
            margin_s = BUSY_S / (2 if by < site else 4)  # unequal, or two that want each other would wait in step
            queue.wanted_until = now + wait_s + margin_s
            return wait_s
        queue.is_open, queue.wanted_until = True, 0.0
        if queue.address:
            self._addresses.begin(queue.address, now)
        return 0.0

    def give_back(self, site: str, now: float, delay_s: float, address: str = "") -> None:
        """End the request to a borrowed site, which then rests so long. `address`: who answered."""
        self._end(site, self._sites[site].address, now, delay_s, address)

    def next_unlocated(self) -> str | None:
        """Name a site with ready URLs whose address is unknown, each site once."""
        while self._unlocated:
            site = next(iter(self._unlocated))
            del self._unlocated[site]
            if (queue := self._sites.get(site)) and queue.ready and not queue.address:
                return site
        return None

    def set_address(self, site: str, address: str) -> None:
        """Note where a site is that was not asked yet."""
        queue = self._sites.get(site)
        if queue and not queue.address and not queue.is_open:
            queue.address = address

    def enter_address(self, task: FetchTask, address: str, now: float) -> bool:
        """Count a task that was given without an address at the one where its site was found meanwhile.

        False: the address has no room; the task is to be ended without a request.
        """
        self._sites[task.site].address = address
        if self._addresses.wait_s(address, now) != 0.0:
            return False
        task.address, task.counted = address, self._addresses.begin(address, now)
        return True

    def leave_address(self, task: FetchTask, now: float) -> None:
        """Let others have a task's place at its address, since it will not ask its site."""
        if task.address:
            self._addresses.undo(task.address, task.counted, now)
            task.address = ""

    def sweep(self, now: float) -> None:
        """Forget sites that have nothing ready and whose rest is over, whenever their number has doubled."""
        if len(self._sites) <= 2 * self._swept:
            return
        self._sites = {
            site: queue
            for site, queue in self._sites.items()
            if queue.ready or queue.is_open or queue.is_racing or max(queue.free_at, queue.wanted_until) > now
        }
        self._swept = max(1_000, len(self._sites))

    def _take(self, site: str, queue: _SiteQueue, now: float) -> FetchTask:
        _, _, entry = heapq.heappop(queue.ready)
        queue.is_open, self._counted_at = True, min(self._counted_at, now + COUNTED_AFTER_S)
        counted = self._addresses.begin(queue.address, now) if queue.address else 0.0
        links = queue.domains.bit_count().bit_length() if now >= self._counted_at else -1
        return FetchTask(entry.visit, entry.slot, entry.epoch, site, queue.address, counted, site_links=links)

    def _end(self, site: str, counted: str, now: float, delay_s: float, address: str) -> None:
        """End a request that was counted at the address `counted`; `address` is the one that answered."""
        queue = self._sites[site]
        queue.is_open = False
        queue.free_at = now + delay_s
        self._due_work.set_delay(site, inf if self.is_held(site) else delay_s)
        if counted:
            self._addresses.end(counted, now)
        queue.address = address or queue.address
        self._race(site, queue)

    def _enter(self, queue: _SiteQueue, entry: QueuedUrl) -> None:
        self._number += 1
        heapq.heappush(queue.ready, (entry.place, self._number, entry))

    def _race(self, site: str, queue: _SiteQueue, at: float = 0.0) -> None:
        if queue.ready and not queue.is_open and not queue.is_racing and not self.is_held(site):
            queue.is_racing = True
            self._number += 1
            heapq.heappush(self._rests, (max(at, queue.free_at), self._number, site))

    def _pass(self, site: str, queue: _SiteQueue, now: float, at: float = 0.0) -> None:
        """Give up a site's turn; it may have been let in before another site that waits for its address."""
        if queue.address:
            self._addresses.passed(queue.address, now)
        self._race(site, queue, at)


def _counts(item: tuple[int, int, QueuedUrl]) -> bool:
    """Whether an item of a queue is a ready URL, in the place that it has now."""
    return item[2].stage is UrlStage.READY and item[0] == item[2].place


def _is_of(site: str, hosts: frozenset[str]) -> bool:
    host = split_url(f"http://{site}/").host if site.startswith("[") else site.partition(":")[0]
    return host in hosts
