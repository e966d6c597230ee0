"""Moving what lies astray: nothing is lost whoever knows what and dies when, and the work follows what must move."""

import asyncio

import pytest
from msgspec.structs import replace

from dht import Key, Rule, SiteShards, placement_key, site_of, slot_of
from store import Draft, Kind
from store.record.package import depth_of, url_of
from store.repair.shard_mover import ShardMover
from tests.store.network import Net, Node, in_network
from tests.store.support import draft, flaws, proofs, records, url

BIG = site_of(url(0))  # host0.example: every seventh URL
COUNT = 56
DRAFTS = [draft(n, kind=kind) for n in range(COUNT) for kind in (Kind.DOCUMENT, Kind.VISIT)]
BIG_DRAFTS = [d for d in DRAFTS if d.key[:10] == placement_key(url(0))[:10]]


def spread(node: Node, depth: int) -> None:
    """A node learns how deep the big site is spread."""
    node.hosts.said[BIG] = depth
    node.replicator.moved(BIG)


def wanted(d: Draft, depth: int) -> bytes:
    """The key at which a record lies once the site is that deep."""
    return placement_key(url_of(records(d)[0]), depth)


def copies(net: Net, d: Draft) -> dict[bytes, bytes]:
    """Which running nodes have a record, and at which key."""
    rows = {n.id: n.store.find(d.kind, d.id, content=False) for n in net.running()}
    return {id: record.key for id, record in rows.items() if record is not None}


async def moved(net: Net, depth: int) -> None:
    """Wait until every record is with all owners of its place, and nowhere else."""
    for _ in range(100):
        if is_moved(net, depth):
            return
        await asyncio.sleep(3.0)
    raise AssertionError("records stay behind")


def is_moved(net: Net, depth: int) -> bool:
    view = net.running()[0].overlay
    for d in BIG_DRAFTS:
        key = wanted(d, depth)
        owners = {o for o in view.owners(slot_of(key, net.strategy.slot_bits)) if net.nodes[o].overlay.up}
        if (have := copies(net, d)).keys() < owners or set(have.values()) != {key}:
            return False
    return True


async def started(net: Net, drafts: list[Draft] = DRAFTS) -> None:
    net.config(step_s=2.0, deliver_every_s=2.0)
    await net.start()
    net.grant(drafts, net.list[0].identity, net.list[1].identity)
    await net.list[0].replicator.write(drafts)
    await asyncio.sleep(3.0)


def mover(node: Node) -> ShardMover:
    found = node.replicator._shard_mover
    assert found is not None
    return found


@in_network(4, slot_bits=4)
async def test_a_site_that_is_spread_changes_its_slots_and_keeps_its_records(net: Net) -> None:
    await started(net)
    before = {(d.kind, d.id): records(d)[0].version for d in DRAFTS}
    for node in net.list:
        spread(node, 3)
    await moved(net, 3)
    for node in net.list:
        for kind in (Kind.DOCUMENT, Kind.VISIT):
            for record in node.store.scan(kind, bytes(20), b"\xff" * 20):
                assert record.version == before[kind, record.id], "the same version as before the move"


@in_network(4, slot_bits=4)
async def test_what_moves_keeps_its_authors_proof(net: Net) -> None:
    """Twice, and it is pulled afterwards by a node that lost its disk."""
    await started(net, BIG_DRAFTS)
    for depth in (2, 4):
        for node in net.list:
            spread(node, depth)
        await moved(net, depth)
    net.list[3].kill()
    net.list[3].wipe()
    net.list[3].start()
    spread(net.list[3], 4)
    await net.all_ready()
    await moved(net, 4)
    author, signed = net.list[0].identity.public_key, {(d.kind, d.id): d.key for d in BIG_DRAFTS}
    for node in net.list:
        for kind in (Kind.DOCUMENT, Kind.VISIT):
            for bare in node.store.scan(kind, bytes(20), b"\xff" * 20):
                record = node.store.find(bare.kind, bare.id)
                assert record is not None and record.proof.author == author
                assert record.signed_key == signed[record.kind, record.id]
                assert flaws([record]) == [""]
                assert proofs(node.store, [record])


@in_network(5, slot_bits=4, replicas=2)
async def test_nodes_that_know_different_depths_never_forget_a_record_in_favour_of_each_other(net: Net) -> None:
    await started(net)
    deepest = dict[tuple[Kind, bytes], int]()
    for turn, depth in enumerate((2, 3, 5, 5)):
        for n, node in enumerate(net.list):
            if turn == 3 or n % 3 != turn % 3:
                spread(node, depth)
            node.replicator.moved(BIG)  # all look at what lies there, by what they know
        for _ in range(30):
            await asyncio.sleep(1.0)
            for d in BIG_DRAFTS:
                depths = [depth_of(url_of(records(d)[0]), key) for key in copies(net, d).values()]
                assert depths, "nobody has it any more"
                name = (d.kind, d.id)
                assert max(depths) >= deepest.get(name, 0), "a copy at a deeper place was given up for a lesser one"
                deepest[name] = max(depths)
    await moved(net, 5)


