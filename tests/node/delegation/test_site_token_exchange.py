"""Site tokens are requested and granted over a whole simulated network."""

import pytest

from crawl import Visit
from dht import BadMessage, RemoteError, Rule, placement_key, slot_of
from node.delegation.site_token_exchange import AskTicket, Ticket, TicketDone
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan
from tests.sim.simulated import simulated

SPREAD = Rule(action="spread", host="big.example", depth=3)
URLS = [f"https://big.example/{n}" for n in range(40)]


def home_issuer(world: World) -> SimNode:
    home = slot_of(placement_key(URLS[0]), world.plan.slot_bits)
    return next(node for node in world.running() if home in node.overlay.view.leases())


@simulated(WorldPlan(seed=5, slot_bits=6, replicas=2))
async def test_only_owners_of_its_places_get_tokens_and_only_from_who_issues_them(world: World) -> None:
    await world.add(5)
    await world.pass_time(60.0)  # until the first hand-backs are over
    issuer = home_issuer(world)
    others = [node for node in world.running() if node is not issuer]
    answer = await others[0].node_core.fetching.tokens.acquire(Visit(url=URLS[0], depth=1))
    assert not answer.wait_s, "a site that is not spread needs no token"
    world.publish(rules=(SPREAD,))
    await world.pass_time(10.0)
    with pytest.raises(RemoteError, match="not leased"):
        await issuer.overlay.ask(others[0].overlay.node_id, AskTicket(URLS[0]), Ticket, timeout_s=5.0)
    refused = granted = 0
    for url in URLS:  # the first who may ask begins the clock
        assert (await others[0].node_core.fetching.tokens.acquire(Visit(url=url, depth=1))).wait_s > 0
    await world.pass_time(31.0)
    for url in URLS:
        for node in others:
            try:
                answer = await node.overlay.ask(issuer.overlay.node_id, AskTicket(url), Ticket, timeout_s=5.0)
            except BadMessage as error:
                assert "not its own" in str(error)
                refused += 1
                continue
            granted += not answer.wait_s
            await node.overlay.ask(issuer.overlay.node_id, TicketDone(url, 0.0), Ticket, timeout_s=5.0)
    assert granted > 10 and refused > 10
    for url in ("https://other.example/", "no URL"):
        with pytest.raises(BadMessage, match="spreads no site"):
            await others[0].overlay.ask(issuer.overlay.node_id, AskTicket(url), Ticket, timeout_s=5.0)


@simulated(WorldPlan(seed=6, slot_bits=6))
async def test_without_the_issuer_nobody_asks_the_site_until_another_is_there(world: World) -> None:
    await world.add(5)
    await world.pass_time(60.0)  # until the first hand-backs are over
    world.publish(rules=(SPREAD,))
    await world.pass_time(10.0)
    issuer = home_issuer(world)
    await world.kill(issuer)
    began = world.loop.time()
    while True:
        tokens = [n.node_core.fetching.tokens for n in world.running()]
        answers = [await each.acquire(Visit(url=URLS[0], depth=1)) for each in tokens]
        if not all(answer.wait_s for answer in answers):
            break
        await world.pass_time(1.0)
    assert 30.0 < world.loop.time() - began < 150.0
