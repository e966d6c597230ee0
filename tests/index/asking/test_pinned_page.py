"""A typed address is answered by its page first, once, from every node."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import index_corpus as corpus
import pytest
from index_network import World

from dht import DocumentId, Key
from index.asking.searcher import RunningSearch
from index.change_feed import Text
from index.config import IndexConfig
from index.query.search_request import SearchRequest
from tests.parameters import proved

pytestmark = pytest.mark.virtual_time
Make = Callable[..., World]


@pytest.fixture
async def world(make_world: Make, request: pytest.FixtureRequest) -> World:
    engine = getattr(request, "param", "memory")
    made = make_world(
        random.Random(5), 3, 2, IndexConfig(engine=engine, commit_s=0.0, writer_heap_bytes=15_000_000, first_depth=8)
    )
    await made.put(corpus.web(random.Random(5), 80))
    return made


@pytest.mark.parametrize("world", ["memory", *proved("tantivy", "whoosh")], indirect=True)
async def test_the_page_at_a_typed_address_is_first_and_shown_once_by_every_node(world: World) -> None:
    for text in list(world.store.values())[::8]:
        address = text.url.partition("://")[2].removesuffix("/")
        wanted, pages = world.sought(address), []
        order = [hit.text.url for hit in wanted.hits if hit.text.id != text.id]
        for node in world.nodes:
            asked = SearchRequest(address, 7, deadline_ms=20_000)
            first = await node.searcher.search(asked)
            assert first["exact"] and first["results"][0]["url"] == text.url, address
            assert first["total"] == wanted.total + (text not in wanted.counted)
            second = await node.searcher.search(replace(asked, cursor=first["next_cursor"] or ""))
            shown = [*first["results"], *(second["results"] if first["next_cursor"] else ())]
            assert [each["pinned"] for each in shown] == [True, *[False] * (len(shown) - 1)]
            assert [each["url"] for each in shown[1:]] == order[: len(shown) - 1]
            assert len(first["results"]) == min(7, 1 + len(order))
            assert all(text.url not in each["similar"] for each in shown[1:])
            pages.append([(each["url"], each["score"]) for each in shown])
        assert pages[0] == pages[1] == pages[2]


async def test_a_filter_leaves_the_page_out_and_an_address_that_nobody_has_changes_nothing(world: World) -> None:
    text = next(each for each in world.store.values() if each.language == "de")
    searcher = world.nodes[0].searcher
    assert (await searcher.search(SearchRequest(text.url)))["results"][0]["pinned"]
    for asked in (SearchRequest(text.url, language="en"), SearchRequest(text.url, site="other.example")):
        assert text.url not in [each["url"] for each in (await searcher.search(asked))["results"]]
    answer = await searcher.search(SearchRequest("nobody.example"))
    assert answer["exact"] and not any(each["pinned"] for each in answer["results"])


async def test_an_answer_says_so_where_the_typed_address_could_not_be_looked_up(world: World) -> None:
    node = world.nodes[0]

    async def read(wanted: Sequence[tuple[DocumentId, Key]]) -> Mapping[DocumentId, Text | None]:
        return {id_: text for id_, text in (await node.read(wanted)).items() if text is not None}

    answer = await RunningSearch(node.searcher, SearchRequest("nobody.example"), read).answer()
    assert not answer["whole"] and "unread" in [why["reason"] for why in answer["why"]]
