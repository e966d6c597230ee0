"""A standard story for any number of nodes and hours, and the figures that it gives: what `dse-node simulate` runs.

The nodes start, crawl a web of a dozen pages each, and live on. Every ten minutes one dies without a word and comes
back two minutes later; at half time the publisher signs a new strategy. Figures are counted from outside.
"""

import asyncio
import time
from dataclasses import dataclass, field
from random import Random
from typing import Any

import msgspec

from crawl import State
from dht import NodeId, Slot, encode_document, sign_strategy
from node.simulation.census import holders_of, take_census, thin_records
from node.simulation.simnode import SimNode
from node.simulation.world import Plan, World, simulate

JOIN_S = 20.0  # until a network that has just started is asked for anything
DEATH_EVERY_S, DEAD_S = 600.0, 120.0
SPREAD_WITHIN_S = 120.0


@dataclass(slots=True)
class Tally:
    """What was seen on the way. Shares are 0 … 1."""

    doubles: int = 0  # slot-seconds with two holders that reach each other
    agree_5s: list[float] = field(default_factory=list)  # share of nodes that see the same teams after a return
    agree_10s: list[float] = field(default_factory=list)
    spread_s: float | None = None


def plan_for(nodes: int, seed: int, loss: float) -> Plan:
    """A world whose web and slots fit a number of nodes."""
    slot_bits = max(4, min(12, (nodes - 1).bit_length()))
    return Plan(seed=seed, hosts=max(4, nodes * 6 // 5), pages=10, slot_bits=slot_bits, loss=loss)


def run_trial(nodes: int, hours: float, seed: int, loss: float) -> dict[str, Any]:
    """Simulate and report; `hours` count from the first node's start."""
    began, tally = time.perf_counter(), Tally()
    reports: list[dict[str, Any]] = []

    async def story(world: World) -> None:
        ends = hours * 3600.0
        await world.add(nodes, pause_s=min(0.3, JOIN_S / nodes))
        await world.pass_time(JOIN_S)
        await world.crawl()
        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(each) for each in (watch(world, tally), deaths(world, tally))]
            await world.pass_time(max(0.0, ends / 2 - world.loop.time()))
            tally.spread_s = await publish(world)
            await world.pass_time(max(0.0, ends - world.loop.time()))
            for task in running:
                task.cancel()
        reports.append(report(world, tally))

    world = simulate(story, plan_for(nodes, seed, loss))
    wall_s = round(time.perf_counter() - began, 1)
    about = {"seed": seed, "nodes": nodes, "simulated_s": round(world.loop.time(), 1), "wall_s": wall_s}
    return about | {"trace_hash": world.wire.trace_hash} | reports[0]


async def watch(world: World, tally: Tally) -> None:
    """Look each second whether a slot has two holders."""
    while True:
        await world.pass_time(1.0)
        tally.doubles += sum(len(names) > 1 for names in holders_of(world.running()).values())


async def deaths(world: World, tally: Tally) -> None:
    """Kill and restart one node after another."""
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
    """Adopt a new strategy at one node; seconds until all run by it, None where that takes too long."""
    log = world.running()[-1].overlay.strategies
    wanted = msgspec.structs.replace(log.newest, version=log.newest.version + 1, previous=log.newest_digest)
    world.running()[-1].overlay.adopt(sign_strategy(encode_document(wanted), world.publisher))
    began = world.loop.time()
    while world.loop.time() - began < SPREAD_WITHIN_S:
        if all(node.overlay.view.strategy.version == wanted.version for node in world.running()):
            return round(world.loop.time() - began, 1)
        await world.pass_time(0.5)
    return None


def agreement(nodes: list[SimNode]) -> float:
    """Share of the slots of which all who take themselves for live owners see the same team."""
    seen: dict[Slot, set[tuple[NodeId, ...]]] = {}
    for node in nodes:
        for slot, team in node.overlay.view.teams().items():
            if node.overlay.node_id in team:
                seen.setdefault(slot, set()).add(team)
    return sum(len(teams) == 1 for teams in seen.values()) / len(seen) if seen else 1.0


def report(world: World, tally: Tally) -> dict[str, Any]:
    """The figures, in the shape that DESIGN gives."""
    nodes = world.running()
    census, outcomes = take_census(nodes), world.web.outcomes()
    served = {visited.url for visited in world.log}
    kept = [node.daemon.index.documents for node in nodes]
    return {
        "teams": {"agree_5s": _least(tally.agree_5s), "agree_10s": _least(tally.agree_10s)},
        "leases": {"double_connected": tally.doubles},
        "strategy": {"spread_s": tally.spread_s},
        "traffic": {"packets_per_node_s": round(world.wire.sent / len(world.nodes) / world.loop.time(), 2)},
        "documents": {
            "written": len(census.texts),
            "lost": sum(outcomes.get(url) == State.FETCHED and url not in census.texts for url in sorted(served)),
            "under_replicated": len(thin_records(census, nodes)),
        },
        "balance": {"max_over_mean": round(max(kept) * len(kept) / sum(kept), 2) if sum(kept) else None},
    }


def _least(shares: list[float]) -> float | None:
    return round(min(shares), 3) if shares else None
