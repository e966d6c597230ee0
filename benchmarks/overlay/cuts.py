"""Measures how soon two halves are one network again after a cut."""

from benchmarks.figures import Row, row
from benchmarks.overlay import goals
from benchmarks.overlay.extent import Extent
from node.extras.simulation.forming import form
from node.extras.simulation.lookup_trial import LookupTrial
from node.extras.simulation.swarm import Swarm

SETTLE_S, STEP_S, WITHIN_S = 30.0, 5.0, 300.0
ASKS = 30


def rows(extent: Extent) -> list[Row]:
    """Return all figures of cuts."""
    found = []
    for seconds, told in ((300.0, "5 min"), (3600.0, "1 h")):
        seeds, nodes = extent.of((range(1, 2), 12 if seconds > 1000 else 24), (range(1, 6), 64))
        values = [joined_again(seed, nodes, seconds) for seed in seeds]
        what = f"one network again after a cut of {told}, {nodes} nodes"
        found.append(row(what, values, "s", goal=goals.JOINED_AGAIN_S, peer="cannot: evicts whoever is silent once"))
    return found


def joined_again(seed: int, nodes: int, cut_s: float) -> float:
    """Return the seconds after healing until all nodes see all others as live, and lookups find whoever is nearest on
    either side; WITHIN_S if that takes longer."""
    swarm = Swarm(seed)
    swarm.add(nodes)
    form(swarm)
    swarm.run(SETTLE_S)
    swarm.cut({n: n % 2 for n in range(nodes)})
    swarm.run(swarm.time + cut_s)
    swarm.heal()
    healed = swarm.time
    while swarm.time - healed < WITHIN_S:
        asked_at = swarm.time
        lookups = LookupTrial(swarm, (seed, asked_at))
        lookups.ask_often(ASKS, 0.0)
        swarm.run(asked_at + STEP_S)
        right = len(lookups.log.ended) == ASKS and all(a.right and a.share >= 0.9 for a in lookups.log.ended)
        if right and sees_all(swarm):
            return asked_at - healed + STEP_S
    return WITHIN_S


def sees_all(swarm: Swarm) -> bool:
    """Tell whether every node takes every other for live."""
    ids = [bee.node_id for bee in swarm.bees]
    return all(bee.core.members.is_live(peer, swarm.now) for bee in swarm.bees for peer in ids if peer != bee.node_id)
