"""Results by their number, of a real index: the same list as cursors give, whichever part of it is asked for."""

import asyncio
import random
from dataclasses import replace
from typing import Any, cast

import pytest

from dht import document_id, placement_key
from index import IndexConfig, SearchRequest
from index.change_feed import Text
from node.service.service import Service
from node.web.requests.paging import search_from
from tests.index.index_network import World

COUNT = 130
QUESTION = SearchRequest("needle", limit=10, deadline_ms=20_000)


def text(number: int) -> Text:
    url, body = (
        f"https://h{number}.test/",
        f"needle number {number} " + "needle hay " * (number % 7) + f"w{number} " * 9,
    )
    version = number.to_bytes(32, "big")
    return Text(document_id(url), placement_key(url), version, url, f"Page {number}", (), body, "en", 1.8e9 + number)


def urls(answer: dict[str, Any]) -> list[str]:
    return [result["url"] for result in answer["results"]]


def test_results_from_a_number_on_are_those_that_cursors_lead_to() -> None:
    async def story() -> None:
        world = World(random.Random(1), 1, 1, IndexConfig(engine="memory", commit_s=0.0))
        await world.put([text(number) for number in range(COUNT)])
        service = cast(Service, world.nodes[0].searcher)
        first = await service.search(replace(QUESTION, limit=100))
        rest = await service.search(replace(QUESTION, limit=100, cursor=first["next_cursor"]))
        whole = urls(first) + urls(rest)
        assert len(set(whole)) == len(whole) == COUNT
        for start, limit in ((0, 10), (10, 10), (95, 10), (100, 100), (125, 10), (COUNT, 10), (900, 100)):
            answer = await search_from(service, replace(QUESTION, limit=limit), start)
            assert urls(answer) == whole[start : start + limit], start
            assert (answer["total"], answer["partial"]) == (COUNT, False)
        await world.close()

    asyncio.run(story())


class Slow:
    """A node that uses up the deadline with its first answer, of which more would follow."""

    asked = 0

    async def search(self, question: SearchRequest) -> dict[str, Any]:
        self.asked += 1
        return {"results": [{}] * question.limit, "partial": False, "total": 500, "next_cursor": "bmV4dA"}


@pytest.mark.parametrize(("deadline_ms", "searches"), [(49, 1), (20_000, 3)])
def test_one_deadline_holds_for_all_searches(deadline_ms: int, searches: int) -> None:
    node = Slow()
    question = replace(QUESTION, deadline_ms=deadline_ms)
    answer = asyncio.run(search_from(cast(Service, node), question, 250))
    assert (node.asked, answer["partial"]) == (searches, searches == 1)
