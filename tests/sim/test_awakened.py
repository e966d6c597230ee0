"""A node that slept, and others that were alone meanwhile, may each have missed something. One of them goes on serving
each slot until they have compared it. So no query goes unanswered when they meet again."""

import pytest

from index import SearchRequest
from node.extras.simulation.world import World, WorldPlan, simulate
from tests.sim.judged import crawled

ASLEEP_S, WATCHED_S, EVERY_S = 30.0, 12.0, 0.25


@pytest.mark.parametrize(
    ("nodes", "seed"),
    [(9, 2), *(pytest.param(n, seed, marks=pytest.mark.prove) for n in (3, 9) for seed in range(3, 7))],
)
def test_all_slots_are_answered_when_sleepers_come_back(nodes: int, seed: int) -> None:
    unanswered: list[tuple[float, int]] = []

    async def scenario(world: World) -> None:
        first, *others = await world.add(nodes)
        await world.pass_time(20.0)
        await world.crawl()
        await crawled(world)
        sleepers = others[:2]
        for each in sleepers:
            world.sleep(each)
        await world.pass_time(ASLEEP_S)
        for each in sleepers:
            world.wake(each)
        woke_at = world.loop.time()
        while (since := world.loop.time() - woke_at) < WATCHED_S:
            asked = SearchRequest(world.web.words[0], limit=1, deadline_ms=2000)
            coverage = (await first.node_core.index.searcher.search(asked))["coverage"]
            if coverage["answered"] < coverage["slots"]:
                unanswered.append((since, coverage["answered"]))
            await world.pass_time(EVERY_S)

    simulate(scenario, WorldPlan(seed=seed, hosts=2, pages=2, slot_bits=6))
    assert not unanswered
