"""A search keeps its deadline by asking less: what it has found by then is its answer."""

import random
from collections.abc import Callable
from typing import Any

import index_corpus as corpus
import pytest
from index_network import World, loop_clock

from index.config import IndexConfig
from index.query.search_request import SearchRequest

pytestmark = pytest.mark.virtual_time
DEADLINE_S = 2.0
Make = Callable[..., World]


async def searched(make_world: Make, slow_s: float) -> dict[str, Any]:
    """Ask one of four nodes for pages that are all of one host, so that it asks for more of it; the others are slow."""
    world, rng = make_world(random.Random(4), 4, 1, IndexConfig(engine="memory", commit_s=0.0)), random.Random(4)
    await world.put([corpus.text(rng, f"https://site.test/{number}") for number in range(150)])
    for node in world.nodes[1:]:
        world.network.slow_s[node.id] = slow_s
    began = loop_clock().steady
    answer = await world.nodes[0].searcher.search(SearchRequest("python run", deadline_ms=int(DEADLINE_S * 1000)))
    assert loop_clock().steady - began <= DEADLINE_S
    return answer


async def test_what_was_found_is_kept_where_there_is_no_time_for_more(make_world: Make) -> None:
    whole, hasty = await searched(make_world, 0.1), await searched(make_world, 0.65)
    assert whole["exact"] and len(whole["results"]) == 10
    assert hasty["coverage"]["answered"] == hasty["coverage"]["slots"] and not hasty["exact"]
    assert 0 < len(hasty["results"]) < 10, "the rest depends on what was not asked for"
