"""Measures what life in a network of 1,000 costs, how soon all agree after a crash, and how soon a strategy spreads.

One scenario a seed: formed with everybody's heartbeats, 40 s on, then traffic, a strategy, and a crash of 30 %.
"""

from collections import Counter
from dataclasses import dataclass
from random import Random

from benchmarks.figures import Row, row
from benchmarks.overlay import goals
from benchmarks.overlay.extent import Extent
from node.extras.simulation.forming import form
from node.extras.simulation.observations import StrategySpread, owners_agree, sample_slots, slot_bits_for, teams_agree
from node.extras.simulation.swarm import Swarm

SETTLE_S, TRAFFIC_S, SPREAD_WITHIN_S = 40.0, 20.0, 60.0  # heartbeats, sent together at first, drift apart
REFRESH_S, QUICK_REFRESH_S = 600.0, 300.0  # two refreshes of every table, or one
SLOTS, WITNESSES = 512, 16
GOSSIP = ("Ping", "Pong")
NO_PEER = "cannot: it has none"


@dataclass(frozen=True, slots=True)
class Lived:
    """Holds the figures of one seed."""

    heartbeats: float
    spread_s: float
    owners: float
    teams: dict[int, float]


def rows(extent: Extent) -> list[Row]:
    """Return all figures of a crowd."""
    seeds, nodes = extent.of((range(1, 2), 100), (range(1, 6), 1_000))
    lived = [live(seed, nodes) for seed in seeds]
    upkeep = [lookup_packets(seed, nodes, QUICK_REFRESH_S if extent.quick else REFRESH_S) for seed in seeds]
    told = f"{nodes:,} nodes"
    unit = "packets/node/s"
    found = [
        row(f"strategy at all of {told}", [e.spread_s for e in lived], "s", goal=goals.STRATEGY_S, peer=NO_PEER),
        row(f"steady traffic of lookups, {told}", upkeep, unit, goal=goals.OVERLAY_PACKETS),
        row(f"steady heartbeats, {told}", [e.heartbeats for e in lived], unit),
        row(
            f"same owners everywhere, {told}, at once after 30 % died",
            [e.owners for e in lived],
            "of all",
            goal=goals.OWNERS_AGREE,
            at_least=True,
            peer=NO_PEER,
        ),
    ]
    for after, goal in goals.TEAMS_AGREE.items():
        values, what = [e.teams[after] for e in lived], f"slots of one mind about live owners, {told}, {after} s after"
        found.append(row(what, values, "of all", goal=goal, at_least=True, peer=NO_PEER))
    return found


def live(seed: int, nodes: int) -> Lived:
    """Run the scenario of one seed and return its figures."""
    swarm, bits = Swarm(seed), slot_bits_for(nodes)
    swarm.add(nodes)
    form(swarm)
    swarm.run(SETTLE_S)
    before = sent(swarm)
    swarm.run(swarm.time + TRAFFIC_S)
    heartbeats = sum((sent(swarm) - before)[kind] for kind in GOSSIP)
    spread_s = StrategySpread(swarm, bits).spread_s(swarm, SPREAD_WITHIN_S)
    swarm.on_event = None
    slots, rng = sample_slots(bits, SLOTS, seed), Random(f"crash {seed}")
    swarm.kill(*rng.sample(swarm.bees, nodes * 3 // 10))
    owners = owners_agree(swarm, slots[:128], bits, rng.sample(swarm.running(), WITNESSES))
    teams, began = {}, swarm.time
    for after in goals.TEAMS_AGREE:
        swarm.run(began + after)
        teams[after] = teams_agree(swarm, slots, bits)
    late = SPREAD_WITHIN_S if spread_s is None else spread_s
    return Lived(heartbeats / nodes / TRAFFIC_S, late, owners, teams)


def lookup_packets(seed: int, nodes: int, seconds: float = REFRESH_S) -> float:
    """Return the packets per node and second that keep the tables filled, of nodes that do nothing else."""
    swarm = Swarm(seed)
    swarm.add(nodes)
    form(swarm, members=False)
    before = sent(swarm)
    swarm.run(seconds)
    spent = sent(swarm) - before
    return sum(count for kind, count in spent.items() if kind not in GOSSIP) / nodes / seconds


def sent(swarm: Swarm) -> Counter[str]:
    """Count the packets that all cores sent so far, by kind."""
    return sum((bee.core.sent for bee in swarm.bees), start=Counter())
