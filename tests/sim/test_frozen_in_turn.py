"""Four young nodes, each frozen for a moment, one after the other: what is handed in meanwhile is safe within two
seconds, and every slot is answered."""

import pytest

from dht import Slot
from index import SearchRequest
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan, simulate
from tests.parameters import proved

HANDED_IN_WITHIN_S, DEADLINE_MS = 2.0, 3000
NODES, TURNS = 4, 8


@pytest.mark.parametrize("seed", [12, *proved(2, 4, 5, 6, 7, 8, 17, 24)])
def test_nodes_that_freeze_in_turn_hold_up_nobody(seed: int) -> None:
    handed: list[float] = []
    unanswered: list[tuple[int, int]] = []

    async def scenario(world: World) -> None:
        four = [await world.add_with((4,)) for _ in range(NODES)]
        await world.until(lambda: all(len(node.overlay.view.live()) == NODES for node in four), 60.0)
        late = await world.add_with((4,))
        late.clock.ahead_s -= 3600.0
        await world.pass_time(5.0)
        await world.kill(late)
        await world.until(lambda: all(_shows_all_ready(world, node) for node in four), 60.0)
        for turn in range(TURNS):
            frozen, other = four[turn % NODES], four[(turn + 1) % NODES]
            world.sleep(frozen)
            await world.pass_time(0.7)
            began = world.loop.time()
            await other.node_core.jobs.submission.crawl([f"{world.web.seed_url}turn/{turn}"], [], 0, "whole", False)
            handed.append(world.loop.time() - began)
            asked = SearchRequest(world.web.words[0], limit=10, deadline_ms=DEADLINE_MS)
            coverage = (await other.node_core.index.searcher.search(asked))["coverage"]
            if coverage["answered"] < coverage["slots"]:
                unanswered.append((turn, coverage["answered"]))
            world.wake(frozen)
            await world.until(lambda node=other: len(node.overlay.view.live()) == NODES, 60.0, every_s=0.15)

    simulate(scenario, WorldPlan(seed=seed, hosts=1, pages=2, slot_bits=8))
    assert max(handed) <= HANDED_IN_WITHIN_S
    assert not unanswered


def _shows_all_ready(world: World, node: SimNode) -> bool:
    view = node.overlay.view
    return all(set(view.owners(Slot(slot))) <= {*view.ready(Slot(slot))} for slot in range(1 << world.plan.slot_bits))
