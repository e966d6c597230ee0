"""Finds what a sitemap that was handed in has listed, by asking the owners of its slot, one of which read it."""

from collections.abc import Callable
from typing import Annotated

from msgspec import Meta

from dht import Message, NodeId, Overlay, RemoteError, slot_of
from node.crawling.url_lookup import UrlLookup

ASK_WITHIN_S = 5.0
MAX_LISTED = 50_000
MAX_LISTED_BYTES = 4 << 20  # of one answer; what does not fit is not waited for

Url = Annotated[str, Meta(max_length=2048)]


class AskListed(Message, frozen=True, array_like=True):
    """Asks which URLs a sitemap listed when the receiver read it."""

    url: Url


class ToldListed(Message, frozen=True, array_like=True):
    """Lists pages and further sitemaps; none where it was not read here lately."""

    urls: Annotated[tuple[Url, ...], Meta(max_length=MAX_LISTED)] = ()


class SitemapListing:
    """Asks other nodes, and answers them. `local`: what this node's crawler has read."""

    def __init__(self, overlay: Overlay, lookup: UrlLookup, local: Callable[[str], tuple[str, ...]]) -> None:
        self._overlay, self._lookup, self._local = overlay, lookup, local
        overlay.serve(AskListed, self._tell)

    async def find(self, url: str) -> tuple[str, ...]:
        """Return the URLs, as far as any of the slot's live owners tells: the lease may have gone on since. Raises
        nothing."""
        place, view = await self._lookup.place(url), self._overlay.view
        slot = slot_of(place, view.strategy.slot_bits)
        found = self._local(url)
        for peer in view.live_owners(slot):
            if not found and peer != view.node_id:
                found = await self._ask(peer, url)
        return found

    async def _ask(self, peer: NodeId, url: str) -> tuple[str, ...]:
        try:
            return (await self._overlay.ask(peer, AskListed(url), ToldListed, timeout_s=ASK_WITHIN_S)).urls
        except RemoteError:
            return ()

    async def _tell(self, peer: NodeId, asked: AskListed) -> ToldListed:
        return ToldListed(fitting(self._local(asked.url)))


def fitting(urls: tuple[str, ...], room: int = MAX_LISTED_BYTES) -> tuple[str, ...]:
    """Return the first of the URLs, as many as an answer may have."""
    taken = []
    for url in urls[:MAX_LISTED]:
        room -= len(url.encode()) + 3
        if room < 0:
            break
        taken.append(url)
    return tuple(taken)
