"""Lets several nodes crawl a big site that lies in many places, while the site sees one polite crawler.

The holder of the lease of the site's first place issues its token (`crawl/politeness/site_tokens.py`). The holders of
the other places ask it for the token before each request, and say afterwards how long the site must rest. Where nobody
holds that lease, nobody asks the site. robots.txt is read by each of them, with the token.
"""

import logging
from typing import Annotated, Protocol

from msgspec import Meta

from crawl import TokenAnswer, TokenIssuer, Visit, VisitState, decode_visit, is_canonical
from dht import (
    BadMessage,
    Clock,
    Message,
    NodeId,
    Overlay,
    RemoteError,
    SiteShards,
    Slot,
    document_id,
    placement_key,
    site_of,
    slot_of,
)
from store import Kind, Replicator

log = logging.getLogger(__name__)

ASK_WITHIN_S = 3.0
AGAIN_S = 2.0  # until who got no answer, or found no holder, asks again
MAX_REST_S = 86_400.0
TRIES = 2  # to return a token; one that stays away expires

Url = Annotated[str, Meta(max_length=2048)]
Turn = Annotated[int, Meta(ge=0, lt=1 << 62)]


class AskTicket(Message, frozen=True, array_like=True):
    """Asks for leave to ask the site of this URL once. `turn`: 0 where the URL lies in a slot of the sender's; for a
    second look a number above 0, which tells one turn of the sender's from the next."""

    url: Url
    turn: Turn = 0


class Ticket(Message, frozen=True, array_like=True):
    """Grants it now (0.0), or says after how many seconds to ask again."""

    wait_s: Annotated[float, Meta(ge=0.0, le=MAX_REST_S)]


class TicketDone(Message, frozen=True, array_like=True):
    """Gives the leave back; the site is to be left alone for so many seconds. `turn`: as in `AskTicket`."""

    url: Url
    rest_s: Annotated[float, Meta(ge=0.0, le=MAX_REST_S)]
    turn: Turn = 0


class TurnLender(Protocol):
    """Lends the turns of the sites that are crawled here, for second looks. Raises BadMessage where it does not."""

    def lend(self, peer: NodeId, asked: AskTicket) -> float: ...

    def take_back(self, peer: NodeId, done: TicketDone) -> None: ...


class SiteTokenExchange:
    """The crawler's `SiteTokens`: asks for those of other sites, and keeps those of the sites at home here."""

    def __init__(self, overlay: Overlay, places: SiteShards, replicator: Replicator, clock: Clock) -> None:
        self._overlay, self._places, self._replicator, self._clock = overlay, places, replicator, clock
        self._issuer = TokenIssuer()
        self.turns: TurnLender | None = None  # who answers for second looks
        self._granted_by: dict[str, NodeId] = {}  # who issued the token that this node has, by site; one a site
        overlay.serve(AskTicket, self._grant)
        overlay.serve(TicketDone, self._take_back)

    async def acquire(self, visit: Visit) -> TokenAnswer:
        url = visit.url
        if not self._places.spreads:
            return TokenAnswer()
        if known := await self._recall(visit):
            return TokenAnswer(known=known)
        if not self._places.depth(url):
            return TokenAnswer()
        view, home = self._overlay.view, self._home(url)
        epoch = view.leases().get(home)
        issuer = view.node_id if epoch is not None else next((p for p in view.announced(home)), None)
        if issuer is None:
            return TokenAnswer(AGAIN_S)
        try:
            wait_s = (await self._overlay.ask(issuer, AskTicket(url), Ticket, timeout_s=ASK_WITHIN_S)).wait_s
        except RemoteError as error:
            log.debug("no ticket site=%s from=%s reason=%s", site_of(url), issuer.hex(), error)
            self._places.hosts.doubt(site_of(url))  # it may know of other places than this node does
            return TokenAnswer(AGAIN_S)
        if not wait_s:
            self._granted_by[site_of(url)] = issuer
        return TokenAnswer(wait_s)

    async def release(self, url: str, rest_s: float) -> None:
        issuer = self._granted_by.pop(site_of(url), None)
        for _ in range(TRIES if issuer is not None else 0):
            assert issuer is not None
            try:
                message = TicketDone(url, min(max(rest_s, 0.0), MAX_REST_S))
                await self._overlay.ask(issuer, message, Ticket, timeout_s=ASK_WITHIN_S)
                return
            except RemoteError as error:
                log.debug("ticket not returned site=%s to=%s reason=%s", site_of(url), issuer.hex(), error)

    def lend(self, site: str, epoch: int, turn: str) -> float:
        """Lend the token of a spread site that is at home here for a second look, which is named by `turn`. Return 0.0,
        or the seconds after which to ask again."""
        return self._issuer.acquire(self._clock().steady, site, epoch, turn.encode())

    def take_back(self, site: str, turn: str, rest_s: float) -> None:
        """Take the token back; the site rests for so many seconds."""
        self._issuer.release(self._clock().steady, site, turn.encode(), rest_s)

    async def _recall(self, visit: Visit) -> Visit | None:
        """Return the newer state of a URL whose visit here is still WAITING, from the places where its records lay
        before its site was spread. None where the visit is not waiting, or no such place has a fetched one."""
        if visit.state != VisitState.WAITING:
            return None
        for key in self._places.keys_of(visit.url)[1:]:
            record = await self._replicator.read(Kind.VISIT, document_id(visit.url), key, content=False)
            if record is not None and (before := decode_visit(record.body)).state != VisitState.WAITING:
                return before
        return None

    async def _grant(self, peer: NodeId, asked: AskTicket) -> Ticket:
        if asked.turn:
            return Ticket(self._lender(peer).lend(peer, asked))
        epoch = self._epoch(peer, asked.url)
        return Ticket(self._issuer.acquire(self._clock().steady, site_of(asked.url), epoch, peer))

    async def _take_back(self, peer: NodeId, used: TicketDone) -> Ticket:
        if used.turn:
            self._lender(peer).take_back(peer, used)
            return Ticket(0.0)
        self._epoch(peer, used.url)
        self._issuer.release(self._clock().steady, site_of(used.url), peer, used.rest_s)
        return Ticket(used.rest_s)

    def _lender(self, peer: NodeId) -> TurnLender:
        if self.turns is None:
            raise BadMessage(peer.hex(), "asks for a turn, and this node lends none")
        return self.turns

    def _epoch(self, peer: NodeId, url: str) -> int:
        """Return the epoch under which this node issues the site's token; raises BadMessage where it does not."""
        view = self._overlay.view
        if not is_canonical(url) or not self._places.depth(url):
            raise BadMessage(peer.hex(), "asks for a ticket where what is known here spreads no site")
        epoch = view.leases().get(self._home(url))
        if epoch is None:
            raise BadMessage(peer.hex(), "asks for a ticket of a site whose home slot is not leased by this node")
        if peer not in view.live_owners(slot_of(self._places.key_of(url), view.strategy.slot_bits)):
            raise BadMessage(peer.hex(), "asks for a ticket in a slot that is not its own")
        return epoch

    def _home(self, url: str) -> Slot:
        return slot_of(placement_key(url), self._overlay.view.strategy.slot_bits)
