"""A small network in memory: the Overlay protocol without sockets, and a feed that tests write to."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from crawl import signature
from dht import (
    BadMessage,
    DocumentId,
    InputError,
    Key,
    Message,
    NodeId,
    Now,
    PeerTimeout,
    RemoteError,
    Slot,
    Strategy,
    slot_of,
)
from dht.membership.answer_times import AnswerTimes, LatePeers
from index.asking.agreement import owners_digest
from index.asking.searcher import Searcher
from index.change_feed import DocumentChange, Text
from index.config import IndexConfig
from index.query.search_rules import NEWEST_RULES
from index.results.oracle import OracleAnswer
from index.shard.local_index import LocalIndex
from index.shard.messages import Agreement
from tests.index.brute_force import brute_force

BITS = 4


class ListFeed:
    """The change log as a list; a cursor is a position."""

    def __init__(self) -> None:
        self.log: list[DocumentChange] = []
        self.incarnation = b"1"
        self._news = asyncio.Event()

    def put(self, *changes: DocumentChange) -> None:
        self.log.extend(changes)
        self._news.set()

    def knows(self, cursor: bytes) -> bool:
        return cursor == b"" or cursor.startswith(self.incarnation)

    async def changes(self, cursor: bytes, limit: int) -> tuple[Sequence[DocumentChange], bytes]:
        start = int(cursor[1:] or b"0")
        batch = self.log[start : start + limit]
        newest = {change.id: change for change in self.log[start:]} if batch else {}
        found = [newest[id_] for id_ in dict.fromkeys(change.id for change in batch)]
        return found, self.incarnation + str(start + len(batch)).encode() if batch else cursor

    def read(self, ids: Sequence[DocumentId]) -> Sequence[DocumentChange]:
        newest = {change.id: change for change in self.log}
        return [newest[id_] for id_ in ids]

    def lag(self, cursor: bytes) -> int:
        return len(self.log) - int(cursor[1:] or b"0")

    def sequence(self, cursor: bytes) -> int:
        return int(cursor[1:] or b"0")

    async def wait(self, cursor: bytes) -> None:
        while int(cursor[1:] or b"0") >= len(self.log):
            self._news.clear()
            await self._news.wait()


class Network:
    """A network of searching nodes. The test sets which peers are ready or dead, and how a liar changes its answers."""

    def __init__(self, slot_bits: int = BITS, numbers: tuple[int, int] = NEWEST_RULES.numbers) -> None:
        """`numbers`: analyzer and ranking."""
        analyzer, ranking = numbers
        self.strategy = Strategy(
            network="00",
            version=1,
            effective_at=0,
            expires_at=2**40,
            next_at=2**40,
            slot_bits=slot_bits,
            analyzer=analyzer,
            ranking=ranking,
        )
        self.formers: tuple[Strategy, ...] = ()
        self.coming: tuple[Strategy, ...] = ()
        self.late: set[NodeId] = set()  # whose clocks are behind: the strategy in force is still to come for them
        self.peers: dict[NodeId, FakeOverlay] = {}
        self.ready: dict[Slot, list[NodeId]] = {}
        self.dead: set[NodeId] = set()
        self.silent: set[NodeId] = set()
        self.slow_s: dict[NodeId, float] = {}  # how long a peer takes to answer
        self.behind: set[NodeId] = set()
        self.vanished: frozenset[NodeId] = frozenset()
        self.stored_only: dict[NodeId, Collection[Slot]] = {}  # what each announces to store and not to index
        self.lies: dict[NodeId, Callable[[Message], Message]] = {}
        self.asked: list[tuple[NodeId, str]] = []
        self.before: Callable[[NodeId, Message], None] = lambda peer, message: None

    def plan(self, **changes: Any) -> None:
        """Have everybody know the next strategy, before it is in force."""
        self.coming = (msgspec.structs.replace(self.strategy, version=self.strategy.version + 1, **changes),)

    def switch(self) -> None:
        """Bring the next strategy in force."""
        self.formers, (self.strategy, *_), self.coming = (self.strategy, *self.formers), self.coming, ()


class FakeOverlay:
    """Implements Overlay and View for one node of a `Network`. Messages travel as bytes."""

    def __init__(self, network: Network, node_id: NodeId) -> None:
        self._network = network
        self._id = node_id
        self.handlers: dict[type[Message], Callable[[NodeId, Any], Any]] = {}
        self.late, self.times = LatePeers(loop_clock), AnswerTimes(loop_clock)
        network.peers[node_id] = self

    @property
    def view(self) -> "FakeOverlay":
        return self

    @property
    def node_id(self) -> NodeId:
        return self._id

    @property
    def strategy(self) -> Strategy:
        return self._network.strategy if self._id not in self._network.late else self._network.formers[0]

    def former_strategies(self) -> Sequence[Strategy]:
        return self._network.formers if self._id not in self._network.late else ()

    def coming_strategies(self) -> Sequence[Strategy]:
        return self._network.coming if self._id not in self._network.late else (self._network.strategy,)

    def members(self) -> tuple[NodeId, ...]:
        return tuple(sorted(self._network.peers))

    def is_live(self, peer: NodeId) -> bool:
        return peer not in self._network.dead

    def away(self) -> frozenset[NodeId]:
        return frozenset()

    uncounted = away

    def owners(self, slot: Slot) -> tuple[NodeId, ...]:
        return self.ready(slot)

    def why_apart(self) -> str:
        return ""

    @property
    def peers(self) -> "FakeOverlay":
        return self

    def replaced(self) -> frozenset[Slot]:
        return frozenset()

    def vanished(self) -> frozenset[NodeId]:
        return self._network.vanished

    def agree(self, slots: Sequence[Slot]) -> Agreement:
        """All copies of a slot are alike, but those of whom the network says otherwise."""
        teams = [self.owners(slot) for slot in slots]
        level = tuple(sum((peer not in self._network.behind) << n for n, peer in enumerate(team)) for team in teams)
        return Agreement(self.strategy.version, owners_digest(self.owners_by_slot(), slots), level)

    def ready(self, slot: Slot, *, answering: bool = False) -> tuple[NodeId, ...]:
        silent = {peer for peer, slots in self._network.stored_only.items() if answering and slot in slots}
        return tuple(peer for peer in self._network.ready.get(slot, ()) if peer not in silent)

    def ready_by_slot(self, *, answering: bool = False) -> Sequence[tuple[NodeId, ...]]:
        return [self.ready(Slot(number), answering=answering) for number in range(1 << self.strategy.slot_bits)]

    owners_by_slot = ready_by_slot

    def is_ready(self, peer: NodeId, slot: Slot) -> bool:
        return peer in self.ready(slot)

    candidates = owners

    def kept(self) -> frozenset[Slot]:
        return frozenset()

    def owned(self) -> frozenset[Slot]:
        return frozenset(slot for slot, peers in self._network.ready.items() if self._id in peers)

    def serve(self, message: type[Any], handler: Callable[[NodeId, Any], Any]) -> None:
        self.handlers[message] = handler

    async def ask(self, peer: NodeId, message: Message, answer: type[Any], *, timeout_s: float) -> Any:
        network = self._network
        network.asked.append((peer, type(message).__name__))
        network.before(peer, message)
        began, note = asyncio.get_running_loop().time(), self.times.waited
        try:
            if peer in network.silent:
                await asyncio.sleep(timeout_s)
            if peer != self._id:
                await asyncio.sleep(network.slow_s.get(peer, 0.0))
                note = self.times.took
        finally:
            note(peer, asyncio.get_running_loop().time() - began)
        if peer in network.dead or peer in network.silent:
            raise PeerTimeout(peer.hex(), timeout_s)
        self.late.note_answer(peer)
        asked = msgspec.msgpack.decode(msgspec.msgpack.encode(message), type=type(message))
        try:
            given = await network.peers[peer].handlers[type(message)](self._id, asked)
        except (RemoteError, InputError) as error:
            raise BadMessage(peer.hex(), str(error)) from None
        if peer in network.lies:
            given = network.lies[peer](given)
        try:
            return msgspec.msgpack.decode(msgspec.msgpack.encode(given), type=answer)
        except msgspec.ValidationError as error:
            raise BadMessage(peer.hex(), str(error)) from None


class QueryNode:
    """One node: feed, index, searcher; documents come from the whole network's store."""

    def __init__(
        self,
        network: Network,
        number: int,
        store: dict[DocumentId, Text],
        config: IndexConfig,
        path: Path | None = None,
    ) -> None:
        self.id = NodeId(bytes([number + 1]) * 20)
        self.feed = ListFeed()
        self.overlay = FakeOverlay(network, self.id)
        self.config = config
        self.local = LocalIndex(config, path, self.overlay, self.feed, self.overlay.agree)
        self._store = store
        self.reads: Counter[DocumentId] = Counter()  # how often each document was read for an answer
        self.searcher = Searcher(self.overlay, self.local, self.read, loop_clock, random.Random(number), signature)

    async def follow(self) -> None:
        while await self.local.advance():
            pass

    async def read(self, wanted: Sequence[tuple[DocumentId, Key]]) -> Mapping[DocumentId, Text | None]:
        self.reads.update(id_ for id_, _ in wanted)
        return {id_: self._store.get(id_) for id_, _ in wanted}


