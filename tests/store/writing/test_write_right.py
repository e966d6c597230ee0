"""A lease holder's records carry the proof of the lease, wherever they go later; honest nodes agree on it."""

import asyncio
from collections.abc import Iterable

import pytest

from dht import Identity, slot_of
from store import Draft, Kind
from store.errors import NotGranted, TooFewCopies
from store.writing.ruling import needs_grant
from tests.store.network import Net, Node, in_network, network
from tests.store.replication.granted_pages import started
from tests.store.support import WALL, draft, grant, proofs

PAGES = [draft(n, epoch=int(WALL)) for n in range(12)]


async def write(net: Net, drafts: Iterable[Draft], holder: Node, *voters: Node) -> None:
    net.grant(drafts, holder.identity, *(voter.identity for voter in voters))
    await holder.replicator.write([*drafts])


def has(node: Node, drafts: Iterable[Draft] = PAGES) -> bool:
    """Whether a node has all of these that belong to it, and what proves them."""
    for made in drafts:
        if node.id in node.overlay.owners(slot_of(made.key, node.net.strategy.slot_bits)):
            record = node.store.find(made.kind, made.id)
            if record is None or record.version.at_ms != made.at_ms or not proofs(node.store, [record]):
                return False
    return True


def test_what_needs_a_grant() -> None:
    assert all(needs_grant(kind, 5) for kind in (Kind.DOCUMENT, Kind.VISIT, Kind.HOST, Kind.FORMER))
    assert not needs_grant(Kind.VISIT, 0), "anybody may find a URL"
    assert not needs_grant(Kind.DOCUMENT, 0), "an import is taken for who its author is: test_admission.py"
    assert not needs_grant(Kind(77), 9)


@in_network(4)
async def test_all_owners_take_what_a_holder_writes(net: Net) -> None:
    await started(net, 4)
    await write(net, PAGES, net.list[0], net.list[1])
    await net.until(lambda: all(map(has, net.list)))


@in_network(3)
async def test_a_holder_writes_nothing_without_a_grant_and_under_the_grants_epoch_with_one(net: Net) -> None:
    await started(net, 3)
    with pytest.raises(NotGranted):
        await net.list[0].replicator.write(PAGES)
    net.grant([draft(1, epoch=int(WALL) + 1)], net.list[0].identity, net.list[1].identity)
    await net.list[0].replicator.write([draft(1, epoch=int(WALL))])
    record = net.list[1].store.find(Kind.DOCUMENT, draft(1).id)
    assert record is not None and record.version.epoch == int(WALL) + 1, "two tenures met"


@in_network(5, replicas=4)
async def test_it_is_proved_to_who_slept_then_and_to_who_comes_after_all_who_signed_have_gone(net: Net) -> None:
    """Hints reach a sleeper with their grants. Signers are no candidates any more when the next node joins."""
    net.candidates = 16
    await started(net, 4)
    net.list[3].kill()
    await asyncio.sleep(1.0)
    await write(net, PAGES, net.list[0], net.list[1])
    net.list[3].start()
    await net.until(lambda: has(net.list[3]))
    net.strangers |= {net.list[0].id, net.list[1].id}  # whoever asks who they are hears of nobody
    net.list[4].start()
    await net.all_ready()
    await net.until(lambda: has(net.list[4]))


@in_network(3)
async def test_who_loses_its_index_can_still_prove_what_it_has(net: Net) -> None:
    await started(net, 2)
    await write(net, PAGES, net.list[0], net.list[1])
    await net.until(lambda: has(net.list[0]) and has(net.list[1]))
    net.list[0].kill()
    net.list[1].kill(lose_database=True)
    net.list[1].start()
    net.list[2].start()
    await net.until(lambda: net.list[2].own_ready)
    assert has(net.list[2])


