"""Answers the searches of people and programs: anew, or as it did a moment ago; notes how long each took."""

from collections import OrderedDict
from dataclasses import replace
from typing import Any

from dht import Clock, OverlayService
from index import RunningSearch, Searcher, SearchRequest
from node.api.body import Json
from node.owner.query_meter import QueryMeter
from node.service.search_queue import SearchQueue

KEPT_S = 5.0  # much less than an index may be behind what was found
EMPTY_KEPT_S = 1.0
MAX_ANSWERS = 512  # some 30 kB each; older ones than KEPT_S go with the next that comes


class AnswerCache:
    """Answers by what was asked, the deadline apart, and by which version of the strategy: what that switches counts at
    once. Callers must not change what they get.

    Many who ask the same within a short while so cost the network one question. An exact and whole answer is
    remembered; one without a result only for a moment, since a page may be found any second. A partial answer never
    is."""

    def __init__(self, most: int = MAX_ANSWERS) -> None:
        self._most = most
        self._answers: OrderedDict[tuple[object, ...], tuple[float, float, dict[str, Any]]] = OrderedDict()

    def get(self, asked: SearchRequest, now: float, strategy: int) -> dict[str, Any] | None:
        """Return the answer to this question where it is not too old, at the steady instant `now`, with its age."""
        made_at, until, answer = self._answers.get((strategy, *_key(asked)), (0.0, 0.0, {}))
        return {**answer, "took_ms": 0.0, "age_s": round(now - made_at, 1)} if now < until else None

    def put(self, asked: SearchRequest, answer: dict[str, Any], now: float, strategy: int) -> None:
        """Remember an answer that came at the steady instant `now`, where it is worth it."""
        if not answer["exact"] or answer["partial"]:
            return
        key = strategy, *_key(asked)
        self._answers[key] = now, now + (KEPT_S if answer["results"] else EMPTY_KEPT_S), answer
        self._answers.move_to_end(key)
        while len(self._answers) > self._most or next(iter(self._answers.values()))[0] < now - KEPT_S:
            self._answers.popitem(last=False)

    def __len__(self) -> int:
        return len(self._answers)


def _key(asked: SearchRequest) -> tuple[object, ...]:
    how = asked.explain, asked.facets, asked.is_by_date, asked.is_verbatim, asked.asker_language
    return asked.text, asked.limit, asked.cursor, asked.language, asked.site, *how


class QueryDesk:
    """Holds what was answered lately, and how long that took."""

    def __init__(self, searcher: Searcher, overlay: OverlayService, clock: Clock) -> None:
        self.searcher, self.clock = searcher, clock
        self.answers, self.meter = AnswerCache(), QueryMeter()
        self.queue = SearchQueue(lambda: clock().steady)
        self._overlay = overlay

    def begin(self, question: SearchRequest, caller: str) -> "DeskSearch":
        """Return a search that can tell what it has found before it is over. `caller`: the address that asks."""
        return DeskSearch(self, question, caller, self._overlay.view.strategy.version)


class DeskSearch:
    """One search: `answer` carries it out, and is called once; meanwhile `so_far` tells what it has found."""

    def __init__(self, desk: QueryDesk, question: SearchRequest, caller: str, strategy_version: int) -> None:
        self._desk, self._question, self._caller, self._version = desk, question, caller, strategy_version
        self._running: RunningSearch | None = None

    async def answer(self) -> Json:
        """Return the answer that was given just now, else the network's: the body of /api/v1/search. Raises QueryError
        (an InputError with `position`) where the cursor is not the query's, and TooBusy."""
        desk, asked_at = self._desk, self._desk.clock().steady
        answer = desk.answers.get(self._question, asked_at, self._version)
        if answer is None:
            async with desk.queue.turn(self._caller):
                waited_ms = int((desk.clock().steady - asked_at) * 1000)
                left_ms = max(self._question.deadline_ms - waited_ms, 1)
                self._running = desk.searcher.begin(replace(self._question, deadline_ms=left_ms))
                answer = await self._running.answer()
            desk.answers.put(self._question, answer, desk.clock().steady, self._version)
        desk.meter.note(desk.clock().steady - asked_at)
        return answer

    async def so_far(self) -> Json | None:
        """Return the answer as it is where nothing more comes, None where nothing was found yet. No peer is asked a
        question that `answer` does not ask it."""
        return await self._running.so_far() if self._running else None
