"""Runs `dse-node simulate`: a standard scenario for any number of nodes and hours, and the figures that it gives.

The nodes start, crawl a web of a dozen pages each, and live on. Every ten minutes one dies without a word and comes
back two minutes later, or each comes and goes as was asked for. At half time the publisher signs a new strategy.
Figures are counted from outside.
"""

import asyncio
import time
from dataclasses import dataclass, field
from random import Random
from typing import Any

from crawl import VisitState
from dht import Contact, NodeId, Now, Slot, distance
from node.extras.simulation.census import holders_of, take_census, thin_records
from node.extras.simulation.conditions import SPREAD, Conditions
from node.extras.simulation.lookup_trial import EndedLookup, LookupLog, figures_of, hops_of
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan, simulate

JOIN_S = 20.0  # until a network that has just started is asked for anything
DEATH_EVERY_S, DEAD_S = 600.0, 120.0
SPREAD_WITHIN_S = 120.0
ASK_EVERY_S = 10.0
GATHER_S = 600.0
HEALED_S = 30.0  # after a cut; from then on no slot may have two holders


@dataclass(slots=True)
class TrialFigures:
    """Collects what is seen on the way; shares are 0 … 1."""

    doubles: int = 0  # slot-seconds with two holders that reach each other
    doubles_across: int = 0  # slot-seconds with two holders on different sides of a cut
    sides: dict[str, int] = field(default_factory=dict)  # of the cut that is now, by node
    held_on: dict[str, int] = field(default_factory=dict)  # `sides`, kept until leases had time to settle after it
    lookups: LookupLog = field(default_factory=LookupLog)
    agree_5s: list[float] = field(default_factory=list)  # share of nodes that see the same teams after a return
    agree_10s: list[float] = field(default_factory=list)
    spread_s: float | None = None


