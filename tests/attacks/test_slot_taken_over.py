"""Identities that were ground near one slot take it over, and forge its pages. Once they are blocked or gone, all pages
are there again as they were: former owners kept their copies."""

from collections.abc import Iterable
from random import Random

import pytest
from msgspec.structs import replace

from dht import Identity, NodeId, Slot, slot_of, slot_start
from dht.ownership.rendezvous import weight
from index import SearchRequest
from index.asking.agreement import Reason
from node.extras.simulation.census import holders_of
from node.extras.simulation.loop import EPOCH
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan
from store import Draft, Kind, Record, decode_document, encode_document
from store.record.messages import PutPackage, PutReply
from store.record.package import pack, sign_package
from tests.parameters import proved
from tests.sim.judged import assert_complete, crawled, status_of
from tests.sim.simulated import simulated
from tests.store.support import grant

YOUNG = WorldPlan(seed=37, hosts=6, pages=12, strategy={"effective_at": int(EPOCH) - 60})  # in its first hour
OPEN = WorldPlan(seed=39, hosts=6, pages=6, strategy={**YOUNG.strategy, "admission": "attested"})
CROWD, WHOLE_WITHIN_S = 14, 120.0  # of 120 identities so many came in within four minutes
TAKEN_WITHIN_S, GONE_WITHIN_S, BACK_WITHIN_S = 180.0, 30.0, 300.0
SETTLED_S = 150.0  # after that nothing is under way any more


def owners(world: World, slot: Slot) -> set[NodeId]:
    """The owners of a slot as the first node sees them."""
    return set(world.running()[0].overlay.view.owners(slot))


def fullest(world: World) -> Slot:
    """The slot in which most pages lie."""
    slots = [slot_of(r.key, world.plan.slot_bits) for r in newest(world.running()).values()]
    return Slot(max(sorted(set(slots)), key=slots.count))


def newest(nodes: Iterable[SimNode]) -> dict[bytes, Record]:
    """The pages on some nodes' disks, each in its newest version."""
    found: dict[bytes, Record] = {}
    for node in nodes:
        for record in node.node_core.store.records.scan(Kind.DOCUMENT, bytes(20), b"\xff" * 20):
            if record.id not in found or record.version > found[record.id].version:
                found[record.id] = record
    return found


def ground(world: World, slot: Slot, count: int, seed: int = 0) -> list[Identity]:
    """Identities that come before all members as owners of a slot."""
    start, rng = slot_start(slot, world.plan.slot_bits), Random(f"ground {seed}")
    least = max(weight(member, start) for member in world.running()[0].overlay.view.members())
    found = list[Identity]()
    while len(found) < count:
        made = Identity(rng.randbytes(32))
        found += [made] if weight(made.node_id, start) > least else []
    return found


async def take_over(world: World, slot: Slot, seed: int = 0) -> list[SimNode]:
    """Three such identities join, and wait until they own the slot and all honest copies are withdrawn."""
    honest = world.running()
    liars = [await world.add_as(identity) for identity in ground(world, slot, 3, seed)]
    names = {node.identity.node_id for node in liars}
    await world.until(lambda: owners(world, slot) == names, TAKEN_WITHIN_S)
    await world.until(
        lambda: not any(slot in n.node_core.store.replicator.ready_slots() for n in honest), TAKEN_WITHIN_S
    )
    return liars


