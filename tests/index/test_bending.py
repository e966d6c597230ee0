"""A query that bends gives one answer: the same order and scores from every node and engine, known words or new."""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import index_corpus as corpus
import pytest
from index_network import World

from index.config import IndexConfig
from index.query.search_request import SearchRequest

pytestmark = pytest.mark.virtual_time
SAID = "database python search engine socket virtual host install kernel module network release"
WORDS = SAID.split()
BENT = [
    "data base",
    "kernal modul",
    "virtualhost install",
    "netwrok relase notes",
    "pyhton serch engin",
    "l'engine d'install",
    "search-engine",
    "python.search.engine",
    "data base -socket",
    "instal sokcet network kernel",
]


async def made(make_world: Callable[..., World], engine: Any, seed: int, nodes: int = 4) -> World:
    chance = random.Random(seed)
    world = make_world(
        chance, nodes, 2, IndexConfig(engine=engine, commit_s=0.0, first_depth=8, writer_heap_bytes=15_000_000)
    )
    texts = []
    for number in range(120):
        words = chance.choices(WORDS, k=chance.randint(4, 30)) + chance.sample(
            ["data base", "kernal", "sokcet"], chance.randint(0, 1)
        )
        title = " ".join(chance.sample(WORDS, 2))
        page = corpus.text(chance, f"http://h{number % 40}.example/{number}")
        texts.append(replace(page, title=title, body=" ".join(words), headings=(), language="en", boilerplate=""))
    await world.put(texts)
    return world


@pytest.mark.parametrize(("engine", "seed"), [("tantivy", 1), ("memory", 2), ("memory", 3)])
async def test_every_node_bends_a_query_alike(make_world: Callable[..., World], engine: Any, seed: int) -> None:
    world = await made(make_world, engine, seed)
    for query in BENT:
        wanted = world.sought(query)
        for node in (*world.nodes, *world.nodes[:1]):  # the last asks for what it knows by then
            answer = await node.searcher.search(SearchRequest(query, deadline_ms=20_000))
            assert answer["exact"], (query, answer["why"])
            assert [each["url"] for each in answer["results"]] == [hit.text.url for hit in wanted.hits[:10]], query
            assert [each["score"] for each in answer["results"]] == [hit.scored.score for hit in wanted.hits[:10]], (
                query
            )
            assert answer["total"] == wanted.total, query


async def test_what_was_adopted_is_told_and_may_be_refused(make_world: Callable[..., World]) -> None:
    world = await made(make_world, "memory", 4, 2)
    asked = world.nodes[0].searcher.search
    answer = await asked(SearchRequest("virtualhost kernel", deadline_ms=20_000))
    assert [(each["typed"], each["used"], each["kind"]) for each in answer["alternatives"]] == [
        ("virtualhost", "virtual host", "split")
    ]
    assert answer["corrections"] == ["virtual host kernel"] and answer["total"] > 0
    typed = await asked(SearchRequest("virtualhost kernel", deadline_ms=20_000, is_verbatim=True))
    assert (typed["alternatives"], typed["corrections"]) == ([], [])
    assert typed["total"] < answer["total"]
    page = await asked(SearchRequest("virtualhost kernel", limit=3, deadline_ms=20_000))
    rest = await asked(SearchRequest("virtualhost kernel", limit=3, cursor=page["next_cursor"], deadline_ms=20_000))
    urls = [each["url"] for each in (*page["results"], *rest["results"])]
    assert urls == [each["url"] for each in answer["results"]][:6], "the second page is of the same query"
