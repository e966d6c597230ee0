"""Announces to the network which slots this node is ready for, how much it has to fetch and how busy its machine is."""

import asyncio
from contextlib import suppress

from crawl import Crawler
from dht import Slot, resize_inside
from index import LocalIndex
from node.app.environment import NodeEnvironment
from node.crawling.machine_load import LoadMeter
from store import Replicator

ANNOUNCE_EVERY_S = 1.0  # how soon a slot that the index has caught up with is announced
LOAD_EVERY_S = 5.0  # between two announcements of load and due work


class ReadinessAnnouncer:
    """Announces one node's state; a slot is ready when it is reconciled and the index has caught up with it."""

    def __init__(
        self,
        env: NodeEnvironment,
        replicator: Replicator,
        index: LocalIndex,
        crawler: Crawler,
        quota_bytes: int,
    ) -> None:
        self._overlay, self._store, self._machine, self._clock = env.overlay, env.store, env.machine, env.clock
        self._replicator, self._index, self._crawler = replicator, index, crawler
        self._quota_bytes, self._meter = quota_bytes, LoadMeter()
        self._shown: frozenset[Slot] = frozenset()
        self._shown_bits = env.overlay.view.strategy.slot_bits
        self._load_at = 0.0  # steady

    async def run(self) -> None:
        """Announce what changes, until cancelled."""
        while True:
            self._replicator.ready_changed.clear()
            self._show(self._replicator.ready_slots())
            if (now := self._clock().steady) >= self._load_at:
                self._load_at = now + LOAD_EVERY_S
                self._announce(has_load=True)
            with suppress(TimeoutError):
                async with asyncio.timeout(ANNOUNCE_EVERY_S):
                    await self._replicator.ready_changed.wait()

    def _show(self, ready: frozenset[Slot]) -> None:
        """A new slot waits until the index has caught up with it; one that is ready no more leaves at once."""
        bits = self._overlay.view.strategy.slot_bits
        self._shown, self._shown_bits = resize_inside(self._shown, self._shown_bits, bits), bits
        shown = ready if self._index.is_current else ready & self._shown
        if shown != self._shown:
            self._shown = shown
            self._announce(has_load=False)

    def _announce(self, *, has_load: bool) -> None:
        load = None
        if has_load:
            disk_share = self._store.used_bytes / self._quota_bytes
            load = self._meter.take(self._clock().steady, self._machine(), disk_share)
        self._overlay.announce(self._shown, sum(self._crawler.due().values()), load)
