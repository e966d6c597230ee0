"""A whole query: two rounds, folding, the check of every shown result against its signed document, one JSON answer."""

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from dht import Clock, DocumentId, NodeId, Overlay, PeerAudit, Topic, slot_of
from index.change_feed import Text
from index.config import IndexConfig
from index.engine.matcher import matches
from index.errors import QueryError
from index.query.parser import Query, parse_query
from index.query.scoring import Scored, explain, score
from index.query.search_request import SearchRequest
from index.query.search_rules import SearchRules
from index.search.agreement import Doubts, Reason, is_remnant, weigh
from index.search.answer_checks import wrong_hit
from index.search.copy_proof import CopyProof, Read, believe
from index.search.hit_audit import HitAudit
from index.search.near_copies import Sign, no_signature
from index.search.page_cursor import PageCursor, query_digest, read_cursor, statistics_digest, write_cursor
from index.search.passage_heading import heading_above
from index.search.query_trace import Tracer, untraced
from index.search.result_picker import OF_ONE_HOST, TEN, PickedHit, names_site, pick
from index.search.scatter_gather import ScatterGather
from index.search.shown_texts import cut_title, readings_of, snippet_chars, true_copies, wanted
from index.search.snippet import make_snippet, terms_of
from index.search.two_phase_search import PeerQuery, SearchOutcome, TwoPhaseSearch
from index.shard.corrections import Proposal, correct, propose, spellings
from index.shard.local_index import LocalIndex
from index.shard.messages import MAX_K
from index.shard.suggestions import Suggester
from index.text.forward_index import forward_of
from index.text.page_date import date_of
from index.text.stem_classes import class_of

log = logging.getLogger(__name__)

MAX_LIMIT = 100
FEW = 3  # results, with which other questions are suggested
LIES = 3  # after so many a peer is asked no more for a while
ATTEMPTS = 3  # a query begins again without the peers that lied, so often
EXPANDING = 0.3  # of the deadline, where words stand for others
FIRST_ROUND, SECOND_ROUND = 0.6, 0.85  # of what is left; the rest is for reading the documents
SPARE = 8  # results beyond a page, for those that turn out not to be there
OF_THE_ORDER = frozenset({Reason.ORDER, Reason.CHANGED})  # doubts that leave the total as it is
UNREADABLE = 3  # documents of one peer that nobody has: it made them up


@dataclass(frozen=True, slots=True)
class _Bounded:
    """A request as it is carried out: parsed, its numbers within bounds; instants are steady seconds."""

    typed: str
    peer_query: PeerQuery
    after: PageCursor | None
    limit: int
    began: float
    deadline: float
    explain: bool
    proposals: Sequence[Proposal] = ()

    @property
    def rules(self) -> SearchRules:
        """By which it is carried out."""
        return self.peer_query.query.rules

    @property
    def shown(self) -> int:
        """How many results earlier pages have shown."""
        return self.after.shown if self.after else 0


@dataclass(frozen=True, slots=True)
class _Shown:
    """A result. `copies`: documents that say the same, of `similar` in all."""

    text: Text
    scored: Scored
    copies: Sequence[Text] = ()
    similar: int = 0


@dataclass(slots=True)
class _Page:
    """Results so far, and what went wrong on the way."""

    shown: list[_Shown] = field(default_factory=list)
    last: PickedHit | None = None
    rest: bool = False
    more: Mapping[bytes, int] = field(default_factory=dict)  # matches of the last result's host, by that result's id
    stale: bool = False
    late: bool = False
    unsure: bool = False  # a host may have more that stand among these
    liars: set[NodeId] = field(default_factory=set)
    unreadable: Counter[NodeId] = field(default_factory=Counter)


