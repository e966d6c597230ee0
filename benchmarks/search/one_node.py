"""Asks one node that holds some texts, through the path that every query goes: peers' messages, checks, snippets."""

import asyncio
import random
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.search.measures import DEPTH
from benchmarks.search.quiet_network import QuietNetwork
from crawl.content.fingerprint import signature
from dht import DocumentId, Key, system_clock
from index import DocumentChange, IndexConfig, LocalIndex, Searcher, SearchRequest, Text
from index.errors import QueryError

DEADLINE_MS = 20_000  # what is measured is the answer, on however slow a machine


@dataclass
class FeedOfLog:
    """The feed that an index follows: a log in memory."""

    log: list[DocumentChange]

    def knows(self, cursor: bytes) -> bool:
        return True

    def read(self, ids: Sequence[DocumentId]) -> Sequence[DocumentChange]:
        newest = {change.id: change for change in self.log}
        return [newest[id_] for id_ in ids]

    def lag(self, cursor: bytes) -> int:
        return len(self.log) - int(cursor or b"0")

    def sequence(self, cursor: bytes) -> int:
        return int(cursor or b"0")

    async def wait(self, cursor: bytes) -> None:
        await asyncio.Event().wait()  # what comes later is followed by `OneNode.follow`

    async def changes(self, cursor: bytes, limit: int) -> tuple[Sequence[DocumentChange], bytes]:
        start = int(cursor or b"0")
        found = self.log[start : start + limit]
        return found, str(start + len(found)).encode() if found else cursor


class TextsOfLog:
    """Reads the documents of a log, as a store does."""

    def __init__(self, log: Sequence[DocumentChange]) -> None:
        self._log, self._read_count = log, 0
        self._texts: dict[DocumentId, Text | None] = {}

    async def __call__(self, wanted: Sequence[tuple[DocumentId, Key]]) -> Mapping[DocumentId, Text | None]:
        self._texts.update((change.id, change.text) for change in self._log[self._read_count :])
        self._read_count = len(self._log)
        return {id_: self._texts.get(id_) for id_, _ in wanted}


class OneNode:
    """A node that holds some texts. `log`: what its index follows; `built_s`: how long it took to index them."""

    def __init__(
        self, log: list[DocumentChange], searcher: Searcher, local: LocalIndex, hear: Callable[[], None]
    ) -> None:
        """`hear` keeps what the node knows of its peers young."""
        self.log, self.built_s, self._hear = log, 0.0, hear
        self._searcher, self._local = searcher, local
        self._places = {change.id.hex(): place for place, change in enumerate(log)}

    async def follow(self) -> None:
        """Index what is new in the log."""
        while await self._local.advance():
            pass

    async def ask(self, words: str, limit: int = DEPTH, **said: Any) -> dict[str, Any]:
        """Return the answer as /api/v1/search gives it; a query that is refused finds nothing."""
        self._hear()
        try:
            return await self._searcher.search(SearchRequest(words, limit, deadline_ms=DEADLINE_MS, **said))
        except QueryError:
            return {"results": [], "total": 0}

    async def places(self, words: str, limit: int = DEPTH, **said: Any) -> list[int]:
        """Return which of the texts answer, the best first, by their places in the list that was indexed."""
        return [self._places[each["id"]] for each in (await self.ask(words, limit, **said))["results"]]


@asynccontextmanager
async def one_node(texts: Sequence[Text], engine: str, folder: Path | None = None) -> AsyncIterator[OneNode]:
    """Index some texts in a node of their own, in a folder that is kept where one is given."""
    with tempfile.TemporaryDirectory() as path:
        log = [DocumentChange(text.id, text) for text in texts]
        async with node_of(log, engine, folder or Path(path), TextsOfLog(log)) as node:
            began = time.perf_counter()
            await node.follow()
            node.built_s = time.perf_counter() - began
            yield node


@asynccontextmanager
async def node_of(log: list[DocumentChange], engine: str, folder: Path, read: Any) -> AsyncIterator[OneNode]:
    """Open the index in a folder. `read` gives documents as a store does."""
    network, config = QuietNetwork(), IndexConfig(engine=engine)
    overlay = network.overlay
    local = LocalIndex(config, folder, overlay, FeedOfLog(log), network.agree)
    try:
        searcher = Searcher(overlay, local, read, system_clock, random.Random(1), signature)
        yield OneNode(log, searcher, local, network.hear)
    finally:
        await local.close()
