"""Explains whether a URL would be fetched, by whom, when, and why not.

A node answers by what it can work out itself, and by what the holder of the URL's slot says when asked.
"""

from typing import Annotated, Protocol

from msgspec import Meta

from crawl import (
    AddressDenied,
    BadUrl,
    CrawlDecision,
    Crawler,
    QueuePosition,
    RobotsAccess,
    UrlStage,
    UrlStatus,
    Visit,
    canonical_url,
    hashes_cover,
    is_canonical,
    refusal_reason,
)
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
    slot_of,
    split_url,
)
from node.api.body import Json
from node.api.crawl import Explained
from node.crawling.fetch_rules import FetchRules
from node.crawling.typed_address import bad_url_text
from node.crawling.url_lookup import UrlLookup
from node.jobs.explain_verdict import Facts, changes, verdict

ASK_WITHIN_S = 5.0
MAX_REASON_CHARS = 300
MAX_REST_S = 31_536_000.0

Url = Annotated[str, Meta(max_length=2048)]
Reason = Annotated[str, Meta(max_length=MAX_REASON_CHARS)]
Rest = Annotated[float, Meta(ge=0.0, le=MAX_REST_S)]


class FetchChoice(Protocol):
    """Says who makes the request for a URL that this node holds, and at which addresses."""

    def chosen(self, url: str) -> tuple[NodeId | None, str]:
        """Return the node that makes it, None where nobody does now, and why."""

    def others(self, url: str) -> list[NodeId]:
        """Return the owners that are asked in this node's place."""

    def address_words(self, host: str) -> list[str]:
        """Say at which addresses the strategy lets a host be contacted, a phrase for each rule."""

    async def denied(self, url: str) -> AddressDenied | None:
        """Return what a fetch by this node would raise for the addresses that it finds; else None."""


class AskAbout(Message, frozen=True, array_like=True):
    """Asks what a node knows of this URL, which lies in a slot that it holds."""

    url: Url


class ToldAbout(Message, frozen=True, array_like=True):
    """Carries `crawl/frontier/fetch_task.py`; numbers of states that the reader does not know are refused."""

    stand: Annotated[int, Meta(ge=0, le=3)] = 0
    ahead: Annotated[int, Meta(ge=0, le=1 << 32)] = 0
    host_rest_s: Rest = 0.0
    is_host_open: bool = False
    robots: Annotated[int, Meta(ge=0, le=3)] = 0
    robots_why: Reason = ""
    crawl_delay_s: Rest = 0.0
    trap: Reason = ""
    pause_reason: Reason = ""
    is_refused: bool = False  # the holder's own operator will not have it fetch this; another owner is asked
    trouble: Reason = ""  # why its host is asked once in a while alone
    fetcher: Annotated[bytes, Meta(max_length=20)] = b""  # the node that makes the request, b"" where nobody does now
    fetcher_why: Reason = ""  # "" where that is the holder, as usual
    address: Reason = ""  # why no node contacts its host at the addresses that the holder finds


