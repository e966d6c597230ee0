"""A network of laptops that sleep two thirds of the day, staggered: their sleep moves (next to) no data.

Days and the strategy's graces are shortened alike: an hour is a minute. With real hours a day of seven nodes takes
minutes; it moved as little.
"""

from functools import partial

import pytest

from node.extras.simulation.census import take_census
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan, simulate
from store import Kind
from tests.sim.judged import assert_complete, crawled

HOUR_S = 60.0
DAY_HOURS, AWAKE_HOURS = 24, 8
STEP_HOURS = 2
GRACES = {"stable_grace_s": int(12 * HOUR_S), "laptop_grace_s": int(72 * HOUR_S)}
MOVED_PER_BYTE = 0.2  # a week of it


def is_awake(number: int, hour: float, count: int) -> bool:
    """Each laptop begins its day a little after the one before."""
    return (hour - DAY_HOURS * number / count) % DAY_HOURS < AWAKE_HOURS


def stored_bytes(world: World) -> int:
    """Return the bytes on all disks together: bodies and contents."""
    return sum(
        len(record.body) + len(record.content or b"")
        for node in world.running()
        for kind in Kind
        for record in node.node_core.store.records.scan(kind, bytes(20), b"\xff" * 20)
    )


def moved_bytes(world: World) -> int:
    """Return the bytes of all messages that carried records, from anywhere and for any reason."""
    return world.wire.carried["FetchRecords"] + world.wire.carried["PutPackage"]


async def live_on(world: World, laptops: list[SimNode], hours: int) -> None:
    """Lids open and close."""
    asleep: set[int] = set()
    for hour in range(0, hours, STEP_HOURS):
        for number, laptop in enumerate(laptops):
            awake = is_awake(number, hour, len(laptops))
            if awake and number in asleep:
                asleep.discard(number)
                world.wake(laptop)
            elif not awake and number not in asleep:
                asleep.add(number)
                world.sleep(laptop)
        await world.pass_time(STEP_HOURS * HOUR_S)
    for number in sorted(asleep):
        world.wake(laptops[number])


async def scenario(servers: int, laptops: int, hours: int, share: float, world: World) -> None:
    """Crawl; then nothing new comes, so that whatever is carried is moved because of the sleep."""
    await world.add(servers)
    sleepers = await world.add(laptops, stable=False)
    await world.pass_time(10.0)
    world.publish(**GRACES)
    await world.crawl()
    await crawled(world)
    for node in world.running():
        node.node_core.fetching.pause.pause()
    await world.pass_time(60.0)
    before, stored = moved_bytes(world), stored_bytes(world)
    await live_on(world, sleepers, hours)
    moved = moved_bytes(world) - before
    print(f"{servers} servers, {laptops} laptops, {hours} h: {moved} of {stored} bytes moved")
    await world.pass_time(120.0)
    assert_complete(world)
    assert take_census(world.running()).texts
    assert moved <= share * stored, f"{moved} bytes moved, {stored} stored"


def test_a_day_of_laptops_moves_no_data() -> None:
    simulate(partial(scenario, 1, 4, DAY_HOURS, MOVED_PER_BYTE / 7), WorldPlan(seed=11))


@pytest.mark.prove
def test_a_week_of_laptops_moves_no_data() -> None:
    simulate(partial(scenario, 3, 12, 7 * DAY_HOURS, MOVED_PER_BYTE), WorldPlan(seed=12))
