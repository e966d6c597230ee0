"""A disk that loses what it was given, in a network: nobody is told a falsehood, nothing ends, copies come back."""

import asyncio
import random
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from dht import FaultSite, LocalFaults, Now, slot_of
from store import Draft, MemoryDisk, RecordStore
from store.record.messages import FetchRecords, FetchReply, Wanted
from tests.store.network import Net, Node, in_network
from tests.store.replication.test_replicator import complete, readable
from tests.store.support import WALL, draft, random_draft

Damage = Callable[[MemoryDisk, random.Random], None]


def _newest(disk: MemoryDisk) -> bytearray:
    return disk._files[max(disk.names())]


def flipped(disk: MemoryDisk, rng: random.Random) -> None:
    data = _newest(disk)
    for _ in range(40):
        data[rng.randrange(16, len(data))] ^= 1 << rng.randrange(8)


def one_bit(disk: MemoryDisk, rng: random.Random) -> None:
    data = _newest(disk)
    data[rng.randrange(16, len(data))] ^= 1


def zeroed_block(disk: MemoryDisk, rng: random.Random) -> None:
    data = _newest(disk)
    start = rng.randrange(16, len(data) - 4096)
    data[start : start + 4096] = bytes(4096)


def garbled_block(disk: MemoryDisk, rng: random.Random) -> None:
    data = _newest(disk)
    start = rng.randrange(16, len(data) - 4096)
    data[start : start + 4096] = rng.randbytes(4096)


def no_beginning(disk: MemoryDisk, rng: random.Random) -> None:
    _newest(disk)[:200] = bytes(200)


def all_gone(disk: MemoryDisk, rng: random.Random) -> None:
    data = _newest(disk)
    data[:] = rng.randbytes(len(data))


DAMAGES = (flipped, one_bit, zeroed_block, garbled_block, no_beginning, all_gone)


def watched(node: Node) -> LocalFaults:
    """Start a node whose faults can be seen."""
    loop = asyncio.get_running_loop()
    clock = lambda: Now(WALL + loop.time(), loop.time())  # noqa: E731
    faults = LocalFaults(clock)
    node.store.upkeep._faults = faults
    return faults


async def written(net: Net) -> list[Draft]:
    await net.start(3)
    drafts = [draft(n) if n % 3 else random_draft(n, 2000) for n in range(90)]
    await net.list[0].replicator.write(drafts)
    await net.until(lambda: complete(net, drafts))
    return drafts


@pytest.mark.parametrize("damage", DAMAGES)
@in_network(3)
async def test_damage_under_a_running_node_is_met_said_and_healed(net: Net, damage: Damage) -> None:
    drafts = await written(net)
    hurt, asker = net.list[0], net.list[1]
    faults = watched(hurt)
    damage(hurt.disk, random.Random(1))
    message = FetchRecords(tuple(Wanted(d.kind, d.id, d.key) for d in drafts), True)
    reply = await asker.overlay.ask(hurt.id, message, FetchReply, timeout_s=5)
    sure = {n for n in range(len(drafts)) if n not in set(reply.unsure) | set(reply.later)}
    told = {r.id for r in await asker.replicator._reader._sync.prove(hurt.id, reply, message.wanted, content=True)}
    assert all(drafts[n].id in told for n in sure), "what it cannot read it does not deny"
    for node in net.list:
        await readable(node, drafts)
    await net.until(lambda: complete(net, drafts) and hurt.own_ready and not len(hurt.store._unreadable))
    assert [fault.site for fault in faults.present()] in ([FaultSite.RECORDS], []), "said while it lasted"
    for d in drafts:
        assert hurt.store.find(d.kind, d.id) is not None
    await net.until(lambda: faults.present() == ())


@pytest.mark.parametrize("damage", DAMAGES)
@in_network(3)
async def test_damage_met_while_the_index_is_rebuilt_costs_what_it_hit(net: Net, damage: Damage) -> None:
    drafts = await written(net)
    hurt = net.list[0]
    hurt.kill(lose_database=True)
    await asyncio.wait([hurt.task])
    damage(hurt.disk, random.Random(2))
    hurt.start()
    await net.until(lambda: hurt.own_ready)
    assert complete(net, drafts)
    await readable(hurt, drafts)


@pytest.mark.parametrize("damage", DAMAGES)
@in_network(3)
async def test_a_sound_record_behind_damage_is_not_cut_off(net: Net, damage: Damage) -> None:
    drafts = await written(net)
    disk = net.list[0].disk
    net.list[0].kill(lose_database=True)
    await asyncio.wait([net.list[0].task])
    last_bytes = bytes(_newest(disk)[-1500:])
    damage(disk, random.Random(3))
    if bytes(_newest(disk)[-1500:]) == last_bytes:
        alone = RecordStore(disk, net.list[0].config, lambda: Now(WALL, 0.0))
        assert any(alone.find(d.kind, d.id) for d in drafts)


@in_network(3)
async def test_a_full_disk_in_a_network_costs_its_readiness_until_there_is_room(net: Net) -> None:
    drafts = await written(net)
    full = net.list[0]
    faults = full.store._queue._faults
    full.disk.capacity_bytes = sum(map(full.disk.size, full.disk.names())) + 100
    more = [random_draft(n, 3000) for n in range(100, 130)]
    await net.list[1].replicator.write(more)
    assert not full.own_ready and faults.present()
    assert "free some space" in faults.present()[0].remedy
    await readable(full, drafts + more)
    slots = {slot_of(d.key, net.strategy.slot_bits) for d in more}
    assert not slots & full.replicator.ready_slots(), "what lacks a record answers for nothing"
    full.disk.capacity_bytes = 1 << 30
    await net.until(lambda: full.own_ready and complete(net, more), 200)
    await net.until(lambda: faults.present() == ())


@in_network(3)
async def test_compaction_that_meets_damage_drops_it_and_goes_on(net: Net) -> None:
    net.config(segment_bytes=40_000, compact_below=0.9)
    drafts = await written(net)
    hurt = net.list[0]
    older = [random_draft(n, 2000) for n in range(0, 60, 3)]
    await hurt.replicator.write([replace(each, at_ms=each.at_ms + 1) for each in older])  # so all of them are replaced
    first = hurt.disk._files[min(hurt.disk.names())]
    for place in range(100, len(first), 997):
        first[place] ^= 1
    await hurt.store.upkeep.compact()
    assert len(hurt.store._unreadable), "it was met"
    for d in drafts:
        hurt.store.find(d.kind, d.id)
    await net.until(lambda: not len(hurt.store._unreadable) and complete(net, drafts) and hurt.own_ready)
    before = hurt.store.room.record_bytes
    await hurt.store.upkeep.compact()
    assert hurt.store.room.record_bytes < before, "it goes on"
    for d in drafts:
        assert hurt.store.find(d.kind, d.id) is not None
