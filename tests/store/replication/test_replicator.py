"""Several nodes in virtual time: what is acknowledged is kept, whoever dies, joins, leaves or lies."""

import asyncio
import random
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from dht import BadMessage, NodeId, Slot, slot_of
from store import Draft, Kind, Record, TooFewCopies
from store.record.messages import FetchRecords, FetchReply, PutPackage, PutReply, ReconcileStep
from store.record.package import open_package, pack, sign_package
from store.record.package_part import PackagePart
from store.record.range_reconciliation import FORM, RangeMode, Ranges
from store.segments.file_system import FolderDisk
from store.writing.package_sender import gathering_s
from tests.parameters import proved
from tests.store.network import CONFIG, Net, Node, in_network, network
from tests.store.support import draft, random_draft, records


def holders(net: Net, d: Draft) -> set[NodeId]:
    return {n.id for n in net.running() if n.store.find_version(d.kind, d.id) is not None}


def owners(net: Net, d: Draft) -> set[NodeId]:
    return set(net.running()[0].overlay.owners(slot_of(d.key, net.strategy.slot_bits)))


def complete(net: Net, drafts: list[Draft]) -> bool:
    return all(holders(net, d) >= owners(net, d) for d in drafts)


async def readable(node: Node, drafts: list[Draft]) -> None:
    found = await node.replicator.read_many([(d.kind, d.id, d.key) for d in drafts], content=True)
    for d in drafts:
        record = found.get((d.kind, d.id))
        assert record is not None and record.body == d.body and record.content == d.content


@in_network(1)
async def test_a_network_of_one_works_at_once(net: Net) -> None:
    net.list[0].start(expects_others=False)
    assert await net.until(lambda: net.list[0].own_ready) < 0.5
    drafts = [draft(n) for n in range(20)]
    await net.list[0].replicator.write(drafts)
    await readable(net.list[0], drafts)


@in_network(4)
async def test_an_acknowledgement_of_newcomers_alone_is_none_where_an_older_owner_lives(net: Net) -> None:
    """The old owner's disk is slow to say yes; the newcomers are quick."""
    await net.start(4)
    old = net.list[1]
    net.old = {old.id}
    net.slow = {old.id: 0.5}
    drafts = [d for d in (draft(n) for n in range(60)) if old.id in owners(net, d)]
    assert len(drafts) > 10
    await net.list[0].replicator.write(drafts)
    assert all(old.id in holders(net, d) for d in drafts)


@in_network(5)
async def test_a_write_reaches_all_owners_and_any_node_reads_it(net: Net) -> None:
    await net.start(5)
    drafts = [draft(n) for n in range(60)] + [draft(n, kind=Kind.VISIT) for n in range(60)]
    await net.list[0].replicator.write(drafts)
    assert all(len(holders(net, d)) >= 2 for d in drafts)
    await net.until(lambda: complete(net, drafts), 2)
    for node in net.list:
        await readable(node, drafts)
    d = drafts[0]
    bare = await net.list[3].replicator.read(d.kind, d.id, d.key, content=False)
    assert bare is not None and bare.body == d.body
    absent = draft(999)
    assert await net.list[3].replicator.read(absent.kind, absent.id, absent.key, content=True) is None
    assert all(holders(net, d) == owners(net, d) for d in drafts)


@in_network(3)
async def test_concurrent_writes_share_packages(net: Net) -> None:
    await net.start(3)
    async with asyncio.TaskGroup() as tasks:
        for n in range(300):
            tasks.create_task(net.list[0].replicator.write([draft(n)]))
    assert net.list[0].overlay.counted["PutPackage"] <= 20


def test_packages_gather_longer_where_each_goes_to_more_peers() -> None:
    async def story(net: Net) -> None:
        await net.start(4)
        async with asyncio.TaskGroup() as tasks:
            for n in range(60):
                tasks.create_task(net.list[0].replicator.write([draft(n)]))
                await asyncio.sleep(0.05)
        sent, each_s = net.list[0].overlay.counted["PutPackage"], gathering_s(CONFIG.flush_after_s, 3)
        assert sent <= 3 * (2 + 3.0 / each_s), "the first two follow upon each other as if there were one peer"

    network(4, story)
    assert [gathering_s(0.2, peers) for peers in (0, 1, 3, 9)] == [0.2, 0.2, pytest.approx(0.6), 1.0]
    assert gathering_s(2.0, 9) == 2.0, "an operator may make it longer"