@in_network(5)
async def test_a_network_of_one_grows(net: Net) -> None:
    """A lone node signs its own records, and the others accept them while they fill their slots."""
    await started(net, 1)
    await write(net, PAGES, net.list[0])
    for node in net.list[1:]:
        node.start()
        await net.all_ready()
    await net.until(lambda: all(map(has, net.list)))


@in_network(3)
async def test_what_a_node_wrote_alone_just_before_others_came_is_proved_by_what_they_grant_then(net: Net) -> None:
    """They are ready before they have heard of the page, and its first grant is signed by its author alone."""
    await started(net, 3)
    alone, page = net.list[0], PAGES[0]
    net.granted[alone.id, slot_of(page.key, 4)] = [grant(page, alone.identity)]
    with pytest.raises(TooFewCopies):
        await alone.replicator.write([page])
    assert alone.store.find(page.kind, page.id) is not None
    net.granted[alone.id, slot_of(page.key, 4)].insert(0, grant(page, alone.identity, net.list[1].identity))
    await net.until(lambda: all(has(node, [page]) for node in net.list))


@in_network(4)
async def test_slots_are_doubled_under_what_was_granted_before(net: Net) -> None:
    await started(net, 4)
    await write(net, PAGES[:6], net.list[0], net.list[1])
    net.set_strategy(slot_bits=5)
    for made in PAGES[6:]:
        given = grant(made, net.list[0].identity, net.list[1].identity, bits=4)
        net.granted[net.list[0].id, slot_of(made.key, 5)] = [given]
    await net.list[0].replicator.write(PAGES[6:])
    await net.all_ready()
    await net.until(lambda: all(map(has, net.list)))


@in_network(5)
async def test_two_sides_of_a_cut_agree_when_it_heals(net: Net) -> None:
    """Each side wrote new pages and over old ones, under grants of its own teams; then all have the highest versions,
    and nothing that was acknowledged is missing."""
    await started(net, 5)
    await write(net, PAGES[:4], net.list[0], net.list[1])
    await net.until(lambda: all(has(node, PAGES[:4]) for node in net.list))
    net.cut = {net.list[3].id, net.list[4].id}
    await asyncio.sleep(5.0)
    here = [draft(n, epoch=int(WALL) + 60, at=30.0) for n in (0, 1, 4, 5)]
    there = [draft(n, epoch=int(WALL) + 70, at=20.0) for n in (1, 2, 5, 6)]
    await write(net, here, net.list[0], net.list[1])
    await write(net, there, net.list[3], net.list[4])
    net.cut = set()
    wanted = [PAGES[3], here[0], *there, here[2]]
    await net.until(lambda: all(has(node, wanted) for node in net.list), within_s=300)
    await net.until(net.is_level, within_s=300)
    assert not any(node.replicator.refusals.total for node in net.list)


@in_network(2)
async def test_nobody_writes_alone_while_the_others_sleep(net: Net) -> None:
    """Of two owners one slept: what the other granted itself alone is taken by nobody."""
    await started(net, 2)
    net.list[1].kill()
    net.grant(PAGES[:1], net.list[0].identity)
    net.list[1].start()
    await net.all_ready()
    with pytest.raises(TooFewCopies):  # one signature is too few of two
        await net.list[0].replicator.write(PAGES[:1])
    assert net.list[1].store.find(PAGES[0].kind, PAGES[0].id) is None


def test_an_identity_that_nobody_knows_is_no_voter() -> None:
    made_up = [Identity(bytes([n]) * 32) for n in range(50, 53)]

    async def story(net: Net) -> None:
        await started(net, 3)
        given = grant(PAGES[0], net.list[0].identity, *made_up)
        net.granted[net.list[0].id, slot_of(PAGES[0].key, 4)] = [given]
        with pytest.raises(TooFewCopies):
            await net.list[0].replicator.write(PAGES[:1])
        assert not any(node.store.find(PAGES[0].kind, PAGES[0].id) for node in net.list[1:])

    network(3, story)
