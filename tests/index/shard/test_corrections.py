"""Did-you-mean in a network: one node's words propose, the counts of all decide, and nothing is replaced."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import index_corpus as corpus
import pytest
from index_network import World

from index.change_feed import Text
from index.config import IndexConfig
from index.query.alternatives import MAX_JOINED, MAX_UNSURE, joined_words, unsure_words
from index.query.parser import parse_query
from index.query.search_request import SearchRequest
from index.shard.corrections import proposals

Make = Callable[..., World]


class Words:
    """A vocabulary of a few words."""

    def __init__(self, **counts: int) -> None:
        self.counts = counts

    def word_count(self, word: str) -> int:
        return self.counts.get(word, 0)

    def words_from(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        return [(word, count) for word, count in self.counts.items() if word.startswith(prefix)][:limit]

    def words_together(self, words: Sequence[str]) -> int:
        return 0


def pages(bodies: list[str]) -> list[Text]:
    rng = random.Random(1)
    return [replace(corpus.text(rng, f"http://host{n}.example/"), body=body) for n, body in enumerate(bodies)]


async def corrected(world: World, text: str, node: int = 0) -> list[str]:
    answer = await world.nodes[node].searcher.search(SearchRequest(text, deadline_ms=20_000))
    corrections: list[str] = answer["corrections"]
    return corrections


@pytest.mark.parametrize("engine", ["tantivy", "whoosh", "memory"])
async def test_a_misspelled_question_is_answered_with_what_may_have_been_meant(make_world: Make, engine: Any) -> None:
    world = make_world(random.Random(2), 3, 1, IndexConfig(engine=engine))
    await world.put(pages(["the database receives"] * 40 + ["a naive socket"] * 20))
    for node in range(3):
        assert await corrected(world, "databse", node) == ["database"]
    assert await corrected(world, "How does a Databse recieves?") == ["How does a database receives?"]
    assert await corrected(world, "naïve sokcet") == ["naïve socket"]
    assert await corrected(world, "database socket") == []


async def test_the_whole_network_knows_a_word_that_this_node_does_not(make_world: Make) -> None:
    world = make_world(random.Random(3), 2, 1, IndexConfig(engine="memory"))
    texts = pages(["common words socket"] * 60 + ["the name sockel"] * 12)
    texts = [text for text in texts if "sockel" not in text.body or world.team(text) == [world.nodes[1]]]
    await world.put(texts)
    assert any("sockel" in text.body for text in texts)
    assert world.nodes[0].local.documents
    assert await corrected(world, "sockel") == [], "rare, and right"
    assert await corrected(world, "sockex") == ["socket"]


async def test_deleted_documents_propose_nothing(make_world: Make) -> None:
    world = make_world(random.Random(4), 1, 1, IndexConfig())
    texts = pages(["only here: gyroscope"] * 5 + ["something else"] * 5)
    await world.put(texts)
    assert await corrected(world, "gyroscpoe") == ["gyroscope"]
    await world.drop(texts[:5])
    assert await corrected(world, "gyroscpoe") == []


def test_forms_of_one_word_are_not_corrected_into_each_other() -> None:
    assert proposals("indexings", Words(indexing=50, index=90), 100) == ()
    assert proposals("instaler", Words(installer=50), 100) == ("installer",)


async def test_what_names_a_field_or_is_quoted_is_left_alone(make_world: Make) -> None:
    world = make_world(random.Random(5), 1, 1, IndexConfig(engine="memory"))
    await world.put(pages(["an example"] * 9))
    for text in (
        "site:exampel",
        "exampel.org",
        "http://exampel/",
        "an -exampel",
        '"exampel"',
        "+exampel",
        "a OR exampel",
    ):
        assert await corrected(world, text) == [], text
    assert await corrected(world, "exampel") == ["example"]


def test_a_long_question_asks_for_few_words() -> None:
    many = " ".join(a + b + "xample" for a in "bcdfghjklm" for b in "bcdfghjklm")
    assert len(unsure_words(parse_query(many))) == MAX_UNSURE
    assert len(joined_words(parse_query(many))) <= MAX_JOINED