@in_network(6, slot_bits=4)
async def test_no_record_has_fewer_copies_at_any_moment_than_before_the_move(net: Net) -> None:
    """Also while an owner of the new places does not answer: what lacks there stays where it was until it is back."""
    await started(net, BIG_DRAFTS)
    await net.until(lambda: all(len(copies(net, d)) >= 3 for d in BIG_DRAFTS))
    view, bits = net.list[0].overlay, net.strategy.slot_bits
    home = view.owners(slot_of(placement_key(url(0)), bits))
    after = {owner for d in BIG_DRAFTS for owner in view.owners(slot_of(wanted(d, 3), bits))}
    net.cut = {min(after - {*home})}
    before = {(d.kind, d.id): len(copies(net, d).keys() - net.cut) for d in BIG_DRAFTS}
    for node in net.list:
        spread(node, 3)

    async def pass_time(seconds: float) -> None:
        for _ in range(int(4 * seconds)):
            await asyncio.sleep(0.25)
            thin = [d for d in BIG_DRAFTS if len(copies(net, d).keys() - net.cut) < before[d.kind, d.id]]
            assert not thin, f"{len(thin)} records have fewer copies than before"

    await pass_time(60.0)
    stay = sum(bool(set(copies(net, d).values()) - {wanted(d, 3)}) for d in BIG_DRAFTS)
    assert 0 < stay < len(BIG_DRAFTS), "others than those that the silent one lacks have moved"
    net.cut = set()
    await pass_time(60.0)
    await moved(net, 3)


@pytest.mark.prove
@in_network(4, slot_bits=4)
async def test_an_owner_that_dies_while_it_moves_a_site_loses_nothing(net: Net) -> None:
    await started(net)
    owners = net.list[0].overlay.owners(slot_of(placement_key(url(0)), 4))
    for node in net.list:
        spread(node, 3)
    first = net.nodes[owners[0]]
    await net.until(lambda: any(copies(net, d).values() != {d.key} for d in BIG_DRAFTS))
    first.kill()
    for _ in range(60):
        await asyncio.sleep(1.0)
        assert all(copies(net, d) for d in BIG_DRAFTS)
    first.start()
    await net.all_ready()
    spread(first, 3)
    await moved(net, 3)


@in_network(4, slot_bits=4)
async def test_what_was_fetched_before_its_site_was_spread_is_written_to_its_place_under_the_old_ones_grant(
    net: Net,
) -> None:
    """Or the page would be fetched again by whoever holds the new place."""
    net.gives_grants = False
    await started(net, [])
    fetched = [d for d in BIG_DRAFTS if wanted(d, 3) != d.key]
    net.grant(fetched, net.list[0].identity, net.list[1].identity)
    for node in net.list:
        spread(node, 3)
    await net.list[0].replicator.write([replace(d, key=Key(wanted(d, 3))) for d in fetched])
    await net.until(lambda: all(len(copies(net, d)) == 3 for d in fetched))
    for d in fetched:
        assert set(copies(net, d).values()) == {wanted(d, 3)}
    for node in net.list[1:]:
        kept = [record for d in fetched if (record := node.store.find(d.kind, d.id)) is not None]
        assert flaws(kept) == [""] * len(kept) and bool(kept) == bool(proofs(node.store, kept))


@in_network(4, slot_bits=4)
async def test_the_work_follows_what_must_move_and_not_what_is_kept(net: Net) -> None:
    await started(net)
    for node in net.list:
        spread(node, 3)
    await moved(net, 3)
    await asyncio.sleep(60.0)
    looked = [mover(node).looked_at for node in net.list]
    astray = sum(len(copies(net, d)) for d in BIG_DRAFTS)
    assert sum(looked) <= 8 * astray, f"{looked} records looked at to move {astray} copies"
    await asyncio.sleep(120.0)
    assert [mover(node).looked_at for node in net.list] == looked, "nothing lies astray: nothing is looked at"


@in_network(4, slot_bits=4)
async def test_what_is_written_to_the_old_place_by_who_does_not_know_better_follows(net: Net) -> None:
    late = [d for d in BIG_DRAFTS if wanted(d, 3) != d.key][:6]
    await started(net, [d for d in DRAFTS if d not in late])
    for node in net.list[1:]:
        spread(node, 3)
    await asyncio.sleep(60.0)
    await net.list[0].replicator.write(late)
    assert BIG in net.list[0].hosts.wondered, "an owner tells the writer that the site lies elsewhere"
    spread(net.list[0], 3)
    await moved(net, 3)


@pytest.mark.prove
@in_network(4, slot_bits=4)
async def test_new_rules_make_a_node_look_through_everything_once(net: Net) -> None:
    await started(net)
    rule = Rule(action="spread", host=BIG, depth=3)
    net.set_strategy(version=2, rules=(rule,))
    await moved(net, 3)
    await asyncio.sleep(60.0)
    looked = [mover(node).looked_at for node in net.list]
    await asyncio.sleep(120.0)
    assert [mover(node).looked_at for node in net.list] == looked
    assert SiteShards(net.list[0].overlay).depth(url(0)) == 3
