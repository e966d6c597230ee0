"""Tells the holders of other slots what is news to them, and takes what they tell.

Who does not answer, or computes no ranks, is left alone for a while. Nobody is believed about a slot but who is known
to hold its lease, nor about documents but an owner.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec

from dht import Clock, NodeId, Overlay, RemoteError, Slot
from index import InflowAck, InflowMessage
from node.ranking.messages import RankExchange, RankReply
from node.ranking.peer_news import PeerNews

EXCHANGE_S = 30.0  # a peer may be in a long sweep
RETRY_S = 60.0  # after a peer did not answer, or computes no ranks
AT_ONCE = 8  # peers that are told something
AHEAD_S = 120.0  # an epoch of a later second is no lease's: it would silence those that are
Take = Callable[[NodeId, RankExchange, frozenset[int]], Awaitable[tuple[InflowAck, ...]]]
Hear = Callable[[Sequence[InflowAck]], Awaitable[None]]


class RankTalk:
    """The messages of one node about ranks. `run`: of this process."""

    def __init__(self, overlay: Overlay, clock: Clock, run: int, take: Take, hear: Hear) -> None:
        """`take` takes what a peer said, but for some slots, and returns what it has to hear; `hear` takes answers."""
        self._overlay, self._clock, self._run = overlay, clock, run
        self._take, self._hear_acks = take, hear
        self._rest_until: dict[NodeId, float] = {}
        self._slot_bits = -1
        self.news = PeerNews(run, 0)
        self.sent_bytes = 0
        overlay.serve(RankExchange, self._hear)

    def begin(self, slot_bits: int) -> None:
        """Speak of so many slots from now on; of none where it is negative."""
        self._slot_bits = slot_bits
        self.news = PeerNews(self._run, max(slot_bits, 0))
        self._rest_until.clear()

    async def tell(
        self, inflows: Sequence[InflowMessage], held: Mapping[Slot, int], misled: Mapping[int, Sequence[int]]
    ) -> None:
        """Tell all holders of other slots what they have not heard, inflows again until they are acknowledged.
        `misled`: slots that give to pages which lead elsewhere, and these pages."""
        view, steady = self._overlay.view, self._clock().steady
        by_peer: dict[NodeId, list[InflowMessage]] = {}
        by_slot: dict[int, NodeId] = {}
        for number in range(1 << self._slot_bits):
            slot = Slot(number)
            holder = next((peer for peer in view.announced(slot) if self._is_owner(peer, slot)), None)
            if slot not in held and holder is not None:
                by_slot[slot] = holder
                by_peer.setdefault(holder, [])
        for message in inflows:
            if message.target in by_slot:
                by_peer[by_slot[message.target]].append(message)
        misled_by: dict[NodeId, list[int]] = {}
        for source, pages in misled.items():
            if source in by_slot:
                misled_by.setdefault(by_slot[source], []).extend(pages)
        self.news.keep(held, by_peer.keys())
        self._rest_until = {peer: at for peer, at in self._rest_until.items() if at > steady}
        places = asyncio.Semaphore(AT_ONCE)
        async with asyncio.TaskGroup() as tasks:
            for peer, found in sorted(by_peer.items()):
                if peer in self._rest_until:
                    continue
                if (exchange := self.news.exchange(peer, found, misled_by.get(peer, ()))) is not None:
                    tasks.create_task(self._tell_one(peer, exchange, places), name="ranks-tell")

    async def _tell_one(self, peer: NodeId, exchange: RankExchange, places: asyncio.Semaphore) -> None:
        async with places:
            try:
                reply = await self._overlay.ask(peer, exchange, RankReply, timeout_s=EXCHANGE_S)
            except RemoteError:
                reply = RankReply(0)
        self.sent_bytes += len(msgspec.msgpack.encode(exchange))
        if not reply.run:
            self._rest_until[peer] = self._clock().steady + RETRY_S
            return
        self.news.note_reply(peer, exchange, reply)
        asked = {(message.source, message.target) for message in exchange.inflows}
        await self._hear_acks([ack for ack in reply.acks if (ack.source, ack.target) in asked])

    async def _hear(self, peer: NodeId, exchange: RankExchange) -> RankReply:
        if exchange.slot_bits != self._slot_bits:
            return RankReply(0)
        self.news.note_run(peer, exchange.run)
        latest = self._clock().wall + AHEAD_S
        said = [*exchange.begun, *((word.slot, word.epoch) for word in exchange.statements)]
        said += [(message.source, message.epoch) for message in exchange.inflows]
        said += [(leads.slot, leads.epoch) for leads in exchange.leads]
        said += [(hosts.slot, hosts.epoch) for hosts in exchange.hosts]
        unheard = {slot for slot, epoch in said if epoch > latest or not self._is_holder(peer, slot)}
        unheard |= {slot for slot, _ in exchange.documents if not self._is_slot(slot)}
        acks = await self._take(peer, exchange, frozenset(unheard))
        return RankReply(self._run, acks, tuple(sorted(unheard)))

    def _is_slot(self, slot: int) -> bool:
        return 0 <= slot < 1 << self._slot_bits

    def _is_holder(self, peer: NodeId, slot: int) -> bool:
        if not self._is_slot(slot):
            return False
        return peer in self._overlay.view.announced(Slot(slot)) and self._is_owner(peer, Slot(slot))

    def _is_owner(self, peer: NodeId, slot: Slot) -> bool:
        view = self._overlay.view
        return peer in view.owners(slot) or peer in view.live_owners(slot)
