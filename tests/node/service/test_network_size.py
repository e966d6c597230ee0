"""How many pages the network has, as a node tells it on its front page, against what the web has."""

from collections import Counter
from typing import Any

import pytest

from crawl import VisitState
from index import CountedDocuments, SearchRequest
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan
from node.service.network_size import LEAST_SLOTS, network_size
from tests.parameters import proved
from tests.sim.judged import crawled, service_of, status_of
from tests.sim.simulated import simulated

SIXTEEN = frozenset(range(16))


@pytest.mark.parametrize(
    ("own", "ready", "slots", "counted", "documents", "is_exact"),
    [
        ({0: 4, 3: 5}, {0, 1, 2, 3}, 4, None, 9, True),  # all is here
        ({0: 4, 3: 5, 9: 7}, {0, 1, 2, 3}, 4, None, 9, True),  # what is kept for others too counts once
        ({}, {0, 1, 2, 3}, 4, None, 0, True),
        (dict.fromkeys(range(16), 10), SIXTEEN, 64, None, 640, False),  # by its share
        (dict.fromkeys(range(16), 11), SIXTEEN, 256, None, 2800, False),  # with no more digits than are known
        ({0: 10}, {0}, 64, None, None, False),  # of too few slots nothing follows
        ({0: 10}, set(), 64, None, None, False),
        ({0: 200}, {0}, 64, CountedDocuments(5000, 200, 0.0), 5000, False),  # a search has counted
        ({0: 300}, {0}, 64, CountedDocuments(5000, 200, 0.0), 7500, False),  # and all grew as this node's part
        ({0: 900}, {0}, 64, CountedDocuments(5000, 200, 0.0), None, False),  # but not for ever
        (dict.fromkeys(range(16), 100), SIXTEEN, 64, CountedDocuments(5000, 200, 0.0), 6400, False),
        ({}, set(), 64, CountedDocuments(1234, 0, 950.0), 1200, False),  # a client that has searched just now
        ({}, set(), 64, CountedDocuments(7, 0, 900.0), None, False),  # and one that knows no more what became of it
        ({0: 90}, {0}, 64, CountedDocuments(7, 3, 950.0), 90, False),
        ({0: 4}, {0, 1, 2, 3}, 4, CountedDocuments(500, 10, 990.0), 4, True),
    ],
)
def test_the_count_of_the_network_follows_from_what_one_node_knows(
    own: Any, ready: Any, slots: int, counted: CountedDocuments | None, documents: int | None, is_exact: bool
) -> None:
    assert network_size(own, ready, slots, counted, 1000.0) == (documents, is_exact)
    assert LEAST_SLOTS == 16


async def told(world: World, node: SimNode) -> tuple[int | None, bool]:
    network = (await status_of(node, world.network).status()).network
    return network.documents, network.exact


@pytest.mark.parametrize("count", [5, *proved(1)])
@simulated(WorldPlan(seed=7, hosts=12, pages=8, slot_bits=6, replicas=2))
async def test_nodes_tell_how_many_pages_the_network_has(world: World, count: int) -> None:
    nodes = await world.add(count)
    await world.pass_time(8.0)
    await world.crawl()
    await crawled(world)
    await world.pass_time(20.0)
    truth = sum(state == VisitState.FETCHED for state in world.web.outcomes().values())
    assert truth > 40
    for node in nodes:
        documents, is_exact = await told(world, node)
        assert is_exact == (count == 1)
        assert documents == truth if is_exact else documents is None or 0.3 * truth < documents < 3 * truth
        await node.node_core.index.searcher.search(SearchRequest("word"))
        documents, _ = await told(world, node)
        assert documents is not None and abs(documents - truth) <= 0.05 * truth


@simulated(WorldPlan(seed=7, hosts=12, pages=8, slot_bits=4, replicas=2))
async def test_a_node_of_few_slots_that_was_never_searched_asks_some_members(world: World) -> None:
    nodes = await world.add(5)
    await world.crawl()
    await crawled(world)
    outcomes = Counter(world.web.outcomes().values())
    service = service_of(world, nodes[0])
    assert (await told(world, nodes[0]))[0] is None, "its own part tells nothing"
    network = (await service.status()).network
    stored = outcomes[VisitState.FETCHED] + outcomes[VisitState.GONE]
    assert network.documents is not None and not network.exact
    assert 0.95 * outcomes[VisitState.FETCHED] <= network.documents <= 1.05 * stored
    for node in nodes[1:]:
        await world.kill(node)
    await world.pass_time(700.0)
    assert (await service.status()).network.documents is None, "nobody is left to say it"
