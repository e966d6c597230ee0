"""Tests that are coroutines in a simulated world."""

from collections.abc import Callable

from node.extras.simulation.world import WorldPlan, simulate
from tests.coroutine_tests import Story, Test, as_test

PLAIN = WorldPlan()


def simulated(plan: WorldPlan = PLAIN) -> Callable[[Story], Test]:
    """Make a coroutine a test: its first parameter is a world of this plan, its others are the test's."""
    return lambda story: as_test(story, lambda scenario: simulate(scenario, plan))
