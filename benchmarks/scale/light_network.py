"""A network of searching nodes on virtual time, as large as one process can hold.

Each node has its index and its searcher, and nothing of crawling, storing or finding each other. The owners of slots
are computed as by real nodes. The network gives each document to its owners' indexes at once. Questions and answers
travel as bytes, and take a round trip of `node/extras/simulation/delays.py`; work takes no virtual time.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from random import Random
from typing import Any, cast

import msgspec

from benchmarks.overlay.balance import members
from benchmarks.scale.fan_out import owners_of, slot_bits
from crawl import signature
from dht import Clock, DocumentId, Key, Message, NodeId, Now, Overlay, PeerAudit, Slot, Strategy, slot_of
from dht.membership.answer_times import AnswerTimes, LatePeers
from index import IndexConfig, Searcher, Text
from index.asking.agreement import owners_digest
from index.change_feed import DocumentChange
from index.query.search_rules import NEWEST_RULES
from index.shard.local_index import LocalIndex
from index.shard.messages import Agreement
from node.extras.simulation.delays import Delays
from node.extras.simulation.observations import REPLICAS

CONFIG = IndexConfig(engine="memory", commit_s=0.0)
FOR_GOOD = 1 << 40
SLOW_S = 1.0  # by which a slow peer's answers are late: a busy or a far one


class LightNetwork:
    """All nodes, and their questions. `asked`: each question since the list was last cleared: the asked peer, the
    message's name and the steady instant. `slow`: peers whose answers are late."""

    def __init__(self, nodes: int, seed: int, *, copies: int = REPLICAS, slow_share: float = 0.0) -> None:
        """`copies`: nodes that answer for each slot."""
        ids, bits = tuple(sorted(members(seed, nodes))), slot_bits(nodes)
        analyzer, ranking = NEWEST_RULES.numbers
        self.strategy = Strategy(
            network="00",
            version=1,
            effective_at=0,
            expires_at=FOR_GOOD,
            next_at=FOR_GOOD,
            slot_bits=bits,
            analyzer=analyzer,
            ranking=ranking,
        )
        self.ids, self.live = ids, frozenset(ids)
        owners = owners_of(ids, bits, copies)
        self.owners = [owners[Slot(slot)] for slot in range(1 << bits)]
        self.asked: list[tuple[NodeId, str, float]] = []
        self.texts: dict[DocumentId, Text] = {}
        self._delays, self._chance = Delays(seed), Random(seed)
        self.slow = frozenset(self._chance.sample(ids[1:], round(slow_share * nodes)))  # the first one asks
        self.answering: Sequence[tuple[NodeId, ...]] = self.owners
        self._places = {peer: place for place, peer in enumerate(ids)}
        self.overlays = {peer: LightOverlay(self, peer) for peer in ids}
        self.nodes = [LightNode(self, overlay, place) for place, overlay in enumerate(self.overlays.values())]

    async def put(self, texts: Sequence[Text]) -> None:
        """Give documents to their owners, and have them indexed."""
        nodes = {node.overlay.node_id: node for node in self.nodes}
        for text in texts:
            self.texts[text.id] = text
            for peer in self.owners[slot_of(text.key, self.strategy.slot_bits)]:
                nodes[peer].feed.log.append(DocumentChange(text.id, text))
        for node in self.nodes:
            while await node.local.advance():
                pass

    def ask_only(self, slots: Collection[int]) -> None:
        """Have nobody asked for other slots."""
        self.answering = [team if slot in slots else () for slot, team in enumerate(self.owners)]

    async def pass_between(self, one: NodeId, other: NodeId) -> None:
        """Let the time of one way between two nodes pass."""
        await asyncio.sleep(self._delays.one_way_s(self._places[one], self._places[other], self._chance.random()))