@in_network(1)
async def test_a_full_package_does_not_wait_for_its_time(net: Net) -> None:
    node, loop, full = net.list[0], asyncio.get_running_loop(), CONFIG.flush_records
    node.start(expects_others=False)
    await net.until(lambda: node.own_ready)
    await node.replicator.write([draft(0, kind=Kind.VISIT)])
    began = loop.time()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(node.replicator.write([draft(1, kind=Kind.VISIT)]))
        await asyncio.sleep(CONFIG.flush_after_s / 10)  # this one waits for more
        for n in range(2, full + 1):
            tasks.create_task(node.replicator.write([draft(n, kind=Kind.VISIT)]))
    assert loop.time() - began < CONFIG.flush_after_s / 2


@in_network(3)
async def test_writers_wait_while_too_much_is_under_way(net: Net) -> None:
    net.config(max_waiting_bytes=50_000, flush_bytes=20_000)
    await net.start(3)
    most = 0
    async with asyncio.TaskGroup() as tasks:
        writes = [tasks.create_task(net.list[0].replicator.write([random_draft(n, 5000)])) for n in range(200)]
        while not all(w.done() for w in writes):
            most = max(most, net.list[0].replicator.status().writing_bytes)
            await asyncio.sleep(0.001)
    assert 30_000 < most < 60_000 and net.list[0].replicator.status().writing_bytes == 0


@in_network(4)
async def test_a_dead_owner_is_owed_its_copies_and_gets_them_when_it_returns(net: Net) -> None:
    await net.start(4)
    dead = net.list[3]
    dead.kill()
    drafts = [draft(n) for n in range(80)]
    await net.list[0].replicator.write(drafts)
    for owed in [d for d in drafts if dead.id in owners(net, d)]:
        assert len(holders(net, owed)) >= 2
    owed_count = sum(dead.id in owners(net, d) for d in drafts)
    await net.until(lambda: net.list[0].replicator.status().owed == owed_count, 1)
    assert net.list[0].replicator.status().owed_now == 0, "the living are level without the dead one"
    net.list[0].kill()  # debts outlive the debtor
    net.list[0].start()
    assert net.list[0].replicator.status().owed > 0
    dead.start()
    await net.until(lambda: complete(net, drafts), 30)
    await net.until(lambda: net.list[0].replicator.status().owed == 0, 30)
    await net.all_ready()
    assert all(n.replicator.status().under_replicated == 0 for n in net.list)


@in_network(4)
async def test_survivors_complete_each_other_when_a_writer_died_in_the_middle(net: Net) -> None:
    net.config(reconcile_every_s=1e6)
    await net.start(4)
    await asyncio.sleep(15)  # comparisons that follow from the start are over
    dead = net.list[3]
    drafts = [d for d in map(draft, range(40)) if dead.id in owners(net, d)]
    grants = net.elect(drafts, dead.identity)
    for d, record in zip(drafts, records(*drafts, signer=dead.identity), strict=True):
        one = min(owners(net, d) - {dead.id})
        for holder in (dead.id, one):
            await net.nodes[holder].store.grants.keep(grants)
            await net.nodes[holder].store.put([record])
    dead.kill()
    await net.until(lambda: all(holders(net, d) >= owners(net, d) - {dead.id} for d in drafts), 5)


@in_network(2)
async def test_without_enough_owners_a_write_fails_in_time_and_says_why(net: Net) -> None:
    await net.start(2)
    net.list[1].kill()
    with pytest.raises(TooFewCopies, match=r"1 of 2 durable copies after 2\d s"):
        await net.list[0].replicator.write([draft(1)])
    with pytest.raises(TooFewCopies, match=r"1 of 2 durable copies after [2-4] s"):
        await net.list[0].replicator.write([draft(2)], is_patient=False)
    net.list[1].start()
    await net.list[0].replicator.write([draft(1)])
    assert len(holders(net, draft(1))) == 2
    await net.until(lambda: len(holders(net, draft(2))) == 2, 60)


