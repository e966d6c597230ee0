"""Measures the cost of grants in normal work: processor time a page and a slot's minute, packets, and a guest's wait.

A simulated network of a new one's defaults (256 slots, three copies, by invitation) crawls a web and rests.
The code of grants is timed where others call it. So its share counts a node's work without its sockets, TLS and parser
processes: on a real node it is less.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any

from benchmarks.figures import Row, row
from benchmarks.trust import goals
from dht.leases.grant_book import GrantBook
from node.extras.simulation.census import is_idle
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan, simulate
from store.catalog.known_grants import KnownGrants
from store.catalog.ledger import Ledger
from store.writing import write_right
from store.writing.draft_queue import DraftProofs
from store.writing.write_right import WriteRight

NODES, HOSTS, PAGES = 5, 20, 30
SLOT_BITS = 8  # a new network's
FORMED_S, REST_S = 60.0, 600.0
CRAWLED_WITHIN_S, JOINED_WITHIN_S = 900.0, 60.0
LOOK_EVERY_S = 0.1
# Everything of grants that other code calls; what these call of each other counts once.
TIMED: tuple[tuple[Any, Sequence[str]], ...] = (
    (GrantBook, ("ask", "hear", "sign", "granted", "find")),
    (write_right, ("_flaws",)),
    (WriteRight, ("named_by", "written_under", "is_known", "is_of_most_owners", "_named")),
    (KnownGrants, ("covering", "has")),
    (Ledger, ("keep_grants",)),
    (DraftProofs, ("granted",)),
)  # fmt: skip


class Stopwatch:
    """Adds up the processor time of functions, of the outermost ones only."""

    def __init__(self) -> None:
        self.taken_s, self._open, self._lock = 0.0, threading.local(), threading.Lock()

    def time(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with its time added up."""

        @wraps(function)
        def timed(*args: Any, **named: Any) -> Any:
            if getattr(self._open, "is_open", False):
                return function(*args, **named)
            self._open.is_open, began = True, time.thread_time()
            try:
                return function(*args, **named)
            finally:
                self._open.is_open = False
                with self._lock:
                    self.taken_s += time.thread_time() - began

        return timed


@dataclass
class Run:
    """The cost of one world's crawl and its rest after: packets, seconds of the processor, and those of grants."""

    pages: int = 0
    crawl_s: float = 0.0  # virtual
    sent: int = 0  # in the crawl and the rest
    cpu_s: float = 0.0  # of the crawl
    grants_s: float = 0.0  # of that
    resting_s: float = 0.0  # of grants, in the rest
    join_s: float = 0.0


def rows(*, is_quick: bool) -> Iterator[Row]:
    """Yield the rows of the price."""
    pages, rest_s, seeds = (8, 120.0, (1,)) if is_quick else (PAGES, REST_S, (1, 2))
    runs = [_run(seed, pages, rest_s) for seed in seeds]
    who = f"{NODES} nodes, {1 << SLOT_BITS} slots"
    slot_minutes = rest_s / 60 * (1 << SLOT_BITS)
    yield row(f"{who}: grants, of the processor time of a page", [100 * r.grants_s / r.cpu_s for r in runs], "%",
              goal=goals.GRANTS_CPU)  # fmt: skip
    yield row(f"{who}: grants, a page, all nodes", [1000 * r.grants_s / r.pages for r in runs], "ms")
    yield row(
        f"{who}: grants, a slot's minute at rest, all nodes", [1000 * r.resting_s / slot_minutes for r in runs], "ms"
    )
    yield row(f"{who}: packets and messages", [r.sent for r in runs], "")
    yield row(f"{who}: a guest is a member to all after", [r.join_s for r in runs], "s", goal=goals.GUEST_JOINS_S)


def _run(seed: int, pages: int, rest_s: float) -> Run:
    run, watch = Run(), Stopwatch()
    plan = WorldPlan(seed=seed, hosts=HOSTS, pages=pages, slot_bits=SLOT_BITS, strategy={"second_look_permille": 0})

    async def scenario(world: World) -> None:
        await world.add(NODES)
        await world.pass_time(FORMED_S)
        sent, began, cpu_s, grants_s = world.wire.sent, world.loop.time(), time.process_time(), watch.taken_s
        await world.crawl()
        await world.pass_time(5.0)
        await world.until(lambda: is_idle(world.running()), CRAWLED_WITHIN_S)
        run.crawl_s, run.pages = world.loop.time() - began, len(world.log)
        run.cpu_s, run.grants_s = time.process_time() - cpu_s, watch.taken_s - grants_s
        grants_s = watch.taken_s
        await world.pass_time(rest_s)
        run.sent, run.resting_s = world.wire.sent - sent, watch.taken_s - grants_s
        began = world.loop.time()
        await world.add(1, 0.0)
        await world.until(lambda: _see_all(world.running()), JOINED_WITHIN_S, LOOK_EVERY_S)
        run.join_s = world.loop.time() - began

    with timed(watch):
        simulate(scenario, plan)
    return run


def _see_all(nodes: Sequence[SimNode]) -> bool:
    return all(len(node.overlay.view.members()) == len(nodes) for node in nodes)


@contextmanager
def timed(watch: Stopwatch) -> Iterator[None]:
    """Time all code of grants until the block ends."""
    before = [(owner, name, vars(owner)[name]) for owner, names in TIMED for name in names]
    try:
        for owner, name, function in before:
            setattr(owner, name, watch.time(function))
        yield
    finally:
        for owner, name, function in before:
            setattr(owner, name, function)