def loop_clock() -> Now:
    now = asyncio.get_running_loop().time()
    return Now(now, now)


def lie(kind: type[Message], change: Callable[[Any], dict[str, Any]]) -> Callable[[Message], Message]:
    """Return what changes these fields of all answers of a kind, and leaves others as they are."""

    def told(answer: Message) -> Message:
        return msgspec.structs.replace(answer, **change(answer)) if isinstance(answer, kind) else answer

    return told


class World:
    """Several nodes with overlapping slots, and the documents that all of them together hold."""

    def __init__(
        self,
        rng: random.Random,
        nodes: int,
        replicas: int,
        config: IndexConfig,
        bits: int = BITS,
        numbers: tuple[int, int] = NEWEST_RULES.numbers,
    ) -> None:
        self.network = Network(bits, numbers)
        self.store: dict[DocumentId, Text] = {}
        self.nodes = [QueryNode(self.network, number, self.store, config) for number in range(nodes)]
        for slot in range(1 << bits):
            team = rng.sample(self.nodes, min(replicas, nodes))
            self.network.ready[Slot(slot)] = [node.id for node in team]

    def sought(self, query: str, **how: Any) -> OracleAnswer:
        """Return the result of brute force over every document, by the rules that all nodes go by."""
        texts, rules = tuple(self.store.values()), self.nodes[0].local.plan.now
        return brute_force(texts, signature, rules).search(query, **how)

    def team(self, text: Text) -> list[QueryNode]:
        ids = self.network.ready[slot_of(text.key, self.network.strategy.slot_bits)]
        return [node for node in self.nodes if node.id in ids]

    async def put(self, texts: Sequence[Text]) -> None:
        for text in texts:
            self.store[text.id] = text
            for node in self.team(text):
                node.feed.put(DocumentChange(text.id, text))
        await self.settle()

    async def drop(self, texts: Sequence[Text]) -> None:
        for text in texts:
            del self.store[text.id]
            for node in self.team(text):
                node.feed.put(DocumentChange(text.id, None))
        await self.settle()

    async def settle(self) -> None:
        for node in self.nodes:
            await node.follow()

    async def close(self) -> None:
        for node in self.nodes:
            await node.local.close()
