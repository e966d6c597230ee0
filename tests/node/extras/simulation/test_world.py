"""A world's network is the one that `dse-node network new` makes, but for what a world chooses."""

from pathlib import Path

from msgspec.structs import asdict

from bootstrap import load_network
from dht import parse_document
from node.extras.simulation.world import World, WorldPlan, simulate
from node.strategy.founding import make_network
from tests.sim.simulated import simulated

INSTANTS = {"effective_at", "expires_at", "next_at"}
A_WORLDS_OWN = {"network", "slot_bits", "publishers", "declared_prefixes"}


def test_a_world_is_a_network_as_it_is_made_for_an_operator(tmp_path: Path) -> None:
    text, _ = make_network("campus", tmp_path / "campus")
    made = asdict(parse_document(load_network(text).first.document))

    async def scenario(world: World) -> None:
        (node,) = await world.add(1)
        known = asdict(node.overlay.view.strategy)
        unlike = {name for name in made if known[name] != made[name]}
        assert unlike <= A_WORLDS_OWN | INSTANTS
        assert {known[name] - made[name] for name in INSTANTS} == {known["effective_at"] - made["effective_at"]}

    simulate(scenario)


@simulated(WorldPlan(replicas=1, strategy={"admission": "attested"}))
async def test_a_plan_says_what_is_different(world: World) -> None:
    (node,) = await world.add(1)
    strategy = node.overlay.view.strategy
    assert (strategy.admission, strategy.replicas, strategy.min_acks) == ("attested", 1, 1)
