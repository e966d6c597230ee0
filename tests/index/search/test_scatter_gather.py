"""Peers are asked for what can still matter beside this node's own documents, and sooner if it is long about these."""

import asyncio
import random
from typing import Any

import index_corpus as corpus
from index_network import World

from crawl import signature
from dht import Message, NodeId
from index.config import IndexConfig
from index.query.search_request import SearchRequest
from index.search.oracle import SearchOracle
from index.shard.messages import AskBest

QUERY = SearchRequest("run OR the OR walk", limit=1, deadline_ms=20_000)


async def asked_of_others(world: World) -> list[AskBest]:
    """Ask the first node; return what it asked of others for the best, its answer being the right one."""
    node, found = world.nodes[0], list[AskBest]()

    def note(peer: NodeId, message: Message) -> None:
        if isinstance(message, AskBest) and peer != node.id:
            found.append(message)

    world.network.before = note
    answer = await node.searcher.search(QUERY)
    wanted = SearchOracle(list(world.store.values()), signature).search(QUERY.text).hits[: QUERY.limit]
    assert [(each["url"], each["score"]) for each in answer["results"]] == [
        (hit.text.url, hit.scored.score) for hit in wanted
    ]
    assert answer["exact"], answer["why"]
    return found


async def made() -> World:
    world = World(random.Random(21), 5, 3, IndexConfig(engine="memory", commit_s=0.0))
    await world.put(corpus.web(random.Random(22), 120))
    return world


async def test_others_are_asked_for_nothing_worse_than_what_this_node_has() -> None:
    world = await made()
    try:
        asked = await asked_of_others(world)
        assert asked and all(ask.floor > 0 for ask in asked)
    finally:
        await world.close()


async def test_others_do_not_wait_for_a_node_that_is_long_about_its_own() -> None:
    world = await made()
    others_asked, mine = asyncio.Event(), world.nodes[0].overlay.handlers
    at_once = mine[AskBest]

    async def late(peer: NodeId, ask: AskBest) -> Any:
        if peer == world.nodes[0].id:
            await others_asked.wait()
        return await at_once(peer, ask)

    mine[AskBest] = late
    for node in world.nodes[1:]:
        node.overlay.handlers[AskBest] = _telling(others_asked, node.overlay.handlers[AskBest])
    try:
        asked = await asked_of_others(world)
        assert asked and all(ask.floor == 0 for ask in asked)
    finally:
        await world.close()


def _telling(asked: asyncio.Event, handler: Any) -> Any:
    async def handle(peer: NodeId, ask: AskBest) -> Any:
        asked.set()
        return await handler(peer, ask)

    return handle
