"""Asking the plan: every slot answered by some ready replica, hedged, under one deadline.

A peer that fails, answers nonsense or leaves slots out is replaced by the next ready replica at once; one that is
merely silent after the hedging time is asked no more questions but its answer is still welcome. The first good answer
for a slot counts. Who lets any question of this node wait, of whatever kind, is asked last by all.
"""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from dht import BadMessage, Clock, InputError, Message, NodeId, Overlay, RemoteError, Slot
from index.search.replica_plan import Ready, make_plan
from index.shard.messages import BestAnswer, StatisticsAnswer

log = logging.getLogger(__name__)

A = TypeVar("A", StatisticsAnswer, BestAnswer)
ALONE_S = 0.03  # this node has them for its own part of an answer, before others are asked for the rest
LARGE = 256  # hits or slots in an answer; checking more takes milliseconds, and goes aside

Wrong = Callable[[], str | None]
Aside = Callable[[Wrong], Awaitable[str | None]]


@dataclass(slots=True)
class Gathered(Generic[A]):
    """What came back: answers as (peer, answer, slots of it that count). `late` were silent, `failed` dead or wrong."""

    answers: list[tuple[NodeId, A, frozenset[Slot]]] = field(default_factory=list)
    asked: set[NodeId] = field(default_factory=set)
    late: set[NodeId] = field(default_factory=set)
    failed: set[NodeId] = field(default_factory=set)

    @property
    def slots(self) -> frozenset[Slot]:
        """All slots that were answered."""
        return frozenset().union(*(slots for _, _, slots in self.answers))

    @property
    def by_slot(self) -> dict[Slot, NodeId]:
        """Whose answer counts for each slot."""
        return {slot: peer for peer, _, slots in self.answers for slot in sorted(slots)}


class ScatterGather:
    """Asks ready replicas; each time that `hedge_fraction` of a round's time is over, what silent ones have is asked of
    others, until all have been asked."""

    def __init__(self, overlay: Overlay, clock: Clock, rng: random.Random, hedge_fraction: float, aside: Aside) -> None:
        """`aside` runs the check of a large answer off the event loop."""
        self._overlay, self._clock, self._rng = overlay, clock, rng
        self._hedge_fraction, self._aside = hedge_fraction, aside

    async def cover(
        self,
        ready: Ready,
        ask: Callable[[Sequence[Slot]], Message],
        answer: type[A],
        wrong: Callable[[A, Sequence[Slot]], str | None],
        until: float,
        avoid: frozenset[NodeId] = frozenset(),
        heard: Callable[[A], None] | None = None,
    ) -> Gathered[A]:
        """Cover the slots of `ready` until the steady instant `until`; what is missing then is missing. `heard` takes
        this node's own answer, which others are asked after: `ask` may say less to them then."""
        race = _GatherRun(self._overlay, self._rng, ready, ask, answer, wrong, set(avoid), self._aside, heard)
        left = until - self._clock().steady
        try:
            async with asyncio.timeout(max(left, 0.0)):
                await race.run(left * self._hedge_fraction, left)
        except TimeoutError:
            pass  # the deadline is the asker's own: what has come so far is the answer
        race.covered.late = race.silent()
        return race.covered


