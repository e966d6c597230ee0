"""A node's memory depends on what it stores, not on how long it has run."""

import gc
import sys

from crawl import CrawlConfig
from index import SearchRequest
from node.extras.simulation.world import World, WorldPlan, simulate
from tests.sim.judged import assert_complete, crawled
from tests.sim.simulated import simulated

WARM_S, LATER_S = 400.0, 600.0
KEPT = 2_000  # of Python's blocks, by three nodes in ten minutes; what every heartbeat left was 4,700


async def asked(world: World, seconds: float) -> int:
    """Let time pass in which people search; return the blocks that are kept then."""
    for turn in range(int(seconds / 50)):
        await world.pass_time(50)
        node = world.running()[turn % 3]
        await node.node_core.index.searcher.search(SearchRequest(world.web.words[turn % 20], limit=10))
    gc.collect()
    return sys.getallocatedblocks()


def test_a_network_at_rest_keeps_no_more_the_longer_it_runs() -> None:
    kept: list[int] = []

    async def story(world: World) -> None:
        await world.add(3)
        await world.crawl()
        kept.extend([await asked(world, WARM_S), await asked(world, LATER_S)])

    simulate(story, WorldPlan(hosts=3, pages=4))
    assert kept[1] - kept[0] < KEPT


@simulated(WorldPlan(hosts=6, pages=20))
async def test_a_crawl_is_complete_though_memory_holds_five_of_its_urls(world: World) -> None:
    for node in await world.add(2):
        await world.kill(node)
        node.crawl = CrawlConfig(max_frontier_urls=5)
        await world.restart(node)
    await world.crawl()
    await crawled(world)
    assert_complete(world)
