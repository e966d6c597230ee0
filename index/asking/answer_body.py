"""Writes what a search gave as the body of an answer, and says why it may not be the network's."""

from collections.abc import Sequence
from typing import Any

from dht import Clock, Overlay, slot_of
from index.asking.agreement import Doubts, Reason, is_remnant, weigh
from index.asking.page_filler import AnswerPage, BoundedRequest, ShownResult
from index.asking.search_outcome import SearchOutcome
from index.asking.slot_bitmaps import slots_of
from index.change_feed import Text
from index.config import IndexConfig
from index.query.alternatives import written_out
from index.query.parser import Query
from index.query.query_tree import tags_in
from index.query.scoring import explain
from index.results.definition import define
from index.results.page_cursor import PageCursor, query_digest, statistics_digest, write_cursor
from index.results.related import related_queries
from index.results.snippet import heading_above, make_snippet, shown_text, terms_of
from index.shard.local_index import LocalIndex
from index.text.stem_classes import class_of
from index.text.tags import IMAGE_PREFIX, best_images, date_of

MAX_IMAGES = 3  # of a result
MAX_TITLE_CHARS = 300  # titles are strangers' and may have megabytes
OF_THE_ORDER = frozenset({Reason.ORDER, Reason.CHANGED})  # doubts that leave the total as it is


class AnswerBody:
    """Writes the answers of one node."""

    def __init__(self, config: IndexConfig, overlay: Overlay, local: LocalIndex, clock: Clock) -> None:
        self._config, self._overlay, self._local, self._clock = config, overlay, local, clock

    def write(
        self, request: BoundedRequest, outcome: SearchOutcome, page: AnswerPage, suggestions: list[str]
    ) -> dict[str, Any]:
        """Write the answer; `suggestions`: other questions."""
        doubts, alternatives = self._doubts(request, outcome, page), outcome.peer_query.alternatives
        query = outcome.peer_query.query
        whole = doubts.reasons.isdisjoint({Reason.UNANSWERED, Reason.UNREAD, Reason.APART})
        corrections = [text for text in (written_out(request.typed, alternatives),) if text != request.typed]
        suggestions = _others_than(corrections, suggestions)
        related = related_queries(query, [each.text for each in page.shown])
        return {
            "query": request.typed,
            "readings": _readings_of(request.peer_query.query),
            "alternatives": [each._asdict() for each in alternatives],
            "took_ms": round((self._clock().steady - request.began) * 1000, 1),
            "exact": not doubts,
            "whole": whole,
            "partial": not whole,
            "why": doubts.as_json(),
            "coverage": {
                "slots": outcome.slots,
                "answered": outcome.answered.bit_count(),
                "peers_asked": len(outcome.asked),
                "peers_answered": len(outcome.replied),
                "late": sorted(peer.hex() for peer in outcome.silent),
            },
            "total": outcome.total + page.uncounted,
            "total_is": "at_least" if not whole else "exact" if doubts.reasons <= OF_THE_ORDER else "about",
            "results": [self._result(request, outcome, page, each) for each in page.shown],
            "definition": None if request.after else _definition(request, page),
            "related": _others_than((*corrections, *suggestions), related),
            "suggestions": suggestions,
            "corrections": corrections,
            "facets": outcome.facets.as_json(outcome.total),
            "facets_cut": sorted(outcome.facets.cut),
            "next_cursor": self._next(request, outcome, page),
        }

    def _doubts(self, request: BoundedRequest, outcome: SearchOutcome, page: AnswerPage) -> Doubts:
        """Gather the reasons why this is not what one index over all documents would give."""
        doubts, view = Doubts(), self._overlay.view
        if missing := ((1 << outcome.slots) - 1) & ~outcome.answered:
            doubts.add(Reason.UNANSWERED, slots_of(missing), outcome.silent)
        flaws = {
            Reason.UNREAD: page.late,
            Reason.ORDER: page.unsure or not outcome.proven,
            Reason.CHANGED: page.stale,
            Reason.RULES: not self._local.plan.is_by(request.rules),
            Reason.APART: bool(view.why_apart()),
        }
        for reason in filter(flaws.__getitem__, flaws):
            doubts.add(reason)
        if page.liars:
            doubts.add(Reason.REFUTED, (), page.liars)
        if outcome.disputed:
            doubts.add(Reason.DISPUTED, outcome.disputed, set().union(*outcome.disputed.values()))
        if is_remnant(view):
            doubts.add(Reason.VANISHED, (), view.peers.vanished())
        weigh(outcome.said, view, doubts)
        return doubts

    def _result(
        self, request: BoundedRequest, outcome: SearchOutcome, page: AnswerPage, each: ShownResult
    ) -> dict[str, Any]:
        text, scored = each.text, each.scored
        query = outcome.peer_query.query
        chars, stem_class = _snippet_chars(text, self._config), class_of(text.language)
        body, rest = shown_text(text.body), shown_text(text.boilerplate)
        snippet = make_snippet((body, rest), terms_of(query.leaves, stem_class), chars, stem_class)
        view = self._overlay.view
        result: dict[str, Any] = {
            "url": text.url,
            "title": _cut_title(text.title),
            "heading": heading_above(body, snippet.start, text.headings, text.title),
            "snippet": snippet.text,
            "highlights": [list(mark) for mark in snippet.highlights],
            "score": scored.score,
            "language": text.language,
            "fetched_at": text.fetched_at,
            "date": date_of(text) or None,
            "id": text.id.hex(),
            "replicas": len(view.ready(slot_of(text.key, view.strategy.slot_bits))),
            "site_more": page.more.get(text.id, 0),
            "origin": text.origin,
            "images": _images(text, query),
            "similar": [copy.url for copy in each.copies],
            "similar_count": each.similar,
            "pinned": each.is_pinned,
        }
        if request.explain:
            result["explain"] = explain(query, scored, outcome.statistics)
        return result

    def _next(self, request: BoundedRequest, outcome: SearchOutcome, page: AnswerPage) -> str | None:
        """The cursor of the next page, None where there is none."""
        shown, asked = request.shown + len(page.shown), request.peer_query
        if page.last is None or not page.rest or not shown or shown >= self._config.max_results:
            return None
        flags = asked.plain.is_by_date, asked.plain.is_verbatim, asked.asker_language
        digest = query_digest(request.typed, asked.language, asked.site, *flags)
        return write_cursor(
            PageCursor(digest, page.last.found.hit.id, shown, statistics_digest(outcome.statistics, request.rules))
        )


