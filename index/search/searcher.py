"""A whole query: two rounds, folding, the check of every shown result against its signed document, one JSON answer."""

import asyncio
import logging
import random
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

Read = Callable[[Sequence[tuple[DocumentId, Key]]], Awaitable[Mapping[DocumentId, Text | None]]]

MAX_LIMIT = 100
ATTEMPTS = 3  # a query begins again without the peers that lied, so often
FIRST_ROUND, SECOND_ROUND = 0.4, 0.8  # of the deadline; the rest is for reading the documents
MAX_TITLE_CHARS = 300  # shown; a stranger's title may have megabytes
SIMILAR = 5  # copies named with a result
UNREADABLE = 3  # documents of one peer that nobody has: it made them up


@dataclass(slots=True)
class _Page:
    """Results so far, and what went wrong on the way."""

    shown: list[tuple[FoldedHit, Text, Scored, list[Text]]] = field(default_factory=list)
    last: FoldedHit | None = None
    rest: bool = False
    stale: bool = False
    late: bool = False
    liars: set[NodeId] = field(default_factory=set)


class Searcher:
    """Answers queries for the whole network. `read` gives signed documents, already verified, or None."""

    def __init__(
        self, config: IndexConfig, overlay: Overlay, local: LocalIndex, read: Read, clock: Clock, rng: random.Random
    ) -> None:
        self._config = config
        self._overlay = overlay
        self._local = local
        self._read = read
        self._clock = clock
        self._rounds = TwoPhaseSearch(
            config, overlay, ScatterGather(overlay, clock, rng, config.hedge_fraction, local.check)
        )
        self.lied: dict[NodeId, int] = {}  # how often a peer's answer did not fit the signed document

    async def search(self, question: SearchRequest) -> dict[str, Any]:
        """The body of /api/v1/search. Raises QueryError."""
        began = self._clock().steady
        filters = question.text, question.language, question.site
        asked = PeerQuery(parse_query(*filters), *filters)
        after = read_cursor(question.cursor, query_digest(*filters))
        limit = min(max(question.limit, 1), MAX_LIMIT)
        deadline = began + min(max(question.deadline_ms, 1), self._config.max_deadline_ms) / 1000
        if after and after.shown >= self._config.max_results:
            raise QueryError(0, f"no more than {self._config.max_results} results can be paged through; say more")
        outcome, page = await self._attempts(asked, after, limit, began, deadline)
        return self._answer(asked, outcome, page, after, began, question.explain)

    async def _attempts(
        self, asked: PeerQuery, after: PageCursor | None, limit: int, began: float, deadline: float
    ) -> tuple[SearchOutcome, _Page]:
        avoid: frozenset[NodeId] = frozenset()
        for attempt in range(ATTEMPTS):
            now = self._clock().steady
            outcome = await self._ask(asked, after, limit, now, deadline, avoid)
            page = await self._show(asked, outcome, after, limit, deadline)
            if not page.liars or attempt == ATTEMPTS - 1 or self._clock().steady >= deadline:
                break
            avoid |= page.liars
        return outcome, page

    async def _ask(
        self,
        asked: PeerQuery,
        after: PageCursor | None,
        limit: int,
        now: float,
        deadline: float,
        avoid: frozenset[NodeId],
    ) -> SearchOutcome:
        """Both rounds, with as many documents as leave enough after folding; the numbers are the same on every node."""
        left = deadline - now
        outcome = await self._rounds.first(asked, now + left * FIRST_ROUND, avoid)
        wanted = (after.shown if after else 0) + limit + 1
        k = min(2 * wanted + 16, MAX_K)
        while True:
            await self._rounds.second(asked, outcome, k, now + left * SECOND_ROUND, avoid)
            if not outcome.more or k == MAX_K or len(fold(outcome.order)) >= wanted:
                return outcome
            k = min(4 * k, MAX_K)

    async def _show(
        self, asked: PeerQuery, outcome: SearchOutcome, after: PageCursor | None, limit: int, deadline: float
    ) -> _Page:
        """Read and check documents down the order until the page is full."""
        page = _Page()
        left = [each for each in fold(outcome.order) if after is None or each.found.place > after.place]
        left.reverse()  # the best is last, and taken first
        unreadable: dict[NodeId, int] = {}
        try:
            async with asyncio.timeout(max(deadline - self._clock().steady, 0.0)):
                while left and len(page.shown) < limit:
                    batch = [left.pop() for _ in range(min(len(left), limit - len(page.shown)))]
                    texts = await self._read(_wanted(batch))
                    for folded in batch:
                        await asyncio.sleep(0)  # checking takes a millisecond; others may go first
                        self._check(asked, outcome, folded, texts, page, unreadable)
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
        unreadable: dict[NodeId, int],
    ) -> None:
        page.last = folded
        hit, peer = folded.found.hit, folded.found.peer
        text = texts.get(DocumentId(hit.id))
        if text is None:
            page.stale = True
            unreadable[peer] = unreadable.get(peer, 0) + 1
            if unreadable[peer] >= UNREADABLE:
                self._note(page, peer, "documents that nobody has")
        elif text.version == hit.version:
            if reason := wrong_hit(hit, text, asked.query):
                self._note(page, peer, reason)
            else:
                scored = Scored(hit.score, ScoreInputs(hit.tfs, hit.lengths, hit.closeness))
                page.shown.append((folded, text, scored, _copies(folded, texts)))
        else:  # it changed a moment ago: what it says now counts
            page.stale = True
            forward = forward_of(text)
            if matches(asked.query.root, text, forward):
                page.shown.append((folded, text, score(forward, asked.query, outcome.statistics), []))

    def _note(self, page: _Page, peer: NodeId, reason: str) -> None:
        if peer not in page.liars:
            page.liars.add(peer)
            if len(self.lied) < 1024 or peer in self.lied:
                self.lied[peer] = self.lied.get(peer, 0) + 1
            log.warning("peer lied in an answer peer=%s: %s", peer.hex(), reason)

    def _answer(
        self,
        asked: PeerQuery,
        outcome: SearchOutcome,
        page: _Page,
        after: PageCursor | None,
        began: float,
        explained: bool,
    ) -> dict[str, Any]:
        whole = len(outcome.answered) == outcome.slots and not page.late
        return {
            "query": asked.text,
            "took_ms": round((self._clock().steady - began) * 1000, 1),
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
            "results": [self._result(asked, outcome, each, explained) for each in page.shown],
            "suggestions": [],
            "corrections": [],
            "facets": {},
            "next_cursor": self._next(asked, page, after),
        }

    def _result(
        self,
        asked: PeerQuery,
        outcome: SearchOutcome,
        each: tuple[FoldedHit, Text, Scored, list[Text]],
        explained: bool,
    ) -> dict[str, Any]:
        _, text, scored, copies = each
        snippet = make_snippet(
            (text.body, text.boilerplate), terms_of(asked.query.leaves), _snippet_chars(text, self._config)
        )
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
        if explained:
            result["explain"] = explain(asked.query, scored, outcome.statistics)
        return result

    def _next(self, asked: PeerQuery, page: _Page, after: PageCursor | None) -> str | None:
        shown = (after.shown if after else 0) + len(page.shown)
        if page.last is None or not page.rest or not shown or shown >= self._config.max_results:
            return None
        hit = page.last.found.hit
        return write_cursor(PageCursor(query_digest(asked.text, asked.language, asked.site), hit.score, hit.id, shown))


def _snippet_chars(text: Text, config: IndexConfig) -> int:
    """As many as we show, or as its author lets us, with an ellipsis at both ends."""
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
