"""A node suggests words and titles of its own while somebody types."""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import index_corpus as corpus
import pytest
from index_network import World

from index.change_feed import Text
from index.config import IndexConfig
from index.query.search_request import SearchRequest

PAGES = [
    ("The Python Tutorial", "python sockets and threads", 3),
    ("The Python Library", "python modules, open files", 2),
    ("Open Street Map", "open data of streets", 4),
    ("Größe und Gewicht", "größe in metern", 3),
    ("网络配置指南", "网络配置", 2),
    ("Pythagoras", "a theorem", 1),
]


def pages() -> list[Text]:
    rng, found = random.Random(1), []
    for title, body, count in PAGES:
        for _ in range(count):
            made = corpus.text(rng, f"http://host{len(found)}.example/")
            found.append(replace(made, title=title, headings=(), body=body))
    return found


@pytest.fixture(params=["tantivy", "whoosh", "memory"])
async def world(request: pytest.FixtureRequest, make_world: Callable[..., World]) -> World:
    world = make_world(random.Random(2), 1, 1, IndexConfig(engine=request.param))
    await world.put(pages())
    return world


async def suggested(world: World, typed: str) -> list[str]:
    return await world.nodes[0].searcher.suggest(typed)


async def test_the_last_word_is_completed_and_titles_are_offered(world: World) -> None:
    assert (await suggested(world, "pyt"))[0] == "python"
    assert "pythagoras" in await suggested(world, "pyt"), "a title, though one page alone holds the word"
    assert await suggested(world, "the py") == ["the python tutorial", "the python library", "the python"]
    assert await suggested(world, "GRÖ") == ["grosse", "größe und gewicht"]
    assert await suggested(world, "网络配") == ["网络配置指南"]


async def test_words_that_stand_beside_those_before_come_first(world: World) -> None:
    assert await suggested(world, "python t") == []
    assert (await suggested(world, "open st"))[:2] == ["open street map", "open street"]
    assert "python streets" not in await suggested(world, "python st")


async def test_a_misspelled_text_is_corrected(world: World) -> None:
    assert await suggested(world, "pyhton") == ["python"]
    for text in ('(pyhton "x', '"pyhton', "(pyhton)", 'the "old pyhton book"'):
        assert await suggested(world, text) == [], "its words are wanted as they are written"


@pytest.mark.parametrize(
    "typed", ["", " ", "x" * 200, "\x07bell", "zzz", "p", "\u202epyt", "%00", "((((", "\ud800", "a" * 100]
)
async def test_odd_texts_get_nothing(world: World, typed: str) -> None:
    assert await suggested(world, typed) == []


async def test_what_left_the_index_is_suggested_no_more(world: World) -> None:
    assert "python" in await suggested(world, "pyt")
    await world.drop([text for text in world.store.values() if "Python" in text.title])
    assert "python" not in await suggested(world, "pyt")


async def test_an_answer_of_few_results_suggests_others(world: World) -> None:
    async def answer(text: str) -> dict[str, Any]:
        return await world.nodes[0].searcher.search(SearchRequest(text, deadline_ms=20_000))

    assert (await answer("pyth"))["suggestions"][0] == "python"
    assert (await answer("open"))["suggestions"] == []


async def test_a_correction_is_not_offered_again_as_a_suggestion_or_a_related_query(world: World) -> None:
    made = [corpus.text(random.Random(n), f"http://gyro{n}.example/") for n in range(3)]
    await world.put([replace(each, title="Gyroscope", headings=(), body="gyroscope balance") for each in made])
    answer = await world.nodes[0].searcher.search(SearchRequest("Balance gyroscpoe", deadline_ms=20_000))
    assert answer["corrections"] == ["Balance gyroscope"]
    assert (answer["suggestions"], answer["related"]) == ([], [])


async def test_an_answer_defines_what_was_asked_and_offers_related_queries(world: World) -> None:
    (page,) = [text for text in world.store.values() if text.title == "Pythagoras"]
    said = "A pythagoras is a theorem about triangles."
    await world.put([replace(page, body=said, headings=("Pythagoras proof",), version=b"2" * 32, written_at=2e9)])
    answer = await world.nodes[0].searcher.search(SearchRequest("what is pythagoras", deadline_ms=20_000))
    found = {"term": "pythagoras", "text": said, "url": page.url, "title": "Pythagoras"}
    assert (answer["definition"], answer["related"]) == (found, ["pythagoras proof"])


async def test_no_peer_is_asked(world: World) -> None:
    before = list(world.network.asked)
    await suggested(world, "pyt")
    assert world.network.asked == before
