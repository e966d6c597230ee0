"""A network that starts at once, as when power comes back on a campus, has all its leases within seconds."""

from random import Random

import pytest

from node.extras.simulation.world import World, WorldPlan, simulate
from tests.parameters import proved

SLOT_BITS = 8
HELD_WITHIN_S = 10.0  # of the last start; a team that changes after the first votes costs its slots half a minute


@pytest.mark.parametrize("seed", [1, *proved(2)])
def test_slots_have_holders_soon_after_the_last_of_nine_has_started(seed: int) -> None:
    async def scenario(world: World) -> None:
        pauses = Random(seed)
        for _ in range(9):
            await world.add(1, pauses.uniform(0.0, 3.0))
        await world.until(lambda: held(world) == 1 << SLOT_BITS, HELD_WITHIN_S)

    simulate(scenario, WorldPlan(seed=seed, slot_bits=SLOT_BITS))


def held(world: World) -> int:
    """How many slots have a holder."""
    return sum(len(node.overlay.view.leases()) for node in world.running())
