"""Identities without a machine change nothing in a network, however many there are and whatever they say."""

import asyncio
import json

import pytest

from dht.admission.membership_claim import mark_of
from dht.keys import NodeId
from dht.membership.peer_pools import WAIT_S, WAITING_LIMIT
from dht.strategy.document import DOMAIN, Signature, SignedStrategy, encode_document
from dht.wire.heartbeat import MOST_ATTESTED
from index import SearchRequest
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan
from tests.attacks.phantoms import Phantoms
from tests.parameters import proved
from tests.sim.judged import crawled
from tests.sim.simulated import simulated

QUERIES = 1
ATTESTED = WorldPlan(strategy={"admission": "attested"})  # by invitation, they would be refused for having none


def shares(world: World) -> dict[str, tuple[object, ...]]:
    """Return the members that each node sees, the slots that it owns and the slots that it holds."""
    views = {node.name: node.overlay.view for node in world.running()}
    return {name: (view.members(), view.owned(), frozenset(view.leases())) for name, view in views.items()}


async def answers(world: World) -> list[tuple[bool, list[str]]]:
    found = []
    for node in world.running():
        for query in world.web.words[:QUERIES]:
            answer = await node.node_core.index.searcher.search(SearchRequest(query, limit=10))
            found.append((answer["exact"], [hit["url"] for hit in answer["results"]]))
    return found


@pytest.mark.parametrize(("are_heard", "member"), [(False, True), *proved((True, True), (True, False))])
@simulated(ATTESTED)
async def test_24_phantoms_change_no_owner_no_lease_and_no_answer(world: World, are_heard: bool, member: bool) -> None:
    nodes = await world.add(5)
    await world.pass_time(20.0)
    await world.crawl()
    await crawled(world)
    await world.pass_time(10.0)
    phantoms = Phantoms(world, 24, are_heard=are_heard, member=member)
    named = [mark_of(node.identity.node_id) for node in nodes] + [mark_of(each) for each in phantoms.ids]
    phantoms.attests = b"".join(named[:MOST_ATTESTED])
    before, said = shares(world), await answers(world)
    assert len(before) == 5 and all(exact and found for exact, found in said)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(phantoms.haunt(90.0))
        for _ in range(3):
            for _ in range(15):
                await world.pass_time(2.0)
                assert shares(world) == before
            assert await answers(world) == said
    assert any(len(node.core.members.waiting) == 24 for node in nodes), "they were heard"
    await world.pass_time(WAIT_S + 30.0)
    assert not any(len(node.core.members.waiting) for node in nodes), "and are forgotten"
    assert shares(world) == before


@simulated(ATTESTED)
async def test_a_crowd_of_phantoms_fills_no_table_and_keeps_no_newcomer_out(world: World) -> None:
    nodes = await world.add(4)
    await world.pass_time(20.0)
    phantoms = Phantoms(world, WAITING_LIMIT + 88, are_heard=True)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(phantoms.haunt(30.0))
        await world.pass_time(8.0)
        assert all(len(node.core.members.waiting) <= WAITING_LIMIT for node in nodes)
        (newcomer,) = await world.add(1, 0.0)
        everybody = tuple(sorted(node.identity.node_id for node in world.running()))
        took_s = await world.until(lambda: all(v == everybody for v in views(world.running())), 20.0)
    assert took_s <= 15.0 and newcomer.overlay.view.owned()
    await world.pass_time(60.0)  # it has joined: whom did it take for members meanwhile?
    assert all(v == everybody for v in views(world.running()))


def views(nodes: list[SimNode]) -> list[object]:
    return [node.overlay.view.members() for node in nodes]


def signed_by_a_newer_program(world: World, admission: str) -> SignedStrategy:
    """The next version, with a rule of admission that this program does not know and so would not sign."""
    strategies = world.running()[0].overlay.strategies
    document = json.loads(encode_document(strategies.newest))
    document |= {"version": 2, "previous": strategies.newest_digest, "admission": admission}
    text, publisher = json.dumps(document).encode(), world.publisher
    return SignedStrategy(text, (Signature(publisher.public_key.hex(), publisher.sign(DOMAIN, text).hex()),))


@simulated(ATTESTED)
async def test_a_rule_of_admission_that_is_not_known_lets_no_phantom_in(world: World) -> None:
    nodes = await world.add(4)
    await world.pass_time(90.0)
    everybody = tuple(sorted(NodeId(node.identity.node_id) for node in nodes))
    nodes[0].overlay.adopt(signed_by_a_newer_program(world, "vouched-by-three"))
    await world.pass_time(30.0)
    await Phantoms(world, 6, are_heard=True).haunt(60.0)
    assert [node.overlay.view.members() for node in nodes] == [everybody] * 4
    assert all("passes over: admission" in node.overlay.strategies.warnings(node.clock())[-1] for node in nodes)