def test_whoever_waits_for_a_writer_that_broke_is_told_and_it_writes_on_when_it_runs_again() -> None:
    async def story(net: Net) -> None:
        await net.start(2)
        one, other = net.list
        other.kill()
        writing = net.group.create_task(refused(one))
        await asyncio.sleep(1)
        one.task.cancel()
        await writing
        one.task = net.group.create_task(one._run())
        other.start()
        await one.replicator.write([draft(1)])
        assert len(holders(net, draft(1))) == 2

    async def refused(node: Node) -> None:
        async with asyncio.timeout(5):  # a write has four times as long
            with pytest.raises(TooFewCopies):
                await node.replicator.write([draft(1)])

    network(2, story)


@in_network(5, replicas=2)
async def test_stand_ins_take_copies_while_owners_are_away_and_hand_them_over(net: Net) -> None:
    await net.start(5)
    for node in net.list[:2]:
        node.kill()
    drafts = [draft(n) for n in range(60)]
    await net.list[2].replicator.write(drafts)
    assert all(len(holders(net, d)) >= 2 for d in drafts)
    for node in net.list[:2]:
        node.start()
    await net.until(lambda: complete(net, drafts) and net.is_level(), 60)


@in_network(5)
async def test_growth_from_one_to_five_spreads_the_data_and_former_owners_let_go(net: Net) -> None:
    drafts = [draft(n) for n in range(100)]
    net.list[0].start(expects_others=False)
    await net.until(lambda: net.list[0].own_ready)
    await net.list[0].replicator.write(drafts)
    for node in net.list[1:]:
        node.start()
        while not (all(n.own_ready for n in net.running()) and complete(net, drafts)):
            await asyncio.sleep(0.05)
            await readable(node, drafts)  # the newcomer finds everything all the while
    await net.until(net.is_level, 60)
    assert all(holders(net, d) == owners(net, d) for d in drafts)
    assert all(n.replicator.status().handing_over == 0 for n in net.list)
    slots = 1 << net.strategy.slot_bits
    for slot in range(slots):
        ready = set(net.list[0].overlay.ready(Slot(slot)))
        assert ready == set(net.list[0].overlay.owners(Slot(slot)))


@in_network(5)
async def test_a_slot_always_has_a_complete_ready_replica_while_nodes_join(net: Net) -> None:
    net.delay_s = 0.1
    drafts = [draft(n) for n in range(60)]
    await net.start(2)
    await net.list[0].replicator.write(drafts)
    for node in net.list[2:]:
        node.start()
    for _ in range(300):
        await asyncio.sleep(0.05)
        for d in drafts:
            slot = slot_of(d.key, net.strategy.slot_bits)
            ready = net.list[0].overlay.ready(slot)
            assert ready, f"nobody is ready for slot {slot}"
            assert all(net.nodes[r].store.find(d.kind, d.id) is not None for r in ready)


@pytest.mark.parametrize("lag_s", [3.0, *proved(0.5)])
def test_writes_while_nodes_join_reach_all_owners_though_views_lag(lag_s: float) -> None:
    async def story(net: Net) -> None:
        drafts: list[Draft] = []
        net.list[0].start(expects_others=False)
        await net.until(lambda: net.list[0].own_ready)
        for node in net.list[1:]:
            node.start()
            for _ in range(30):
                batch = [draft(len(drafts) + n) for n in range(3)]
                await net.list[0].replicator.write(batch)
                drafts += batch
                await asyncio.sleep(0.1)
        await net.until(lambda: complete(net, drafts) and net.is_level(), 60)
        await net.all_ready()
        for node in net.list:
            await readable(node, drafts)

    network(5, story, lag_s=lag_s)


