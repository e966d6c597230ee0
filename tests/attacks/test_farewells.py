"""Nobody is counted out but by its own farewell in this network, until it returns: a lie about one changes nothing."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from dht import Identity, SignedGrant, document_id, placement_key, slot_of
from dht.messages import Done
from dht.overlay.farewell_upkeep import FarewellNews
from dht.wire.farewell import Farewell, sign_farewell
from dht.wire.grant import DOMAIN, GRANT_S, Grant, granted_bytes
from dht.wire.heartbeat import sign_heartbeat
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan
from store import Document, Draft, Kind, encode_document
from store.record.messages import PutPackage, PutReply
from store.record.package import pack, sign_package
from store.writing.ruling import UNKNOWN, WITHOUT
from tests.sim.judged import crawled
from tests.sim.simulated import simulated

PLAN = WorldPlan(hosts=3, pages=3)
STRANGER = Identity(b"\7" * 32)
FALSE = ("forged", "of another network", "of another network, renamed", "of a stranger", "unsigned")


def network_of(world: World) -> bytes:
    return bytes.fromhex(world.network.id)


def page(node: SimNode) -> Draft:
    """A page that nobody has, as a node would write it now."""
    now, where = node.clock(), "http://nobody.example/"
    body, day = encode_document(Document(where, now.wall, 200, text="a page")), int(now.wall // 86_400) + 30
    epoch, at_ms = int(now.wall), int(now.wall * 1000)
    return Draft(Kind.DOCUMENT, document_id(where), placement_key(where), epoch, at_ms, day, body, b"<p>a page")


async def answers(
    world: World,
    liar: SimNode,
    owners: Sequence[SimNode],
    farewells: Sequence[Farewell],
    voters: Sequence[SimNode],
    team: Sequence[SimNode] = (),
) -> set[str]:
    """Have a member write a page by a grant that these voters and farewells are to prove; what owners say to it.
    `team`: whom it names, all where there are none."""
    view, made = liar.overlay.view, page(liar)
    begin, bits = int(liar.clock().wall), view.strategy.slot_bits
    where = network_of(world), bits, slot_of(made.key, bits), made.epoch, liar.identity.node_id
    named = tuple(sorted(node.identity.node_id for node in team or world.nodes.values()))
    grant = Grant(*where, named, begin, begin + GRANT_S)
    keys = [node.identity for node in voters]
    signatures = tuple((key.public_key, key.sign(DOMAIN, granted_bytes(grant))) for key in keys)
    signed = SignedGrant(grant, signatures, tuple(farewells))
    message = PutPackage(pack(sign_package([made], liar.identity)), (), (signed,))
    replies = [await liar.overlay.ask(node.identity.node_id, message, PutReply, timeout_s=5.0) for node in owners]
    return {reply.refused[0].reason if reply.refused else "" for reply in replies}


def said_by(liar: SimNode, peer: SimNode) -> Farewell:
    said = liar.overlay.view.farewells.proof(peer.identity.node_id)
    assert said is not None
    return said


@pytest.mark.parametrize("count", [2, 3])
@simulated(PLAN)
async def test_a_farewell_replayed_after_the_return_is_refused_by_every_owner(world: World, count: int) -> None:
    liar, *others = nodes = await world.add(count)
    await world.crawl()
    await crawled(world)
    for node in others:
        await world.stop(node)
        await world.pass_time(5.0)
    farewells = [said_by(liar, node) for node in others]
    for node in others:
        await world.restart(node)
    await world.until(lambda: not any(node.overlay.view.away() for node in nodes), 120.0)
    await crawled(world)
    assert await answers(world, liar, others, farewells, [liar]) == {UNKNOWN}
    for node in others:  # nor by one that has started since, and knows what was from its disk alone
        await world.kill(node)
        await world.restart(node)
    await crawled(world)
    assert await answers(world, liar, others, farewells, [liar]) == {UNKNOWN}
    assert await answers(world, liar, others, (), nodes) == {""}, "the lie is all that was wrong"


def forged(world: World, victim: SimNode, at_s: int) -> dict[str, Farewell]:
    """Farewells that the victim did not say in this network."""
    key, ours = victim.identity, network_of(world)
    other, strangers = sign_farewell(key, b"n" * 20, at_s, at_s), sign_farewell(STRANGER, ours, at_s, at_s)
    renamed = replace(other, network=ours)
    made = (
        replace(strangers, public_key=key.public_key),
        other,
        renamed,
        strangers,
        replace(renamed, signature=bytes(64)),
    )
    return dict(zip(FALSE, made, strict=True))


@simulated(PLAN)
async def test_a_grant_with_a_false_farewell_lets_nobody_write_alone(world: World) -> None:
    liar, victim = await world.add(2)
    await world.crawl()
    await crawled(world)
    for which, false in forged(world, victim, int(liar.clock().wall)).items():
        assert await answers(world, liar, [victim], [false], [liar]) == {WITHOUT}, which


@simulated(PLAN)
async def test_of_three_one_alone_does_not_write_by_the_farewell_of_another(world: World) -> None:
    """Nor by a grant whose team passes over the third."""
    liar, left, third = await world.add(3)
    await world.crawl()
    await crawled(world)
    await world.stop(left)
    await world.pass_time(5.0)
    said = said_by(liar, left)
    assert await answers(world, liar, [third], [said], [liar]) == {WITHOUT}
    assert await answers(world, liar, [third], [said], [liar], [liar, left]) == {UNKNOWN}
    assert await answers(world, liar, [third], [said], [liar, third]) == {""}


@simulated(PLAN)
async def test_no_news_of_a_live_members_farewell_changes_anything_whoever_brings_it(world: World) -> None:
    liar, victim, witness = nodes = await world.add(3)
    await world.crawl()
    await crawled(world)
    held = witness.core.members.find(victim.identity.node_id)
    assert held is not None
    beat, ours = held.opened.heartbeat, network_of(world)
    false = forged(world, victim, int(liar.clock().wall)).values()
    says = [replace(beat, sequence=beat.sequence + 60, leaving=True, farewell=said) for said in false]
    news = [sign_heartbeat(liar.identity, each, ours) for each in says]
    news += [sign_heartbeat(victim.identity, each, ours) for each in says]  # as if it had signed the lie itself
    news += [sign_heartbeat(victim.identity, replace(says[0], farewell=None), b"n" * 20)]
    for raw in news:
        for node in (victim, witness):
            await liar.overlay.ask(node.identity.node_id, FarewellNews((raw, liar.core.own.raw)), Done, timeout_s=5.0)
    await world.pass_time(5.0)
    for node in nodes:
        view = node.overlay.view
        assert not view.away() and len(view.members()) == 3 and view.is_live(victim.identity.node_id)
