"""A whole query: two rounds, folding, the check of every shown result against its signed document, one JSON answer."""

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dht import Clock, DocumentId, Key, NodeId, Overlay, slot_of
from index.change_feed import Text
from index.config import IndexConfig
from index.engine.matcher import matches
from index.errors import QueryError
from index.query.parser import parse_query
from index.query.scoring import Scored, ScoreInputs, explain, score
from index.query.search_request import SearchRequest
from index.search.answer_checks import wrong_hit
from index.search.local_index import LocalIndex
from index.search.messages import MAX_K
from index.search.page_cursor import PageCursor, query_digest, read_cursor, write_cursor
from index.search.scatter_gather import ScatterGather
from index.search.snippet import make_snippet, terms_of
from index.search.top_k_merge import FoldedHit, MergedHit, fold
from index.search.two_phase_search import PeerQuery, SearchOutcome, TwoPhaseSearch
from index.text.forward_index import content_digest, forward_of

log = logging.getLogger(__name__)

_Shown = tuple[Text, Scored, list[Text]]  # a result, its score, its copies
Read = Callable[[Sequence[tuple[DocumentId, Key]]], Awaitable[Mapping[DocumentId, Text | None]]]

MAX_LIMIT = 100
ATTEMPTS = 3  # a query begins again without the peers that lied, so often
FIRST_ROUND, SECOND_ROUND = 0.4, 0.8  # of the deadline; the rest is for reading the documents
MAX_TITLE_CHARS = 300  # shown; a stranger's title may have megabytes
SIMILAR = 5  # copies named with a result
UNREADABLE = 3  # documents of one peer that nobody has: it made them up


@dataclass(frozen=True, slots=True)
class _Bounded:
    """A request as it is carried out: parsed, its numbers within bounds; instants are steady seconds."""

    peer_query: PeerQuery
    after: PageCursor | None
    limit: int
    began: float
    deadline: float
    explain: bool

    @property
    def shown(self) -> int:
        """How many results earlier pages have shown."""
        return self.after.shown if self.after else 0


@dataclass(slots=True)
class _Page:
    """Results so far, and what went wrong on the way."""

    shown: list[_Shown] = field(default_factory=list)
    last: FoldedHit | None = None
    rest: bool = False
    stale: bool = False
    late: bool = False
    liars: set[NodeId] = field(default_factory=set)
    unreadable: Counter[NodeId] = field(default_factory=Counter)