class Explanations:
    """Explains any URL to people, and to peers those of the slots that this node holds."""

    def __init__(
        self,
        overlay: Overlay,
        places: SiteShards,
        crawler: Crawler,
        known: UrlLookup,
        rules: FetchRules,
        routes: FetchChoice,
        clock: Clock,
    ) -> None:
        self._overlay, self._places, self._crawler, self._known = overlay, places, crawler, known
        self._rules, self._routes, self._clock = rules, routes, clock
        overlay.serve(AskAbout, self._tell)

    async def explain(self, text: str) -> Explained:
        """Explain one URL, as it was typed."""
        try:
            url = canonical_url(text)
        except BadUrl as error:
            return Explained(url=text, canonical=None, answer="no", why=bad_url_text(text, error))
        now = self._clock().wall
        place, view = await self._known.place(url), self._overlay.view
        slot, decision = slot_of(place, view.strategy.slot_bits), self._rules.decide(url)
        holder = self._holder(slot)
        visit = (await self._known.find([url])).get(url)
        told = await self._ask(holder, url)
        facts = Facts(
            denied=refusal_reason(url, decision),
            visit=visit,
            holder=self._name(holder) if holder else "",
            asked=told is not None,
            status=status_of(told) if told else UrlStatus(),
            is_refused=told is not None and told.is_refused,
            refused_here=self._rules.refusals.reason(url),
            fetcher=self._name(NodeId(told.fetcher)) if told and told.fetcher else "",
            fetcher_why=told.fetcher_why if told else "",
            address=told.address if told else "",
        )
        answer, why = verdict(facts, now)
        return Explained(
            url=text,
            canonical=url,
            changed=list(changes(text, url)),
            answer=answer,
            why=why,
            id=document_id(url).hex(),
            placement={"key": place.hex(), "slot": int(slot), "of": 2**view.strategy.slot_bits, **self._site(url)},
            rule=_rule(decision, view.strategy.version, facts.denied, self._routes.address_words(split_url(url).host)),
            owners=[self._owner(peer, slot, url) for peer in view.owners(slot)],
            holder={"node_id": holder.hex(), "self": holder == view.node_id, "answered": told is not None}
            if holder
            else None,
            fetcher=self._fetcher(told),
            known=_visit(visit),
            crawler=_status_json(told),
        )

    def _holder(self, slot: Slot) -> NodeId | None:
        view = self._overlay.view
        return view.node_id if slot in view.leases() else next(iter(view.announced(slot)), None)

    async def _ask(self, holder: NodeId | None, url: str) -> ToldAbout | None:
        if holder is None:
            return None
        if holder == self._overlay.view.node_id:
            return await self._told(url)
        try:
            return await self._overlay.ask(holder, AskAbout(url), ToldAbout, timeout_s=ASK_WITHIN_S)
        except RemoteError:
            return None

    async def _tell(self, peer: NodeId, asked: AskAbout) -> ToldAbout:
        if not is_canonical(asked.url):
            raise BadMessage(peer.hex(), "asks about a URL that is not canonical")
        return await self._told(asked.url)

    async def _told(self, url: str) -> ToldAbout:
        status, denied = self._crawler.inspect(url), await self._routes.denied(url)
        queued, (fetcher, why) = status.position, self._routes.chosen(url)
        if denied and denied.by_operator and fetcher == self._overlay.view.node_id:
            fetcher, why = next(iter(self._routes.others(url)), None), denied.reason
        return ToldAbout(
            int(queued.stage),
            queued.ahead,
            min(queued.site_rest_s, MAX_REST_S),
            queued.is_site_open,
            int(status.robots),
            status.robots_why[:MAX_REASON_CHARS],
            min(status.crawl_delay_s, MAX_REST_S),
            status.trap[:MAX_REASON_CHARS],
            status.pause_reason[:MAX_REASON_CHARS],
            bool(self._rules.refusals.reason(url)),
            status.breaker_reason[:MAX_REASON_CHARS],
            fetcher or b"",
            why[:MAX_REASON_CHARS],
            "" if denied is None or denied.by_operator else denied.reason[:MAX_REASON_CHARS],
        )

    def _site(self, url: str) -> Json:
        depth = self._places.depth(url)
        return {"spread": 2**depth} if depth else {}

    def _fetcher(self, told: ToldAbout | None) -> Json | None:
        if told is None or not (told.fetcher or told.fetcher_why):
            return None
        is_self = told.fetcher == self._overlay.view.node_id
        return {"node_id": told.fetcher.hex() or None, "self": is_self, "why": told.fetcher_why}

    def _name(self, peer: NodeId) -> str:
        return "this node" if peer == self._overlay.view.node_id else f"node {peer.hex()[:12]}"

    def _owner(self, peer: NodeId, slot: Slot, url: str) -> Json:
        view, is_self = self._overlay.view, peer == self._overlay.view.node_id
        refuses = bool(self._rules.refusals.reason(url)) if is_self else hashes_cover(view.peers.refuses(peer), url)
        live = is_self or view.is_live(peer)
        return {
            "node_id": peer.hex(),
            "self": is_self,
            "live": live,
            "ready": peer in view.ready(slot),
            "refuses": refuses,
        }


def status_of(told: ToldAbout) -> UrlStatus:
    """Return what a holder says as a value."""
    return UrlStatus(
        QueuePosition(UrlStage(told.stand), told.ahead, told.host_rest_s, told.is_host_open),
        RobotsAccess(told.robots),
        told.robots_why,
        told.crawl_delay_s,
        told.trap,
        told.pause_reason,
        told.trouble,
    )


def _rule(decision: CrawlDecision, version: int, denied: str, addresses: list[str]) -> Json:
    return {
        "allowed": not denied,
        "reason": denied,
        "strategy_version": version,
        "min_delay_s": decision.min_delay_s,
        "max_depth": decision.max_depth,
        "addresses": addresses,
        "number": decision.rule,
        "preferred": decision.preferred.hex() if decision.preferred else None,
    }


def _visit(visit: Visit | None) -> Json | None:
    if visit is None:
        return None
    history = visit.history
    return {
        "state": visit.state.name.lower(),
        "reason": visit.reason,
        "status": visit.status,
        "depth": visit.depth,
        "scope": visit.scope,
        "sitemap": visit.is_sitemap,
        "visited_at": visit.visited_at,
        "due_at": visit.due_at,
        "fails": visit.fails,
        "target": visit.target,
        "seen_at": history.seen_at,
        "changes": history.changes,
    }


def _status_json(told: ToldAbout | None) -> Json | None:
    if told is None:
        return None
    return {
        "stand": UrlStage(told.stand).name.lower(),
        "ahead": told.ahead,
        "host_rest_s": round(told.host_rest_s, 1),
        "host_open": told.is_host_open,
        "robots": RobotsAccess(told.robots).name.lower(),
        "robots_why": told.robots_why,
        "crawl_delay_s": told.crawl_delay_s,
        "trap": told.trap,
        "hindrance": told.pause_reason,
        "trouble": told.trouble,
        "refused_here": told.is_refused,
    }