@pytest.mark.parametrize("count", [2, 5, *proved(3)])
def test_nodes_that_start_together_never_answer_for_what_they_lack(count: int) -> None:
    async def story(net: Net) -> None:
        await net.start(count)
        drafts = [draft(n) for n in range(60)]
        await net.list[0].replicator.write(drafts)
        await net.until(lambda: complete(net, drafts))
        for node in net.list:
            node.kill()
        await asyncio.sleep(5)
        net.list[0].wipe()  # it lost everything, the others did not
        for node in net.list:
            node.start()
        for _ in range(150):
            await asyncio.sleep(0.1)
            for node in net.list:
                for d in drafts:
                    slot = slot_of(d.key, net.strategy.slot_bits)
                    assert slot not in node.replicator.ready_slots() or node.store.find(d.kind, d.id) is not None
        await net.all_ready()

    network(count, story, lag_s=1.5)


@pytest.mark.parametrize("seed", [0, *proved(1, 2)])
@in_network(5)
async def test_wiping_all_but_one_disk_amid_writing_loses_nothing_that_was_delivered(net: Net, seed: int) -> None:
    rng = random.Random(seed)
    await net.start(5)
    drafts = [draft(n) for n in range(120)]
    team = net.list[0].overlay.owners(slot_of(drafts[0].key, net.strategy.slot_bits))

    async def write() -> None:
        for n in range(0, len(drafts), 4):
            with suppress(TooFewCopies):
                await net.nodes[team[-1]].replicator.write(drafts[n : n + 4])

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(write())
        await net.until(lambda: sum(complete(net, [d]) for d in drafts) >= rng.randint(20, 60))
        delivered = [d for d in drafts if complete(net, [d])]
        assert 20 <= len(delivered) < len(drafts)
        for peer in team[:-1]:
            net.nodes[peer].kill()
            net.nodes[peer].wipe()
        await asyncio.sleep(rng.uniform(0.0, 2.0))
        for peer in team[:-1]:
            net.nodes[peer].start()
    await net.all_ready()
    await net.until(lambda: complete(net, delivered), 60)


@pytest.mark.parametrize("seed", [0, *proved(1, 2, 3)])
@in_network(5)
async def test_through_kills_and_power_cuts_nothing_acknowledged_is_lost(net: Net, seed: int) -> None:
    rng = random.Random(seed)
    await net.start(5)
    safe: dict[int, Draft] = {}

    async def write(node: Node, first: int) -> None:
        for n in range(first, first + 40):
            d = draft(n, at=asyncio.get_running_loop().time())
            try:
                await node.replicator.write([d])
            except TooFewCopies:
                continue
            safe[n] = d

    async with asyncio.TaskGroup() as tasks:
        for number, node in enumerate(net.list[:2]):
            tasks.create_task(write(node, 1000 * number))
        for _ in range(6):
            await asyncio.sleep(rng.uniform(0.05, 3))
            victim = rng.choice(net.list[2:])
            victim.kill(lose_database=rng.random() < 0.5)
            await asyncio.sleep(rng.uniform(0.05, 8))
            victim.start()
    await net.all_ready()
    drafts = [*safe.values()]
    assert len(drafts) >= 70
    await net.until(lambda: complete(net, drafts), 60)
    for node in net.list:
        await readable(node, drafts)


@in_network(4)
async def test_a_full_owner_says_it_is_not_ready_and_the_write_goes_on(net: Net) -> None:
    await net.start(4)
    full = net.list[3]
    full.disk.capacity_bytes = 3000
    drafts = [random_draft(n, 400) for n in range(60)]
    await net.list[0].replicator.write(drafts)
    lacking = {slot_of(d.key, net.strategy.slot_bits) for d in drafts if full.id in owners(net, d) - holders(net, d)}
    assert lacking and not lacking & full.replicator.ready_slots()
    full.disk.capacity_bytes = 1 << 30
    await net.until(lambda: complete(net, drafts) and full.own_ready, 300)


