"""For a second look a node asks the crawler of a site for one turn there, so that the site sees one polite crawler.

The turn names the site, not the page: the crawler of the site may be the page's author. It is lent from the queues
of the site's crawler (`crawl/frontier/lent_turns.py`), and where a site is spread, from its token.
"""

import asyncio
import logging
from typing import Annotated, NamedTuple

from msgspec import Meta

from crawl import Crawler, Decide, is_canonical
from dht import BadMessage, Clock, Message, NodeId, Overlay, RemoteError, SiteShards, placement_key, shards, slot_of
from node.delegation.site_token_exchange import SiteTokenExchange

log = logging.getLogger(__name__)

ASK_WITHIN_S = 3.0
TIMES_RETURNED = 3  # a lost answer would have the site's crawler wait until the turn ends by itself
AGAIN_S = 5.0  # until a node that found nobody to ask tries again
MAX_REST_S = 86_400.0
MOST_WAIT_S = 60.0  # between two questions

_Number = Annotated[int, Meta(ge=0, lt=1 << 62)]
_Site = Annotated[str, Meta(min_length=1, max_length=260)]


class AskTurn(Message, frozen=True, array_like=True):
    """Asks for leave to send this site one request. `number`: tells one turn of the sender's from the next."""

    site: _Site
    number: _Number


class Turn(Message, frozen=True, array_like=True):
    """Gives it now (0.0), or says after how many seconds to ask again."""

    wait_s: Annotated[float, Meta(ge=0.0, le=MAX_REST_S)]


class TurnDone(Message, frozen=True, array_like=True):
    """Gives the turn back; the site is to be left alone for so many seconds."""

    site: _Site
    number: _Number
    rest_s: Annotated[float, Meta(ge=0.0, le=MAX_REST_S)]


class LentTurn(NamedTuple):
    """A turn of a site that this node has, and who lent it."""

    site: str
    number: int
    issuer: NodeId


class SiteTurns:
    """Lends the turns of the sites that are crawled here, and asks others for theirs."""

    def __init__(
        self,
        overlay: Overlay,
        crawler: Crawler,
        tokens: SiteTokenExchange,
        places: SiteShards,
        decide: Decide,
        clock: Clock,
    ) -> None:
        self._overlay, self._crawler, self._tokens, self._places = overlay, crawler, tokens, places
        self._decide, self._clock = decide, clock
        self._number = int(clock().wall * 1000)  # above those of an earlier run
        overlay.serve(AskTurn, self._lend)
        overlay.serve(TurnDone, self._take_back)

    async def acquire(self, site: str, within_s: float) -> LentTurn | None:
        """Get a turn at a site; None where nobody lent one in time. `release` must follow."""
        until = self._clock().steady + within_s
        self._number += 1
        number = self._number
        while True:
            issuer, wait_s = await self._ask(site, number)
            if issuer is not None and not wait_s:
                return LentTurn(site, number, issuer)
            if self._clock().steady + wait_s >= until:
                return None
            await asyncio.sleep(min(wait_s, MOST_WAIT_S))

    async def release(self, turn: LentTurn, rest_s: float) -> None:
        """Give a turn back; the site must rest for so many seconds. Never raises: a turn that stays away ends."""
        done = TurnDone(turn.site, turn.number, min(max(rest_s, 0.0), MAX_REST_S))
        for _ in range(TIMES_RETURNED):
            try:
                await self._overlay.ask(turn.issuer, done, Turn, timeout_s=ASK_WITHIN_S)
                return
            except RemoteError as error:
                log.debug("turn not returned site=%s to=%s reason=%s", turn.site, turn.issuer.hex(), error)

    async def _ask(self, site: str, number: int) -> tuple[NodeId | None, float]:
        view = self._overlay.view
        home = slot_of(placement_key(_front(site)), view.strategy.slot_bits)
        holder = view.node_id if home in view.leases() else next(iter(view.announced(home)), None)
        if holder is None:
            return None, AGAIN_S
        try:
            return holder, (await self._overlay.ask(holder, AskTurn(site, number), Turn, timeout_s=ASK_WITHIN_S)).wait_s
        except RemoteError as error:
            log.debug("no turn site=%s from=%s reason=%s", site, holder.hex(), error)
            return holder, AGAIN_S

    async def _lend(self, peer: NodeId, asked: AskTurn) -> Turn:
        url = _front(asked.site)
        view, bits = self._overlay.view, self._overlay.view.strategy.slot_bits
        if not is_canonical(url):
            raise BadMessage(peer.hex(), "asks for a turn at what is no site")
        home = slot_of(placement_key(url), bits)
        epoch = view.leases().get(home)
        if epoch is None:
            raise BadMessage(peer.hex(), "asks for a turn at a site whose home slot is not leased by this node")
        depth = self._places.depth(url)
        if not any(peer in view.candidates(slot_of(prefix, bits)) for prefix in shards(asked.site)[: 1 << depth]):
            raise BadMessage(peer.hex(), "asks for a turn at a site of which it is no candidate")
        if depth:
            return Turn(self._tokens.lend(asked.site, epoch, _name(peer, asked.number)))
        floor_s = self._decide(url).min_delay_s
        return Turn(
            self._crawler.lent_turns.lend(asked.site, home, _name(peer, asked.number), floor_s, self._clock().steady)
        )

    async def _take_back(self, peer: NodeId, done: TurnDone) -> Turn:
        url = _front(done.site)
        if not is_canonical(url):
            raise BadMessage(peer.hex(), "gives back a turn at what is no site")
        self._tokens.take_back(done.site, _name(peer, done.number), max(done.rest_s, self._decide(url).min_delay_s))
        self._crawler.lent_turns.take_back(done.site, _name(peer, done.number), done.rest_s, self._clock().steady)
        return Turn(0.0)


def _name(peer: NodeId, number: int) -> str:
    """Name one turn of a peer: it may ask again where the answer was lost, and be one of the site's crawlers."""
    return f"second look {peer.hex()} {number}"


def _front(site: str) -> str:
    return f"https://{site}/"
