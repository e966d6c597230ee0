"""What to fetch next: URLs by due time, hosts by politeness.

Pure: `now` is an argument, nothing waits. A view of the visits in the slots that this node holds. A URL is in one of
three places: *later* (its due time has not come, wall clock), *ready* (in its host's queue, deepest scope first), or in
*flight*. A host takes part in the race for turns while it has ready URLs and no open request; its turn comes when its
rest is over (steady clock). Each entry carries a number; a heap item whose number is not the entry's is stale.
Source: Heydon & Najork 1999, section 3.1 (back queues, one a host, and a heap of hosts).
"""

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from msgspec.structs import replace

from crawl.frontier.due_work import DueWork
from crawl.frontier.mirror_alias import is_aliased
from crawl.frontier.url_status import QueuePosition, UrlStage
from crawl.politeness.address_limits import AddressLimits
from crawl.schedule.revisit_policy import RevisitStatistics
from crawl.schedule.url_state import Visit, VisitState, reach
from dht import Now, Slot, site_of

MAX_AHEAD = 10_000  # URLs counted before another one; further ones are not looked at
MAX_UNPLACED = 10_000  # new hosts whose address is to be asked for; others are asked for at their first turn
BUSY_S = 1.0  # until a host with an open request is asked for again


@dataclass(slots=True)
class FetchTask:
    """One URL taken from the frontier. `newer` is what was observed of it meanwhile."""

    visit: Visit
    slot: Slot
    epoch: int
    site: str
    address: str  # where the site was last found, "" unknown; counted against the address's bounds
    newer: Visit | None = None
    counted: float = 0.0  # what AddressTurns.begin said


@dataclass(slots=True)
class _Entry:
    visit: Visit
    slot: Slot
    number: int
    ready: bool = False


@dataclass(slots=True)
class _Host:
    ready: list[tuple[int, int, str]] = field(default_factory=list)  # (-depth, number, URL)
    free_at: float = 0.0  # steady
    wanted_until: float = 0.0  # steady; another host's turn will come for it by then
    open: bool = False
    queued: bool = False  # in the heap of turns, or blocked by its address
    address: str = ""


@dataclass(slots=True)
class _Held:
    epoch: int
    urls: dict[str, None] = field(default_factory=dict)


