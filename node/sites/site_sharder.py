"""Spreads sites that have become too big for one place: the holder of a site's home slot decides, for the network.

It counts its slots' sites, and only where one is big enough to matter asks around how much others keep. It writes its
decision once into the host's record (`store/record/host_record.py`), and everything else follows from that.
"""

import asyncio
import logging
from collections.abc import Sequence
from random import Random

from dht import (
    SITE_BYTES,
    NodeId,
    Overlay,
    RemoteError,
    ShardPolicy,
    SiteShards,
    Slot,
    documents_of,
    node_id_of,
    placement_key,
    site_of,
    slot_of,
    slot_range,
    spread_depth,
)
from node.sites.host_records import HostRecords, HostRecordWriter
from store import Kind, RecordStore, Replicator, SlotReport, SlotReportReply, host_name, url_of

log = logging.getLogger(__name__)

SAMPLED = 64  # slots asked about, each of one of its ready replicas
ASK_WITHIN_S = 5.0
ADOPT_EVERY_S = 10.0  # a lease moves within seconds; who reads a record meanwhile is sent on by the owners


class SiteSharder:
    """Decides how deep the sites at home here are spread, and writes that into their host records."""

    def __init__(
        self,
        bounds: ShardPolicy,
        overlay: Overlay,
        store: RecordStore,
        replicator: Replicator,
        places: SiteShards,
        records: HostRecords,
        writer: HostRecordWriter,
        rng: Random,
    ) -> None:
        self._bounds, self._overlay, self._store, self._replicator = bounds, overlay, store, replicator
        self._places, self._records = places, records
        self._writer, self._rng = writer, rng

    async def run(self) -> None:
        """Look at the held slots again and again, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._adopt_for_ever(), name="site-adopt")
            while True:
                await asyncio.sleep(self._bounds.look_every_s * self._rng.uniform(0.75, 1.25))
                await self.step()

    async def _adopt_for_ever(self) -> None:
        while True:
            await asyncio.sleep(ADOPT_EVERY_S * self._rng.uniform(0.75, 1.25))
            await self.adopt()

    async def adopt(self) -> None:
        """Sign anew what former holders of these slots said of spread sites: a depth counts while its author holds the
        lease."""
        view = self._overlay.view
        for site in self._records.book.sites:
            id, key = host_name(site)
            epoch = view.leases().get(slot_of(key, view.strategy.slot_bits))
            record = self._store.find(Kind.HOST, id) if epoch is not None else None
            if epoch is not None and record is not None and node_id_of(record.proof.author) != view.node_id:
                await self._writer.change(site, epoch)

    async def step(self) -> None:
        """Look at all slots held once, where the network is large enough."""
        view = self._overlay.view
        if len(view.members()) < self._bounds.nodes:
            return
        for slot, epoch in list(view.leases().items()):
            for url, pages in await self._big(slot):
                await self._consider(slot, epoch, url, pages)

    async def _big(self, slot: Slot) -> list[tuple[str, int]]:
        """Return the sites at home in a slot that are big enough: a URL of each, and how many pages it has."""
        bits = self._overlay.view.strategy.slot_bits
        first, last = slot_range(slot, bits)
        spread = [site for site in self._records.book.sites if slot_of(host_name(site)[1], bits) == slot]
        least = self._bounds.pages >> max((self._records.book.depths(site)[0] for site in spread), default=0)
        if self._store.summary(first, last).documents < max(1, least):
            return []
        found = []
        for prefix, count in await self._store.read_ranges(
            lambda catalog: catalog.big_sites(Kind.DOCUMENT, first, last, max(1, least))
        ):
            record = next(self._store.scan(Kind.DOCUMENT, prefix.ljust(20, b"\0"), prefix.ljust(20, b"\xff")), None)
            url = url_of(record) if record is not None else ""
            if url and placement_key(url)[:SITE_BYTES] == prefix:
                found.append((url, count << self._places.depth(url)))
        return [(url, pages) for url, pages in found if pages >= self._bounds.pages]

    async def _consider(self, slot: Slot, epoch: int, url: str, pages: int) -> None:
        """Spread a site that needs it and that no rule places."""
        site, view = site_of(url), self._overlay.view
        before, *former = self._records.book.depths(site)
        if before:
            await self._writer.renew(site, epoch)
        if former:  # spread lately: what has yet to move is counted where it lies
            return
        if self._places.depth(url) != before or self._places.is_ruled(url):
            return
        slots = 1 << view.strategy.slot_bits
        here = self._store.summary(*slot_range(slot, view.strategy.slot_bits)).documents
        documents = documents_of(await self._sample(slot, slots), slots, here)
        if documents is None:
            return
        nodes = len(view.members())
        depth = spread_depth(pages, before, documents, view.strategy.replicas, nodes, self._bounds)
        if depth > before and view.leases().get(slot) == epoch:
            host = await self._writer.spread(site, epoch, depth, before)
            if host is None:
                return
            self._records.believe(host)
            log.info("site spread site=%s places=%d pages=%d of=%d nodes=%d", site, 1 << depth, pages, documents, nodes)

    async def _sample(self, home: Slot, slots: int) -> list[int]:
        """Return how many documents lie in some other slots, as a ready replica of each says."""
        numbers = [s for s in range(slots) if s != home]
        asked: dict[NodeId, list[int]] = {}
        for number in self._rng.sample(numbers, min(SAMPLED, len(numbers))):
            if ready := self._overlay.view.ready(Slot(number)):
                asked.setdefault(self._rng.choice(ready), []).append(number)
        return [count for peer, numbers in asked.items() for count in await self._ask(peer, numbers)]

    async def _ask(self, peer: NodeId, slots: Sequence[int]) -> list[int]:
        if peer == self._overlay.view.node_id:
            return [state.documents for state in self._replicator.slot_states([Slot(s) for s in slots])]
        message = SlotReport(self._overlay.view.strategy.slot_bits, tuple(slots))
        try:
            reply = await self._overlay.ask(peer, message, SlotReportReply, timeout_s=ASK_WITHIN_S)
        except RemoteError:
            return []
        return [state.documents for state in reply.states if state.ready]
