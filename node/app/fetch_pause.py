"""Pauses the crawler while anything stands against fetching: this node's operator, its hours, or a full disk."""

import asyncio

from crawl import CrawlConfig, CrawlControl
from node.crawling.operator_pause import OperatorPause
from store import RecordStore, StoreConfig

CHECK_EVERY_S = 1.0
LAST_ROOM = 0.05  # of the quota: kept for copies of what others fetch


class FetchPause:
    """Tells the crawler, by `control`, when to pause and when to go on. The operator's wishes hold for others' orders,
    too; where only room is lacking, those are still carried out."""

    def __init__(
        self, crawl: CrawlConfig, room: StoreConfig, operator: OperatorPause, store: RecordStore, control: CrawlControl
    ) -> None:
        self.operator, self._store, self._control = operator, store, control
        self._last_room_bytes = last_room_bytes(crawl, room)

    def set(self, paused: bool, for_s: float | None = None) -> str:
        """Begin or end the operator's pause, for so many seconds or (None) until told otherwise; return the reason that
        is shown meanwhile."""
        if paused:
            self.operator.pause(for_s)
        else:
            self.operator.resume()
        self.step()
        return self.operator.reason()

    def room_reason(self) -> str:
        """Say why there is no room for new pages, and what helps; "" where there is."""
        reason = self._store.no_room(self._last_room_bytes)
        return f"no room for new pages: {reason}; raise store.quota_bytes or free some space" if reason else ""

    def step(self) -> None:
        """Tell the crawler what stands against fetching now."""
        self._control.pause(self.operator.reason() or self.room_reason())

    async def run(self) -> None:
        """Keep the crawler told, until cancelled."""
        while True:
            self.step()
            await asyncio.sleep(CHECK_EVERY_S)


def last_room_bytes(crawl: CrawlConfig, store: StoreConfig) -> int:
    """Return the room below which a node fetches nothing: two of the largest pages must always fit, or an open fetch
    would wait for room that never comes."""
    largest = crawl.max_body_bytes + 4 * crawl.max_text_chars
    return max(int(store.quota_bytes * LAST_ROOM), 2 * largest)
