"""Former versions of pages go wherever their pages go, and nobody adds or erases one that owners did not grant."""

import asyncio

from msgspec.structs import replace

from dht import placement_key, slot_of
from store import Document, Draft, Kind, Record, encode_document
from store.record.former_page import VersionPolicy, erasure_of, former_of, is_erasure
from store.record.messages import PutPackage, PutReply
from store.record.package import depth_of, pack, sign_package, url_of
from tests.store.network import Net, Node, in_network
from tests.store.repair.test_shard_mover import spread
from tests.store.replication.granted_pages import BITS, by_rank, push, started, version, write
from tests.store.support import WALL, draft, flaws, grant, proofs, url

POLICY = VersionPolicy(last=5, days=365)
FIRST, SECOND, THIRD = version(1, 0.0, "first"), version(1, 20.0, "second"), version(1, 40.0, "third")


def gone(at: float) -> Draft:
    """The page asks not to be found."""
    body = encode_document(Document(url(1), WALL + at, 200, gone=True))
    return replace(version(1, at, ""), body=body)


def kept(node: Node, of: Draft = FIRST) -> list[str]:
    """Return the contents of a page's former versions on a node; "" for an erasure."""
    found = [node.store.find(Kind.FORMER, id) for id in node.store.formers(of.id)]
    return [(each.content or b"").decode() for each in found if each]


async def begun(net: Net, count: int) -> list[Node]:
    """Nodes that keep former versions, by their weight in the page's slot: owners first."""
    await started(net, count)
    for node in net.list:
        if node.overlay.up:
            node.store.upkeep.keep_versions(POLICY)
    return by_rank(net, FIRST)


async def all_keep(net: Net, owners: list[Node], *said: str) -> None:
    await net.until(lambda: all(kept(node) == [*said] for node in owners))
    await net.until(net.is_level)


@in_network(6)
async def test_who_missed_a_version_and_who_comes_later_have_them_all(net: Net) -> None:
    first, second, third, *_ = await begun(net, 5)
    await write(net, FIRST, first, second)
    third.kill()
    await asyncio.sleep(1.0)
    await write(net, SECOND, second, first)
    await write(net, THIRD, first, second)
    third.start()
    third.store.upkeep.keep_versions(POLICY)
    await all_keep(net, [first, second, third], "first", "second")
    net.list[5].start()
    net.list[5].store.upkeep.keep_versions(POLICY)
    await net.all_ready()
    await all_keep(net, by_rank(net, FIRST)[:3], "first", "second")
    for node in by_rank(net, FIRST)[:3]:
        formers = [each for id in node.store.formers(FIRST.id) if (each := node.store.find(Kind.FORMER, id))]
        assert flaws(formers) == ["", ""] and len(proofs(node.store, formers)) == 2, "with their grants"
        await node.store.grants.sweep(int(WALL) + 10**6)
        assert len(proofs(node.store, formers)) == 2, "which stay as long as they are named"


@in_network(6)
async def test_two_candidates_that_conspire_erase_nothing(net: Net) -> None:
    """Their page that asks not to be found hides the page, and erases nothing; the holder's own erases."""
    first, second, third, *others = await begun(net, 6)
    await write(net, FIRST, first, second)
    await write(net, SECOND, second, first)
    liars = [third, others[-1]]
    made = gone(30.0)
    (page,) = sign_package([made], liars[0].identity)
    erasure = erasure_of(page)
    assert erasure is not None
    given = (grant(made, *(liar.identity for liar in liars)),)
    for node in (first, second):
        assert not (await push(net, made, liars, node)).refused
        for record in (erasure, earlier(made, liars[0])):
            message = PutPackage(pack([record]), (), given)
            assert (await liars[0].overlay.ask(node.id, message, PutReply, timeout_s=5.0)).refused
        assert "first" in kept(node) and "" not in kept(node)
    await write(net, gone(60.0), first, second)
    await all_keep(net, [first, second, third], "")
    await write(net, version(1, 80.0, "again"), first, second)
    await write(net, version(1, 90.0, "and again"), first, second)
    await all_keep(net, [first, second, third], "", "again")


def earlier(made: Draft, liar: Node) -> Record:
    """An erasure of before there were leases, which nobody else makes."""
    (page,) = sign_package([replace(made, epoch=0)], liar.identity)
    assert erasure_of(page) is None
    erasure = former_of(page)
    assert is_erasure(erasure.id)
    return erasure


@in_network(6)
async def test_nobody_adds_a_version_that_no_owner_granted(net: Net) -> None:
    first, second, *others = await begun(net, 6)
    await write(net, THIRD, first, second)
    (page,) = sign_package([FIRST], others[-1].identity)
    for record in (
        former_of(page),
        replace(former_of(page), proof=first.store.find(Kind.DOCUMENT, THIRD.id).proof),
    ):
        message = PutPackage(pack([record]), (), ())
        assert (await others[-1].overlay.ask(first.id, message, PutReply, timeout_s=5.0)).refused
    assert kept(first) == []


@in_network(5, slot_bits=BITS)
async def test_they_move_with_their_site(net: Net) -> None:
    net.config(step_s=2.0, deliver_every_s=2.0)
    for node in net.list:
        node.start()
        node.store.upkeep.keep_versions(POLICY)
    await net.all_ready()
    pages = [replace(draft(0, epoch=int(WALL) + n, at=20.0 * n), content=b"edition %d" % n) for n in range(3)]
    for holder, each in zip(net.list, pages, strict=False):
        await holder.replicator.write([each])
    for node in net.list:
        spread(node, 3)
    key = placement_key(url(0), 3)
    owners = [net.nodes[id] for id in net.list[0].overlay.owners(slot_of(key, BITS))]
    await net.until(lambda: all(places(node, pages[0]) == [(key, "edition 0"), (key, "edition 1")] for node in owners))
    await net.until(lambda: not any(places(node, pages[0]) for node in net.list if node not in owners))
    for node in owners:
        formers = [each for id in node.store.formers(pages[0].id) if (each := node.store.find(Kind.FORMER, id))]
        assert flaws(formers) == ["", ""]
        assert all(depth_of(url_of(each), each.key) == 3 for each in formers)


def places(node: Node, of: Draft) -> list[tuple[bytes, str]]:
    found = [node.store.find(Kind.FORMER, id) for id in node.store.formers(of.id)]
    return [(bytes(each.key), (each.content or b"").decode()) for each in found if each]