class _GatherRun(Generic[A]):
    """One `cover`: who was asked for what, and what is still open."""

    def __init__(
        self,
        overlay: Overlay,
        rng: random.Random,
        ready: Ready,
        ask: Callable[[Sequence[Slot]], Message],
        answer: type[A],
        wrong: Callable[[A, Sequence[Slot]], str | None],
        avoid: set[NodeId],
        aside: Aside,
        heard: Callable[[A], None] | None,
    ) -> None:
        self._aside = aside
        self._hear: Callable[[A], None] | None = heard
        self._overlay, self._rng = overlay, rng
        self._ready, self._ask, self._avoid = ready, ask, avoid
        self._answer: type[A] = answer
        self._wrong: Callable[[A, Sequence[Slot]], str | None] = wrong
        self._open = set(ready)
        self._tried: dict[NodeId, set[Slot]] = {}
        self._flying: dict[NodeId, int] = {}
        self._heard: set[NodeId] = set()
        self.covered: Gathered[A] = Gathered()

    async def run(self, hedge_s: float, left_s: float) -> None:
        replies: asyncio.Queue[None] = asyncio.Queue()
        async with asyncio.TaskGroup() as tasks:
            hedge_at = asyncio.get_running_loop().time() + hedge_s
            started = await self._begin(tasks, replies, left_s)
            while self._open and any(self._flying.values()):
                try:
                    async with asyncio.timeout_at(hedge_at):
                        await replies.get()
                except TimeoutError:
                    hedge_at += hedge_s
                    started += self._start(tasks, replies, left_s, hedge=True)
                else:
                    started += self._start(tasks, replies, left_s)
            for task in started:
                task.cancel()

    async def _begin(
        self, tasks: asyncio.TaskGroup, replies: asyncio.Queue[None], left_s: float
    ) -> list[asyncio.Task[None]]:
        """Ask all; this node has a moment for its own part before, where others can be asked for less then."""
        parts, started = self._plan(), list[asyncio.Task[None]]()
        if self._hear is not None and len(parts) > 1 and parts[0][0] == self._overlay.view.node_id:
            started.append(self._launch(tasks, *parts[0], replies, left_s))
            with suppress(TimeoutError):
                async with asyncio.timeout(ALONE_S):
                    await replies.get()
        started += [self._launch(tasks, *part, replies, left_s) for part in parts[len(started) :]]
        return started + self._start(tasks, replies, left_s)

    def silent(self) -> set[NodeId]:
        """Return who was asked and has answered nothing: of two questions one may go by a way that is slow."""
        return {peer for peer, flying in self._flying.items() if flying and peer not in self._heard}

    def _start(
        self, tasks: asyncio.TaskGroup, replies: asyncio.Queue[None], left_s: float, hedge: bool = False
    ) -> list[asyncio.Task[None]]:
        """Ask for what is open and not being asked (when hedging: also for what is)."""
        return [self._launch(tasks, *part, replies, left_s) for part in self._plan(hedge)]

    def _plan(self, hedge: bool = False) -> Sequence[tuple[NodeId, Sequence[Slot]]]:
        flying = [slots for peer, slots in self._tried.items() if self._flying.get(peer) and not hedge]
        wanted = {slot: self._ready[slot] for slot in self._open.difference(*flying)}
        if not wanted:
            return ()
        overlay = self._overlay
        ways = overlay.late.is_late, lambda peer: not overlay.is_direct(peer)
        return make_plan(wanted, overlay.view.node_id, self._rng, self._avoid, self._tried, *ways).parts

    def _launch(
        self,
        tasks: asyncio.TaskGroup,
        peer: NodeId,
        slots: Sequence[Slot],
        replies: asyncio.Queue[None],
        left_s: float,
    ) -> asyncio.Task[None]:
        self._tried.setdefault(peer, set()).update(slots)
        self._flying[peer] = self._flying.get(peer, 0) + 1
        self.covered.asked.add(peer)
        return tasks.create_task(self._one(peer, slots, replies, left_s), name=f"ask-{peer.hex()[:8]}")

    async def _one(self, peer: NodeId, slots: Sequence[Slot], replies: asyncio.Queue[None], left_s: float) -> None:
        try:
            found = await self._overlay.ask(peer, self._ask(slots), self._answer, timeout_s=left_s)
            self._heard.add(peer)
            if peer != self._overlay.view.node_id:
                if reason := await self._weigh(found, slots):
                    raise BadMessage(peer.hex(), reason)
            elif self._hear is not None:
                self._hear(found)
            new = frozenset(self._open.intersection(found.slots))
            if new:
                self.covered.answers.append((peer, found, new))
                self._open -= new
        except (RemoteError, InputError) as error:
            log.debug("answer dropped peer=%s: %s", peer.hex()[:8], error)
            self._avoid.add(peer)
            self.covered.failed.add(peer)
        self._flying[peer] -= 1
        replies.put_nowait(None)

    async def _weigh(self, found: A, slots: Sequence[Slot]) -> str | None:
        """What is wrong with an answer."""
        large = len(found.slots) > LARGE or (isinstance(found, BestAnswer) and len(found.hits) > LARGE)
        return await self._aside(lambda: self._wrong(found, slots)) if large else self._wrong(found, slots)