class LightOverlay:
    """The parts of an overlay and its view that a searching node uses; all nodes are live, and all are ready."""

    def __init__(self, network: LightNetwork, node_id: NodeId) -> None:
        self._network, self.node_id, self.strategy = network, node_id, network.strategy
        self.late, self.times = LatePeers(loop_clock), AnswerTimes(loop_clock)
        self._handlers: dict[str, tuple[type[Message], Callable[[NodeId, Any], Any]]] = {}
        self._formers: tuple[Strategy, ...] = ()

    @property
    def view(self) -> "LightOverlay":
        """Return this node's view."""
        return self

    def why_apart(self) -> str:
        """Return "": it met the others."""
        return ""

    def away(self) -> frozenset[NodeId]:
        """Return nobody: the network is not a small one."""
        return frozenset()

    uncounted = away

    def former_strategies(self) -> Sequence[Strategy]:
        """Return none."""
        return self._formers

    coming_strategies = former_strategies

    def members(self) -> tuple[NodeId, ...]:
        """Return all nodes."""
        return self._network.ids

    def live(self) -> frozenset[NodeId]:
        """Return all nodes."""
        return self._network.live

    @property
    def peers(self) -> "LightOverlay":
        """Return the last words of all nodes."""
        return self

    def replaced(self) -> frozenset[Slot]:
        return frozenset()

    def vanished(self) -> frozenset[NodeId]:
        """Return nobody."""
        return frozenset()

    def is_live(self, peer: NodeId) -> bool:
        """Tell whether a node lives: all do."""
        return peer in self._network.live

    def owners(self, slot: Slot) -> tuple[NodeId, ...]:
        """Return who owns a slot."""
        return self._network.owners[slot]

    def ready(self, slot: Slot, *, answering: bool = False) -> tuple[NodeId, ...]:
        """Return who owns a slot, and is asked for it."""
        return self._network.answering[slot]

    def owners_by_slot(self) -> Sequence[tuple[NodeId, ...]]:
        """Return the owners of every slot."""
        return self._network.owners

    def ready_by_slot(self, *, answering: bool = False) -> Sequence[tuple[NodeId, ...]]:
        """Return the owners of every slot that are asked for it."""
        return self._network.answering

    def agree(self, slots: Sequence[Slot]) -> Agreement:
        """Say that all copies of some slots are alike."""
        level = tuple((1 << len(self.owners(slot))) - 1 for slot in slots)
        return Agreement(self.strategy.version, owners_digest(self._network.owners, slots), level)

    def is_direct(self, peer: NodeId) -> bool:
        """Tell whether a node is asked without a relay: all are."""
        return True

    def serve(self, message: type[Message], handler: Callable[[NodeId, Any], Any]) -> None:
        """Answer this type of message."""
        self._handlers[message.__name__] = message, handler

    async def ask(self, peer: NodeId, message: Message, answer: type[Any], *, timeout_s: float) -> Any:
        """Ask a node: there, its work, and back."""
        network, name, began_at = self._network, type(message).__name__, loop_clock().steady
        body = msgspec.msgpack.encode(message)
        kind, handler = network.overlays[peer]._handlers[name]
        if peer == self.node_id:
            told = await handler(peer, msgspec.msgpack.decode(body, type=kind))
            return msgspec.msgpack.decode(msgspec.msgpack.encode(told), type=answer)
        network.asked.append((peer, name, began_at))
        note = self.times.waited
        try:
            await network.pass_between(self.node_id, peer)
            told = msgspec.msgpack.encode(await handler(self.node_id, msgspec.msgpack.decode(body, type=kind)))
            await asyncio.sleep(SLOW_S * (peer in network.slow))
            await network.pass_between(peer, self.node_id)
            self.late.note_answer(peer)
            note = self.times.took
        finally:  # the asker may have enough without this answer
            note(peer, loop_clock().steady - began_at)
        return msgspec.msgpack.decode(told, type=answer)


class LightNode:
    """One node's index and searcher."""

    def __init__(self, network: LightNetwork, overlay: LightOverlay, number: int) -> None:
        self.overlay, self._network, self.feed = overlay, network, ListFeed()
        found = cast(Overlay, overlay)
        self.local = LocalIndex(CONFIG, None, found, self.feed, overlay.agree)
        rng = Random(number)
        audit = PeerAudit(loop_clock, rng.random)
        self.searcher = Searcher(found, self.local, self._read, loop_clock, rng, signature, audit)

    async def _read(self, wanted: Sequence[tuple[DocumentId, Key]]) -> Mapping[DocumentId, Text | None]:
        """Read documents, each from its quickest owner, all at once."""
        owners = [self.overlay.owners(slot_of(key, self.overlay.strategy.slot_bits)) for _, key in wanted]
        peers = {min(team, key=self.overlay.times.slowness) for team in owners if self.overlay.node_id not in team}
        async with asyncio.TaskGroup() as tasks:
            for peer in sorted(peers):
                tasks.create_task(self._go_to(peer))
        return {id_: self._network.texts.get(id_) for id_, _ in wanted}

    async def _go_to(self, peer: NodeId) -> None:
        await self._network.pass_between(self.overlay.node_id, peer)
        await self._network.pass_between(peer, self.overlay.node_id)


class ListFeed:
    """The change log of a node as a list; a cursor is a position."""

    def __init__(self) -> None:
        self.log: list[DocumentChange] = []

    def knows(self, cursor: bytes) -> bool:
        """Tell whether changes can go on from a cursor: from any."""
        return True

    async def changes(self, cursor: bytes, limit: int) -> tuple[Sequence[DocumentChange], bytes]:
        """Return changes after a cursor, and the next cursor."""
        start = self.sequence(cursor)
        batch = self.log[start : start + limit]
        return batch, str(start + len(batch)).encode() if batch else cursor

    def read(self, ids: Sequence[DocumentId]) -> Sequence[DocumentChange]:
        """Return the newest changes of some documents."""
        newest = {change.id: change for change in self.log}
        return [newest[id_] for id_ in ids]

    def lag(self, cursor: bytes) -> int:
        """Return how many changes follow a cursor."""
        return len(self.log) - self.sequence(cursor)

    def sequence(self, cursor: bytes) -> int:
        """Return the number of the last change before a cursor."""
        return int(cursor or b"0")

    async def wait(self, cursor: bytes) -> None:
        """Wait for a change after a cursor; nothing comes but what was put before."""
        await asyncio.Event().wait()


def loop_clock() -> Now:
    """Return the time of the running loop."""
    now = asyncio.get_running_loop().time()
    return Now(now, now)


_clock_check: Clock = loop_clock
