"""Announces to the network which slots this node is ready for, how much it has to fetch and how busy its machine is."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from crawl import Crawler
from dht import FaultSite, Slot
from index import LocalIndex
from node.app.environment import NodeEnvironment
from node.app.room_keeper import RoomKeeper
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
    ) -> None:
        machine = env.machine
        self._overlay, self._store, self._clock = env.member.overlay, machine.store, machine.clock
        self._load_of_machine, self._faults = machine.load, machine.faults
        self._replicator, self._index, self._crawler = replicator, index, crawler
        self._meter = LoadMeter()
        self._room = RoomKeeper(env, replicator)
        self._shown: frozenset[Slot] = frozenset()
        self._stored_only: frozenset[Slot] = frozenset()  # of these
        self._shown_of: Mapping[Slot, int] | None = None  # all of which is shown
        self._load_at = 0.0  # steady

    @property
    def bytes_per_s(self) -> float:
        """How many bytes a second this machine sends and receives of late."""
        return self._meter.rate

    async def run(self) -> None:
        """Announce what changes, until cancelled."""
        while True:
            self._replicator.ready_changed.clear()
            self._show({} if self._overlay.view.why_apart() else self._replicator.level_at())
            if (now := self._clock().steady) >= self._load_at:
                self._load_at = now + LOAD_EVERY_S
                self._announce(has_load=True)
                self._room.decide()
            with suppress(TimeoutError):
                async with asyncio.timeout(ANNOUNCE_EVERY_S):
                    await self._replicator.ready_changed.wait()

    def _show(self, level_at: Mapping[Slot, int]) -> None:
        """A slot waits until the index has what made it ready, however much came since; one that is ready no more
        leaves at once. While the index cannot take in changes, slots are left to replicas that can; while it is built
        anew, all are."""
        is_stuck = self._index.is_stuck
        stored_only = self._index.stored_only(self._shown)
        is_same = stored_only == self._stored_only
        if is_same and level_at is self._shown_of and not is_stuck and self._index.is_answering:
            return
        shown = frozenset(slot for slot, sequence in level_at.items() if self._index.reached(sequence))
        if is_stuck:
            shown = frozenset(filter(self._is_alone, shown))
        self._shown_of = level_at if len(shown) == len(level_at) else None
        if shown != self._shown or not is_same:
            self._shown, self._stored_only = shown, self._index.stored_only(shown)
            self._announce(has_load=False)

    def _is_alone(self, slot: Slot) -> bool:
        view = self._overlay.view
        return not any(peer != view.node_id for peer in view.ready(slot))

    def _is_refused(self) -> bool:
        """Whether the disk takes no records: nobody should count on this node to keep more."""
        return any(fault.site == FaultSite.STORE for fault in self._faults.present())

    def _announce(self, *, has_load: bool) -> None:
        load = None
        if has_load:
            disk_share = 1.0 if self._is_refused() else self._store.room.used_bytes / self._store.room.quota_bytes
            load = self._meter.take(self._clock().steady, self._load_of_machine(), disk_share)
        self._overlay.announce(self._shown, sum(self._crawler.due().values()), load, self._stored_only)
