"""A node that is blocked, or whose invitation is revoked, is out within a minute, at every member and by its own
status."""

import pytest

from dht import Identity, Invitation, voucher_id
from dht.strategy.document import Admitter, Revocation
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan, simulate
from tests.parameters import proved
from tests.sim.simulated import simulated
from tests.sim.test_admission import have_one_view
from tests.sim.test_invited import JOIN_S, newcomer

WITHIN_S, TOLD_S = 60.0, 30.0
ADMITTER = Identity(b"\6" * 32)
BLOCKED = "the strategy blocks this node"
REVOKED = "what invited this node was revoked"


def is_out(world: World, gone: list[SimNode], said: str) -> bool:
    """Nobody counts them, they hold and own nothing, not even by their own word, and say why."""
    ids = {node.identity.node_id for node in gone}
    stay = [node for node in world.running() if node not in gone]
    everybody = tuple(sorted(node.identity.node_id for node in stay))
    if not all(node.overlay.view.members() == everybody and not ids & node.overlay.view.live() for node in stay):
        return False
    views = [node.overlay.view for node in gone]
    return not any(view.owned() or view.leases() for view in views) and all(
        any(said in warning for warning in node.overlay.report.warnings()) for node in gone
    )


def hold_everything(nodes: list[SimNode]) -> bool:
    return sum(len(node.overlay.view.leases()) for node in nodes) == 16


async def working(world: World, count: int = 5) -> list[SimNode]:
    nodes = await world.add(count)
    await world.until(lambda: have_one_view(nodes), 4 * JOIN_S)
    await world.crawl()
    await world.until(lambda: hold_everything(nodes) and all(node.overlay.view.leases() for node in nodes), 120.0)
    return nodes


@pytest.mark.parametrize("admission", ["invited", *proved("attested")])
def test_who_is_blocked_is_out_within_a_minute_and_hears_of_it(admission: str) -> None:
    async def scenario(world: World) -> None:
        nodes = await working(world)
        gone = nodes.pop(2)
        assert gone.overlay.view.leases()
        world.publish(blocked=(gone.identity.node_id.hex(),))
        await world.until(lambda: any(BLOCKED in warning for warning in gone.overlay.report.warnings()), TOLD_S)
        await world.until(lambda: is_out(world, [gone], BLOCKED), WITHIN_S)
        await world.until(lambda: hold_everything(nodes), WITHIN_S)
        await world.pass_time(120.0)
        assert is_out(world, [gone], BLOCKED)

    # with this seed it would hear of it by chance only after a minute
    simulate(scenario, WorldPlan(seed=3, strategy={"admission": admission}))


@pytest.mark.prove
@simulated()
async def test_who_was_blocked_while_it_was_off_hears_of_it_when_it_comes_back(world: World) -> None:
    nodes = await working(world)
    gone = nodes[2]
    await world.kill(gone)
    world.publish(blocked=(gone.identity.node_id.hex(),))
    await world.pass_time(60.0)
    await world.restart(gone)
    await world.until(lambda: is_out(world, [gone], BLOCKED), 120.0)


async def grown(world: World) -> tuple[list[SimNode], Invitation, list[SimNode]]:
    """A network whose admitter has let in two."""
    nodes = await working(world, 4)
    world.publish(admitters=(Admitter(ADMITTER.public_key.hex()),))
    await world.pass_time(5.0)
    made = world.invite(2, by=ADMITTER)
    let_in = [await newcomer(world, made) for _ in range(2)]
    await world.until(lambda: have_one_view([*nodes, *let_in]), 2 * JOIN_S)
    await world.until(lambda: any(node.overlay.view.leases() for node in let_in), 180.0)
    return nodes, made, let_in


@pytest.mark.parametrize("what", ["admitter", *proved("voucher")])
@simulated()
async def test_whom_a_revoked_admitter_or_voucher_let_in_is_out_within_a_minute_with_its_leases(
    world: World, what: str
) -> None:
    nodes, made, let_in = await grown(world)
    revoked = ADMITTER.public_key if what == "admitter" else voucher_id(made.voucher)
    world.publish(revoked=(Revocation(revoked.hex()),))
    await world.until(lambda: is_out(world, let_in, REVOKED), WITHIN_S)
    await world.until(lambda: hold_everything(nodes), WITHIN_S)
    again = let_in[0]
    await world.kill(again)
    await world.restart(again)
    another = await newcomer(world, made)
    for _ in range(30):
        await world.pass_time(2.0)
        assert is_out(world, [let_in[1], again, another], REVOKED if what else ""), "nor does it come back"


@pytest.mark.prove
@simulated()
async def test_who_came_by_an_admitter_before_the_day_from_which_it_is_revoked_stays_and_nobody_new_comes_in(
    world: World,
) -> None:
    nodes, _, let_in = await grown(world)
    since = int(world.loop.clock()().wall)
    world.publish(revoked=(Revocation(ADMITTER.public_key.hex(), from_at=since),))
    dated_back = await newcomer(world, world.invite(2, by=ADMITTER, ago_s=86_400.0))
    await world.pass_time(60.0)
    assert have_one_view([*nodes, *let_in]) and not dated_back.overlay.view.owned()
    assert "was revoked by the network's publishers" in dated_back.overlay.report.warnings()[0]
    await world.kill(let_in[0])
    await world.restart(let_in[0])
    await world.pass_time(90.0)
    assert have_one_view([*nodes, *let_in]), "whoever stayed is named on"
