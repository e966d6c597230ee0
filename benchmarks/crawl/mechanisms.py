"""Measures by mechanism what a page costs in simulated networks of 1, 4 and 8 nodes: where each further node's time
goes.

All nodes run in one thread under virtual time, with the rules of a new network and the index in memory, without
transport and tantivy. A profiler gives each function's own time to a mechanism by the folder that the function lies in;
time in libraries counts for the folder that called them. A profiler slows functions down unequally, so it yields the
shares alone: the sum is the processor time of the same crawl without it.
"""

import cProfile
import pstats
import time
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from benchmarks.figures import ROOT, Row, row
from node.extras.simulation.census import is_idle, is_settled, take_census
from node.extras.simulation.world import World, WorldPlan, simulate

NODES, QUICK_NODES = (1, 4, 8), (1, 2)
HOSTS, PAGES, QUICK_HOSTS, QUICK_PAGES = 40, 16, 8, 4
SLOT_BITS = 8  # of a new network
JOIN_S, WITHIN_S, EVERY_S = 20.0, 1800.0, 5.0  # of virtual time
# folder, and the mechanism that its time belongs to; of several folders that hold a file the longest counts
MECHANISMS = {
    "index": "index",
    "crawl": "crawl: fetch, parse, order",
    "crawl/frontier": "frontier and its exchange",
    "store/writing": "writing: teams, packages, hints",
    "store/record": "records: sign, encode, check",
    "store/catalog": "disk: catalog",
    "store/segments": "disk: segments",
    "store/reading": "reading",
    "store/repair": "repair, reconciliation",
    "store/replication": "writing: teams, packages, hints",
    "dht/leases": "leases, votes",
    "dht": "members, gossip, packets",
    "dht/strategy": "strategy",
    "dht/audit": "audit",
    "node/audit": "audit",
    "node": "node: rooms between them",
    "node/crawling": "crawl: fetch, parse, order",
    "node/extras/simulation": "the simulation itself",
    "": "event loop and the rest",
}
Function = tuple[str, int, str]  # file, line, name, as a profile has it
Shares = Mapping[str, float]  # by mechanism; they sum up to 1


def rows(quick: bool, web: Path | None) -> list[Row]:
    """Return the rows: ms a page of each mechanism, for each number of nodes; `web` is not needed."""
    plan = WorldPlan(hosts=QUICK_HOSTS if quick else HOSTS, pages=QUICK_PAGES if quick else PAGES, slot_bits=SLOT_BITS)
    crawl(1, WorldPlan(hosts=2, pages=2, slot_bits=SLOT_BITS), None)  # all modules are there
    return [each for nodes in (QUICK_NODES if quick else NODES) for each in _rows(nodes, plan)]


def _rows(nodes: int, plan: WorldPlan) -> list[Row]:
    cpu_s, pages = crawl(nodes, plan, None)
    profile = cProfile.Profile(time.process_time)
    crawl(nodes, plan, profile)
    shares, ms = shares_of(profile), cpu_s * 1e3 / pages
    where = f"{nodes} nodes, r = {min(plan.replicas, nodes)}, {pages} pages"
    first = row(f"CPU a page by {nodes}, under virtual time ({where})", [ms], "ms")
    dearest = sorted(shares.items(), key=lambda item: -item[1])
    return [first, *(row(f"of it by {nodes}: {name}", [share * ms], "ms") for name, share in dearest)]


def crawl(nodes: int, plan: WorldPlan, profile: cProfile.Profile | None) -> tuple[float, int]:
    """Let a simulated network crawl all of its web; return the seconds of processor time from the first link to the
    last copy, and the number of pages."""
    cpu_s, pages = 0.0, 0

    async def scenario(world: World) -> None:
        nonlocal cpu_s, pages
        await world.add(nodes)
        await world.pass_time(JOIN_S)
        if profile:
            profile.enable()
        began = time.process_time()
        await world.crawl()
        await world.pass_time(JOIN_S)
        await world.until(lambda: is_idle(world.running()), WITHIN_S, EVERY_S)
        await world.until(lambda: is_settled(world.running()), WITHIN_S, EVERY_S)
        cpu_s = time.process_time() - began
        if profile:
            profile.disable()
        pages = len(take_census(world.running()).texts)

    simulate(scenario, plan)
    return cpu_s, pages


def shares_of(profile: cProfile.Profile) -> Shares:
    """Return how a profile's time is divided among the mechanisms."""
    stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    known: dict[Function, Shares] = {}
    found: defaultdict[str, float] = defaultdict(float)
    for function, (_, _, own_s, _, _) in stats.items():
        for name, share in _of(function, stats, known, frozenset()).items():
            found[name] += own_s * share
    whole = sum(found.values()) or 1.0
    return {name: s / whole for name, s in found.items()}


def mechanism(file: str) -> str | None:
    """Return the mechanism that a file belongs to, None for a library's."""
    path = Path(file)
    if not path.is_relative_to(ROOT) or "site-packages" in path.parts:  # .venv lies in the checkout
        return None
    folders = path.relative_to(ROOT).parent.parts
    places = ("/".join(folders[:depth]) for depth in range(len(folders), -1, -1))
    return next(MECHANISMS[place] for place in places if place in MECHANISMS)


def _of(
    function: Function,
    stats: Mapping[Function, tuple[object, ...]],
    known: dict[Function, Shares],
    path: frozenset[Function],
) -> Shares:
    """Divide a library's function among those that call it, by the time that each call took."""
    if name := mechanism(function[0]):
        return {name: 1.0}
    if function in known:
        return known[function]
    callers: Mapping[Function, tuple[int, int, float, float]] = stats[function][4]  # type: ignore[assignment]
    weights = {caller: told[2] for caller, told in callers.items() if caller not in path and caller in stats}
    whole = sum(weights.values())
    if not whole:
        return {MECHANISMS[""]: 1.0}
    found: defaultdict[str, float] = defaultdict(float)
    for caller, weight in weights.items():
        for name, share in _of(caller, stats, known, path | {function}).items():
            found[name] += share * weight / whole
    if not path:
        known[function] = found
    return found
