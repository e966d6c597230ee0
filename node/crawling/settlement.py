"""Finds out whether the network is settled: every ready replica of a slot holds, and has indexed, the same.

Each node reports one digest a slot (what its store holds ‖ what its index has); equal digests mean equal answers. A
node asks only the peers that it shares slots with, so the cost does not grow with the network.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Annotated

from msgspec import Meta

from crawl import Crawler
from dht import Message, NodeId, Overlay, RemoteError, Slot, slot_range
from index import LocalIndex
from node.crawling.frontier_sync import FrontierSync
from store import RecordStore, Replicator

ASK_WITHIN_S = 3.0
REPORT_BYTES = 16
MAX_SLOTS = 1 << 16

Bits = Annotated[int, Meta(ge=0, le=16)]
Number = Annotated[int, Meta(ge=0, lt=MAX_SLOTS)]
Digest = Annotated[bytes, Meta(min_length=REPORT_BYTES, max_length=REPORT_BYTES)]
Count = Annotated[int, Meta(ge=0, lt=1 << 48)]


class ReportRequest(Message, frozen=True, array_like=True):
    """Asks a peer for the state of its slots, counted as in one strategy version."""

    slot_bits: Bits


class Report(Message, frozen=True, array_like=True):
    """Answers with a digest for each ready slot; `owed` counts copies that this node still has to deliver to live
    peers.

    What is owed to a dead one waits for its return, which may never come: the living can settle without it.
    """

    slot_bits: Bits
    digests: Annotated[dict[Number, Digest], Meta(max_length=MAX_SLOTS)]
    owed: Count  # to live peers: what is owed to a dead one waits for it and changes no answer
    crawling: Count  # URLs due or open here


class Settlement:
    """Asks the other owners of this node's slots for reports, and answers theirs. `local` gives this node's own."""

    def __init__(self, overlay: Overlay, local: Callable[[], Report]) -> None:
        self._overlay, self._local = overlay, local
        overlay.serve(ReportRequest, self._answer)

    async def _answer(self, peer: NodeId, request: ReportRequest) -> Report:
        return self._local()

    async def is_settled(self) -> bool:
        """Tell whether all live owners of shared slots answer, nobody owes copies, and all digests of a shared slot are
        equal."""
        mine = self._local()
        view = self._overlay.view
        teams = {slot: view.live_owners(slot) for slot in sorted(view.owned())}
        shared = {slot: team for slot, team in teams.items() if view.node_id in team}
        if mine.owed or any(slot not in mine.digests for slot in shared):
            return False
        reports = await self._ask_all(sorted({peer for team in shared.values() for peer in team} - {view.node_id}))
        return all(
            report is not None and _agree(mine, report, [slot for slot, team in shared.items() if peer in team])
            for peer, report in reports.items()
        )

    async def _ask_all(self, peers: list[NodeId]) -> dict[NodeId, Report | None]:
        reports: dict[NodeId, Report | None] = {}

        async def ask(peer: NodeId) -> None:
            request = ReportRequest(self._overlay.view.strategy.slot_bits)
            try:
                reports[peer] = await self._overlay.ask(peer, request, Report, timeout_s=ASK_WITHIN_S)
            except RemoteError:
                reports[peer] = None

        async with asyncio.TaskGroup() as tasks:
            for peer in peers:
                tasks.create_task(ask(peer))
        return reports


def _agree(mine: Report, other: Report, shared: Sequence[Slot]) -> bool:
    """Tell whether a peer says the same of the slots that it shares with us; what it says of others does not count."""
    return (
        other.owed == 0
        and mine.slot_bits == other.slot_bits
        and all(other.digests.get(slot, mine.digests[slot]) == mine.digests[slot] for slot in shared)
    )


class LocalReport:
    """Works out what this node says of its own slots."""

    def __init__(
        self,
        overlay: Overlay,
        store: RecordStore,
        replicator: Replicator,
        index: LocalIndex,
        crawler: Crawler,
        frontier_sync: FrontierSync,
    ) -> None:
        self._overlay, self._store, self._replicator = overlay, store, replicator
        self._index, self._crawler, self._frontier_sync = index, crawler, frontier_sync

    def now(self) -> Report:
        """Report what the slots hold and have indexed that are ready and announced as such, since others ask no replica
        that they do not know of; no slot while index or frontier lag behind the store."""
        view, bits = self._overlay.view, self._overlay.view.strategy.slot_bits
        is_current = self._index.is_current and self._frontier_sync.is_current
        ready = sorted(self._replicator.ready_slots()) if is_current else []
        slots = [slot for slot in ready if view.is_ready(view.node_id, slot)]
        stored = {slot: self._store.summary(*slot_range(slot, bits)).fingerprint for slot in slots}
        indexed = {slot: self._index.indexed(slot)[1] for slot in slots}
        crawl, status = self._crawler.status(), self._replicator.status()
        return report_of(bits, stored, indexed, status.owed_now, crawl.waiting + crawl.open)


def report_of(
    slot_bits: int, stored: Mapping[Slot, bytes], indexed: Mapping[Slot, bytes], owed: int, crawling: int
) -> Report:
    """Return a report of one digest a slot, made of the store's and the index's fingerprints."""
    digests = {
        int(slot): blake2b(stored[slot] + indexed.get(slot, b""), digest_size=REPORT_BYTES).digest()
        for slot in sorted(stored)
    }
    return Report(slot_bits, digests, owed, crawling)
