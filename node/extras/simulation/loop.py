"""Runs asyncio on virtual time: when nothing is ready, the clock jumps to the next timer.

An hour in which little happens passes in seconds. The order of everything follows from the program and its seeds alone:
timers of one instant run in the order of their making. There are no sockets, threads or signals below it, and
executors run their calls inline. It replaces `_run_once`, asyncio's own inner step, whose work is stable since 3.4.

A callback whose context sets `PLACE` belongs to that place. While a place sleeps, whatever becomes due there
waits until it wakes, as in a laptop whose lid is closed.

A simulation is many objects that stay: to look through them for garbage often costs a tenth of its time.
"""

import asyncio
import gc
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from heapq import heappop, heappush
from typing import Any, TypeVar

import msgspec

from dht import Now, ReadableClock, now_of

EPOCH = 1_767_225_600.0  # 2026-01-01, the wall clock's start in every simulation
PLACE: ContextVar[str] = ContextVar("PLACE", default="")
Result = TypeVar("Result")


class SimHandle(msgspec.Struct, eq=False):
    """A call that waits for its turn: what a task or a sleep needs of `asyncio.TimerHandle`, made in a small part of
    the time. A simulated second of a node makes hundreds of them."""

    context: Context
    callback: Callable[..., Any] | None  # None: cancelled
    args: tuple[Any, ...] = ()

    def cancel(self) -> None:
        """Never run the call; what it holds is let go at once."""
        self.callback, self.args = None, ()

    def cancelled(self) -> bool:
        """Tell whether it was cancelled."""
        return self.callback is None


class SimClock(ReadableClock):
    """The clocks of one node. `ahead_s`: how far its wall clock is ahead; `behind_s`: for how long its steady clock
    stood still while its machine was suspended. Both may be set at any time."""

    def __init__(self, loop: "SimLoop", ahead_s: float) -> None:
        self._loop, self.ahead_s, self.behind_s = loop, ahead_s, 0.0

    def __call__(self) -> Now:
        now = self._loop._now
        return now_of((EPOCH + now + self.ahead_s, now - self.behind_s))

    def read_steady(self) -> float:
        """Read the steady clock alone."""
        return self._loop._now - self.behind_s


class SimLoop(asyncio.BaseEventLoop):
    """An event loop on virtual time: run a coroutine with `SimLoop().run(main())`."""

    _ready: Any  # of asyncio: the handles to be run, a deque
    _stopping: bool  # of asyncio: this step is the last

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        self._timers: list[tuple[float, int, SimHandle]] = []
        self._made = 0
        self._asleep: dict[str, list[SimHandle]] = {}

    def run(self, main: Coroutine[Any, Any, Result]) -> Result:
        """Run `main` to its end, then cancel what is left, as asyncio.run does."""
        with asyncio.Runner(loop_factory=lambda: self) as runner:
            return runner.run(main)

    def time(self) -> float:
        """Return the seconds of virtual time since the start."""
        return self._now

    def clock(self, skew_s: float = 0.0) -> "SimClock":
        """Return the clocks of a node whose wall clock is `skew_s` ahead."""
        return SimClock(self, skew_s)

    def sleep(self, place: str) -> None:
        """Run nothing at a place until `wake`; its clocks go on."""
        self._asleep.setdefault(place, [])

    def wake(self, place: str) -> None:
        """Run what became due at a place while it slept."""
        self._ready.extend(self._asleep.pop(place))

    def get_debug(self) -> bool:
        """Return False at once: it is asked often."""
        return False

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> SimHandle:
        handle = SimHandle(copy_context() if context is None else context, callback, args)
        self._ready.append(handle)
        return handle

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> SimHandle:
        timer = SimHandle(copy_context() if context is None else context, callback, args)
        self._made += 1
        heappush(self._timers, (when, self._made, timer))
        return timer

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> SimHandle:
        timer = SimHandle(copy_context() if context is None else context, callback, args)
        self._made += 1
        heappush(self._timers, (self._now + delay, self._made, timer))
        return timer

    def run_in_executor(self, executor: object, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:  # type: ignore[override]
        """Run a call here and now: threads would make the order depend on the machine."""
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future

    def _run_once(self) -> None:
        """Run all that is ready and let time pass until something is, until the loop is told to stop.

        asyncio asks for one step at a time, and would ask a million times."""
        ready, timers = self._ready, self._timers
        while True:
            if not ready:
                self._pass_time()
            now = self._now
            while timers and timers[0][0] <= now:
                ready.append(heappop(timers)[2])
            for _ in range(len(ready)):
                handle = ready.popleft()
                callback = handle.callback
                if callback is None:
                    continue
                if self._asleep and (waiting := self._asleep.get(_place_of(handle))) is not None:
                    waiting.append(handle)
                else:
                    handle.context.run(callback, *handle.args)
            if self._stopping:
                return

    def _pass_time(self) -> None:
        timers = self._timers
        while timers and timers[0][2].callback is None:
            heappop(timers)
        if not timers:
            raise RuntimeError("the simulation waits for something that nothing will bring about: a deadlock")
        if timers[0][0] > self._now:
            self._now = timers[0][0]

    def _process_events(self, event_list: list[object]) -> None:
        """Do nothing: there are no events of sockets."""

    def _write_to_self(self) -> None:
        """Do nothing: nobody waits in a selector to be woken."""


def _place_of(handle: SimHandle) -> str:
    return handle.context.get(PLACE, "")


RARELY = (100_000, 50, 100)


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Let garbage in cycles wait longer until it is looked for, within this context."""
    thresholds = gc.get_threshold()
    gc.set_threshold(*RARELY)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
