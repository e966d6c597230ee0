"""Finds the rank of one page and its host, here or at the holder of its slot."""

from typing import Annotated, NamedTuple

from msgspec import Meta

from crawl import is_canonical
from dht import BadMessage, Message, NodeId, Overlay, RemoteError, SiteShards, site_of, slot_of
from node.ranking.rank_keeper import RankKeeper

MAX_URL_CHARS = 2048
ASK_WITHIN_S = 5.0


class AskRank(Message, frozen=True, array_like=True):
    """Asks for the rank of a page in a slot that the receiver holds."""

    url: Annotated[str, Meta(max_length=MAX_URL_CHARS)]


class ToldRank(Message, frozen=True, array_like=True):
    """The rank of a page beside that of an average page, and one more than its level; 0 where it has none. The same of
    its host."""

    rank: Annotated[float, Meta(ge=0)] = 0.0
    above: Annotated[int, Meta(ge=0, le=64)] = 0
    host_rank: Annotated[float, Meta(ge=0)] = 0.0
    host_above: Annotated[int, Meta(ge=0, le=64)] = 0


class PageRankFound(NamedTuple):
    """A page's rank and level, None where they are not known, who computes them, and the same of its host."""

    rank: float | None
    level: int | None
    holder: NodeId | None
    host_rank: float | None = None
    host_level: int | None = None


class RankLookup:
    """Asks for ranks, and tells those of slots that this node holds."""

    def __init__(self, overlay: Overlay, keeper: RankKeeper, places: SiteShards) -> None:
        self._overlay, self._keeper, self._places = overlay, keeper, places
        overlay.serve(AskRank, self._tell)

    async def find(self, url: str) -> PageRankFound:
        """Return what is known of a canonical URL's page."""
        view = self._overlay.view
        slot = slot_of(self._places.key_of(url), view.strategy.slot_bits)
        holder = view.node_id if slot in view.leases() else next(iter(view.announced(slot)), None)
        if holder is None:
            return PageRankFound(None, None, None)
        told = self._told(url)
        if holder != view.node_id:
            try:
                told = await self._overlay.ask(holder, AskRank(url), ToldRank, timeout_s=ASK_WITHIN_S)
            except RemoteError:
                told = ToldRank()
        levels = [above - 1 if above else None for above in (told.above, told.host_above)]
        return PageRankFound(told.rank or None, levels[0], holder, told.host_rank or None, levels[1])

    async def _tell(self, peer: NodeId, asked: AskRank) -> ToldRank:
        if not is_canonical(asked.url):
            raise BadMessage(peer.hex(), "asks about what is no canonical URL")
        return self._told(asked.url)

    def _told(self, url: str) -> ToldRank:
        level = self._keeper.level(url)
        rank, above = self._keeper.rank(url) or 0.0, 0 if level is None else level + 1
        host = self._keeper.hosts.find(site_of(url))
        return ToldRank(rank, above) if host is None else ToldRank(rank, above, host.rank, host.level + 1)
