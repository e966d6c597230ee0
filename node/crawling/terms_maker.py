"""Makes the terms of the pages that this node stores, once for all their owners, where the strategy has them travel.

On a thread of its own, as any index is written: it takes as long there as this node's index then saves.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from msgspec.structs import replace

from dht import Overlay
from index import pack_terms, planned_rules
from node.crawling.store_change_feed import text_of_version
from store import Document, Draft, DraftTerms, Version, page_version

TRAVEL = "travel"


class TermsMaker:
    """Adds to drafts of pages what travels beside them."""

    def __init__(self, overlay: Overlay) -> None:
        self._overlay, self._thread = overlay, ThreadPoolExecutor(1, "terms-make")

    async def with_terms(self, draft: Draft, document: Document) -> Draft:
        """Return the draft of a page with its terms, by the analyzer in force; as it is, where they do not travel."""
        if self._overlay.view.strategy.terms != TRAVEL or document.gone:
            return draft
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._made, draft, document)

    def _made(self, draft: Draft, document: Document) -> Draft:
        version = Version(draft.epoch, draft.at_ms, page_version(draft))
        analyzer = planned_rules(self._overlay.view.strategy, ()).now.analyzer
        packed = pack_terms(text_of_version(draft.id, draft.key, version, document), analyzer)
        return (
            draft if packed is None else replace(draft, terms=DraftTerms(packed.data, packed.digest, packed.analyzer))
        )
