"""A strategy has two of a slot's three owners index it: answers are as with three, and a lost copy is built anew."""

import pytest

from dht import NodeId
from index import SearchRequest
from node.extras.simulation.world import World, WorldPlan
from tests.attacks.liars import LIES, Judge
from tests.parameters import proved
from tests.sim.judged import assert_complete, assert_one_answer, crawled
from tests.sim.simulated import simulated

TWO = {"index_copies": 2}


def answering(world: World) -> list[set[NodeId]]:
    """List by slot the nodes that answer, as the first node hears."""
    return [{*peers} for peers in world.running()[0].overlay.view.ready_by_slot(answering=True)]


def indexed(world: World) -> int:
    """How many documents all nodes together have indexed."""
    found = 0
    for node in world.running():
        files = node.node_core.index.local._serving.files
        found += files.documents - sum(files.unindexed.values())
    return found


@simulated(WorldPlan(seed=3, hosts=6, pages=10, strategy=TWO))
async def test_two_of_three_owners_index_and_answers_are_the_same(world: World) -> None:
    await world.add(5)
    await world.pass_time(10.0)
    await world.crawl()
    await crawled(world)
    await world.pass_time(30.0)
    assert {len(peers) for peers in answering(world)} == {2}
    stored = sum(node.node_core.index.local.documents for node in world.running())
    assert indexed(world) == stored * 2 / 3
    assert_complete(world)
    await assert_one_answer(world, world.web.words[:2], asked=5)


@pytest.mark.parametrize("seed", [4, *proved(5, 6, 7)])
def test_two_lost_copies_are_built_anew_within_ninety_seconds(seed: int) -> None:
    @simulated(WorldPlan(seed=seed, hosts=6, pages=10, strategy=TWO))
    async def scenario(world: World) -> None:
        await world.add(6)
        await world.pass_time(10.0)
        await world.crawl()
        await crawled(world)
        await world.pass_time(30.0)
        first, *others = world.running()
        lost = next(peers for peers in answering(world) if first.overlay.view.node_id not in peers)
        for node in others:
            if node.overlay.view.node_id in lost:
                await world.kill(node)
        began = world.loop.time()
        while not (await first.node_core.index.searcher.search(SearchRequest(world.web.words[0])))["whole"]:
            assert world.loop.time() - began < 90.0
            await world.pass_time(1.0)
        print(f"whole after {world.loop.time() - began:.0f} s")
        assert world.loop.time() - began > 1.0, "two were lost"

    scenario()


@pytest.mark.prove
@pytest.mark.parametrize(
    "name", ["hits: the best are left out", "statistics: words are in no document", "hits: there is nothing"]
)
def test_an_owner_that_only_stores_tells_which_of_two_lies(name: str) -> None:
    @simulated(WorldPlan(seed=3, hosts=3, pages=12, strategy=TWO))
    async def scenario(world: World) -> None:
        *_, liar = await world.add(5)
        await world.pass_time(5.0)
        told = LIES[name].tell(liar)
        await world.crawl()
        await crawled(world)
        await world.pass_time(60.0)
        judged = await (judge := Judge(world, liar, told)).ask(400)
        assert judged.share_right >= 0.99, judged
        assert judge.accused() == {liar.overlay.view.node_id}

    scenario()