def plan_for(nodes: int, seed: int, loss: float) -> WorldPlan:
    """Plan a world whose web and slots fit a number of nodes."""
    slot_bits = max(4, min(12, (nodes - 1).bit_length()))
    return WorldPlan(seed=seed, hosts=max(4, nodes * 6 // 5), pages=10, slot_bits=slot_bits, loss=loss)


def run_trial(asked: Conditions) -> dict[str, Any]:
    """Simulate whole nodes and return the figures; time counts from the first node's start."""
    began, tally = time.perf_counter(), TrialFigures()
    reports: list[dict[str, Any]] = []

    async def scenario(world: World) -> None:
        hidden, pause_s = asked.hidden(), min(0.3, JOIN_S / asked.nodes)
        world.invitation = str(world.invite(asked.nodes))
        for number in range(asked.nodes):
            await (world.add_client() if number in hidden else world.add(1, pause_s))
        await world.pass_time(JOIN_S)
        await world.crawl()
        async with asyncio.TaskGroup() as tasks:
            befalls = [churn(world, asked.churn, n) for n in range(1, asked.nodes)] if asked.churn else []
            told = [count_double_holders(world, tally), keep_looking_up(world, tally)]
            told += befalls or [deaths(world, tally)]
            if asked.partition:
                told.append(partition(world, asked, asked.partition, tally))
            running = [tasks.create_task(each) for each in told]
            await world.pass_time(max(0.0, asked.ends_s / 2 - world.loop.time()))
            tally.spread_s = await publish(world)
            await world.pass_time(max(0.0, asked.ends_s - world.loop.time()))
            for task in running:
                task.cancel()
        await gather_all(world)
        reports.append(report(world, tally))

    world = simulate(scenario, plan_for(asked.nodes, asked.seed, asked.loss))
    wall_s = round(time.perf_counter() - began, 1)
    about = {"what": "whole nodes", "seed": asked.seed, "nodes": asked.nodes}
    took = {"simulated_s": round(world.loop.time(), 1), "wall_s": wall_s, "trace_hash": world.wire.trace_hash}
    return about | took | reports[0]


async def count_double_holders(world: World, tally: TrialFigures) -> None:
    """Count each second the slots that have two holders, on one side of a cut or on both."""
    while True:
        await world.pass_time(1.0)
        for names in holders_of(world.running()).values():
            sides = [tally.held_on.get(name, 0) for name in names]
            if len(set(sides)) < len(sides):
                tally.doubles += 1
            elif len(sides) > 1:
                tally.doubles_across += 1


async def keep_looking_up(world: World, tally: TrialFigures) -> None:
    """Start a lookup every few seconds, by nodes at random for points at random."""
    rng = Random(f"lookups {world.plan.seed}")
    while True:
        await world.pass_time(ASK_EVERY_S)
        start_lookup(world, tally, rng.choice(world.running()), rng.randbytes(20))


def start_lookup(world: World, tally: TrialFigures, asker: SimNode, target: bytes) -> None:
    """Have one node look for a point, and judge what it finds by who is up and on its side of a cut."""
    core, began = asker.core, world.loop.time()
    end = tally.lookups.begin(lambda: asker.is_running and asker.core is core)

    def done(now: Now, contacts: list[Contact]) -> None:
        up = [n for n in world.running() if n.core.takes_part and n is not asker]
        near = [n for n in up if tally.sides.get(n.name, 0) == tally.sides.get(asker.name, 0)]
        ids = sorted((n.identity.node_id for n in near), key=lambda peer: distance(peer, target))
        right = [contact.node_id for contact in contacts][:1] == ids[:1]
        end(EndedLookup(now.steady - began, right, 1.0))

    core.finder.find(asker.clock(), target, done)
    asker.kick()


async def churn(world: World, lengths: tuple[float, float], number: int) -> None:
    """Let one node come and go: kill it without a word, start it again on its disk."""
    rng, node = Random(f"churn {world.plan.seed} {number}"), world.nodes[f"n{number}"]
    session_s, absence_s = lengths
    await world.pass_time(rng.uniform(0.0, session_s))
    while True:
        await world.kill(node)
        await world.pass_time(absence_s * rng.uniform(*SPREAD))
        await world.restart(node)
        await world.pass_time(session_s * rng.uniform(*SPREAD))


async def partition(world: World, asked: Conditions, lengths: tuple[float, float], tally: TrialFigures) -> None:
    """Cut the network into halves for a while."""
    start_s, length_s = lengths
    await world.pass_time(max(0.0, start_s - world.loop.time()))
    tally.sides = tally.held_on = {f"n{number}": side for number, side in asked.halves().items()}
    world.cut(*([node for name, node in world.nodes.items() if tally.sides[name] == side] for side in (0, 1)))
    await world.pass_time(length_s)
    world.heal()
    tally.sides = {}
    await world.pass_time(HEALED_S)
    tally.held_on = {}


async def gather_all(world: World) -> None:
    """Bring everybody back and leave time to repair, before what was lost is counted."""
    absent = [node for node in world.nodes.values() if not node.is_running]
    world.heal()
    for node in absent:
        await world.restart(node)
    if absent:
        await world.pass_time(GATHER_S)


async def deaths(world: World, tally: TrialFigures) -> None:
    """Kill and restart one node after another, and note how far all agree afterwards."""
    rng = Random(f"deaths {world.plan.seed}")
    while True:
        await world.pass_time(DEATH_EVERY_S - DEAD_S - 10.0)
        if len(world.running()) > 1:
            victim = rng.choice(world.running())
            await world.kill(victim)
            await world.pass_time(DEAD_S)
            await world.restart(victim)
            await world.pass_time(5.0)
            tally.agree_5s.append(agreement(world.running()))
            await world.pass_time(5.0)
            tally.agree_10s.append(agreement(world.running()))


async def publish(world: World) -> float | None:
    """Adopt a new strategy at one node; return the seconds until all run by it, None where that takes too long."""
    version, began = world.publish().version, world.loop.time()
    while world.loop.time() - began < SPREAD_WITHIN_S:
        if all(node.overlay.view.strategy.version == version for node in world.running()):
            return round(world.loop.time() - began, 1)
        await world.pass_time(0.5)
    return None


def agreement(nodes: list[SimNode]) -> float:
    """Return the share of the slots of which all who take themselves for live owners see the same team."""
    seen: dict[Slot, set[tuple[NodeId, ...]]] = {}
    for node in nodes:
        for slot, team in node.overlay.view.teams().items():
            if node.overlay.node_id in team:
                seen.setdefault(slot, set()).add(team)
    return sum(len(teams) == 1 for teams in seen.values()) / len(seen) if seen else 1.0


def report(world: World, tally: TrialFigures) -> dict[str, Any]:
    """Return the figures in the shape that `dse-node simulate --json` prints."""
    nodes = world.running()
    census, outcomes = take_census(nodes), world.web.outcomes()
    served = {visited.url for visited in world.log}
    kept = [node.node_core.index.local.documents for node in nodes]
    return {
        "lookups": figures_of(tally.lookups, hops_of(node.core for node in nodes)),
        "teams": {"agree_5s": _least(tally.agree_5s), "agree_10s": _least(tally.agree_10s)},
        "leases": {"double_connected": tally.doubles, "double_across_cut": tally.doubles_across},
        "strategy": {"spread_s": tally.spread_s},
        "traffic": {"packets_per_node_s": round(world.wire.sent / len(world.nodes) / world.loop.time(), 2)},
        "documents": {
            "written": len(census.texts),
            "lost": sum(outcomes.get(url) == VisitState.FETCHED and url not in census.texts for url in sorted(served)),
            "under_replicated": len(thin_records(census, nodes)),
        },
        "balance": {"max_over_mean": round(max(kept) * len(kept) / sum(kept), 2) if sum(kept) else None},
    }


def _least(shares: list[float]) -> float | None:
    return round(min(shares), 3) if shares else None
