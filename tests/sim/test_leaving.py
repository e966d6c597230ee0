"""A node that leaves for good owns nothing at once and hands everything over; no answer lacks anything meanwhile."""

import pytest

from dht import Gone
from index import SearchRequest
from node.extras.simulation.census import take_census, thin_records
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan, simulate
from tests.parameters import proved
from tests.sim.judged import assert_complete, crawled
from tests.sim.simulated import simulated

NOTICED_S = 5.0
HANDED_OVER_S = 60.0
JOINED_S = 20.0
FORGOTTEN_S = 65.0  # attesters look through their names once a minute


def owns_nothing(nodes: list[SimNode], leaver: SimNode) -> bool:
    """Whether no node's view gives a slot to the one that leaves."""
    me = leaver.overlay.node_id
    return not any(me in owners for node in nodes for owners in node.overlay.view.owners_by_slot())


def gone_now(world: World, node: SimNode) -> Gone:
    return Gone(node.overlay.node_id.hex(), int(world.loop.clock()().wall))


def holds_nothing(leaver: SimNode) -> bool:
    return not leaver.node_core.store.records.occupied(0)


async def total(node: SimNode, query: str) -> int:
    return int((await node.node_core.index.searcher.search(SearchRequest(query)))["total"])


@pytest.mark.parametrize("replicas", [3, *proved(1)])
def test_who_leaves_hands_everything_over_and_no_answer_lacks_anything(replicas: int) -> None:
    async def scenario(world: World) -> None:
        nodes = await world.add(5)
        await world.crawl()
        await crawled(world)
        leaver, others = nodes[2], [*nodes[:2], *nodes[3:]]
        query = next(iter(sorted(take_census(nodes).texts.values(), key=lambda text: text.url))).title.split()[0]
        before = await total(nodes[0], query)
        assert before and not holds_nothing(leaver)
        leaver.overlay.leave_for_good()
        await world.until(lambda: owns_nothing(nodes, leaver), NOTICED_S)
        began = world.loop.time()
        while not holds_nothing(leaver):
            assert world.loop.time() - began < HANDED_OVER_S
            assert [await total(node, query) for node in others] == [before] * len(others)
            await world.pass_time(1.0)
        assert not thin_records(take_census(others), others)
        await world.stop(leaver)
        assert [await total(node, query) for node in others] == [before] * len(others)
        await crawled(world)
        assert_complete(world)

    simulate(scenario, WorldPlan(replicas=replicas, strategy={"min_acks": min(2, replicas)}))


@pytest.mark.parametrize("away_s", [90.0, *proved(2.0)])
@simulated()
async def test_who_left_and_starts_again_is_a_newcomer(world: World, away_s: float) -> None:
    nodes = await world.add(4)
    await world.pass_time(60.0)
    leaver, others = nodes[3], nodes[:3]
    leaver.overlay.leave_for_good()
    await world.until(lambda: owns_nothing(nodes, leaver), NOTICED_S)
    await world.stop(leaver)
    await world.pass_time(away_s)
    me = leaver.overlay.node_id
    if away_s > FORGOTTEN_S:
        assert not any(node.core.members.admission.attesters(me) for node in others)
    await world.restart(leaver)
    await world.until(lambda: all(me in node.overlay.view.members() for node in others), JOINED_S)


@simulated()
async def test_what_a_dead_node_owned_goes_to_others_once_a_publisher_says_that_it_is_gone(world: World) -> None:
    nodes = await world.add(5)
    await world.crawl()
    await crawled(world)
    dead, others = nodes[2], [*nodes[:2], *nodes[3:]]
    await world.kill(dead)
    await world.pass_time(120.0)
    assert not owns_nothing(others, dead) and thin_records(take_census(others), nodes), "it may be back"
    world.publish(gone=(gone_now(world, dead),))
    await world.until(lambda: owns_nothing(others, dead), NOTICED_S)
    await world.until(lambda: not thin_records(take_census(others), others), HANDED_OVER_S)
    await world.pass_time(60.0)
    assert owns_nothing(others, dead) and not any(node.overlay.view.peers.vanished() for node in others)
    assert dead.overlay.node_id not in {peer for node in others for peer in node.overlay.view.members()}
    newcomer = (await world.add(1))[0]
    await world.pass_time(30.0)
    assert owns_nothing([newcomer], dead), "nor does anybody bring it up again"


@simulated()
async def test_who_lives_though_it_was_said_to_be_gone_is_reached_anew_and_comes_back(world: World) -> None:
    nodes = await world.add(4)
    await world.pass_time(120.0)
    lives, others = nodes[3], nodes[:3]
    world.publish(gone=(gone_now(world, lives),))
    me = lives.overlay.node_id
    named, kept = {node.name: node.core.members.admission.attesters(me) for node in others}, set[str]()
    for _ in range(int(FORGOTTEN_S)):
        await world.pass_time(1.0)
        kept |= {n.name for n in others if n.core.members.admission.attesters(me) != named[n.name]}
    assert len(kept) == len(others), "attesters have dropped their names"
    await world.until(lambda: all(me in node.overlay.view.members() for node in others), JOINED_S)
    await world.pass_time(120.0)
    assert all(me in node.overlay.view.members() for node in nodes), "and stays"