class Frontier:
    """The due URLs of the held slots. `limit` bounds the URLs in memory, `addresses` the requests to one server;
    `census` is told which pages are known."""

    def __init__(self, limit: int, addresses: AddressLimits, census: RevisitStatistics) -> None:
        self._limit, self._addresses, self._census = limit, addresses, census
        self._slots: dict[Slot, _Held] = {}
        self._entries: dict[str, _Entry] = {}
        self._flight: dict[str, FetchTask] = {}
        self._later: list[tuple[float, int, str]] = []  # (due_at wall, number, URL)
        self._hosts: dict[str, _Host] = {}
        self._turns: list[tuple[float, int, str]] = []  # (free_at steady, number, site)
        self._unplaced: dict[str, None] = {}  # new hosts whose address nobody has asked for yet
        self._open_in: Counter[Slot] = Counter()
        self._due = DueWork()
        self._incomplete: dict[Slot, None] = {}
        self._again: set[str] = set()  # URLs in flight that are due again as soon as their outcome is settled
        self._number = 0
        self._ready = 0
        self._swept = 1_000

    def __len__(self) -> int:
        return len(self._entries)

    def soon(self, now: Now, within_s: float = 0.0) -> int:
        """URLs that wait for nothing but their host's turn, now or in so many seconds; those in flight not counted."""
        return self._ready + sum(1 for _ in self._later_until(now.wall + within_s))

    @property
    def open(self) -> int:
        """URLs in flight, until their outcome is settled."""
        return len(self._flight)

    def open_in(self, slot: Slot) -> int:
        """URLs in flight that were taken from this slot."""
        return self._open_in[slot]

    def due_work(self) -> Mapping[Slot, int]:
        """URLs that politeness lets be fetched within ten minutes, by slot; slots without any are left out."""
        return self._due.by_slot()

    @property
    def incomplete(self) -> tuple[Slot, ...]:
        """Held slots of which some URLs did not fit; holding them again, when there is room, finds those."""
        return tuple(self._incomplete)

    def epoch(self, slot: Slot) -> int | None:
        """The epoch under which a slot is held, None for a slot that is not."""
        held = self._slots.get(slot)
        return held.epoch if held else None

    def slots(self) -> tuple[Slot, ...]:
        return tuple(self._slots)

    def hold(self, slot: Slot, epoch: int, visits: Iterable[Visit], now: Now) -> None:
        """Take a slot over with all its visits, in place of what was known of it."""
        self.drop(slot)
        self._slots[slot] = _Held(epoch)
        for visit in visits:
            self.observe(slot, visit, now)

    def drop(self, slot: Slot) -> None:
        """Forget a slot; what is in flight stays in flight, and returns to it if it is held again by then."""
        held = self._slots.pop(slot, None)
        self._incomplete.pop(slot, None)
        if held is None:
            return
        for url in held.urls:
            self._forget(url)
        for site in dict.fromkeys(site_of(url) for url in held.urls):
            if host := self._hosts.get(site):
                host.ready = [item for item in host.ready if self._is_current(item[2], item[1])]
                heapq.heapify(host.ready)

    def renumber(self, slot_of: Callable[[str], Slot]) -> None:
        """Slots are numbered anew, or sites lie elsewhere: URLs in flight return to the slots that this names."""
        for url, turn in self._flight.items():
            turn.slot = slot_of(url)
        self._open_in = Counter(turn.slot for turn in self._flight.values())

    def observe(self, slot: Slot, visit: Visit, now: Now) -> None:
        """A visit is in the slot's replica: a found URL, or somebody's outcome. A URL in flight stays so."""
        held = self._slots.get(slot)
        if held is None:
            return
        url = visit.url
        if turn := self._flight.get(url):
            turn.newer = _newest(turn.newer, visit)
            return
        known = self._entries.get(url)
        if known is not None:
            if _newest(known.visit, visit) is known.visit:
                return
            self._forget(url)
        elif len(self._entries) >= self._limit:
            self._incomplete[slot] = None
            return
        held.urls[url] = None
        self._insert(url, _Entry(visit, slot, self._next_number()), now)

    def find(self, url: str) -> Visit | None:
        """What is known of a URL that waits; None where it is unknown, in flight or in no held slot."""
        entry = self._entries.get(url)
        return entry.visit if entry else None

    def left_to_twins(self, origins: tuple[str, ...]) -> list[str]:
        """URLs of some origins that wait because the origin was an alias. Looks at all URLs: seldom wanted."""
        return [url for url, known in self._entries.items() if url.startswith(origins) and is_aliased(known.visit)]

    def look(self, url: str, now: Now) -> QueuePosition:
        """Where a URL stands, and what its host waits for."""
        entry = self._entries.get(url)
        host = self._hosts.get(site_of(url))
        rest_s = max(0.0, host.free_at - now.steady) if host else 0.0
        is_open = host is not None and host.open
        if entry is None:
            return QueuePosition(UrlStage.OPEN if url in self._flight else UrlStage.UNKNOWN, 0, rest_s, is_open)
        if not entry.ready or host is None:
            return QueuePosition(UrlStage.LATER, 0, rest_s, is_open)
        mine = (-entry.visit.depth, entry.number, url)
        before = (item for item in islice(host.ready, MAX_AHEAD) if item < mine and self._is_current(item[2], item[1]))
        return QueuePosition(UrlStage.READY, sum(1 for _ in before), rest_s, is_open)

    def hasten(self, url: str, now: Now) -> None:
        """A URL that waits is due at once. Known here alone: a later holder goes by the due time in the replica."""
        entry = self._entries.get(url)
        if entry is not None and not entry.ready:
            self._forget(url)
            self._insert(url, _Entry(replace(entry.visit, due_at=now.wall), entry.slot, self._next_number()), now)

    def again(self, url: str, now: Now) -> None:
        """A URL is due again at once, one in flight when its outcome is settled; known here alone."""
        if url in self._flight:
            self._again.add(url)
        else:
            self.hasten(url, now)

    def pop(self, now: Now) -> FetchTask | None:
        """The next URL to fetch; its host is taken until `rest`, the URL until `settle`. None: ask at `next_due`."""
        self._promote(now)
        for site in self._addresses.due(now.steady):
            self._hosts[site].queued = False
            self._queue(site, self._hosts[site])
        while self._turns and self._turns[0][0] <= now.steady:
            _, _, site = heapq.heappop(self._turns)
            host = self._hosts[site]
            host.queued = False
            self._skip_stale(host)
            if host.open or host.free_at > now.steady:  # it was lent since it was queued
                self._pass(site, host, now)
            elif now.steady < host.wanted_until:
                self._pass(site, host, now, host.wanted_until)
            elif not host.ready:
                self._pass(site, host, now)
            elif host.address and self._addresses.wait_s(host.address, now.steady) != 0.0:
                host.queued = True
                self._addresses.line_up(host.address, site, now.steady)
            else:
                return self._take(site, host, now)
        return None

    def unplaced(self) -> str | None:
        """A host with ready URLs whose address is unknown, each host once."""
        while self._unplaced:
            site = next(iter(self._unplaced))
            del self._unplaced[site]
            if (host := self._hosts.get(site)) and host.ready and not host.address:
                return site
        return None

    def place(self, site: str, address: str) -> None:
        """A host that was not asked yet is at this address."""
        host = self._hosts.get(site)
        if host and not host.address and not host.open:
            host.address = address

    def move(self, turn: FetchTask, address: str, now: Now) -> bool:
        """A turn's host, which was given without an address, is found at this one, and counted there from now on.

        False: the address has no room; the turn is to be ended without a request.
        """
        self._hosts[turn.site].address = address
        if self._addresses.wait_s(address, now.steady) != 0.0:
            return False
        turn.address, turn.counted = address, self._addresses.begin(address, now.steady)
        return True

    def leave(self, turn: FetchTask, now: Now) -> None:
        """A turn will not ask its host: others may have its place at the address."""
        if turn.address:
            self._addresses.undo(turn.address, turn.counted, now.steady)
            turn.address = ""

    def next_due(self, now: Now) -> float | None:
        """Seconds until `pop` may give something (≥ 0), None if nothing is scheduled."""
        waits = []
        if self._later:
            waits.append(self._later[0][0] - now.wall)
        if self._turns:
            waits.append(self._turns[0][0] - now.steady)
        if (free_at := self._addresses.next_due()) is not None:
            waits.append(free_at - now.steady)
        return max(0.0, min(waits)) if waits else None

    def rest(self, turn: FetchTask, now: Now, delay_s: float, address: str = "") -> None:
        """The request to the turn's host has ended; leave the host alone for a while. 0.0: there was none."""
        if not delay_s:
            self.leave(turn, now)
        self._end(turn.site, turn.address, now, delay_s, address)

    def borrow(self, site: str, by: str, now: Now) -> float:
        """Take a host for one request that a turn of the host `by` leads to: 0.0, then `give_back` must follow; or the
        seconds until it is worth asking again: until then the host steps aside, or its own URLs would always be first.
        """
        host = self._hosts.setdefault(site, _Host())
        room_s = self._addresses.wait_s(host.address, now.steady) if host.address else 0.0
        wait_s = BUSY_S if host.open or room_s is None else max(room_s, host.free_at - now.steady)
        if wait_s > 0:
            margin_s = BUSY_S / (2 if by < site else 4)  # unequal, or two that want each other would wait in step
            host.wanted_until = now.steady + wait_s + margin_s
            return wait_s
        host.open, host.wanted_until = True, 0.0
        if host.address:
            self._addresses.begin(host.address, now.steady)
        return 0.0

    def give_back(self, site: str, now: Now, delay_s: float, address: str = "") -> None:
        """The request to a borrowed host has ended; leave it alone for a while."""
        self._end(site, self._hosts[site].address, now, delay_s, address)

    def _end(self, site: str, counted: str, now: Now, delay_s: float, address: str) -> None:
        """`counted`: the address that the request was counted at, `address`: the one that answered."""
        host = self._hosts[site]
        host.open = False
        host.free_at = now.steady + delay_s
        self._due.rests(site, delay_s)
        if counted:
            self._addresses.end(counted, now.steady)
        host.address = address or host.address
        self._queue(site, host)

    def settle(self, turn: FetchTask, outcome: Visit | None, now: Now) -> None:
        """The outcome of a URL is recorded (or None: it was not fetched, and waits again)."""
        del self._flight[turn.visit.url]
        self._open_in[turn.slot] -= 1
        if turn.slot in self._slots:
            self.observe(turn.slot, _newest(turn.newer, outcome or turn.visit), now)
            if turn.visit.url in self._again and outcome is not None:
                self.hasten(turn.visit.url, now)
        self._again.discard(turn.visit.url)
        self._sweep(now)

    def _take(self, site: str, host: _Host, now: Now) -> FetchTask:
        _, _, url = heapq.heappop(host.ready)
        entry = self._entries[url]
        self._forget(url)
        host.open = True
        turn = FetchTask(entry.visit, entry.slot, self._slots[entry.slot].epoch, site, host.address)
        if host.address:
            turn.counted = self._addresses.begin(host.address, now.steady)
        self._flight[url] = turn
        self._open_in[turn.slot] += 1
        return turn

    def _insert(self, url: str, entry: _Entry, now: Now) -> None:
        self._entries[url] = entry
        self._census.add(entry.visit)
        if entry.visit.due_at > now.wall:
            heapq.heappush(self._later, (entry.visit.due_at, entry.number, url))
            if len(self._later) > 2 * len(self._entries) + 1_000:
                self._later = [item for item in self._later if self._is_current(item[2], item[1])]
                heapq.heapify(self._later)
        else:
            self._make_ready(url, entry)

    def _make_ready(self, url: str, entry: _Entry) -> None:
        entry.ready = True
        self._ready += 1
        site = site_of(url)
        self._due.add(entry.slot, site)
        if site not in self._hosts and len(self._unplaced) < MAX_UNPLACED:
            self._unplaced[site] = None
        host = self._hosts.setdefault(site, _Host())
        heapq.heappush(host.ready, (-entry.visit.depth, entry.number, url))
        self._queue(site, host)

    def _promote(self, now: Now) -> None:
        """Move what has become due to its host's queue."""
        while self._later and self._later[0][0] <= now.wall:
            _, number, url = heapq.heappop(self._later)
            if self._is_current(url, number):
                self._make_ready(url, self._entries[url])

    def _later_until(self, wall: float) -> Iterator[str]:
        """URLs not yet ready whose due time is up to `wall`: a walk over the top of the heap."""
        places = [0]
        while places:
            place = places.pop()
            if place < len(self._later) and self._later[place][0] <= wall:
                _, number, url = self._later[place]
                if self._is_current(url, number):
                    yield url
                places += (2 * place + 1, 2 * place + 2)

    def _queue(self, site: str, host: _Host, at: float = 0.0) -> None:
        if host.ready and not host.open and not host.queued:
            host.queued = True
            heapq.heappush(self._turns, (max(at, host.free_at), self._next_number(), site))

    def _pass(self, site: str, host: _Host, now: Now, at: float = 0.0) -> None:
        """A host's turn has come to nothing; it may have been let in before another that waits for its address."""
        if host.address:
            self._addresses.passed(host.address, now.steady)
        self._queue(site, host, at)

    def _forget(self, url: str) -> None:
        entry = self._entries.pop(url, None)
        if entry is None:
            return
        self._census.remove(entry.visit)
        if entry.ready:
            self._ready -= 1
            self._due.add(entry.slot, site_of(url), -1)

    def _skip_stale(self, host: _Host) -> None:
        while host.ready and not self._is_current(host.ready[0][2], host.ready[0][1]):
            heapq.heappop(host.ready)

    def _is_current(self, url: str, number: int) -> bool:
        entry = self._entries.get(url)
        return entry is not None and entry.number == number

    def _next_number(self) -> int:
        self._number += 1
        return self._number

    def _sweep(self, now: Now) -> None:
        """Forget hosts that have nothing ready and whose rest is over, whenever their number has doubled."""
        if len(self._hosts) <= 2 * self._swept:
            return
        self._hosts = {
            site: host
            for site, host in self._hosts.items()
            if host.ready or host.open or host.queued or max(host.free_at, host.wanted_until) > now.steady
        }
        self._swept = max(1_000, len(self._hosts))


def _newest(known: Visit | None, seen: Visit) -> Visit:
    """The visit that wins in the store: the later outcome, else the further reach; `known` where they are equal."""
    if known is None:
        return seen
    if known.state != VisitState.WAITING or seen.state != VisitState.WAITING:
        return seen if seen.visited_at > known.visited_at else known
    return seen if reach(seen) > reach(known) else known
