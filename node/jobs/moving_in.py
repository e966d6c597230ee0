"""Brings what a private node kept into the network that it joined: pages as imports, all URLs as seeds.

`dse-node join` leaves the former store in a folder of the node's directory. The running node reads it as soon as it is
a member. A page that is brought twice is no news, so an interrupted move begins anew. The folder stays: its owner may
delete it once it is marked as moved.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from crawl import Visit, VisitState
from dht import Clock, InputError, RemoteError
from node.api.documents import BroughtPage
from node.captures.capture import Capture, capture_of
from node.crawling.store_change_feed import visit_of
from node.errors import NotJoined
from store import Kind, RecordStore, StoreConfig, decode_document

log = logging.getLogger(__name__)

FOLDERS, MOVED = "before-*", "moved"  # of the former data, and the note in it that all of it was brought
BATCH = 32  # pages at once: a second of parsing
PAUSE_S = 10.0  # before what the network does not take now is brought again
_FIRST, _LAST = bytes(20), b"\xff" * 20

Take = Callable[[Sequence[Capture], str], Awaitable[Sequence[BroughtPage]]]
Queue = Callable[[Sequence[Visit]], Awaitable[object]]


def kept_pages(store: RecordStore) -> Iterator[Capture]:
    """Yield all pages that a store keeps and has the bytes of."""
    for record in store.scan(Kind.DOCUMENT, _FIRST, _LAST, content=True):
        document = decode_document(record.body)
        if record.content is not None and not document.gone:
            yield capture_of(record, document)


def known_urls(store: RecordStore) -> Iterator[Visit]:
    """Yield all URLs that a store knows, as seeds. Those that were never fetched keep how far they lead."""
    for record in store.scan(Kind.VISIT, _FIRST, _LAST):
        visit = visit_of(record)
        is_new = visit.state == VisitState.WAITING
        if is_new or visit.state in (VisitState.FETCHED, VisitState.FAILED):
            yield Visit(visit.url, visit.depth if is_new else 0, scope=visit.scope, is_sitemap=visit.is_sitemap)


class MovingIn:
    """Brings the former stores below a node's directory. `take` imports pages, `queue` hands seeds to their owners.
    `denied`: why the network crawls no page of a URL, "" where it does."""

    def __init__(
        self, root: Path, config: StoreConfig, take: Take, queue: Queue, denied: Callable[[str], str], clock: Clock
    ) -> None:
        self._root, self._config, self._clock = root, config, clock
        self._take, self._queue, self._denied = take, queue, denied

    async def run(self) -> None:
        """Bring what was not brought yet, and return."""
        for folder in sorted(self._root.glob(FOLDERS)):
            if (folder / "store").is_dir() and not (folder / MOVED).exists():
                store = RecordStore.open(folder / "store", self._config, self._clock)
                try:
                    told = await self.bring(store, folder.name)
                finally:
                    store.close()
                line = ", ".join(f"{count} {state}" for state, count in sorted(told.items())) or "nothing"
                (folder / MOVED).write_text(f"{line}\n")
                log.info("pages of the former network are moved: %s; %s may be deleted", line, folder)

    async def bring(self, store: RecordStore, name: str) -> Counter[str]:
        """Bring all that a store holds; return how many pages are in which state, and how many URLs are queued."""
        told, pages, urls = Counter[str](), kept_pages(store), known_urls(store)
        while batch := list(islice(pages, BATCH)):
            left: Sequence[Capture] = batch
            while left:
                states = await self._import(left, name)
                told.update(each.state for each in states if each.state != "later")
                left = [page for page, each in zip(left, states, strict=True) if each.state == "later"]
                await asyncio.sleep(PAUSE_S if left else 0.0)
        while seeds := list(islice(urls, BATCH)):
            allowed = [seed for seed in seeds if not self._denied(seed.url)]
            await self._hand(allowed)
            told["queued"] += len(allowed)
            await asyncio.sleep(0.0)
        return told

    async def _import(self, pages: Sequence[Capture], name: str) -> Sequence[BroughtPage]:
        try:
            return await self._take(pages, name)
        except NotJoined as error:
            return [BroughtPage("later", str(error))] * len(pages)
        except InputError as error:  # this node may import nothing there: its URLs are all that comes along
            return [BroughtPage("refused", str(error))] * len(pages)

    async def _hand(self, seeds: Sequence[Visit]) -> None:
        """Hand seeds to their owners, as often as it takes."""
        while seeds:
            try:
                await self._queue(seeds)
                return
            except (RemoteError, NotJoined):
                await asyncio.sleep(PAUSE_S)