class Searcher:
    """Answers queries for the whole network."""

    def __init__(
        self, config: IndexConfig, overlay: Overlay, local: LocalIndex, read: Read, clock: Clock, rng: random.Random
    ) -> None:
        """`read` gives documents whose signatures were verified, None for those that nobody has."""
        self._config, self._overlay, self._read, self._clock = config, overlay, read, clock
        gather = ScatterGather(overlay, clock, rng, config.hedge_fraction, local.check)
        self._rounds = TwoPhaseSearch(config, overlay, gather)
        self.lied: dict[NodeId, int] = {}  # how often a peer's answer did not fit the signed document

    async def search(self, asked: SearchRequest) -> dict[str, Any]:
        """Return the body of /api/v1/search. Raises QueryError."""
        began, words = self._clock().steady, (asked.text, asked.language, asked.site)
        deadline = began + min(max(asked.deadline_ms, 1), self._config.max_deadline_ms) / 1000
        limit, peer_query = min(max(asked.limit, 1), MAX_LIMIT), PeerQuery(parse_query(*words), *words)
        after = read_cursor(asked.cursor, query_digest(*words))
        request = _Bounded(peer_query, after, limit, began, deadline, asked.explain)
        if request.shown >= self._config.max_results:
            raise QueryError(0, f"no more than {self._config.max_results} results can be paged through; say more")
        outcome, page = await self._attempts(request)
        return self._answer(request, outcome, page)

    async def _attempts(self, request: _Bounded) -> tuple[SearchOutcome, _Page]:
        """Ask, and ask again without those who lied, while there is time."""
        avoid: frozenset[NodeId] = frozenset()
        for attempt in range(ATTEMPTS):
            outcome = await self._ask(request, avoid)
            page = await self._show(request, outcome)
            if not page.liars or attempt == ATTEMPTS - 1 or self._clock().steady >= request.deadline:
                break
            avoid |= page.liars
        return outcome, page

    async def _ask(self, request: _Bounded, avoid: frozenset[NodeId]) -> SearchOutcome:
        """Both rounds, with as many documents as leave enough after folding; the numbers are the same on every node."""
        now = self._clock().steady
        left, asked = request.deadline - now, request.peer_query
        outcome = await self._rounds.statistics(asked, now + left * FIRST_ROUND, avoid)
        wanted = request.shown + request.limit + 1
        k = min(2 * wanted + 16, MAX_K)
        while True:
            await self._rounds.best(asked, outcome, k, now + left * SECOND_ROUND, avoid)
            if not outcome.more or k == MAX_K or len(fold(outcome.order)) >= wanted:
                return outcome
            k = min(4 * k, MAX_K)

    async def _show(self, request: _Bounded, outcome: SearchOutcome) -> _Page:
        """Read and check documents down the order until the page is full."""
        page, after, limit = _Page(), request.after, request.limit
        left = [each for each in fold(outcome.order) if after is None or each.found.place > after.place]
        left.reverse()  # the best is last, and taken first
        try:
            async with asyncio.timeout(max(request.deadline - self._clock().steady, 0.0)):
                while left and len(page.shown) < limit:
                    batch = [left.pop() for _ in range(min(len(left), limit - len(page.shown)))]
                    texts = await self._read(_wanted(batch))
                    for folded in batch:
                        await asyncio.sleep(0)  # checking takes a millisecond; others may go first
                        self._check(request.peer_query, outcome, folded, texts, page)
        except TimeoutError:
            page.late = True
        page.rest = bool(left)
        return page

    def _check(
        self,
        asked: PeerQuery,
        outcome: SearchOutcome,
        folded: FoldedHit,
        texts: Mapping[DocumentId, Text | None],
        page: _Page,
    ) -> None:
        """Hold a hit to its signed document, and put what is true onto the page."""
        page.last = folded
        hit, peer = folded.found.hit, folded.found.peer
        text = texts.get(DocumentId(hit.id))
        if text is None:
            page.stale = True
            page.unreadable[peer] += 1
            if page.unreadable[peer] >= UNREADABLE:
                self._note(page, peer, "documents that nobody has")
        elif text.version == hit.version:
            if reason := wrong_hit(hit, text, asked.query):
                self._note(page, peer, reason)
            else:
                scored = Scored(hit.score, ScoreInputs(hit.tfs, hit.lengths, hit.closeness))
                page.shown.append((text, scored, _copies(folded, texts)))
        else:  # it changed a moment ago: what it says now counts
            page.stale = True
            forward = forward_of(text)
            if matches(asked.query.root, text, forward):
                page.shown.append((text, score(forward, asked.query, outcome.statistics), []))

    def _note(self, page: _Page, peer: NodeId, reason: str) -> None:
        if peer not in page.liars:
            page.liars.add(peer)
            if len(self.lied) < 1024 or peer in self.lied:
                self.lied[peer] = self.lied.get(peer, 0) + 1
            log.warning("peer lied in an answer peer=%s: %s", peer.hex(), reason)

    def _answer(self, request: _Bounded, outcome: SearchOutcome, page: _Page) -> dict[str, Any]:
        whole = len(outcome.answered) == outcome.slots and not page.late
        return {
            "query": request.peer_query.text,
            "took_ms": round((self._clock().steady - request.began) * 1000, 1),
            "exact": outcome.exact and whole and not page.stale and not page.liars,
            "partial": not whole,
            "coverage": {
                "slots": outcome.slots,
                "answered": len(outcome.answered),
                "peers_asked": len(outcome.asked),
                "peers_answered": len(outcome.replied),
                "late": sorted(peer.hex() for peer in outcome.silent),
            },
            "total": outcome.total,
            "total_is": "exact" if whole else "at_least",
            "results": [self._result(request, outcome, each) for each in page.shown],
            "suggestions": [],
            "corrections": [],
            "facets": {},
            "next_cursor": self._next(request, page),
        }

    def _result(self, request: _Bounded, outcome: SearchOutcome, each: _Shown) -> dict[str, Any]:
        text, scored, copies = each
        query = request.peer_query.query
        chars = _snippet_chars(text, self._config)
        snippet = make_snippet((text.body, text.boilerplate), terms_of(query.leaves), chars)
        view = self._overlay.view
        result: dict[str, Any] = {
            "url": text.url,
            "title": _cut(text.title),
            "snippet": snippet.text,
            "highlights": [list(mark) for mark in snippet.highlights],
            "score": scored.score,
            "language": text.language,
            "fetched_at": text.fetched_at,
            "id": text.id.hex(),
            "replicas": len(view.ready(slot_of(text.key, view.strategy.slot_bits))),
            "site_more": 0,
            "similar": [copy.url for copy in copies],
        }
        if request.explain:
            result["explain"] = explain(query, scored, outcome.statistics)
        return result

    def _next(self, request: _Bounded, page: _Page) -> str | None:
        """The cursor of the next page, None where there is none."""
        shown, asked = request.shown + len(page.shown), request.peer_query
        if page.last is None or not page.rest or not shown or shown >= self._config.max_results:
            return None
        hit = page.last.found.hit
        return write_cursor(PageCursor(query_digest(asked.text, asked.language, asked.site), hit.score, hit.id, shown))


def _snippet_chars(text: Text, config: IndexConfig) -> int:
    """How many characters we show, or its author lets us show, an ellipsis at both ends included."""
    return config.snippet_chars if text.max_snippet < 0 else min(config.snippet_chars, max(0, text.max_snippet - 2))


def _cut(title: str) -> str:
    return title if len(title) <= MAX_TITLE_CHARS else title[: MAX_TITLE_CHARS - 1] + "…"


def _wanted(batch: Sequence[FoldedHit]) -> list[tuple[DocumentId, Key]]:
    found: list[MergedHit] = [each for folded in batch for each in (folded.found, *folded.similar[:SIMILAR])]
    return [(DocumentId(each.hit.id), Key(each.hit.key)) for each in found]


def _copies(folded: FoldedHit, texts: Mapping[DocumentId, Text | None]) -> list[Text]:
    """The copies that really are: their signed documents say the same."""
    found = (texts.get(DocumentId(each.hit.id)) for each in folded.similar[:SIMILAR])
    return [text for text in found if text is not None and content_digest(text) == folded.found.hit.digest]
