"""The queue of checks: one task runs all audits of a node.

A check is offered once, or repeats. Checks of one topic wait in line, so that an audit that asks much holds up no
other. A check that finds its line full is left out: the audit is a sample anyway.
"""

import asyncio
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

from dht.audit.sampling import Topic
from dht.clock import Clock

MAX_WAITING = 16  # checks of one topic
REST_S = 0.2  # between two checks of one topic, so that they are never more than five a second
OPEN = {Topic.PAGES: 4}  # checks of a topic that run at once, where it is more than one
NO_REST = frozenset({Topic.PAGES})  # their budget limits these

Check = Callable[[], Awaitable[None]]
Step = Callable[[], Awaitable[float]]
"""Does one small part of a check that repeats, and returns the seconds to rest."""


@dataclass(slots=True)
class _TopicLine:
    """The checks of one topic: those that wait, how many run, and when the next may start (steady seconds)."""

    waiting: deque[Check] = field(default_factory=deque)
    running: int = 0
    next_at: float = 0.0


@dataclass(slots=True)
class _Repeated:
    """A check that repeats: when next, and whether it runs now."""

    step: Step
    next_at: float = 0.0
    is_running: bool = False


class CheckQueue:
    """Holds the checks that wait or repeat, and runs each when it is due."""

    def __init__(self, clock: Clock) -> None:
        self._clock, self._news = clock, asyncio.Event()
        self._lines: defaultdict[Topic, _TopicLine] = defaultdict(_TopicLine)
        self._repeated: list[_Repeated] = []

    def has_room(self, topic: Topic) -> bool:
        """Tell whether another check of a topic may wait."""
        return len(self._lines[topic].waiting) < MAX_WAITING

    def running(self, topic: Topic) -> int:
        """Return how many checks of a topic run or wait."""
        return self._lines[topic].running + len(self._lines[topic].waiting)

    def offer(self, topic: Topic, check: Check) -> None:
        """Add a check to the line of its topic; drop it where MAX_WAITING checks wait there already."""
        if self.has_room(topic):
            self._lines[topic].waiting.append(check)
            self._news.set()

    def repeat(self, step: Step) -> None:
        """Run a step again and again, each time after the rest that it returned."""
        self._repeated.append(_Repeated(step))
        self._news.set()

    async def run(self) -> None:
        """Run checks until cancelled."""
        for line in self._lines.values():
            line.running = 0
        for each in self._repeated:
            each.is_running = False
        async with asyncio.TaskGroup() as tasks:
            while True:
                self._news.clear()
                rest_s = self._start_due(tasks)
                with suppress(TimeoutError):
                    async with asyncio.timeout(rest_s):
                        await self._news.wait()

    async def run_waiting(self) -> None:
        """Run all checks that wait, one after the other, without rests."""
        while lines := [line for line in self._lines.values() if line.waiting]:
            for line in lines:
                await line.waiting.popleft()()

    def _start_due(self, tasks: asyncio.TaskGroup) -> float | None:
        """Start what is due; return the seconds until more is, None where nothing is known of that."""
        now, later = self._clock().steady, list[float]()
        for topic, line in self._lines.items():
            while line.waiting and line.running < OPEN.get(topic, 1) and line.next_at <= now:
                line.running += 1
                tasks.create_task(self._check(topic, line, line.waiting.popleft()), name=f"check-{topic}")
            if line.waiting and line.running < OPEN.get(topic, 1):
                later.append(line.next_at)
        for each in self._repeated:
            if not each.is_running and each.next_at <= now:
                each.is_running = True
                tasks.create_task(self._step(each), name="check-repeated")
            elif not each.is_running:
                later.append(each.next_at)
        return max(min(later) - now, 0.0) if later else None

    async def _check(self, topic: Topic, line: _TopicLine, check: Check) -> None:
        await check()
        line.running -= 1
        line.next_at = self._clock().steady + (0.0 if topic in NO_REST else REST_S)
        self._news.set()

    async def _step(self, repeated: _Repeated) -> None:
        rest_s = await repeated.step()
        repeated.is_running, repeated.next_at = False, self._clock().steady + rest_s
        self._news.set()
