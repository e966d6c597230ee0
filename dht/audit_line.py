"""Answers of peers that wait to be asked of another peer, too: one at a time, with a rest between two."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

Given = TypeVar("Given")

MAX_LINE = 16  # answers that wait
REST_S = 0.2  # between two, so that it is never more than five a second


class AuditLine(Generic[Given]):
    """Has answers confirmed after their user has them; an answer that finds the line full is not asked twice."""

    def __init__(self, confirm: Callable[[Given], Awaitable[None]]) -> None:
        """`confirm` asks others the same as one answer, and judges."""
        self._confirm = confirm
        self._line: deque[Given] = deque()
        self._news = asyncio.Event()

    @property
    def has_room(self) -> bool:
        """Tell whether another answer may wait."""
        return len(self._line) < MAX_LINE

    def offer(self, given: Given) -> None:
        """Let an answer wait, where there is room."""
        if self.has_room:
            self._line.append(given)
            self._news.set()

    async def run(self) -> None:
        """Have answers confirmed until cancelled."""
        while True:
            await self._news.wait()
            if not await self.step():
                self._news.clear()
            await asyncio.sleep(REST_S)

    async def step(self) -> bool:
        """Have one answer confirmed; return False where none waits."""
        if not self._line:
            return False
        await self._confirm(self._line.popleft())
        return True
