"""Carries searches on whose first results are shown already, until their readers fetch what came later.

They are in memory alone, a bounded number for a bounded time. To fetch an answer a reader needs the question and the
token in the page of the first results. Where there are too many, a search is waited for instead.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial

from dht import STRICT, Supervisor
from index import SearchRequest
from node.api.body import Json
from node.service.query_desk import DeskSearch
from node.service.service import Service

FIRST_MS = 400  # after which a reader is shown what has come, where that is anything
KEPT_S = 10.0  # an answer, from when it came; the page's script fetches it at once
MAX_RUNNING = 32  # answers have some 30 kB each, those under a reader's rules ten times as much


@dataclass(slots=True, eq=False)
class _Carried:
    question: SearchRequest
    run: DeskSearch
    token: str = ""  # by which its reader asks for it; none where nobody will
    answer: Json | None = None
    error: Exception | None = None
    has_come: asyncio.Event = field(default_factory=asyncio.Event)
    is_done_with: asyncio.Event = field(default_factory=asyncio.Event)

    async def result(self) -> Json:
        """Wait for the answer; raises what the search raised."""
        await self.has_come.wait()
        if self.answer is None:
            raise self.error or asyncio.CancelledError
        return self.answer


class RunningSearches:
    """Starts searches, and keeps those that somebody will come back for."""

    def __init__(self, service: Service, new_token: Callable[[], str]) -> None:
        self._service, self._new_token = service, new_token
        self._start: Callable[[Callable[[], Awaitable[None]]], object] | None = None
        self._running = 0
        self._later: dict[str, _Carried] = {}

    @asynccontextmanager
    async def open(self, supervisor: Supervisor = STRICT) -> AsyncIterator[None]:
        """Own the searches that are carried on; they end with this. `supervisor`: bears what one of them costs."""
        async with asyncio.TaskGroup() as tasks:
            self._start = partial(supervisor.start_once, tasks, "search")
            try:
                yield
            finally:
                self._start = None

    async def first(self, question: SearchRequest, caller: str = "") -> tuple[Json, str]:
        """Ask, and return the whole answer, or after 400 ms what has been found by then, with the token of the rest."""
        if self._start is None or self._running >= MAX_RUNNING:
            return await self._service.search(question, caller), ""
        carried = _Carried(question, self._service.begin(replace(question, first_ms=FIRST_MS), caller))
        self._running += 1
        self._start(partial(self._carry, carried))
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(FIRST_MS / 1000):
                    return await carried.result(), ""
            found = await carried.run.so_far()
            if found is None or carried.has_come.is_set():
                return await carried.result(), ""
            carried.token = self._new_token()
            self._later[carried.token] = carried
            return found, carried.token
        finally:
            if not carried.token:
                carried.is_done_with.set()

    async def rest(self, token: str, question: SearchRequest) -> Json | None:
        """Return, once, the whole answer to a question whose first results were shown; None where it is not known."""
        carried = self._later.get(token)
        if carried is None or carried.question != question:
            return None
        del self._later[token]
        carried.is_done_with.set()
        return await carried.result()

    async def _carry(self, carried: _Carried) -> None:
        try:
            carried.answer = await carried.run.answer()
        except Exception as error:  # one API request, which outlasts its first answer: raised again by `result`
            carried.error = error
        finally:
            carried.has_come.set()
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(KEPT_S):
                    await carried.is_done_with.wait()
        finally:
            self._later.pop(carried.token, None)
            self._running -= 1