def _definition(request: BoundedRequest, page: AnswerPage) -> dict[str, str] | None:
    found = define(request.typed, [each.text for each in page.shown])
    return found._replace(title=_cut_title(found.title))._asdict() if found else None


def _images(text: Text, query: Query) -> list[dict[str, Any]]:
    """Return the images of a page that fit a query best. Their words are as long as a snippet may be."""
    tags = {tag for tag in tags_in(query.root) if tag.startswith(IMAGE_PREFIX)}
    cut = None if text.max_snippet < 0 else text.max_snippet
    return [
        {**image._asdict(), **{name: getattr(image, name)[:cut] for name in ("text", "caption", "heading")}}
        for image in best_images(text.images, tags, MAX_IMAGES)
    ]


def _snippet_chars(text: Text, config: IndexConfig) -> int:
    """Return how many characters we show, or its author lets us show, an ellipsis at both ends included."""
    return config.snippet_chars if text.max_snippet < 0 else min(config.snippet_chars, max(0, text.max_snippet - 2))


def _others_than(offered: Sequence[str], queries: Sequence[str]) -> list[str]:
    """Return the queries that are not offered already; the same letters in upper case are the same query."""
    known = {each.casefold() for each in offered}
    return [each for each in queries if each.casefold() not in known]


def _readings_of(query: Query) -> list[dict[str, str]]:
    """Tell how a query was read, where that is not obvious."""
    return [{"read_as": each.read_as.value, "piece": each.piece} for each in query.readings]


def _cut_title(title: str) -> str:
    """Return a title as it is shown."""
    return title if len(title) <= MAX_TITLE_CHARS else title[: MAX_TITLE_CHARS - 1] + "…"
