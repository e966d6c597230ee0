"""Asking the plan: every slot answered by some ready replica, hedged, under one deadline.

The next ready replica replaces at once a peer that fails, answers nonsense or leaves slots out. A peer that is merely
silent after the hedging time gets no more questions, but its answer still counts. The first good answer for a slot
counts. A peer that lets any question of this node wait is asked last.
"""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from heapq import heapify, heappop, heappush
from operator import or_
from typing import Generic, TypeVar

from dht import BadMessage, Clock, InputError, Message, NodeId, Overlay, RemoteError, Slot, View
from index.asking.query_trace import Tracer
from index.asking.slot_bitmaps import Ready, bitmap_of, slots_of
from index.shard.messages import BestAnswer, StatisticsAnswer

log = logging.getLogger(__name__)

A = TypeVar("A", StatisticsAnswer, BestAnswer)
NEVER = float("inf")
SOON_S = 0.1  # what is shown sooner, is shown without those who are silent: others could hardly answer
LEAST_S = 0.001  # between two looks at who is silent, however little time is left
EARLY_S = 0.05  # at least, until who is slower than most answers is hedged
FEW_SILENT = 0.25  # of those asked
LARGE = 256  # hits or slots in an answer; checking more takes milliseconds, and goes aside
PATIENCE = 2.0  # levels of slowness for which a peer has to cover twice as many slots

Wrong = Callable[[], str | None]
Aside = Callable[[Wrong], Awaitable[str | None]]


@dataclass(slots=True)
class Gathered(Generic[A]):
    """The answers that came back: peer, answer, bitmap of its slots that count. `late` were silent, `failed` dead or
    wrong."""

    answers: list[tuple[NodeId, A, int]] = field(default_factory=list)
    asked: set[NodeId] = field(default_factory=set)
    late: set[NodeId] = field(default_factory=set)
    failed: set[NodeId] = field(default_factory=set)

    @property
    def slots(self) -> int:
        """All slots that were answered."""
        return reduce(or_, [slots for _, _, slots in self.answers], 0)


@dataclass(frozen=True, slots=True)
class SlotQuestion(Generic[A]):
    """One question to many peers. `ask` puts it for some slots, `answer` is the class of its answers, and `wrong` says
    what is wrong with one, None where nothing is."""

    ask: Callable[[Sequence[Slot]], Message]
    answer: type[A]
    wrong: Callable[[A, Sequence[Slot]], str | None]

    async def weigh(self, found: A, slots: Sequence[Slot], aside: Aside) -> str | None:
        """Say what is wrong with an answer, None where nothing is; a large one is checked `aside`."""
        large = len(found.slots) > LARGE or (isinstance(found, BestAnswer) and len(found.hits) > LARGE)
        return await aside(lambda: self.wrong(found, slots)) if large else self.wrong(found, slots)


class ScatterGather:
    """Asks ready replicas, and asks others for what silent ones have, each time that `hedge_fraction` of a round's time
    is over, until all have been asked. Where few are silent, it does so for the first time as soon as 95 of 100 answers
    have mostly come."""

    def __init__(
        self,
        overlay: Overlay,
        clock: Clock,
        rng: random.Random,
        hedge_fraction: float,
        aside: Aside,
        tracer: Tracer,
    ) -> None:
        """`aside` runs the check of a large answer off the event loop; `tracer` times each peer that is asked."""
        self.overlay, self.rng, self.aside, self.tracer = overlay, rng, aside, tracer
        self._clock, self._hedge_fraction = clock, hedge_fraction

    async def cover(
        self,
        ready: Ready,
        question: SlotQuestion[A],
        until: float,
        avoid: frozenset[NodeId] = frozenset(),
        shown_at: float = NEVER,
        covered: Gathered[A] | None = None,
    ) -> Gathered[A]:
        """Cover the slots of `ready` until the steady instant `until`; what is missing then is missing.

        At `shown_at` the asker shows what has come: silent peers' slots are asked of others in good time for that.
        `covered` is filled in as answers come, beside what it holds, and returned."""
        covered = Gathered() if covered is None else covered
        race = _GatherRun(self, ready, question, set(avoid), covered)
        now = self._clock().steady
        left, hedged = until - now, min(until, shown_at if shown_at - now >= SOON_S else until) - now
        try:
            async with asyncio.timeout(max(left, 0.0)):
                await race.run(hedged * self._hedge_fraction, left)
        except TimeoutError:
            pass  # the deadline is the asker's own: what has come so far is the answer
        covered.late |= race.silent()
        return covered


