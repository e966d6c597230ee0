"""Has pages fetched again of which a version stands beside a newer one: by whoever holds their slot by a strong grant.

What that brings replaces both (`store/replication/page_versions.py`).
"""

import asyncio
from collections.abc import Callable
from typing import Protocol

from dht import Clock, DocumentId, Overlay, Slot, slot_of
from store import Kind, RecordStore, url_of

LOOK_EVERY_S = 5.0
AGAIN_S = 600.0  # a page that could not be fetched is tried again; the site's own pauses count besides
LOOKED_AT = 128  # pages in one look, some milliseconds


class Crawls(Protocol):
    """A crawler, as far as this file needs it."""

    def fetch_anew(self, url: str) -> bool:
        """Make a URL that waits due at once; return whether it does."""


class StandingReview:
    """Looks after the pages of one node's disk that have two versions."""

    def __init__(
        self, store: RecordStore, overlay: Overlay, crawler: Crawls, is_strong: Callable[[Slot], bool], clock: Clock
    ) -> None:
        """`is_strong(slot)`: whether most owners of a slot have granted it to this node."""
        self._store, self._overlay, self._crawler = store, overlay, crawler
        self._is_strong, self._clock = is_strong, clock
        self._told: dict[DocumentId, float] = {}  # when each page was made due last, steady
        self._after = 0

    async def run(self) -> None:
        """Look again and again."""
        while True:
            self.step()
            await asyncio.sleep(LOOK_EVERY_S)

    def step(self) -> None:
        """Look at the next pages."""
        now = self._clock().steady
        self._told = {id: at for id, at in self._told.items() if now < at + AGAIN_S}
        pages = self._store.standing(self._after, LOOKED_AT)
        self._after = pages[-1].sequence if len(pages) == LOOKED_AT else 0
        for page in pages:
            if page.id not in self._told and self._is_due(page.id):
                self._told[page.id] = now

    def _is_due(self, id: DocumentId) -> bool:
        """Make a page due where that is this node's part; return whether it is now. What stands may have been fetched
        after the other one: then it waits for that one's epoch to pass."""
        view, page = self._overlay.view, self._store.find_page(id, content=False)
        newer = self._store.find_version(Kind.DOCUMENT, id)
        if page is None or (newer is not None and newer.at_ms < page.version.at_ms):
            return False
        slot = slot_of(page.key, view.strategy.slot_bits)
        return slot in view.leases() and self._is_strong(slot) and self._crawler.fetch_anew(url_of(page))
