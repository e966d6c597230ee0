"""`Replicator`: what the rest of the node sees of the team. Writes, reads, readiness, and the figures about them.

Built from parts that each do one thing: the writer spreads, the reader fetches, the steward keeps slots ready, the
outbox remembers what is owed, serving answers peers.
"""

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dht import Clock, DocumentId, Key, NodeId, Overlay, SiteShards, Slot, slot_of
from store.config import StoreConfig
from store.disk.record_store import RecordStore
from store.errors import DiskFull
from store.record.package import Signer, checker
from store.record.record import Draft, Kind, Record
from store.replication.admission import Admission
from store.replication.hinted_handoff import HintedHandoff
from store.replication.messages import SlotState
from store.replication.peer_sync import PeerSync
from store.replication.replica_reader import Name, ReplicaReader
from store.replication.replica_repair import ReplicaRepair
from store.replication.replica_server import ReplicaServer
from store.replication.replica_writer import ReplicaWriter
from store.replication.shard_mover import ShardMover

log = logging.getLogger(__name__)


def _no_flaw(kind: Kind, body: bytes) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class ReplicatorStatus:
    """Figures for the status page. Slots are this node's own unless said otherwise."""

    owned: int
    ready: int  # of any slot, former ones included
    waiting: int  # own slots not ready yet
    handing_over: int  # slots of others that still lie here
    under_replicated: int  # own slots with fewer ready live copies than owners
    owed: int  # copies in the outbox
    owed_now: int  # of these, for peers that are live
    owed_peers: int  # peers that they are for
    used_bytes: int
    writing_bytes: int  # drafts on their way


class Replicator:
    """One node's part in keeping every record r times."""

    def __init__(
        self,
        config: StoreConfig,
        store: RecordStore,
        overlay: Overlay,
        signer: Signer,
        clock: Clock,
        rng: random.Random,
        *,
        on_ready: Callable[[frozenset[Slot]], None],
        expects_others: bool,
        body_flaw: Callable[[Kind, bytes], str] = _no_flaw,
        places: SiteShards | None = None,
    ) -> None:
        """`on_ready` hears of every change of `ready_slots`. `expects_others`: the peer cache or the network file names
        somebody else, so an empty view at the start means "not heard yet" and not "alone". `body_flaw` says why a
        stranger's body of a kind that the store cannot read is none, "" where it is one. `places`: where the strategy
        lets records live; None where no site is ever spread."""
        self._config, self._store, self._overlay = config, store, overlay
        self._handoff = HintedHandoff(store, config)
        check = checker(body_flaw, places)
        exchange = PeerSync(overlay, store, config, check)
        self._repair = ReplicaRepair(
            config, store, overlay, exchange, self._handoff, clock, rng, on_ready, expects_others=expects_others
        )
        self._writer = ReplicaWriter(config, store, overlay, self._handoff, signer, clock, self._not_kept, places)
        self._reader = ReplicaReader(
            config, store, overlay, rng, lambda key: self._slot(key) in self._repair.ready, exchange
        )
        self._server = ReplicaServer(
            store,
            overlay,
            exchange,
            lambda slot: slot in self._repair.ready,
            self._repair.incomplete,
            check,
            Admission(overlay, config.stranger_records_s, places),
            clock,
            places,
        )

        self._shard_mover: ShardMover | None = None
        if places is not None:
            self._shard_mover = ShardMover(config, store, overlay, places, clock, self.write, self.read_many)

    async def run(self) -> None:
        """Everything that goes on by itself, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._writer.run(), name="store-writer")
            tasks.create_task(self._repair.run(), name="store-steward")
            tasks.create_task(self._deliver(), name="store-outbox")
            tasks.create_task(self._tend(), name="store-tend")
            if self._shard_mover is not None:
                tasks.create_task(self._shard_mover.run(), name="store-mover")

    async def write(self, drafts: Sequence[Draft]) -> None:
        """Sign drafts and return when each has min(min_acks, r_eff) durable copies with its owners.

        Waits while too much is under way. Raises BadDraft, or TooFewCopies (a RemoteError) after a deadline.
        """
        await self._writer.write(drafts)

    async def read(self, kind: Kind, id: DocumentId, key: Key, *, content: bool) -> Record | None:
        """The record from this node or a ready replica, verified; None where there is none or nobody answers."""
        return await self._reader.read(kind, id, key, content=content)

    async def read_many(
        self, wanted: Sequence[tuple[Kind, DocumentId, Key]], *, content: bool = False
    ) -> Mapping[Name, Record]:
        """Many records at once, batched per peer; by default without their contents."""
        return await self._reader.read_many(wanted, content=content)

    async def read_sure(
        self, wanted: Sequence[tuple[Kind, DocumentId, Key]]
    ) -> tuple[Mapping[Name, Record], frozenset[Name]]:
        """As `read_many`, and those of which nobody said whether they exist."""
        return await self._reader.read_sure(wanted)

    def moved(self, site: str) -> None:
        """The places of a site may be others than they were, or something of it lies astray here."""
        if self._shard_mover is not None:
            self._shard_mover.look_at(site)

    def ready_slots(self) -> frozenset[Slot]:
        """Slots that this node holds reconciled, whether it owns them or has yet to hand them over."""
        return self._repair.ready

    def slot_states(self, slots: Sequence[Slot]) -> list[SlotState]:
        """What lies here in slots."""
        bits = self._overlay.view.strategy.slot_bits
        return [self._server.state(slot, bits) for slot in slots]

    def status(self) -> ReplicatorStatus:
        """Figures as of now."""
        view, counts = self._overlay.view, Counter(self._handoff.counts())
        owned = view.owned()
        thin = sum(not set(view.owners(s)).issubset(view.ready(s)) for s in owned)
        return ReplicatorStatus(
            owned=len(owned),
            ready=len(self._repair.ready),
            waiting=self._repair.waiting,
            handing_over=self._repair.handing_over,
            under_replicated=thin,
            owed=counts.total(),
            owed_now=sum(count for peer, count in counts.items() if view.is_live(peer)),
            owed_peers=len(counts),
            used_bytes=self._store.used_bytes,
            writing_bytes=self._writer.held_bytes,
        )

    async def _deliver(self) -> None:
        while True:
            await self._repair.deliver_owed()
            await asyncio.sleep(self._config.deliver_every_s)

    async def _tend(self) -> None:
        while True:
            try:
                await self._store.expire(self._store.today)
                await self._store.compact()
            except DiskFull as error:
                log.warning("store not tidied reason=%s", error)
            await asyncio.sleep(self._config.tend_every_s)

    def _not_kept(self, slot: Slot, peer: NodeId) -> None:
        """A copy is missing that the outbox does not know of."""
        if peer == self._overlay.view.node_id:
            self._repair.incomplete(slot)
        else:
            self._repair.check(slot, peer)

    def _slot(self, key: bytes) -> Slot:
        return slot_of(key, self._overlay.view.strategy.slot_bits)
