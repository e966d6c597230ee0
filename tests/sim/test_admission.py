"""Networks form, grow, sleep and lose nodes, and all see the same members; who cannot be reached is none."""

import pytest

from dht.wire.contact import Family
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World
from tests.parameters import proved
from tests.sim.judged import assert_complete, crawled
from tests.sim.simulated import simulated

FORMED_S = 10.0


def have_one_view(nodes: list[SimNode], seen_by: list[SimNode] | None = None) -> bool:
    everybody = tuple(sorted(node.identity.node_id for node in nodes))
    return all(node.overlay.view.members() == everybody for node in seen_by or nodes)


def attesters(node: SimNode) -> int:
    return len(node.core.members.admission.attesters(node.identity.node_id))


@pytest.mark.parametrize("count", [1, 2, 9, *proved(3)])
@simulated()
async def test_networks_of_one_to_nine_that_start_together_see_each_other_at_once(world: World, count: int) -> None:
    nodes = await world.add(count, 0.0)
    await world.until(lambda: have_one_view(nodes), FORMED_S)
    await world.pass_time(100.0)  # newcomers have joined, and ask of others what all ask
    assert have_one_view(nodes) and all(attesters(node) >= min(3, count - 1) for node in nodes)
    assert not any(node.overlay.report.warnings() for node in nodes)
    await world.crawl()
    await crawled(world)
    assert_complete(world)


@simulated()
async def test_all_that_start_again_at_once_and_one_that_does_while_the_others_sleep_keep_their_places(
    world: World,
) -> None:
    nodes = await world.add(5)
    await world.pass_time(90.0)
    one, others = nodes[4], nodes[:4]
    for other in others:
        await world.kill(other)
    for other in others:
        await world.restart(other)
    for _ in range(60):
        await world.pass_time(1.0)
        assert have_one_view(nodes)
    for other in others:
        world.sleep(other)
    await world.kill(one)
    await world.restart(one)
    await world.pass_time(60.0)
    assert len(one.overlay.view.members()) == 5
    for other in others:
        world.wake(other)
    await world.until(lambda: have_one_view(nodes), 60.0)
    await world.pass_time(120.0)
    assert have_one_view(nodes)


@pytest.mark.parametrize("count", [2, *proved(3)])
@simulated()
async def test_a_small_network_lets_in_a_newcomer_while_one_of_it_is_away(world: World, count: int) -> None:
    nodes = [await world.add_with((4,)) for _ in range(count)]
    await world.pass_time(120.0)
    world.sleep(nodes[0])
    await world.pass_time(60.0)
    everybody = [*nodes, await world.add_with((4,))]
    await world.until(lambda: have_one_view(everybody, seen_by=everybody[1:]), 60.0)
    world.wake(nodes[0])
    await world.until(lambda: have_one_view(everybody), 60.0)
    await world.pass_time(120.0)
    assert have_one_view(everybody) and not any(node.overlay.report.warnings() for node in everybody)


@simulated()
async def test_without_its_founder_a_network_takes_newcomers_by_other_first_contacts(world: World) -> None:
    founder, *nodes = await world.add(4)
    await world.pass_time(90.0)
    await world.kill(founder)
    await world.pass_time(60.0)
    (newcomer,) = await world.add(1, 0.0)
    assert not newcomer.overlay.view.owned()
    everybody = tuple(sorted(node.identity.node_id for node in [founder, *nodes, newcomer]))

    def is_taken() -> bool:
        return all(node.overlay.view.members() == everybody for node in [*nodes, newcomer])

    await world.until(lambda: bool(newcomer.overlay.view.owned()) and is_taken(), FORMED_S)
    await world.pass_time(100.0)
    assert is_taken()


@simulated()
async def test_a_node_of_the_other_family_needs_the_only_member_that_has_it_too(world: World) -> None:
    families: list[tuple[Family, ...]] = [(4, 6), (4,), (4,), (4,)]
    nodes = [await world.add_with(each) for each in families]
    await world.pass_time(20.0)
    nodes.append(await world.add_with((6,)))
    await world.until(lambda: have_one_view(nodes), FORMED_S)
    assert attesters(nodes[4]) == 1
    await world.pass_time(100.0)
    assert have_one_view(nodes)


@simulated()
async def test_who_cannot_be_reached_says_who_tried_and_is_no_member(world: World) -> None:
    nodes = await world.add(4)
    await world.pass_time(20.0)
    hidden = await world.add_client(mode="member")
    await world.pass_time(60.0)
    assert have_one_view(nodes) and not hidden.overlay.view.owned()
    (told,) = hidden.overlay.report.warnings()
    assert told.startswith("waiting to be admitted: 0 members have reached this node")
    assert "no answer at 9.0.4.1 from UDP 8091" in told
