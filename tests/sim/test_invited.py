"""In new networks an invited node is a member within seconds; any other never is, and is told why."""

import pytest

from dht import Identity, Invitation, NodeId, voucher_id
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan
from tests.parameters import proved
from tests.sim.judged import assert_complete, crawled
from tests.sim.simulated import simulated
from tests.sim.test_admission import have_one_view

JOIN_S, TOLD_S = 10.0, 30.0


async def newcomer(world: World, invitation: object) -> SimNode:
    world.invitation = str(invitation or "")
    (node,) = await world.add(1, 0.0)
    return node


@pytest.mark.parametrize("count", [3, *proved(1, 9)])
@simulated()
async def test_who_holds_an_invitation_joins_as_in_any_network(world: World, count: int) -> None:
    nodes = await world.add(count, 0.0)
    await world.until(lambda: have_one_view(nodes), JOIN_S)
    nodes += await world.add(1, 0.0)
    await world.until(lambda: have_one_view(nodes), JOIN_S)
    if count == 3:
        return
    await world.pass_time(100.0)
    assert have_one_view(nodes) and not any(node.overlay.report.warnings() for node in nodes)
    await world.crawl()
    await crawled(world)
    assert_complete(world)


@simulated()
async def test_who_is_not_let_in_owns_nothing_and_is_told_why_and_what_to_do(world: World) -> None:
    nodes = await world.add(4)
    await world.pass_time(20.0)
    stranger = Identity(b"\7" * 32)
    refused = {
        "": "this network is by invitation; ask a member for one",
        str(world.invite(1, by=stranger)): "who may not invite",
        str(world.invite(1, days=1, ago_s=100_000)): "expired at",
        str(world.invite(1, ago_s=-4000)): "is not yet; set the clock of this machine",
        str(world.invite(1, network="ab" * 20)): f"is for the network {'ab' * 20}",
    }
    newcomers = [(await newcomer(world, text), why) for text, why in refused.items()]
    await world.pass_time(TOLD_S)
    for node, why in newcomers:
        (said,) = node.overlay.report.warnings()
        assert said.startswith("waiting to be admitted: 0 members") and why in said, said
        assert not node.overlay.view.owned() and not node.overlay.view.leases()
    await world.pass_time(30.0)
    assert have_one_view(nodes)


@pytest.mark.parametrize("count", [1, *proved(4)])
@simulated()
async def test_words_let_in_while_the_node_that_gave_them_runs_and_after(world: World, count: int) -> None:
    nodes = await world.add(count)
    await world.pass_time(20.0)
    made = world.invite(2)
    late = await newcomer(world, Invitation(made.seed))
    await world.pass_time(TOLD_S)
    assert "its words lead to no invitation yet" in late.overlay.report.warnings()[0]
    (nodes[0].folder / "vouchers").mkdir()
    (nodes[0].folder / "vouchers" / voucher_id(made.voucher).hex()).write_text(made.voucher.hex())
    nodes.append(late)
    await world.until(lambda: have_one_view(nodes), 2 * JOIN_S)
    if count > 1:
        await world.kill(nodes.pop(0))
    soon = await newcomer(world, Invitation(made.seed))
    await world.until(lambda: bool(soon.overlay.view.owned()) and knows_all(world, soon), JOIN_S)


@simulated()
async def test_of_more_newcomers_than_an_invitation_is_for_so_many_stay_and_the_others_hear_why(world: World) -> None:
    nodes = await world.add(4)
    await world.pass_time(20.0)
    made = world.invite(2)
    guests = [await newcomer(world, made) for _ in range(5)]
    ids = {guest.identity.node_id: guest for guest in guests}

    def who_came() -> list[NodeId]:
        return sorted(set(nodes[0].overlay.view.members()) & ids.keys())

    await world.pass_time(150.0)
    came = who_came()
    assert len(came) == 2 and have_one_view([*nodes, *(ids[each] for each in came)])
    for each in ids.keys() - set(came):
        assert not ids[each].overlay.view.owned()
        assert "is used up: it is for 2, and as many are here by it" in ids[each].overlay.report.warnings()[0]
    late = await newcomer(world, made)
    await world.pass_time(TOLD_S)
    assert "is used up" in late.overlay.report.warnings()[0] and who_came() == came
    for node in nodes:
        await world.kill(node)
        await world.restart(node)
        await world.pass_time(15.0)
        assert who_came() == came, "attesters that start again know whom they named, and by what"


def knows_all(world: World, node: SimNode) -> bool:
    return set(node.overlay.view.members()) >= {each.identity.node_id for each in world.running()}


@simulated()
async def test_an_invitation_that_others_may_read_or_that_is_damaged_is_refused_by_its_own_node(world: World) -> None:
    await world.add(2)
    nodes = [await newcomer(world, world.invite(1)) for _ in range(2)]
    for node in nodes:
        await world.kill(node)
    (nodes[0].folder / "invitation").chmod(0o644)
    (nodes[1].folder / "invitation").write_text("dse-invitation-1:AAAA")
    for node, why in zip(nodes, ("run: chmod 600", "is cut off, or no invitation"), strict=True):
        await world.restart(node)
        await world.pass_time(20.0)
        assert why in node.overlay.report.warnings()[0]


@pytest.mark.prove
@simulated(WorldPlan(strategy={"admission": "attested"}))
async def test_a_network_that_turns_to_invitations_keeps_its_members(world: World) -> None:
    nodes = await world.add(5)
    await world.pass_time(90.0)
    owned = [node.overlay.view.owned() for node in nodes]
    world.publish(admission="invited")
    await world.kill(nodes[4])
    await world.restart(nodes[4])
    for _ in range(90):
        await world.pass_time(1.0)
        assert [node.overlay.view.owned() for node in nodes] == owned
    late = await newcomer(world, "")
    await world.pass_time(60.0)
    assert have_one_view(nodes)
    invited = await newcomer(world, world.invite(1))
    await world.until(lambda: have_one_view([*nodes, invited]), JOIN_S)
    assert not late.overlay.view.owned()


@pytest.mark.prove
@simulated()
async def test_in_a_network_of_24_where_few_members_count_an_invitation_holds_as_many_and_newcomers_join_in_time(
    world: World,
) -> None:
    nodes = await world.add(20)
    await world.until(lambda: have_one_view(nodes), 60.0)
    made = world.invite(2)
    guests = [await newcomer(world, made) for _ in range(4)]
    stranger = await newcomer(world, "")
    await world.pass_time(200.0)
    came = [guest for guest in guests if guest.identity.node_id in nodes[0].overlay.view.members()]
    assert len(came) == 2 and have_one_view([*nodes, *came]) and not stranger.overlay.view.owned()
    (last,) = [await newcomer(world, world.invite(1))]
    await world.until(lambda: have_one_view([*nodes, *came, last]), JOIN_S)
