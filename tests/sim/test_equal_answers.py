"""At rest all nodes give the same exact answer to each of many questions, and it is what brute force finds."""

import json
from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import Any

import pytest

from index import SearchRequest
from node.extras.simulation.census import take_census
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan, simulate
from tests.sim.judged import crawled

NODES = 5
AGAINST_BRUTE_FORCE = 10  # one question in so many


def questions(rng: Random, words: tuple[str, ...], texts: list[str]) -> Iterator[SearchRequest]:
    """Questions of all kinds, for ever: some have one result, some thousands, some none."""
    while True:
        a, b, c = (words[int(len(words) ** rng.random()) - 1] for _ in range(3))
        said = rng.choice(texts).split()
        at = rng.randrange(len(said) - 2)
        yield SearchRequest(f"{a} {b}")
        yield SearchRequest(a, limit=rng.choice((1, 10, 30)))
        yield SearchRequest(f'"{said[at]} {said[at + 1]}" {c}')
        yield SearchRequest(f'"{said[at]} {said[at + 1]} {said[at + 2]}"')
        yield SearchRequest(f"{a} -{b}")
        yield SearchRequest(f"{a} OR {b} OR {c}")
        yield SearchRequest(f"{b[:3]}* {a}")
        yield SearchRequest(f"{a} {b}{b[0]}")  # a slip of the hand
        yield SearchRequest(f"{a} {b}", site=f"site{rng.randrange(9)}.example")
        yield SearchRequest(f"{a} {c}", is_by_date=True)
        yield SearchRequest(f"intitle:{a} {b}", language=rng.choice(("", "en", "de")))


async def asked(node: SimNode, question: SearchRequest) -> dict[str, Any]:
    return await node.node_core.index.searcher.search(question)


APART = ("replicas", "site_more")  # the node's own view of the owners; a least number, by what its replicas sent


def told(answer: dict[str, Any]) -> str:
    """Return the part of an answer that all nodes must give alike."""
    hits = [{name: value for name, value in hit.items() if name not in APART} for hit in answer["results"]]
    return json.dumps([answer["total"], answer["exact"], answer["partial"], hits], sort_keys=True)


async def check(world: World, pages: int, count: int) -> None:
    await world.add(NODES)
    await world.crawl()
    await crawled(world)
    census = take_census(world.running())
    assert len(census.texts) >= pages
    oracle, rng = census.brute_force(), Random(f"questions {world.plan.seed}")
    texts = [text.body for _, text in sorted(census.texts.items())]
    unequal, wrong, exact, found = list[object](), list[object](), 0, 0
    for number, question in enumerate(islice(questions(rng, world.web.words, texts), count)):
        answers = [await asked(node, question) for node in world.running()]
        exact += sum(answer["exact"] for answer in answers)
        found += bool(answers[0]["results"])
        if len({*map(told, answers)}) > 1:
            unequal.append((question, [told(answer)[:300] for answer in answers]))
        if number % AGAINST_BRUTE_FORCE == 0:
            narrowed = question.language, question.site, question.is_by_date
            wanted = oracle.search(question.text, *narrowed, wanted=question.limit)
            urls = [hit.text.url for hit in wanted.hits[: question.limit]]
            if [hit["url"] for hit in answers[0]["results"]] != urls or answers[0]["total"] != wanted.total:
                wrong.append((question, [hit["url"] for hit in answers[0]["results"]], urls))
    assert not unequal
    assert not wrong
    assert exact == count * NODES, "at rest every answer is exact"
    assert found > count / 3


def test_all_nodes_give_the_same_answers_at_rest():
    simulate(lambda world: check(world, 180, 66), WorldPlan(seed=5, hosts=8, pages=25))


@pytest.mark.prove
@pytest.mark.parametrize("seed", range(40, 45))
def test_all_nodes_give_the_same_answers_to_a_thousand_questions_about_five_thousand_pages(seed: int):
    simulate(lambda world: check(world, 5_000, 1_100), WorldPlan(seed, hosts=150, pages=40, slot_bits=4 + seed % 3))