@in_network(3)
async def test_an_outbox_that_overflows_has_slots_reconciled_instead(net: Net) -> None:
    net.config(outbox_bytes=1000, reconcile_every_s=1e9)
    await net.start(3)
    net.cut = {net.list[2].id}
    drafts = [draft(n) for n in range(50)]
    await net.list[0].replicator.write(drafts)
    await net.until(lambda: 0 < net.list[0].replicator.status().owed <= 10, 10)
    net.cut = set()
    await net.until(lambda: complete(net, drafts), 30)


@in_network(5)
async def test_slots_may_be_doubled_and_halved(net: Net) -> None:
    await net.start(5)
    drafts = [draft(n) for n in range(60)]
    await net.list[0].replicator.write(drafts)
    for bits in (6, 3):
        net.set_strategy(slot_bits=bits)
        await asyncio.sleep(1)
        await net.all_ready()
        await net.until(lambda: complete(net, drafts) and net.is_level(), 90)


def test_doubled_slots_move_at_a_bounded_rate_and_are_served_by_those_who_have_them() -> None:
    rate, size = 10_000, 4000

    async def story(net: Net) -> None:
        net.config(handover_bytes_s=rate, handover_slots=2)
        net.set_strategy(replicas=2, min_acks=2)
        await net.start(5)
        drafts = [replace(draft(n), content=random.Random(n).randbytes(size)) for n in range(120)]
        await net.list[0].replicator.write(drafts)
        await asyncio.sleep(5.0)
        had = {n.id: {d.id for d in drafts if n.id in holders(net, d)} for n in net.list}
        net.set_strategy(slot_bits=5)
        began = asyncio.get_running_loop().time()
        gained = [sum(n.id in owners(net, d) and d.id not in had[n.id] for d in drafts) for n in net.list]
        assert max(gained) > 20
        while not (complete(net, drafts) and net.is_level()):
            await asyncio.sleep(2.0)
            for d in drafts[::20]:
                slot = slot_of(d.key, 5)
                assert any(slot in n.replicator.ready_slots() and n.id in holders(net, d) for n in net.list)
        took_s = asyncio.get_running_loop().time() - began
        assert max(gained) * size / rate <= took_s <= 120

    network(5, story)


@in_network(5)
async def test_lies_are_refused_and_do_no_harm(net: Net) -> None:
    await net.start(5)
    liar, victim = net.list[0], net.list[1]
    mine = [d for d in map(draft, range(100)) if victim.id in owners(net, d)]
    foreign = [d for d in map(draft, range(100)) if victim.id not in owners(net, d)]
    good, *rest = records(*mine[:6], signer=liar.identity)
    forged = replace(rest[0], proof=replace(rest[0].proof, signature=bytes(64)))
    swapped = replace(rest[1], content=b"other")
    bare = replace(rest[2], content=None)
    future = sign_package([replace(mine[7], at_ms=mine[7].at_ms + 10_000_000)], liar.identity)[0]
    batch: list[Record] = [good, forged, swapped, bare, future, *records(foreign[0])]
    package = PutPackage(pack(batch), (), net.elect(mine[:6], liar.identity))
    reply = await liar.overlay.ask(victim.id, package, PutReply, timeout_s=5)
    assert [r.index for r in reply.refused] == [1, 2, 3, 4, 5]
    assert "signature" in reply.refused[0].reason and "not mine" in reply.refused[4].reason
    assert victim.store.find(good.kind, good.id) == good
    assert all(victim.store.find(r.kind, r.id) is None for r in batch[1:])
    for message in (
        PutPackage(b"garbage"),
        PutPackage(pack([good])[:-3]),
        ReconcileStep(0, FORM, bytes(16), Ranges((), b"")),
        ReconcileStep(victim.store.today, FORM, bytes(16), Ranges((b"b", b"a"), bytes([RangeMode.SKIP] * 2))),
    ):
        with pytest.raises(BadMessage):
            await liar.overlay.ask(victim.id, message, PutReply, timeout_s=5)


