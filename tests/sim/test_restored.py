"""A node is put back from a backup while the network and its former self had gone on for hours. It takes nothing back:
everything that it signs comes after all versions that others have seen of it. It casts no vote that could contradict
one of its former self."""

import sqlite3
from contextlib import closing
from io import BytesIO
from pathlib import Path
from shutil import copyfile, copytree, rmtree

import pytest

from dht import NodeId, Slot, placement_key, slot_of
from node.backup.node_backup import back_up, restore
from node.config.data_dir import DataDir
from node.extras.simulation.census import holders_of
from node.extras.simulation.scripted_web import HTML, TEXT, ScriptedReply
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan
from store import Kind, MemoryDisk, Record
from store.segments.file_system import CATALOG
from tests.parameters import proved
from tests.sim.judged import crawled
from tests.sim.simulated import simulated

ABSTAINS_S = 30.0  # from when it meets others: for so long a vote of its former self binds
LOOK_S = 0.1
SITES = 6
WORDS = "correct horse battery staple"
FIRST, LAST = bytes(20), b"\xff" * 20


def backup_of(node: SimNode, folder: Path) -> bytes:
    """Return the file that `dse-node backup` would write of a running node, as if its memory were a disk."""
    data, file = DataDir(folder), BytesIO()
    data.create()
    node.identity.save(data.identity)
    copytree(node.folder, data.dht, dirs_exist_ok=True)
    (data.dht / "invitation").rename(data.invitation)  # which lies beside, where the disk is real
    for name in node.disk.names():
        (data.store / name).write_bytes(node.disk.read(name, 0, node.disk.size(name)))
    with closing(sqlite3.connect(data.store / CATALOG)) as catalog:
        node.disk.database().backup(catalog)
    back_up(data, file, 1_800_000_000, WORDS)
    return file.getvalue()


def put_back(node: SimNode, backup: bytes, folder: Path) -> None:
    """Give a killed node what `dse-node restore` makes of a backup, in place of what it had."""
    assert restore(BytesIO(backup), folder, "it", WORDS).is_same
    data = DataDir(folder)
    rmtree(node.folder)
    copytree(data.dht, node.folder)
    copyfile(data.invitation, node.folder / "invitation")
    (node.folder / "invitation").chmod(0o600)
    node.disk = MemoryDisk()
    for path in sorted(data.store.glob("segment-*")):
        node.disk.append(path.name, path.read_bytes())
        node.disk.sync(path.name)
    with closing(sqlite3.connect(data.store / CATALOG)) as catalog:
        catalog.backup(node.disk.database())


def page(url: str) -> ScriptedReply:
    """Any page of a site that allows everything."""
    if url.endswith("/robots.txt"):
        return ScriptedReply(200, TEXT, b"User-agent: *\nAllow: /\n", 0.1)
    return ScriptedReply(200, HTML, f'<html lang="en"><title>{url}</title></html>'.encode(), 0.1)


async def crawl(world: World, name: str) -> None:
    """Have some new sites fetched."""
    urls = [f"https://{name}{n}.example/" for n in range(SITES)]
    world.web.others.update((f"{name}{n}.example", page) for n in range(SITES))
    await world.crawl(*urls)
    await crawled(world)


def versions(node: SimNode) -> dict[tuple[Kind, bytes], Record]:
    """The newest records on a node's disk."""
    records = node.node_core.store.records
    return {(kind, record.id): record for kind in Kind for record in records.scan(kind, FIRST, LAST)}


def newest(nodes: list[SimNode]) -> dict[tuple[Kind, bytes], Record]:
    found: dict[tuple[Kind, bytes], Record] = {}
    for node in nodes:
        for name, record in versions(node).items():
            if name not in found or found[name].version < record.version:
                found[name] = record
    return found


def sequence(node: SimNode) -> int:
    """Of the newest heartbeat that a node signed."""
    return int.from_bytes(node.core.own.mark[4:])


def heard(nodes: list[SimNode], peer: NodeId) -> int:
    """The highest sequence of a peer that these know."""
    known = [node.core.members.find(peer) for node in nodes]
    return max(each.opened.sequence for each in known if each is not None)


async def voted_for(world: World, node: SimNode) -> dict[int, NodeId]:
    """To whom a node that just started gives votes, before it may, for slots that they did not hold."""
    names = {each.overlay.node_id: each.name for each in world.nodes.values()}
    others, given = names.keys() - {node.overlay.node_id}, dict[int, NodeId]()
    held: dict[Slot, set[str]] = {}
    await world.until(lambda: any(map(node.overlay.view.is_live, others)), 30.0, every_s=0.1)
    ends = world.loop.time() + ABSTAINS_S
    while world.loop.time() < ends - LOOK_S:
        for slot, holders in holders_of(world.running()).items():
            held.setdefault(slot, set()).update(holders)
        await world.pass_time(LOOK_S)
        promised = {
            slot: node.overlay.view.votes.promised(slot) for slot in map(Slot, range(1 << world.plan.slot_bits))
        }
        given |= {s: peer for s, peer in promised.items() if peer and names[peer] not in held.get(s, ())}
    return given


@pytest.mark.parametrize("away_s", [60.0, *proved(2 * 3600.0)])
@simulated(WorldPlan(hosts=1, pages=1))
async def test_a_restored_node_signs_nothing_older_than_others_saw_and_votes_for_nobody_at_first(
    world: World, tmp_path: Path, away_s: float
) -> None:
    nodes = await world.add(4)
    await crawl(world, "early")
    node = nodes[2]
    others, id = [each for each in nodes if each is not node], node.overlay.node_id
    backup, old = backup_of(node, tmp_path / "was"), sequence(node)
    await world.pass_time(away_s)
    await crawl(world, "late")
    await world.kill(node)
    put_back(node, backup, tmp_path / "is")
    seen, known = heard(others, id), newest(others)
    epochs = {slot: epoch for each in others for slot, epoch in each.overlay.view.leases().items()}
    assert seen > old + away_s / 2
    await world.restart(node)
    assert len(versions(node)) < len(known), "it knows nothing of what came after the backup"
    assert not await voted_for(world, node)
    assert heard(others, id) == sequence(node) > seen
    await world.until(lambda: bool(node.overlay.view.leases()), 120.0)
    assert all(epoch > epochs.get(slot, 0) for slot, epoch in node.overlay.view.leases().items())
    leased = node.overlay.view.leases()
    urls = (f"https://early{n}.example/" for n in range(1000))
    own = [url for url in urls if slot_of(placement_key(url), world.plan.slot_bits) in leased]
    world.web.others.update((url.split("/")[2], page) for url in own[:SITES])
    await world.crawl(*own[:SITES])
    await crawled(world)
    has = versions(node)
    assert not [r for name, r in has.items() if name in known and r.version < known[name].version]
    author = node.identity.public_key
    signed = [r for name, r in newest(nodes).items() if r.proof.author == author and r != known.get(name)]
    assert signed and all(r.version.epoch == 0 or r.version.epoch > seen for r in signed)