class _GatherRun(Generic[A]):
    """One `cover`: the peers that were asked for each slot, and the slots that are still open."""

    def __init__(
        self, asker: ScatterGather, ready: Ready, question: SlotQuestion[A], avoid: set[NodeId], covered: Gathered[A]
    ) -> None:
        self._asker, self._overlay, self._me = asker, asker.overlay, asker.overlay.view.node_id
        self._can, self._avoid = ready.can, avoid
        self._question: SlotQuestion[A] = question
        self._covered: Gathered[A] = covered
        self._open = ready.askable
        self._tried: dict[NodeId, int] = {}
        self._flying: dict[NodeId, int] = {}
        self._heard: set[NodeId] = set()

    async def run(self, hedge_s: float, left_s: float) -> None:
        hedge_s = max(hedge_s, LEAST_S)
        replies: asyncio.Queue[None] = asyncio.Queue()
        async with asyncio.TaskGroup() as tasks:
            started, now = self._start(tasks, replies, left_s), asyncio.get_running_loop().time
            early_s = max(self._overlay.times.slow_s or hedge_s, EARLY_S)
            is_early = early_s < hedge_s
            hedge_at = now() + min(early_s, hedge_s)
            while self._open and any(self._flying.values()):
                try:
                    async with asyncio.timeout_at(hedge_at):
                        await replies.get()
                except TimeoutError:
                    is_left = is_early and not self._few_are_silent()
                    hedge_at = now() + (hedge_s - early_s if is_left else hedge_s)
                    if not is_left:
                        started += self._start(tasks, replies, left_s, hedge=True)
                    is_early = False
                else:
                    started += self._start(tasks, replies, left_s)
            for task in started:
                task.cancel()

    def _few_are_silent(self) -> bool:
        """Whether the others are quick: where many are slow, asking more of them would make it worse."""
        return sum(map(bool, self._flying.values())) <= FEW_SILENT * len(self._flying)

    def silent(self) -> set[NodeId]:
        """Return the peers that were asked and have answered nothing: of two questions one may go by a slow way."""
        return {peer for peer, flying in self._flying.items() if flying and peer not in self._heard}

    def _start(
        self, tasks: asyncio.TaskGroup, replies: asyncio.Queue[None], left_s: float, hedge: bool = False
    ) -> list[asyncio.Task[None]]:
        """Ask for what is open and not being asked (when hedging: also for what is)."""
        flying = [slots for peer, slots in self._tried.items() if self._flying.get(peer) and not hedge]
        wanted = self._open & ~reduce(or_, flying, 0)
        if not wanted:
            return []
        me, rng, late, slowness = self._me, self._asker.rng, self._overlay.late.is_late, self._overlay.times.slowness
        plan = make_plan(self._can, wanted, me, rng, self._avoid, self._tried, late, slowness)
        started = []
        for peer, taken in plan:
            self._tried[peer] = self._tried.get(peer, 0) | taken
            self._flying[peer] = self._flying.get(peer, 0) + 1
            self._covered.asked.add(peer)
            started.append(tasks.create_task(self._one(peer, taken, replies, left_s), name=f"ask-{peer.hex()[:8]}"))
        return started

    async def _one(self, peer: NodeId, taken: int, replies: asyncio.Queue[None], left_s: float) -> None:
        slots = slots_of(taken)
        try:
            with self._asker.tracer.part("ask", peer, slots=len(slots)):
                found = await self._overlay.ask(
                    peer, self._question.ask(slots), self._question.answer, timeout_s=left_s
                )
            self._heard.add(peer)
            if peer != self._me and (reason := await self._question.weigh(found, slots, self._asker.aside)):
                raise BadMessage(peer.hex(), reason)
            new = self._open & (taken if found.slots == slots else bitmap_of(found.slots))
            if new:
                self._covered.answers.append((peer, found, new))
                self._open &= ~new
        except (RemoteError, InputError) as error:
            log.debug("answer dropped peer=%s: %s", peer.hex()[:8], error)
            self._avoid.add(peer)
            self._covered.failed.add(peer)
        self._flying[peer] -= 1
        replies.put_nowait(None)


def stored_only(view: View, slots: Iterable[Slot], without: Collection[NodeId]) -> Ready:
    """Return of each of some slots who stores it and does not index it, slots without anybody left out."""
    answering, found = view.ready_by_slot(answering=True), Ready()
    for slot in sorted(slots):
        silent = {*answering[slot], *without}
        if peers := [peer for peer in view.ready(slot) if peer not in silent]:
            found[slot] = peers
    return found


def make_plan(
    can: Mapping[NodeId, int],
    wanted: int,
    me: NodeId,
    rng: random.Random,
    avoid: Collection[NodeId],
    tried: Mapping[NodeId, int],
    is_late: Callable[[NodeId], bool],
    slowness: Callable[[NodeId], int],
) -> list[tuple[NodeId, int]]:
    """Plan which peers to ask so that every slot of `wanted` that can be is answered once, by as few as possible.

    Sets of slots are bitmaps; `can` says for which each peer is ready, the peers sorted. This node's own slots go to
    itself: that costs nothing. The rest is covered greedily: the peer comes first that covers most for the time that it
    takes. Equal peers come in an order drawn from `rng`, to share the load. A peer that is late with other answers
    covers only slots that nobody else can. No peer of `avoid` is asked, and none again for a slot for which `tried`
    names it. `slowness`: in levels; `PATIENCE` says how much a slow one has to cover."""
    every = [peer for peer, slots in can.items() if slots & wanted and peer not in avoid]
    open_ = {peer: can[peer] & wanted & ~tried.get(peer, 0) for peer in every}
    mine = open_.pop(me, 0)
    parts, left = [(me, mine)] if mine else [], wanted & ~mine
    rng.shuffle(every)  # this node among them: what is drawn does not depend on what it can answer itself
    order = [peer for peer in every if open_.get(peer, 0) & left]
    worth = {peer: 2 ** (-slowness(peer) / PATIENCE) for peer in order}
    best = [(is_late(peer), -(open_[peer] & left).bit_count() * worth[peer], n, peer) for n, peer in enumerate(order)]
    heapify(best)
    while best and left:
        late, value, number, peer = heappop(best)
        taken = open_[peer] & left
        now = -taken.bit_count() * worth[peer]
        if now > value:  # others have taken some of it, and the next one may be better now
            heappush(best, (late, now, number, peer))
        elif taken:
            parts.append((peer, taken))
            left &= ~taken
    return parts
