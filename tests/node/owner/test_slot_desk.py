"""A node says of each slot who owns, serves and crawls it, and what lies of it on its own disk."""

from node.extras.simulation.world import World, WorldPlan
from tests.sim.judged import crawled, service_of
from tests.sim.simulated import simulated


@simulated(WorldPlan(seed=3, hosts=8, pages=8, slot_bits=4, replicas=2))
async def test_slots_say_teams_copies_and_what_lies_here_also_when_a_member_dies(world: World) -> None:
    nodes = await world.add(3)
    await world.crawl()
    await crawled(world)
    service = service_of(world, nodes[0])
    table = await service.slots.slots("", False, None, 0, 50)
    assert (len(table.slots), table.matching, table.all, table.next) == (16, 16, 16, None)
    names = {node.overlay.view.node_id.hex() for node in nodes}
    assert {row.holder.node_id for row in table.slots if row.holder} <= names
    assert all(row.holder and len(row.owners) == row.copies == 2 for row in table.slots)
    mine = nodes[0].overlay.view.node_id.hex()
    assert all(row.leased == (row.holder is not None and row.holder.node_id == mine) for row in table.slots)
    here = [row for row in table.slots if row.ready]
    records = nodes[0].node_core.store.records
    kept = records.summary(bytes(20), b"\xff" * 20).documents
    assert sum(row.documents for row in here) == kept >= (await service.status()).documents > 0
    assert all((row.documents > 0) <= (row.bytes > 0) for row in here)
    assert 0.5 <= sum(row.bytes for row in table.slots) / records.room.record_bytes <= 1.0
    assert [row.slot for row in table.slots if mine in (o.node_id for o in row.owners)] == [
        row.slot for row in (await service.slots.slots(mine[:12], False, None, 0, 50)).slots
    ]
    assert (await service.slots.slots("", True, None, 0, 50)).matching == 0
    lost = nodes[2].overlay.view.node_id.hex()
    await world.kill(nodes[2])
    await world.until(lambda: any(len(peers) < 2 for peers in nodes[0].overlay.view.ready_by_slot()), 60.0)
    lacking = (await service.slots.slots("", True, None, 0, 50)).slots
    assert lacking and all(lost in (o.node_id for o in row.owners if not o.live) for row in lacking)
