"""Many identities of few addresses come at once: one at an address and two of a /24 are admitted."""

import pytest

from dht.admission import block_crowd, member_admission
from dht.overlay import admission_upkeep
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, simulate

CROWD = [f"54.1.1.{n}" for n in range(1, 7)]


@pytest.fixture(autouse=True)
def networks_of_eight_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (member_admission, block_crowd, admission_upkeep):
        monkeypatch.setattr(module, "SMALL_NETWORK", 7)  # of whom not all share a family with the newcomers


def members(nodes: list[SimNode], among: list[SimNode]) -> list[int]:
    """How many of some nodes each takes for members."""
    ids = {node.identity.node_id for node in among}
    return [len(ids.intersection(node.overlay.view.members())) for node in nodes]


def test_of_a_crowd_from_one_prefix_two_are_admitted_and_the_others_say_why_they_wait() -> None:
    async def scenario(world: World) -> None:
        nodes = await world.add(8)
        await world.until(lambda: members(nodes, nodes) == [8] * 8, 30.0)
        crowd = await world.add_at(*CROWD)
        await world.pass_time(150.0)
        assert members(nodes, crowd) == [2] * 8 and members(nodes, nodes) == [8] * 8
        waiting = [node for node in crowd if "two in its /24 or /48" in " ".join(node.overlay.warnings())]
        assert len(waiting) == len(CROWD) - 2

    simulate(scenario)


def test_a_newcomer_from_elsewhere_joins_a_large_network_within_seconds() -> None:
    async def scenario(world: World) -> None:
        nodes = await world.add(8)
        await world.until(lambda: members(nodes, nodes) == [8] * 8, 30.0)
        await world.pass_time(60.0)
        newcomer = await world.add_at("54.1.1.1")
        took_s = await world.until(lambda: members(nodes, newcomer) == [1] * 8, 30.0)
        assert took_s <= 15.0

    simulate(scenario)