async def forge(world: World, slot: Slot, liars: list[SimNode]) -> int:
    """Have the owners of a slot sell something on each of its pages, under leases that they grant each other. They
    bring it to everybody."""
    wall, network = world.loop.clock()().wall, bytes.fromhex(world.network.id)
    pages = [r for r in newest(liars).values() if slot_of(r.key, world.plan.slot_bits) == slot]
    for page in pages:
        document = replace(decode_document(page.body), text="buy zinnober here", fetched_at=wall, status=200)
        day, body = int(wall // 86_400) + 300, encode_document(document)
        draft = Draft(Kind.DOCUMENT, page.id, page.key, int(wall), int(wall * 1000), day, body, b"buy zinnober here")
        given = grant(draft, *(liar.identity for liar in liars), bits=world.plan.slot_bits, network=network)
        (record,) = sign_package([draft], liars[0].identity)
        for node in world.running():
            for hint in ((), tuple(liar.identity.node_id for liar in liars[1:])):
                message = PutPackage(pack([record]), hint, (given,))
                await liars[0].overlay.ask(node.overlay.node_id, message, PutReply, timeout_s=5.0)
    return len(pages)


async def is_whole(nodes: list[SimNode], true: dict[bytes, Record]) -> bool:
    """Whether each node finds every page, and says that all slots were answered."""
    for node in nodes:
        answer = await node.node_core.index.searcher.search(SearchRequest("site:site1.example", limit=10))
        if Reason.UNANSWERED in {why["reason"] for why in answer["why"]}:
            return False
    return newest(nodes).keys() == true.keys()


async def hits(world: World, query: str) -> set[str]:
    """The URLs that all nodes find, whoever is asked."""
    found = set[str]()
    for node in world.running():
        answer = await node.node_core.index.searcher.search(SearchRequest(query, limit=100))
        found |= {hit["url"] for hit in answer["results"]}
    return found


async def end(world: World, liars: list[SimNode], true: dict[bytes, Record], *, is_block: bool = True) -> None:
    """Block the liars, or have them leave: forged pages are gone and honest ones are back in time."""
    names = [node.identity.node_id.hex() for node in liars]
    began = world.loop.time()
    for liar in liars:
        if not is_block:
            liar.overlay.leave_for_good()
            await world.pass_time(5.0)
        await world.kill(liar)
    if is_block:
        world.publish(blocked=sorted(names))
        while await hits(world, "zinnober"):
            assert world.loop.time() < began + GONE_WITHIN_S, "forged pages are still found"
            await world.pass_time(1.0)
    wanted = {id: record.version for id, record in true.items()}
    while {id: record.version for id, record in newest(world.running()).items()} != wanted:
        lost = wanted.keys() - newest(world.running()).keys()
        assert world.loop.time() < began + BACK_WITHIN_S, f"{len(lost)} pages are missing"
        await world.pass_time(1.0)
    await crawled(world)
    assert_complete(world)


async def begin(world: World) -> tuple[dict[bytes, Record], Slot]:
    """Five honest nodes crawl all there is; return the pages, and the slot in which most of them lie."""
    await world.add(5)
    await world.crawl()
    await crawled(world)
    return newest(world.running()), fullest(world)


async def restart(world: World, nodes: list[SimNode], away_s: float) -> None:
    """Kill nodes and start them again, one after the other."""
    for node in nodes:
        await world.kill(node)
        await world.pass_time(away_s)
        await world.restart(node)
        await world.pass_time(30.0)


@simulated(YOUNG)
async def test_in_the_first_hour_copies_are_kept_and_a_block_repairs_all(world: World) -> None:
    true, slot = await begin(world)
    honest = world.running()
    liars = await take_over(world, slot)
    assert await forge(world, slot, liars) >= 3
    await restart(world, honest, 20.0)
    await world.pass_time(SETTLED_S)
    assert await hits(world, "zinnober")
    await end(world, liars, true)


@simulated(YOUNG)
async def test_a_slot_that_is_taken_over_amid_a_crawl_is_crawled_to_its_end_after_a_block(world: World) -> None:
    await world.add(5)
    await world.crawl()
    await world.until(lambda: len(newest(world.running())) > 20, 300.0)
    slot = fullest(world)
    liars = await take_over(world, slot)
    await world.pass_time(SETTLED_S)
    for liar in liars:
        await world.kill(liar)
    world.publish(blocked=sorted(liar.identity.node_id.hex() for liar in liars))
    await world.pass_time(60.0)
    await crawled(world)
    assert_complete(world)


@simulated(YOUNG)
async def test_a_former_owner_whose_disk_runs_short_gives_its_copy_up_first_and_says_so(world: World) -> None:
    true, slot = await begin(world)
    former = [node for node in world.running() if node.overlay.node_id in owners(world, slot)]
    liars = await take_over(world, slot)
    await forge(world, slot, liars)
    await world.pass_time(SETTLED_S)
    assert all(slot in node.node_core.store.records.occupied(world.plan.slot_bits) for node in former)
    short = former[0].node_core.store.records
    short.room.set_quota(short.room.used_bytes, 0)
    await world.until(lambda: slot not in short.occupied(world.plan.slot_bits), 30.0)
    short.room.set_quota(1 << 30, 0)
    status = await status_of(former[0], world.network).status()
    told = {need.topic: need.text for need in status.needs}
    assert "the node gave up copies of " in told["disk"]
    await end(world, liars, true)


@pytest.mark.prove
@simulated(YOUNG)
async def test_two_take_overs_lose_nothing_and_the_first_ones_leave(world: World) -> None:
    true, slot = await begin(world)
    first = await take_over(world, slot, 1)
    await world.pass_time(SETTLED_S)
    second = await take_over(world, slot, 2)
    await forge(world, slot, second)
    await world.pass_time(SETTLED_S)
    for liar in first:
        await world.kill(liar)
    await end(world, second, true)


@simulated(WorldPlan(seed=37, hosts=6, pages=12, strategy={"effective_at": int(EPOCH)}))
async def test_in_a_network_three_days_old_ground_identities_own_one_copy_of_a_slot_at_most(world: World) -> None:
    true, slot = await begin(world)
    honest = world.running()
    for _ in range(7):  # nobody runs: that costs nothing
        for node in honest:
            await world.kill(node)
        await world.pass_time(10.5 * 3600.0)
        for node in honest:
            await world.restart(node)
        await world.pass_time(30.0)
    liars = [await world.add_as(identity) for identity in ground(world, slot, 3)]
    names = {node.identity.node_id for node in liars}
    await world.until(lambda: bool(names & owners(world, slot)), TAKEN_WITHIN_S)
    for _ in range(30):
        assert len(names & owners(world, slot)) <= 1
        await world.pass_time(10.0)
    former = [n for n in honest if slot in n.node_core.store.records.occupied(world.plan.slot_bits)]
    assert {n.overlay.node_id for n in former} == owners(world, slot) - names, (
        "where others are older, copies go at once"
    )
    await forge(world, slot, liars)
    await end(world, liars, true)


@pytest.mark.parametrize("how", ["killed", *proved("stopped", "leaving")])
@simulated(OPEN)
async def test_a_crowd_that_took_over_a_young_open_network_and_goes_leaves_it_whole(world: World, how: str) -> None:
    true, _ = await begin(world)
    honest, crowd = world.running(), await world.add(CROWD, 2.0)
    names = {node.overlay.node_id for node in crowd}
    await world.until(lambda: all(names <= {*node.overlay.view.members()} for node in honest), 300.0)
    await world.pass_time(180.0)
    assert len(holders_of(honest)) < 1 << world.plan.slot_bits, "the crowd crawls"
    for node in crowd:
        if how == "leaving":
            node.overlay.leave_for_good()
        else:
            await (world.kill if how == "killed" else world.stop)(node)
    await world.pass_time(10.0)
    for node in crowd if how == "leaving" else ():
        await world.kill(node)
    began = world.loop.time()
    while len(holders_of(honest)) < 1 << world.plan.slot_bits or not await is_whole(honest, true):
        assert world.loop.time() < began + WHOLE_WITHIN_S
        await world.pass_time(5.0)
    assert newest(honest).keys() == true.keys()


@simulated(YOUNG)
async def test_who_took_a_slot_over_and_goes_without_a_word_takes_nothing_along(world: World) -> None:
    true, slot = await begin(world)
    liars = await take_over(world, slot)
    await world.pass_time(SETTLED_S)
    await end(world, liars, true, is_block=False)