@in_network(5)
async def test_a_silent_replica_is_hedged(net: Net) -> None:
    await net.start(5)
    drafts = [draft(n) for n in range(40)]
    await net.list[0].replicator.write(drafts)
    await net.until(lambda: complete(net, drafts))
    hang(net.list[4:])
    loop = asyncio.get_running_loop()
    for node in net.list[:4]:
        before = loop.time()
        await readable(node, drafts)
        assert loop.time() - before < 2


def asker_and_replicas(net: Net, key: bytes) -> tuple[Node, list[Node]]:
    """One who has no part in a key, and who is ready for it."""
    ready = net.list[0].overlay.ready(slot_of(key, net.strategy.slot_bits))
    replicas = [node for node in net.list if node.id in ready]
    return next(node for node in net.list if node not in replicas), replicas


def hang(nodes: list[Node]) -> None:
    """Have nodes answer no reads from now on."""

    async def silence(peer: NodeId, message: FetchRecords) -> FetchReply:
        await asyncio.sleep(1000)
        raise AssertionError

    for node in nodes:
        node.overlay.serve(FetchRecords, silence)


async def read_thrice(asker: Node, kinds: list[Kind], of: Draft) -> tuple[set[Kind], list[float]]:
    """Read records of one id; return of which kinds there were some, and how long each time took, in seconds."""
    loop, took_s = asyncio.get_running_loop(), list[float]()
    for _ in range(3):
        began = loop.time()
        found, unsaid = await asker.replicator.read_sure([(kind, of.id, of.key) for kind in kinds])
        assert not unsaid
        took_s.append(loop.time() - began)
    return {kind for kind, _ in found}, took_s


@in_network(5)
async def test_what_is_not_there_is_told_in_time_though_all_but_one_replica_are_silent(net: Net) -> None:
    await net.start(5)
    absent = draft(1)
    asker, replicas = asker_and_replicas(net, absent.key)
    hang(replicas[1:])
    found, took_s = await read_thrice(asker, [absent.kind], absent)
    assert not found and took_s[0] < len(replicas[1:]) * CONFIG.hedge_after_s + 0.2
    assert took_s[1] < 0.2, "who is late is not waited for again"


@in_network(5)
async def test_records_of_many_slots_are_asked_of_few_peers_and_of_none_behind_a_relay(net: Net) -> None:
    await net.start(5)
    drafts = [draft(n, hosts=40) for n in range(40)]
    await net.list[0].replicator.write(drafts)
    await net.until(lambda: complete(net, drafts))
    asker = net.list[0]
    net.relayed = {net.list[1].id}
    asked = asker.overlay.counted.get("FetchRecords", 0)
    found = await asker.replicator.read_many([(each.kind, each.id, each.key) for each in drafts])
    assert len(found) == len(drafts)
    assert asker.overlay.counted["FetchRecords"] - asked == 2, "two of three direct peers have all between them"


@in_network(4, real=True)
async def test_the_same_with_real_threads_and_folders(net: Net, tmp_path: Path) -> None:
    net.delay_s = 0
    net.config(step_s=0.05, view_settle_s=0.05, deliver_every_s=0.05, handoff_settle_s=0.1)
    for number, node in enumerate(net.list):
        node.disk = FolderDisk(tmp_path / str(number))
    await net.start(3)
    drafts = [draft(n, size=2000) for n in range(600)]
    async with asyncio.TaskGroup() as tasks:
        for n in range(0, 600, 20):
            tasks.create_task(net.list[n % 3].replicator.write(drafts[n : n + 20]))
    await net.until(lambda: complete(net, drafts), 20)
    await net.list[1].stop()
    net.list[1].start()
    net.list[3].start()
    await net.until(lambda: all(n.own_ready for n in net.list) and net.is_level(), 20)
    for node in net.list:
        await readable(node, drafts)


@in_network(4)
async def test_records_of_a_kind_of_the_future_are_kept_and_copied_byte_for_byte(net: Net) -> None:
    """Only the newest program knows what they are: the others keep them, hand them out, and repair them."""
    await net.start(4)
    future = [replace(draft(n, kind=Kind(77)), content=b"inside %d" % n) for n in range(12)]
    known = [draft(n) for n in range(12)]
    await net.list[0].replicator.write([*future, *known])
    await net.until(lambda: complete(net, [*future, *known]))
    net.list[1].kill()
    net.list[1].wipe()
    net.list[1].start()
    await net.until(lambda: complete(net, [*future, *known]), 600)
    for node in net.list:
        await readable(node, [*future, *known])


