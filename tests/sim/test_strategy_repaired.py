"""A strategy that makes members forget each other is corrected by the next one, published at one node alone."""

import pytest

from dht.identity.puzzle_solver import PuzzleSolver
from node.extras.simulation.loop import EPOCH
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import DAY_S, World, WorldPlan, simulate
from tests.parameters import proved
from tests.sim.simulated import simulated

HOSTS = ("10.1.0.1", "10.1.0.2", "10.1.0.3")
OURS = ("10.0.0.0/8",)
GRACE_S = 60  # the least that a strategy may set: who is silent for so long is forgotten
REPAIRED_WITHIN_S = 120.0
LONG_S = 450.0
PRIVATE = {"declared_prefixes": OURS, "bootstrap": ("10.1.0.1:8091",)}
LOST_PREFIXES = {"declared_prefixes": (), "stable_grace_s": GRACE_S, "laptop_grace_s": GRACE_S}
HUGE_PUZZLE = {"puzzle_bits": 28}
EARLIER_S = 4 * DAY_S  # more work is asked for when that has been in force for the longest grace


def knows_all(world: World) -> bool:
    """Whether every node that runs knows all others as live members."""
    running = {node.overlay.node_id for node in world.running()}
    return all(node.overlay.view.live() == set(node.overlay.view.members()) == running for node in world.running())


def versions(world: World) -> set[int]:
    return {node.overlay.strategies.newest.version for node in world.running()}


def publish(world: World, at: SimNode, **changes: object) -> None:
    """Hand the next version to one node."""
    others = [node for node in world.running() if node is not at]
    tasks = [(node, node.task) for node in others]
    for node in others:
        node.task = None  # `World.publish` takes the last node that runs
    try:
        world.publish(**changes)
    finally:
        for node, task in tasks:
            node.task = task


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Machines that do not solve their puzzle within the time of a test."""
    monkeypatch.setattr(PuzzleSolver, "want", lambda *_: None)


async def forgotten(world: World, **mistake: object) -> None:
    """Publish a mistake; wait until every node is its own network."""
    world.publish(**mistake)
    await world.until(lambda: versions(world) == {2}, 60.0)
    await world.until(lambda: all(len(n.overlay.view.members()) <= 1 for n in world.running()), 300.0)
    await world.pass_time(LONG_S)


async def repaired(world: World, at: SimNode, **correction: object) -> None:
    publish(world, at, **correction)
    await world.until(lambda: versions(world) == {3} and knows_all(world), REPAIRED_WITHIN_S)


@pytest.mark.parametrize(("admission", "at"), [("invited", 2), *proved(("attested", 2), ("attested", 0))])
def test_lost_prefixes_are_corrected_at_one_node(admission: str, at: int) -> None:
    async def scenario(world: World) -> None:
        await world.add_at(*HOSTS)
        await world.until(lambda: knows_all(world), 120.0)
        await forgotten(world, **LOST_PREFIXES)
        await repaired(world, world.running()[at], declared_prefixes=OURS)

    simulate(scenario, WorldPlan(strategy={**PRIVATE, "admission": admission}))


@pytest.mark.parametrize(("admission", "at"), [("attested", 4), *proved(("invited", 0), ("attested", 0))])
@pytest.mark.usefixtures("no_work")
def test_a_huge_puzzle_is_corrected_at_one_node(admission: str, at: int) -> None:
    async def scenario(world: World) -> None:
        await world.add(5)
        await world.until(lambda: knows_all(world), 120.0)
        await forgotten(world, **HUGE_PUZZLE, effective_at=int(EPOCH) - EARLIER_S)
        await repaired(world, world.running()[at], puzzle_bits=0)

    simulate(scenario, WorldPlan(strategy={"admission": admission}))


@pytest.mark.parametrize(
    ("mistake", "at"), [(HUGE_PUZZLE, 2), *proved((HUGE_PUZZLE, 0), (LOST_PREFIXES, 2), (LOST_PREFIXES, 0))]
)
@pytest.mark.usefixtures("no_work")
@simulated(WorldPlan(strategy=PRIVATE))
async def test_the_correction_spreads_from_a_node_that_was_restarted_meanwhile(
    world: World, mistake: dict[str, object], at: int
) -> None:
    await world.add_at(*HOSTS)
    await world.until(lambda: knows_all(world), 120.0)
    await world.pass_time(120.0)  # all have written down who is there
    early = {} if "declared_prefixes" in mistake else {"effective_at": int(EPOCH) - EARLIER_S}
    await forgotten(world, **mistake, **early)
    node = world.running()[at]
    await world.kill(node)
    await world.pass_time(LONG_S)
    await world.restart(node)
    await world.pass_time(LONG_S)
    await repaired(world, node, declared_prefixes=OURS, puzzle_bits=0)


@simulated(WorldPlan(strategy=PRIVATE))
async def test_all_were_restarted_meanwhile(world: World) -> None:
    nodes = await world.add_at(*HOSTS)
    await world.until(lambda: knows_all(world), 120.0)
    await forgotten(world, **LOST_PREFIXES)
    for node in nodes:
        await world.stop(node)
        await world.restart(node)
        await world.pass_time(LONG_S)
    await repaired(world, nodes[1], declared_prefixes=OURS)


@simulated(WorldPlan(strategy=PRIVATE))
async def test_prefixes_lost_in_part_are_corrected_where_the_others_are_lost(world: World) -> None:
    """The addresses of those who are lost are asked while other members are live."""
    nodes = await world.add_at("10.1.0.1", "10.1.0.2", "10.1.0.3", "10.2.0.1")
    await world.until(lambda: knows_all(world), 120.0)
    world.publish(**{**LOST_PREFIXES, "declared_prefixes": ("10.1.0.0/16",)})
    await world.until(lambda: len(nodes[0].overlay.view.members()) == 3, 300.0)
    await world.pass_time(LONG_S)
    await repaired(world, nodes[3], declared_prefixes=OURS)


def test_whom_the_strategy_shuts_out_is_named_once_with_the_reason_and_hears_it_itself(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario(world: World) -> None:
        nodes = await world.add_at(*HOSTS)
        await world.until(lambda: knows_all(world), 120.0)
        assert not any(node.overlay.report.refused_heartbeats() or node.overlay.report.why_refused() for node in nodes)
        world.publish(**LOST_PREFIXES)
        await world.pass_time(LONG_S)
        for node in nodes:
            others = {other.overlay.node_id.hex() for other in nodes if other is not node}
            assert {each.peer for each in node.overlay.report.refused_heartbeats()} == others
            assert all("10.1.0." in each.reason for each in node.overlay.report.refused_heartbeats())
            assert any(
                "members refuse this node: its address 10.1.0." in said for said in node.overlay.report.warnings()
            )
        refusals = [each.getMessage() for each in caplog.records if "heartbeat refused" in each.getMessage()]
        assert len(refusals) == 2 * len(set(refusals)) == 6, "each of three says it once of two"
        newcomer = await world.add_at("10.1.0.9")
        await world.pass_time(60.0)
        assert "10.1.0.9 is in none of the strategy's declared_prefixes" in newcomer[0].overlay.report.why_refused()

    with caplog.at_level("WARNING", logger="dht.overlay.service"):
        simulate(scenario, WorldPlan(strategy=PRIVATE))
