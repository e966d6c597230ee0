"""How often answers are exact, and what digests cost: nine servers at rest, one dead, while crawling; laptops."""

from random import Random

import pytest

from dht import Slot
from node.extras.simulation.census import is_settled
from node.extras.simulation.world import World, WorldPlan
from tests.sim.history import WORDS, History
from tests.sim.simulated import simulated
from tests.sim.test_laptops import AWAKE_HOURS, DAY_HOURS, GRACES, HOUR_S, is_awake

pytestmark = pytest.mark.prove
SERVERS, LAPTOPS = 9, 12
REST_S = 300.0
BITS = 6
RESTING_BYTES_S, CRAWLING_BYTES_S = 200.0, 2000.0  # a node, its answers to others' digests included


async def ask(history: History, seconds: float) -> float:
    """Ask each second for a while; return the share of exact answers."""
    began = history.now()
    while history.now() < began + seconds:
        await history.read(history.somebody(), history.rng.choice(WORDS))
        await history.world.pass_time(1.0)
    print(f"{history.share_exact(since=began):.1%} exact; otherwise {dict(history.why(since=began))}")
    return history.share_exact(since=began)


def digests_bytes_s(world: World, before: int, seconds: float) -> float:
    found = (world.wire.carried["SlotDigests"] - before) / seconds / len(world.running())
    print(f"{found:.0f} B/s a node for digests")
    return found


@simulated(WorldPlan(seed=5, hosts=30, pages=60, slot_bits=BITS))
async def test_nine_servers_are_exact_at_rest_with_one_dead_and_mostly_while_crawling(world: World) -> None:
    history = History(world, Random("share"))
    await world.add(SERVERS)
    await world.pass_time(60.0)
    await world.crawl()
    began, before = world.loop.time(), world.wire.carried["SlotDigests"]
    await history.use(REST_S, write_every_s=0.5)
    print(f"crawling: {history.share_exact(since=began):.1%} exact; otherwise {dict(history.why(since=began))}")
    assert history.share_exact(since=began) >= 0.9
    assert digests_bytes_s(world, before, REST_S) <= CRAWLING_BYTES_S
    await world.until(lambda: is_settled(world.running()), REST_S)
    await world.pass_time(30.0)
    before = world.wire.carried["SlotDigests"]
    assert await ask(history, REST_S) >= 0.99
    assert digests_bytes_s(world, before, REST_S) <= RESTING_BYTES_S
    await world.kill(world.running()[4])
    await world.pass_time(60.0)  # until it is known to be dead, some answers are late
    assert await ask(history, REST_S) >= 0.99
    assert not list(history.lacking())


def with_an_awake_owner(world: World, asleep: set[int]) -> int:
    """How many slots have an owner that is awake."""
    awake = [node.overlay for number, node in enumerate(world.running()) if number not in asleep]
    ids, view = {overlay.node_id for overlay in awake}, awake[0].view
    return sum(not ids.isdisjoint(view.owners(slot)) for slot in map(Slot, range(1 << world.plan.slot_bits)))


@simulated(WorldPlan(seed=6))
async def test_laptops_answer_for_every_slot_that_an_awake_one_owns_and_say_who_sleeps(world: World) -> None:
    """An hour is a minute, as in test_laptops.py. Of three owners that sleep 16 hours none is awake for many slots."""
    history = History(world, Random("laptops"))
    laptops = await world.add(LAPTOPS, stable=False)
    await world.pass_time(10.0)
    world.publish(**GRACES)
    await history.use(120.0)
    await world.until(lambda: is_settled(world.running()), REST_S)
    asleep: set[int] = set()
    began, full = world.loop.time(), 0
    for hour in range(DAY_HOURS):
        for number, laptop in enumerate(laptops):
            if is_awake(number, hour, LAPTOPS) == (number in asleep):
                (world.wake if number in asleep else world.sleep)(laptop)
                asleep ^= {number}
        if hour >= AWAKE_HOURS:
            could, before = with_an_awake_owner(world, asleep), len(history.reads)
            await ask(history, HOUR_S)
            full += sum(read.answered >= could for read in history.reads[before:])
        else:
            await world.pass_time(HOUR_S)
    answers = [read for read in history.reads if read.began >= began]
    share = full / len(answers)
    print(f"laptops: {share:.1%} of all that could be, {history.share_exact(since=began):.1%} exact")
    assert share >= 0.9
    assert all("asleep" in read.why for read in answers if not read.exact)
    assert all(("unanswered" in read.why) == (read.answered < 1 << world.plan.slot_bits) for read in answers)
    assert not list(history.lacking())
    for number in asleep:
        world.wake(laptops[number])
