"""Asks one node that holds some texts, through the path that every query goes: peers' messages, checks, snippets."""

import asyncio
import random
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.search.measures import DEPTH
from crawl.content.similarity import signature
from dht import DocumentId, Key, NodeId, Now, Slot, Strategy
from index import Agreement, DocumentChange, IndexConfig, LocalIndex, Searcher, SearchRequest, Text, owners_digest
from index.errors import QueryError

ME = NodeId(b"\1" * 20)
STRATEGY = Strategy(network="00", version=1, effective_at=0, expires_at=1, next_at=1, slot_bits=4)
DEADLINE_MS = 20_000  # what is measured is the answer, on however slow a machine


@dataclass
class NetworkOfOne:
    """The network of one node, and its store: Overlay, View and ChangeFeed in one."""

    texts: Sequence[Text]
    handlers: dict = field(default_factory=dict)
    node_id: NodeId = ME
    strategy: Strategy = STRATEGY

    @property
    def view(self) -> "NetworkOfOne":
        return self

    def ready(self, slot: Slot) -> tuple[NodeId, ...]:
        return (ME,)

    def owners(self, slot: Slot) -> tuple[NodeId, ...]:
        return (ME,)

    def members(self) -> tuple[NodeId, ...]:
        return (ME,)

    def is_live(self, peer: NodeId) -> bool:
        return True

    def why_apart(self) -> str:
        return ""

    def vanished_members(self) -> frozenset[NodeId]:
        return frozenset()

    def agree(self, slots: Sequence[Slot]) -> Agreement:
        return Agreement(self.strategy.version, owners_digest(self, slots), (1,) * len(slots))

    def serve(self, message, handler) -> None:
        self.handlers[message] = handler

    async def ask(self, peer, message, answer, *, timeout_s):
        return await self.handlers[type(message)](ME, message)

    def knows(self, cursor: bytes) -> bool:
        return True

    def lag(self, cursor: bytes) -> int:
        return len(self.texts) - int(cursor or b"0")

    def sequence(self, cursor: bytes) -> int:
        return int(cursor or b"0")

    async def wait(self, cursor: bytes) -> None:
        await asyncio.Event().wait()  # nothing comes after the texts

    async def changes(self, cursor: bytes, limit: int) -> tuple[Sequence[DocumentChange], bytes]:
        start = int(cursor or b"0")
        found = self.texts[start : start + limit]
        return [DocumentChange(text.id, text) for text in found], str(start + len(found)).encode() if found else cursor


class OneNode:
    """A node that holds some texts. `built_s`: how long it took to index them."""

    def __init__(self, texts: Sequence[Text], searcher: Searcher, built_s: float) -> None:
        self._searcher, self.built_s = searcher, built_s
        self._places = {text.id.hex(): place for place, text in enumerate(texts)}

    async def ask(self, words: str, limit: int = DEPTH, **said: Any) -> dict[str, Any]:
        """Return the answer as /api/v1/search gives it; a query that is refused finds nothing."""
        try:
            return await self._searcher.search(SearchRequest(words, limit, deadline_ms=DEADLINE_MS, **said))
        except QueryError:
            return {"results": [], "total": 0}

    async def places(self, words: str, limit: int = DEPTH) -> list[int]:
        """Return which of the texts answer, the best first, by their places in the list that was indexed."""
        return [self._places[each["id"]] for each in (await self.ask(words, limit))["results"]]


@asynccontextmanager
async def one_node(texts: Sequence[Text], engine: str) -> AsyncIterator[OneNode]:
    """Index some texts in a node of their own."""
    by_id = {text.id: text for text in texts}

    async def read(wanted: Sequence[tuple[DocumentId, Key]]) -> Mapping[DocumentId, Text | None]:
        return {id_: by_id.get(id_) for id_, _ in wanted}

    with tempfile.TemporaryDirectory() as path:
        network, config = NetworkOfOne(texts), IndexConfig(engine=engine)
        local = LocalIndex.open(config, Path(path), network, network, network.agree)
        try:
            began = time.perf_counter()
            while await local.step():
                pass
            built_s = time.perf_counter() - began
            searcher = Searcher(config, network, local, read, _clock, random.Random(1), signature)
            yield OneNode(texts, searcher, built_s)
        finally:
            await local.close()


def _clock() -> Now:
    return Now(time.time(), time.monotonic())
