"""For a second look a node asks the crawler of a site for one turn there, so that the site sees one polite crawler.

The turn names the site, not the page: the crawler of the site may be the page's author. It is lent from the queues
of the site's crawler (`crawl/frontier/lent_turns.py`), and where a site is spread, from its token.
"""

import asyncio
import logging
from typing import NamedTuple

from crawl import Crawler, Decide, is_canonical
from dht import (
    BadMessage,
    Clock,
    NodeId,
    Overlay,
    RemoteError,
    SiteShards,
    placement_key,
    shards,
    site_of,
    slot_of,
)
from node.delegation.site_token_exchange import (
    ASK_WITHIN_S,
    MAX_REST_S,
    AskTicket,
    SiteTokenExchange,
    Ticket,
    TicketDone,
)

log = logging.getLogger(__name__)

TIMES_RETURNED = 3  # a lost answer would have the site's crawler wait until the turn ends by itself
AGAIN_S = 5.0  # until a node that found nobody to ask tries again
MOST_WAIT_S = 60.0  # between two questions


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
        tokens.turns = self

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
        done = TicketDone(_front(turn.site), min(max(rest_s, 0.0), MAX_REST_S), turn.number)
        for _ in range(TIMES_RETURNED):
            try:
                await self._overlay.ask(turn.issuer, done, Ticket, timeout_s=ASK_WITHIN_S)
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
            asked = AskTicket(_front(site), number)
            return holder, (await self._overlay.ask(holder, asked, Ticket, timeout_s=ASK_WITHIN_S)).wait_s
        except RemoteError as error:
            log.debug("no turn site=%s from=%s reason=%s", site, holder.hex(), error)
            return holder, AGAIN_S

    def lend(self, peer: NodeId, asked: AskTicket) -> float:
        """Lend a peer a turn of a site whose home slot is leased here: 0.0, or after how many seconds to ask again.
        Raises BadMessage where the site is none of the peer's, or not at home here."""
        view, bits = self._overlay.view, self._overlay.view.strategy.slot_bits
        if not is_canonical(asked.url):
            raise BadMessage(peer.hex(), "asks for a turn at what is no site")
        site, name = site_of(asked.url), _name(peer, asked.turn)
        url = _front(site)
        home = slot_of(placement_key(url), bits)
        epoch = view.leases().get(home)
        if epoch is None:
            raise BadMessage(peer.hex(), "asks for a turn at a site whose home slot is not leased by this node")
        depth = self._places.depth(url)
        if not any(peer in view.candidates(slot_of(prefix, bits)) for prefix in shards(site)[: 1 << depth]):
            raise BadMessage(peer.hex(), "asks for a turn at a site of which it is no candidate")
        if depth:
            return self._tokens.lend(site, epoch, name)
        return self._crawler.lent_turns.lend(site, home, name, self._decide(url).min_delay_s, self._clock().steady)

    def take_back(self, peer: NodeId, done: TicketDone) -> None:
        """Take a turn back; raises BadMessage where it is one of no site."""
        if not is_canonical(done.url):
            raise BadMessage(peer.hex(), "gives back a turn at what is no site")
        site, name = site_of(done.url), _name(peer, done.turn)
        self._tokens.take_back(site, name, max(done.rest_s, self._decide(_front(site)).min_delay_s))
        self._crawler.lent_turns.take_back(site, name, done.rest_s, self._clock().steady)


def _name(peer: NodeId, number: int) -> str:
    """Name one turn of a peer: it may ask again where the answer was lost, and be one of the site's crawlers."""
    return f"second look {peer.hex()} {number}"


def _front(site: str) -> str:
    return f"https://{site}/"
