"""Lets a few searches run at once and others wait for their turn, or refuses them in time.

A node that takes on more than it can answer makes everybody wait. So a search waits for PATIENCE_S at most. One that
would wait longer is refused as it comes, by how long searches took lately. Callers take turns: one of many questions
waits behind its own.
"""

import asyncio
import math
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from dht import LocalError

AT_ONCE = 4  # searches: while peers answer one, the node works at others
PATIENCE_S = 0.25  # with AT_ONCE searches at work, which share the processor, answers come within half a second
OVERTIME = 1.4  # times PATIENCE_S, after which a search is refused that waits longer than was estimated
NEWEST = 0.1  # the weight of the newest search in the mean


@dataclass(eq=False)
class TooBusy(LocalError):
    """Says that this node has more searches to answer than it can; `retry_after_s`: when to ask again."""

    retry_after_s: int

    def __str__(self) -> str:
        return f"This node answers as many searches as it can just now. Ask again in {self.retry_after_s} s."


class SearchQueue:
    """Holds the searches that run and those that wait. `now` gives steady seconds."""

    def __init__(self, now: Callable[[], float], at_once: int = AT_ONCE, patience_s: float = PATIENCE_S) -> None:
        self._now, self._at_once, self._patience_s = now, at_once, patience_s
        self._running = 0
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()  # by caller, whose turn is next
        self._mean_s = 0.0

    @asynccontextmanager
    async def turn(self, caller: str) -> AsyncIterator[None]:
        """Wait for a turn and hold it; raises TooBusy where it does not come soon enough."""
        await self._wait(caller)
        began = self._now()
        try:
            yield
        finally:
            took_s = self._now() - began
            self._mean_s += (NEWEST if self._mean_s else 1.0) * (took_s - self._mean_s)
            self._running -= 1
            self._start_next()

    async def _wait(self, caller: str) -> None:
        if self._running < self._at_once and not self._waiting:
            self._running += 1
            return
        if (wait_s := self._wait_of(caller)) > self._patience_s:
            raise TooBusy(max(1, math.ceil(wait_s)))
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(caller, deque()).append(turn)
        is_mine = False
        try:
            async with asyncio.timeout(OVERTIME * self._patience_s):
                await turn
            is_mine = True
        except TimeoutError:
            raise TooBusy(1) from None
        finally:
            if not is_mine:
                self._give_back(turn)

    def _give_back(self, turn: "asyncio.Future[None]") -> None:
        """Let go of a turn that nobody waits for any more; it may have come in the same moment."""
        if turn.done() and not turn.cancelled():
            self._running -= 1
            self._start_next()
        turn.cancel()

    def _wait_of(self, caller: str) -> float:
        """Estimate how long one more search of a caller would wait: callers take turns, one search each."""
        own = len(self._waiting.get(caller, ()))
        before = own + sum(min(len(each), own + 1) for other, each in self._waiting.items() if other != caller)
        return (before + 1) * self._mean_s / self._at_once

    def _start_next(self) -> None:
        while self._waiting and self._running < self._at_once:
            caller, turns = next(iter(self._waiting.items()))
            turn = turns.popleft()
            del self._waiting[caller]
            if turns:
                self._waiting[caller] = turns  # behind the others
            if not turn.done():
                self._running += 1
                turn.set_result(None)
