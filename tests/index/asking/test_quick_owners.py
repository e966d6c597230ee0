"""A node learns which owners answer quickly: those are asked, and whoever is slower than most is not waited for."""

import random
from collections.abc import Callable
from statistics import fmean

import pytest

from dht import NodeId
from index.config import IndexConfig
from index.query.search_request import SearchRequest
from tests.index import index_corpus as corpus
from tests.index.index_network import World

pytestmark = pytest.mark.virtual_time
QUERIES = ("run", "search engine", "python", "dogs")


@pytest.fixture
async def world(make_world: Callable[..., World]) -> World:
    """Nodes as far from each other as machines on the internet."""
    rng = random.Random(4)
    made = make_world(
        rng, 60, 3, IndexConfig(engine="memory", commit_s=0.0)
    )  # hardly two slots have an owner in common
    await made.put(corpus.web(rng, 40))
    made.network.slow_s = {node.id: 0.05 * rng.lognormvariate(0.0, 0.5) for node in made.nodes}
    return made


async def ask(world: World, query: str) -> tuple[float, list[NodeId]]:
    """Ask the first node, and return the seconds that it took and whom it asked for the best documents."""
    world.network.asked.clear()
    answer = await world.nodes[0].searcher.search(SearchRequest(query, deadline_ms=20_000))
    assert answer["exact"]
    peers = [peer for peer, name in world.network.asked if name == "AskBest" and peer != world.nodes[0].id]
    return answer["took_ms"] / 1000, peers


async def test_quick_owners_are_asked_once_they_are_known(world: World) -> None:
    for query in QUERIES * 3:
        _, peers = await ask(world, query)
    seconds = world.network.slow_s
    assert fmean(map(seconds.__getitem__, peers)) < 0.8 * fmean(seconds.values())
    assert max(map(seconds.__getitem__, peers)) < sorted(seconds.values())[len(seconds) * 9 // 10]


async def test_an_owner_that_is_suddenly_slow_is_hedged_at_once(world: World) -> None:
    for query in QUERIES * 3:
        usual_s, peers = await ask(world, query)
    world.network.slow_s[peers[0]] = 5.0
    took_s, asked = await ask(world, QUERIES[0])
    assert peers[0] in asked or took_s > usual_s, "it was asked"
    assert took_s < 2 * usual_s


async def test_whoever_is_ready_no_more_is_asked_no_more_from_the_next_query_on(world: World) -> None:
    _, asked = await ask(world, QUERIES[0])
    gone = set(asked[::2])
    for peers in world.network.ready.values():
        peers[:] = [peer for peer in peers if peer not in gone] or peers[:1]
    left = set[NodeId]().union(*world.network.ready.values())
    for query in QUERIES:
        assert left.issuperset((await ask(world, query))[1])