class Searcher:
    """Answers queries for the whole network."""

    def __init__(
        self,
        config: IndexConfig,
        overlay: Overlay,
        local: LocalIndex,
        read: Read,
        clock: Clock,
        rng: random.Random,
        sign: Sign = no_signature,
        audit: PeerAudit | None = None,
        tracer: Tracer = untraced,
    ) -> None:
        """`read` gives documents whose signatures were verified, None for those that nobody has, nothing where it
        cannot tell; `sign` makes the signature of a main text, as the crawler does; `audit` is all of a node's;
        `tracer` times the parts of each query."""
        self._config, self._overlay, self._read, self._clock, self._sign = config, overlay, read, clock, sign
        self._local, self._suggester, self._tracer = local, Suggester(), tracer
        gather = ScatterGather(overlay, clock, rng, config.hedge_fraction, local.check, tracer)
        self.audit = audit or PeerAudit(clock, rng.random)
        self.hit_audit = HitAudit(self.audit, overlay, gather, read, config.max_depth)
        self._rounds = TwoPhaseSearch(config, overlay, gather, self.audit, self.hit_audit)
        self.lied: dict[NodeId, int] = {}  # how often a peer's answer did not fit the signed document

    async def search(self, asked: SearchRequest) -> dict[str, Any]:
        """Return the body of /api/v1/search. Raises QueryError where the cursor is not this query's.

        Where the rules in force leave it partial, because indexes for them are still being built, it is asked again by
        the rules before, which every node knows for a day."""
        began, found = self._clock().steady, dict[str, Any]()
        with self._tracer.query() as span:
            for rules in self._local.rules():
                answer = await self._search_by(rules, asked, began)
                if not found or answer["coverage"]["answered"] > found["coverage"]["answered"]:
                    found = answer
                if found["whole"]:
                    break
            span.say(**{name: found["coverage"][name] for name in ("slots", "answered", "peers_asked")})
        return found

    async def _search_by(self, rules: SearchRules, asked: SearchRequest, began: float) -> dict[str, Any]:
        with self._tracer.part("parse"):
            query = parse_query(asked.text, asked.language, asked.site, asked.is_by_date, rules)
        words = (query.text, query.language, query.site)
        deadline = began + min(max(asked.deadline_ms, 1), self._config.max_deadline_ms) / 1000
        limit = min(max(asked.limit, 1), MAX_LIMIT)
        after = read_cursor(asked.cursor, query_digest(*words, asked.is_by_date))
        proposals = [] if after else await self._local.look_up(partial(propose, query.text))
        typed = PeerQuery(query, *words, spellings(proposals), facets=asked.facets and not after)
        peer_query = await self._rounds.expanded(typed, began + (deadline - began) * EXPANDING)
        request = _Bounded(query.text, peer_query, after, limit, began, deadline, asked.explain, proposals)
        if request.shown >= self._config.max_results:
            raise QueryError(0, f"no more than {self._config.max_results} results can be paged through; say more")
        outcome, page = await self._attempts(request)
        few = outcome.total <= FEW and not after
        suggestions = await self.suggest(query.text) if few else []
        with self._tracer.part("snippets", results=len(page.shown)):
            return self._answer(request, outcome, page, suggestions)

    async def suggest(self, typed: str) -> list[str]:
        """Return what somebody who typed this may be about to ask, by the words and titles that are indexed here."""
        return await self._local.look_up(partial(self._suggester.suggest, typed))

    async def _attempts(self, request: _Bounded) -> tuple[SearchOutcome, _Page]:
        """Ask, and ask again without those who lied, while there is time."""
        avoid: frozenset[NodeId] = frozenset()
        for attempt in range(ATTEMPTS):
            outcome = await self._ask(request, avoid)
            with self._tracer.part("documents"):
                page = await self._show(request, outcome)
            if not page.liars or attempt == ATTEMPTS - 1 or self._clock().steady >= request.deadline:
                break
            avoid |= page.liars
        return outcome, page

    async def _ask(self, request: _Bounded, avoid: frozenset[NodeId]) -> SearchOutcome:
        """Both rounds, with as many documents as leave enough results; the numbers are the same on every node."""
        now = self._clock().steady
        left, asked = request.deadline - now, request.peer_query
        with self._tracer.part("statistics"):
            outcome = await self._rounds.statistics(asked, now + left * FIRST_ROUND, avoid)
        wanted, is_crowded = request.shown + request.limit + 1, _is_crowded(asked.query)
        per_host = OF_ONE_HOST * (wanted // TEN + 1) if is_crowded else 0
        k = min(wanted + SPARE, MAX_K)  # often enough: of 6,000 results on 10,000 real pages ten had more copies
        while True:
            with self._tracer.part("best", wanted=k):
                await self._rounds.best(asked, outcome, k, per_host, now + left * SECOND_ROUND, avoid)
            picked = pick(outcome.order, believe, wanted, is_crowded, not outcome.more)
            if outcome.more and len(picked) < wanted and k < MAX_K:
                k = min(4 * k, MAX_K)
            elif not outcome.sites.are_enough(picked[: wanted - 1], len(picked) >= wanted) and per_host < MAX_K:
                per_host = min(4 * per_host, MAX_K)
                k = min(max(k, len(outcome.order) + per_host * len(outcome.sites.ends)), MAX_K)
            else:
                return outcome

    async def _show(self, request: _Bounded, outcome: SearchOutcome) -> _Page:
        """Read and check documents down the order until the page is full."""
        page, after, limit = _Page(), request.after, request.limit
        page.stale = after is not None and after.statistics != statistics_digest(outcome.statistics, request.rules)
        picked: list[PickedHit] = []
        last, me = request.shown + limit, self._overlay.view.node_id
        left: list[PickedHit] = []
        proof, is_crowded = CopyProof(self._read, self._sign), _is_crowded(request.peer_query.query)
        try:
            async with asyncio.timeout(max(request.deadline - self._clock().steady, 0.0)):
                picked = await proof.pick(outcome.order, last + SPARE, is_crowded, not outcome.more)
                for peer, reason in proof.liars.items():
                    self._note(page, peer, reason)
                page.unsure = not outcome.sites.are_enough(picked[:last], len(picked) >= last)
                left = _following(picked, after)
                left.reverse()  # the best is last, and taken first
                while left and len(page.shown) < limit:
                    batch = [left.pop() for _ in range(min(len(left), limit - len(page.shown)))]
                    texts = await self._read(wanted(batch))
                    for each in batch:
                        if each.found.peer != me:
                            await asyncio.sleep(0)  # checking takes a millisecond; others may go first
                        self._check(request.peer_query, outcome, each, texts, page)
        except TimeoutError:
            page.late = True
        page.rest = bool(left)
        page.more = outcome.sites.more(picked[: len(picked) - len(left)]) if is_crowded else {}
        return page

    def _check(
        self,
        asked: PeerQuery,
        outcome: SearchOutcome,
        picked: PickedHit,
        texts: Mapping[DocumentId, Text | None],
        page: _Page,
    ) -> None:
        """Hold a hit to its signed document, and put what is true onto the page."""
        page.last = picked
        hit, peer = picked.found.hit, picked.found.peer
        text = texts.get(DocumentId(hit.id))
        if text is None:
            page.stale = True
            page.unreadable[peer] += DocumentId(hit.id) in texts
            if page.unreadable[peer] >= UNREADABLE:
                self._note(page, peer, "documents that nobody has")
        elif text.version == hit.version:
            if peer != self._overlay.view.node_id and (reason := wrong_hit(hit, text, asked.query)):
                self._note(page, peer, reason)
            else:
                scored = Scored(hit.score, hit.numbers)
                copies, similar = true_copies(picked, texts), len(picked.similar)
                page.shown.append(_Shown(text, scored, copies, max(similar, len(copies))))
        else:  # it changed a moment ago: what it says now counts
            page.stale = True
            forward = forward_of(text, asked.query.rules.analyzer)
            if matches(asked.query.root, text, forward):
                page.shown.append(_Shown(text, score(forward, asked.query, outcome.statistics)))

    def _note(self, page: _Page, peer: NodeId, reason: str) -> None:
        if peer not in page.liars:
            page.liars.add(peer)
            if len(self.lied) < 1024 or peer in self.lied:
                self.lied[peer] = self.lied.get(peer, 0) + 1
                if self.lied[peer] % LIES == 0:
                    self.audit.refute(peer, Topic.HITS, reason)
            log.warning("peer lied in an answer peer=%s: %s", peer.hex(), reason)

    def _answer(self, request: _Bounded, outcome: SearchOutcome, page: _Page, suggestions: list[str]) -> dict[str, Any]:
        doubts = self._doubts(request, outcome, page)
        whole = doubts.reasons.isdisjoint({Reason.UNANSWERED, Reason.UNREAD, Reason.APART})
        return {
            "query": request.typed,
            "readings": readings_of(request.peer_query.query),
            "took_ms": round((self._clock().steady - request.began) * 1000, 1),
            "exact": not doubts,
            "whole": whole,
            "partial": not whole,
            "why": doubts.as_json(),
            "coverage": {
                "slots": outcome.slots,
                "answered": len(outcome.answered),
                "peers_asked": len(outcome.asked),
                "peers_answered": len(outcome.replied),
                "late": sorted(peer.hex() for peer in outcome.silent),
            },
            "total": outcome.total,
            "total_is": "at_least" if not whole else "exact" if doubts.reasons <= OF_THE_ORDER else "about",
            "results": [self._result(request, outcome, page, each) for each in page.shown],
            "suggestions": suggestions,
            "corrections": correct(request.typed, request.proposals, outcome.spellings),
            "facets": outcome.facets.as_json(outcome.total),
            "facets_cut": sorted(outcome.facets.cut),
            "next_cursor": self._next(request, outcome, page),
        }

    def _doubts(self, request: _Bounded, outcome: SearchOutcome, page: _Page) -> Doubts:
        """Gather the reasons why this is not what one index over all documents would give."""
        doubts, view = Doubts(), self._overlay.view
        if missing := outcome.ready.keys() - outcome.answered:
            doubts.add(Reason.UNANSWERED, missing, outcome.silent)
        unsure = page.unsure or not outcome.proven
        is_other = not self._local.plan.is_by(request.rules)
        flaws = [(page.late, Reason.UNREAD), (unsure, Reason.ORDER), (page.stale, Reason.CHANGED)]
        flaws.append((is_other, Reason.RULES))
        for reason in (reason for is_so, reason in flaws if is_so):
            doubts.add(reason)
        if page.liars:
            doubts.add(Reason.REFUTED, (), page.liars)
        if outcome.disputed:
            doubts.add(Reason.DISPUTED, outcome.disputed, set().union(*outcome.disputed.values()))
        if view.why_apart():
            doubts.add(Reason.APART)
        if is_remnant(view):
            doubts.add(Reason.VANISHED, (), view.vanished_members())
        weigh(outcome.said, view, doubts)
        return doubts

    def _result(self, request: _Bounded, outcome: SearchOutcome, page: _Page, each: _Shown) -> dict[str, Any]:
        text, scored = each.text, each.scored
        query = request.peer_query.query
        chars, stem_class = snippet_chars(text, self._config), class_of(text.language)
        snippet = make_snippet((text.body, text.boilerplate), terms_of(query.leaves, stem_class), chars, stem_class)
        view = self._overlay.view
        result: dict[str, Any] = {
            "url": text.url,
            "title": cut_title(text.title),
            "heading": heading_above(text.body, snippet.start, text.headings, text.title),
            "snippet": snippet.text,
            "highlights": [list(mark) for mark in snippet.highlights],
            "score": scored.score,
            "language": text.language,
            "fetched_at": text.fetched_at,
            "date": date_of(text),
            "id": text.id.hex(),
            "replicas": len(view.ready(slot_of(text.key, view.strategy.slot_bits))),
            "site_more": page.more.get(text.id, 0),
            "origin": text.origin,
            "similar": [copy.url for copy in each.copies],
            "similar_count": each.similar,
        }
        if request.explain:
            result["explain"] = explain(query, scored, outcome.statistics)
        return result

    def _next(self, request: _Bounded, outcome: SearchOutcome, page: _Page) -> str | None:
        """The cursor of the next page, None where there is none."""
        shown, asked = request.shown + len(page.shown), request.peer_query
        if page.last is None or not page.rest or not shown or shown >= self._config.max_results:
            return None
        digest = query_digest(request.typed, asked.language, asked.site, asked.query.is_by_date)
        return write_cursor(
            PageCursor(digest, page.last.found.hit.id, shown, statistics_digest(outcome.statistics, request.rules))
        )


def _is_crowded(query: Query) -> bool:
    """Whether many results of one host are too many: not where its site was asked for, nor where dates decide."""
    return not names_site(query) and not query.is_by_date


def _following(picked: Sequence[PickedHit], after: PageCursor | None) -> list[PickedHit]:
    """What comes after the last result of the page before: by its number where that result is gone."""
    if after is None:
        return list(picked)
    ids = [each.found.hit.id for each in picked]
    return list(picked[ids.index(after.id) + 1 if after.id in ids else after.shown :])
