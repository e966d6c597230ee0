"""All owners of some slots sleep at once: stand-ins crawl what comes, and the owners have it afterwards, once.

An hour is a minute, as in test_laptops.py.
"""

from urllib.parse import urlsplit

from dht import Slot, slot_of
from node.extras.simulation.census import holders_of, repeated, take_census, thin_records
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan
from store import Kind
from tests.sim.judged import crawled
from tests.sim.simulated import simulated
from tests.sim.test_laptops import GRACES, HOUR_S, moved_bytes

ASLEEP_HOURS = 8
TAKEN_S = 75.0  # dead after 30 s of silence, votes of the owners are waited for 30 s, then the first in order asks


def orphaned(world: World, sleepers: list[SimNode]) -> set[Slot]:
    """Slots all of whose owners sleep."""
    view, asleep = world.nodes["n0"].overlay.view, {node.identity.node_id for node in sleepers}
    return {slot for n in range(1 << world.plan.slot_bits) if set(view.owners(slot := Slot(n))) <= asleep}


def records_in(world: World, slots: set[Slot]) -> dict[tuple[Kind, str], set[str]]:
    """Records of some slots, each with the names of the nodes that hold it."""
    place, census = world.nodes["n0"].node_core.store.shards.key_of, take_census(world.running())
    lying = {name: names for name, names in census.holders.items() if name[1]}
    return {name: names for name, names in lying.items() if slot_of(place(name[1]), world.plan.slot_bits) in slots}


@simulated(WorldPlan(seed=3, hosts=8, pages=4))
async def test_stand_ins_crawl_what_comes_while_all_owners_of_a_slot_sleep(world: World) -> None:
    servers, laptops = await world.add(3, stable=False), await world.add(6, stable=False)
    await world.pass_time(10.0)
    world.publish(**GRACES)
    await world.pass_time(60.0)
    alone, before = orphaned(world, laptops), moved_bytes(world)
    assert alone
    for laptop in laptops:
        world.sleep(laptop)
    await world.until(lambda: alone <= holders_of(servers).keys(), TAKEN_S)
    assert moved_bytes(world) == before, "slots that sleep move nothing"
    await world.crawl(by=servers[0])
    await world.pass_time(ASLEEP_HOURS * HOUR_S)
    names = {server.name for server in servers}
    taken = {url for (kind, url), held in records_in(world, alone).items() if kind == Kind.DOCUMENT and held & names}
    assert len({urlsplit(url).netloc for url in taken}) >= 2, "the stand-ins crawled whole sites"
    assert not any(visited.node not in names for visited in world.log)
    for laptop in laptops:
        world.wake(laptop)
    await crawled(world)
    await world.pass_time(2 * HOUR_S)
    assert not thin_records(take_census(world.running()), world.running())
    kept = records_in(world, alone)
    assert taken <= {url for _, url in kept}
    assert not any(held & names for held in kept.values()), "handed over, and forgotten by who stood in"
    assert not repeated(world.log)
