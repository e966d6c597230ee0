"""Runs `dse-node simulate` for networks too large for whole nodes: their overlays alone, in a swarm.

The network is there at once (node/extras/simulation/forming.py) and lives on with lookups all the time. Every ten
minutes a node dies and comes back two minutes later, or nodes come and go as was asked for. At half time there is a new
strategy. There are no leases and no documents here, so their figures are null.
"""

import time
from random import Random
from typing import Any

from node.extras.simulation.conditions import SPREAD, Conditions
from node.extras.simulation.forming import form
from node.extras.simulation.lookup_trial import LookupTrial, figures_of, hops_of
from node.extras.simulation.observations import StrategySpread, sample_slots, slot_bits_for, teams_agree
from node.extras.simulation.swarm import Bee, Swarm

ASK_EVERY_S = 1.0
DEATH_EVERY_S, DEAD_S = 600.0, 120.0
SPREAD_WITHIN_S = 120.0
SLOTS = 256  # looked at when agreement is read


class SwarmTrial:
    """Runs one trial of overlays under the conditions asked for."""

    def __init__(self, asked: Conditions) -> None:
        self._asked = asked
        self._rng = Random(f"trial {asked.seed}")
        self._swarm = swarm = Swarm(asked.seed, asked.loss)
        hidden = asked.hidden()
        for number in range(asked.nodes):
            swarm.add(1, families=("both", "4", "6")[number % 3], nat=number in hidden, quiet=number in hidden)
        form(swarm)
        self._bits = slot_bits_for(asked.nodes)
        self._slots = sample_slots(self._bits, SLOTS, asked.seed)
        self._spread = StrategySpread(swarm, self._bits)
        self._lookups = LookupTrial(swarm, asked.seed)
        self._agree: dict[int, list[float]] = {5: [], 10: []}

    def run(self) -> dict[str, Any]:
        """Run the trial to its end and return its figures."""
        began, asked, swarm = time.perf_counter(), self._asked, self._swarm
        self._ask()
        if asked.churn:
            for bee in swarm.bees[1:]:
                swarm.later(self._rng.uniform(0.0, sum(asked.churn)), self._leave, bee)
        else:
            swarm.later(DEATH_EVERY_S - DEAD_S, self._die)
        if asked.partition:
            start_s, length_s = asked.partition
            swarm.later(start_s, swarm.cut, asked.halves())
            swarm.later(start_s + length_s, swarm.heal)
        swarm.run(asked.ends_s / 2)
        spread_s = self._spread.spread_s(swarm, min(SPREAD_WITHIN_S, asked.ends_s / 2))
        swarm.run(max(swarm.time, asked.ends_s))
        return self._report(time.perf_counter() - began, spread_s)

    def _ask(self) -> None:
        self._lookups.ask()
        self._swarm.later(ASK_EVERY_S, self._ask)

    def _die(self) -> None:
        victim = self._rng.choice(self._swarm.running()[1:])
        self._swarm.kill(victim)
        self._swarm.later(DEAD_S, self._return, victim)
        self._swarm.later(DEATH_EVERY_S, self._die)

    def _leave(self, bee: Bee) -> None:
        assert self._asked.churn
        self._swarm.kill(bee)
        self._swarm.later(self._asked.churn[1] * self._rng.uniform(*SPREAD), self._come, bee)

    def _come(self, bee: Bee) -> None:
        assert self._asked.churn
        self._return(bee)
        self._swarm.later(self._asked.churn[0] * self._rng.uniform(*SPREAD), self._leave, bee)

    def _return(self, bee: Bee) -> None:
        """Start a node again with what its peer cache held."""
        swarm = self._swarm
        remembered = [known.opened.raw for _, known in bee.core.members.known()]
        swarm.restart(bee)
        bee.core.remember(swarm.now, remembered)
        swarm.join(bee, swarm.bees[0])
        if not self._asked.churn:
            for after in self._agree:
                swarm.later(after, self._read_agreement, after)

    def _read_agreement(self, after: int) -> None:
        self._agree[after].append(teams_agree(self._swarm, self._slots, self._bits))

    def _report(self, wall_s: float, spread_s: float | None) -> dict[str, Any]:
        asked, swarm = self._asked, self._swarm
        least = {after: round(min(shares), 3) if shares else None for after, shares in self._agree.items()}
        return {
            "what": "overlays",
            "seed": asked.seed,
            "nodes": asked.nodes,
            "simulated_s": round(swarm.time, 1),
            "wall_s": round(wall_s, 1),
            "trace_hash": swarm.trace_hash,
            "lookups": figures_of(self._lookups.log, hops_of(bee.core for bee in swarm.bees)),
            "teams": {"agree_5s": least[5], "agree_10s": least[10]},
            "leases": {"double_connected": None, "double_across_cut": None},
            "strategy": {"spread_s": None if spread_s is None else round(spread_s, 1)},
            "traffic": {"packets_per_node_s": round(swarm.sent / asked.nodes / swarm.time, 2)},
            "documents": {"written": None, "lost": None, "under_replicated": None},
            "balance": {"max_over_mean": None},
        }


def run_swarm_trial(asked: Conditions) -> dict[str, Any]:
    """Simulate the overlays of so many nodes and return the figures of `dse-node simulate`."""
    return SwarmTrial(asked).run()