def test_one_record_of_a_number_that_is_none_spoils_its_package_alone() -> None:
    good = pack(records(draft(1, kind=Kind(255))))
    assert open_package(good)[0].kind == 255
    for number in (0, 256, -1):
        with pytest.raises(ValueError):
            Kind(number)


async def seconds_to_write(node: Node, drafts: list[Draft]) -> float:
    began = asyncio.get_running_loop().time()
    await node.replicator.write(drafts)
    return asyncio.get_running_loop().time() - began


@pytest.mark.parametrize(("replicas", "frozen"), [(3, 1), (2, 2), *proved((2, 1), (3, 2))])
def test_a_write_is_answered_in_time_while_peers_are_frozen(replicas: int, frozen: int) -> None:
    async def story(net: Net) -> None:
        await net.start(6)
        await net.list[0].replicator.write([draft(n) for n in range(20)])
        net.frozen = {n.id for n in net.list[-frozen:]}
        for first in range(100, 300, 10):
            drafts = [draft(n, hosts=50) for n in range(first, first + 10)]
            assert await seconds_to_write(net.list[0], drafts) < 2
            for d in drafts:
                assert len(holders(net, d) - net.frozen) >= 2, "safe though one that took it dies"
        net.frozen = set()
        drafts = [draft(n, hosts=50) for n in range(100, 300)]
        await net.until(lambda: complete(net, drafts), 10)
        await net.until(net.is_level, 60)

    network(6, story, replicas=replicas)


@in_network(4, replicas=2)
async def test_a_disk_that_is_always_slow_is_no_reason_for_copies_elsewhere(
    net: Net, monkeypatch: pytest.MonkeyPatch
) -> None:
    await net.start(4)
    writer = net.list[0]
    put = writer.store.put

    async def slow_put(records: Sequence[Record], parts: Sequence[PackagePart] = ()) -> int:
        await asyncio.sleep(0.8)
        return await put(records, parts)

    monkeypatch.setattr(writer.store, "put", slow_put)
    mine = [d for d in (draft(n, hosts=60) for n in range(200)) if writer.id in owners(net, d)]
    for d in mine[:20]:
        await writer.replicator.write([d])
    assert sum(holders(net, d) != owners(net, d) for d in mine[:20]) <= 1, "until it knows itself"


@in_network(6, replicas=2)
async def test_a_copy_left_with_a_candidate_reaches_the_owner_though_all_others_that_had_it_die(net: Net) -> None:
    await net.start(6)
    frozen, writer = net.list[5], net.list[0]
    net.frozen = {frozen.id}
    drafts = [d for d in (draft(n, hosts=60) for n in range(400)) if frozen.id in owners(net, d)]
    await writer.replicator.write(drafts)
    for node in net.list[1:5]:
        node.kill(lose_database=True)
        node.start()
    writer.kill()
    lacking = [d for d in drafts if writer.id not in owners(net, d)]
    assert len(lacking) > 20
    net.frozen = set()
    await net.until(lambda: all(frozen.id in holders(net, d) for d in lacking), 60)


@in_network(6, replicas=2)
async def test_a_candidate_keeps_what_is_left_with_it_though_it_let_the_slot_go_just_now(net: Net) -> None:
    net.config(reconcile_every_s=5)
    await net.start(6)
    net.frozen = {net.list[5].id}
    for first in range(0, 200, 10):
        await net.list[0].replicator.write([draft(n, hosts=50) for n in range(first, first + 10)])
        await asyncio.sleep(0.7)
        for d in (draft(n, hosts=50) for n in range(first + 10)):
            assert len(holders(net, d) - net.frozen) >= 2
        if first % 50 == 0:  # somebody comes and goes: what lies here is looked at again
            net.list[4].kill()
            net.list[4].start()
