"""Has one page replaced by what its witnesses saw, where its slot's holder crawls in good faith.

The holder cannot take their word: it has one of them make the request again, and stores what comes if that is the page
that three of the panel describe. So a site that shows one crawler something else costs that page alone, until its next
visit; and whoever would have the holder sign a forged page needs three of the panel.
"""

from collections.abc import Callable, Mapping

from crawl import CrawlConfig, Fetched, PageUnreadable, Parsers, different_bits, parse_task_of
from dht import NodeId, Overlay, document_id, slot_of
from node.delegation.routed_fetcher import RoutedFetcher
from node.witness.statement import ALIKE_BITS, Statement
from store import Kind, RecordStore


class PageReplacement:
    """Has disputed pages fetched by their witnesses, in slots that are held here. `refetch` makes a URL due."""

    def __init__(
        self,
        config: CrawlConfig,
        overlay: Overlay,
        store: RecordStore,
        parsers: Parsers,
        fetcher: RoutedFetcher,
        refetch: Callable[[str], None],
    ) -> None:
        self._config, self._overlay, self._store = config, overlay, store
        self._parsers, self._fetcher, self._refetch = parsers, fetcher, refetch

    def consider(self, url: str, said: Mapping[NodeId, Statement]) -> None:
        """Have a page replaced if the version that three witnesses deny is the one that lies here, in a slot of
        ours."""
        statement = next(iter(said.values()))
        view, record = self._overlay.view, self._store.find(Kind.DOCUMENT, document_id(url), content=False)
        if record is None or slot_of(record.key, view.strategy.slot_bits) not in view.leases():
            return
        if record.signed_key != statement.key or record.version.short != statement.version:
            return

        async def is_like(page: Fetched) -> bool:
            try:
                text = (await self._parsers.parse(parse_task_of(page, self._config))).signature
            except PageUnreadable:
                return False
            return page.status == 200 and different_bits(text, statement.text) <= ALIKE_BITS

        self._fetcher.have_brought(url, [peer for peer in sorted(said) if peer != view.node_id], is_like)
        self._refetch(url)
