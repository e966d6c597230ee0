"""Says why this node fetches nothing just now, and pauses the crawler meanwhile.

Its operator's pause and hours stand against every fetch, also one that others order; where only room is lacking, those
are still carried out. Without a network nothing is tried, since every site would seem to be down. A pause with an end
ends by itself; the hours are those of the clock on the wall.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta

from crawl import CrawlConfig, CrawlControl, FetchHours
from dht import Clock
from store import RecordStore, StoreConfig

CHECK_EVERY_S = 1.0
LAST_ROOM = 0.05  # of the quota: kept for copies of what others fetch


class FetchPause:
    """Knows what stands against fetching, and tells the crawler by `control`."""

    def __init__(
        self,
        crawl: CrawlConfig,
        room: StoreConfig,
        store: RecordStore,
        control: CrawlControl,
        clock: Clock,
        outage: Callable[[], str] = str,
    ) -> None:
        """`outage`: why this machine reaches nobody, or too few members to keep a page; "" where it does."""
        self._crawl = crawl
        self.obey(crawl.hours, room)
        self._store, self._control, self._clock, self._outage = store, control, clock, outage
        self._paused_until: float | None = None  # steady; None: not paused
        self._ends = ""  # for people

    def obey(self, hours: str, room: StoreConfig) -> None:
        """Take over other hours and another quota, from the next look on."""
        self._hours, self._last_room_bytes = FetchHours.parse(hours), last_room_bytes(self._crawl, room)

    async def run(self) -> None:
        """Keep the crawler told, until cancelled."""
        while True:
            self.step()
            await asyncio.sleep(CHECK_EVERY_S)

    def step(self) -> None:
        """Tell the crawler what stands against fetching now."""
        passing = self.operator_reason() or self._outage()
        self._control.pause(passing or self.room_reason(), is_fault=not passing)

    def pause(self, for_s: float | None = None) -> None:
        """Fetch nothing for so many seconds or, where that is None, until `resume`."""
        self._paused_until = float("inf") if for_s is None else self._clock().steady + for_s
        self._ends = "" if for_s is None else f" until {_when(self._local(), for_s)}"
        self.step()

    def resume(self) -> None:
        """End the operator's pause; hours and room count as before."""
        self._paused_until = None
        self.step()

    @property
    def is_paused(self) -> bool:
        """Whether the owner has paused fetching; hours, a lack of room and silent members aside."""
        return self._paused_until is not None and self._clock().steady < self._paused_until

    def operator_reason(self) -> str:
        """Say why the owner of this machine lets it fetch nothing now, and until when; "" where it may."""
        if self.is_paused:
            return f"paused by its operator{self._ends}; `dse-node resume` ends that"
        return self._hours.closed(self._local().time())

    def room_reason(self) -> str:
        """Say why there is no room for new pages, and what helps; "" where there is."""
        reason = self._store.no_room(self._last_room_bytes)
        return f"no room for new pages: {reason}" if reason else ""

    def _local(self) -> datetime:
        return datetime.fromtimestamp(self._clock().wall)


def last_room_bytes(crawl: CrawlConfig, store: StoreConfig) -> int:
    """Return the room below which a node fetches nothing: two of the largest pages must always fit, or an open fetch
    would wait for room that never comes."""
    largest = crawl.max_body_bytes + 4 * crawl.max_text_chars
    return max(int(store.quota_bytes * LAST_ROOM), 2 * largest)


def _when(local: datetime, for_s: float) -> str:
    end = local + timedelta(seconds=for_s)
    return f"{end:%H:%M}" if end.date() == local.date() else f"{end:%Y-%m-%d %H:%M}"
