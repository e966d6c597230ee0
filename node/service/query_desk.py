"""Answers the searches of people and programs: anew, or as it did a moment ago; notes how long each took."""

from dht import Clock, OverlayService
from index import RunningSearch, Searcher, SearchRequest
from node.api.body import Json
from node.owner.query_meter import QueryMeter
from node.service.answer_cache import AnswerCache


class QueryDesk:
    """Holds what was answered lately, and how long that took."""

    def __init__(self, searcher: Searcher, overlay: OverlayService, clock: Clock) -> None:
        self.searcher, self.clock = searcher, clock
        self.answers, self.meter = AnswerCache(), QueryMeter()
        self._overlay = overlay

    def begin(self, question: SearchRequest) -> "DeskSearch":
        """Return a search that can tell what it has found before it is over."""
        return DeskSearch(self, question, self._overlay.view.strategy.version)


class DeskSearch:
    """One search: `answer` carries it out, and is called once; meanwhile `so_far` tells what it has found."""

    def __init__(self, desk: QueryDesk, question: SearchRequest, strategy_version: int) -> None:
        self._desk, self._question, self._version = desk, question, strategy_version
        self._running: RunningSearch | None = None

    async def answer(self) -> Json:
        """Return the answer that was given just now, else the network's: the body of /api/v1/search. Raises QueryError
        (an InputError with `position`) where the cursor is not the query's."""
        desk, asked_at = self._desk, self._desk.clock().steady
        answer = desk.answers.get(self._question, asked_at, self._version)
        if answer is None:
            self._running = desk.searcher.begin(self._question)
            answer = await self._running.answer()
            desk.answers.put(self._question, answer, desk.clock().steady, self._version)
        desk.meter.note(desk.clock().steady - asked_at)
        return answer

    async def so_far(self) -> Json | None:
        """Return the answer as it is where nothing more comes, None where nothing was found yet. No peer is asked a
        question that `answer` does not ask it."""
        return await self._running.so_far() if self._running else None
