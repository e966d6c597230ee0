"""The strategy switches to another analyzer or ranking while people search. No answer is partial. At each moment all
nodes give the same order, by the rules in force."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import index_corpus as corpus
import pytest
from index_network import World

from crawl import signature
from dht import FaultSite
from index.config import IndexConfig
from index.query.search_request import SearchRequest
from index.query.search_rules import SearchRules, rules_of
from index.shard import index_follower
from tests.faults.injection import filled, small_disk
from tests.index.brute_force import brute_force
from tests.index.shard.test_local_index import Bench, put, texts
from tests.index.shard.test_local_index_faults import FaultyBench
from tests.second_rules import FIRST, SECOND, second_rules

QUERIES = ["running dogs", "python search", "大", "搜索引擎 软件", "index"]
OLD, NEW = FIRST, SECOND


@pytest.fixture(autouse=True)
def known_rules() -> Iterator[None]:
    with second_rules():
        yield


@pytest.fixture
async def world(make_world: Callable[..., World]) -> World:
    config = IndexConfig(commit_s=0.0, writer_heap_bytes=15_000_000, batch_count=16)
    made = make_world(random.Random(1), 3, 2, config, numbers=OLD)
    for slot in made.network.ready:  # so that nobody answers alone
        made.network.ready[slot] = sorted(made.network.ready[slot])
    await made.put(corpus.web(random.Random(2), 60))
    return made


def known(numbers: tuple[int, int]) -> SearchRules:
    rules = rules_of(*numbers)
    assert rules is not None
    return rules


async def ask(world: World, number: int, query: str) -> dict[str, Any]:
    return await world.nodes[number].searcher.search(SearchRequest(query, deadline_ms=20_000))


async def check(world: World, *by: tuple[int, int]) -> set[tuple[int, int]]:
    """Ask every node, and return by which of these rules they answered: each the order of one index over all."""
    used, web = set(), tuple(world.store.values())
    orders = {numbers: brute_force(web, signature, known(numbers)) for numbers in by}
    for query in QUERIES:
        expected = {
            numbers: [(hit.text.url, hit.scored.score) for hit in brute.search(query).hits[:10]]
            for numbers, brute in orders.items()
        }
        for number in range(len(world.nodes)):
            answer = await ask(world, number, query)
            assert not answer["partial"], (query, answer["why"])
            got = [(each["url"], each["score"]) for each in answer["results"]]
            assert got in expected.values(), query
            used |= {numbers for numbers, order in expected.items() if order == got and list(order)}
    return used


async def test_no_answer_is_partial_while_another_analyzer_and_ranking_are_built_and_switched_on(world: World) -> None:
    network = world.network
    assert await check(world, OLD) == {OLD}
    network.plan(analyzer=NEW[0], ranking=NEW[1])
    while any([await node.local.advance() for node in world.nodes]):
        assert await check(world, OLD) == {OLD}, "it does not count yet"
    assert all(node.local.beside() == {2: (1.0, True)} for node in world.nodes)
    network.switch()
    for late in ({0, 1}, {0}, {2}, set[int]()):
        network.late = {world.nodes[number].id for number in late}
        assert await check(world, OLD, NEW) == ({OLD, NEW} if late else {NEW})
    await world.put(corpus.web(random.Random(3), 20))
    assert await check(world, NEW) == {NEW}
    answer = await ask(world, 0, "running dogs")
    assert answer["exact"], answer["why"]
    network.formers = ()
    await world.settle()
    assert all(node.local.beside() == {} for node in world.nodes)
    assert await check(world, NEW) == {NEW}


async def test_where_the_index_for_the_new_rules_is_not_there_yet_answers_go_by_those_before(world: World) -> None:
    """A strategy that leaves no time: each node builds, and until all have, all can be understood by the old rules."""
    network = world.network
    network.plan(analyzer=NEW[0])
    network.switch()
    assert await check(world, OLD) == {OLD}
    answer = await ask(world, 1, "running dogs")
    assert "rules" in {each["reason"] for each in answer["why"]} and not answer["exact"]
    await world.nodes[0].local.choose()
    told = [warning for warning in world.nodes[0].local.warnings() if "analyzer 2" in warning]
    assert told and "being built (0%)" in told[0]
    await world.nodes[0].follow()
    assert await check(world, OLD, (NEW[0], OLD[1])) >= {OLD}, "this one asks by the new rules first, and in vain"
    await world.settle()
    assert await check(world, (NEW[0], OLD[1])) == {(NEW[0], OLD[1])}
    assert list(world.nodes[0].local.warnings()) == []


async def test_rules_that_this_release_does_not_know_are_said_with_the_remedy(world: World) -> None:
    network = world.network
    network.plan(analyzer=99)
    (warning,) = world.nodes[0].local.warnings()
    assert "analyzer 99" in warning and "upgrade" in warning and "before" in warning
    network.switch()
    await world.settle()
    (warning,) = world.nodes[0].local.warnings()
    assert "analyzer 99" in warning and "upgrade it now" in warning
    answer = await ask(world, 0, "running dogs")
    assert not answer["exact"] and "rules" in {each["reason"] for each in answer["why"]}
    assert answer["results"], "what this release can find is found"


def numbers_of(bench: Bench) -> list[str]:
    assert bench.path is not None
    return sorted(folder.name for folder in bench.path.iterdir())


async def test_building_goes_on_after_a_restart_and_the_index_before_goes_last(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "index")
    put(bench, texts(40))
    await bench.follow()
    bench.network.plan(analyzer=2)
    await bench.local.advance()
    assert bench.local.beside() == {2: (16 / 40, False)}
    await bench.local.close()
    read = bench.feed.log[:16]
    bench.feed.log[:16] = [type(change)(change.id, None) for change in read]  # whoever reads these again loses them
    bench.open()
    await bench.local.advance()
    await bench.follow()
    assert bench.local.beside() == {2: (1.0, True)} and numbers_of(bench) == ["analyzer-1", "analyzer-2"]
    bench.network.switch()
    await bench.follow()
    assert bench.local.documents == 40 and bench.local.serving.number == 2
    assert numbers_of(bench) == ["analyzer-1", "analyzer-2"], "some may ask by it for a day"
    bench.network.formers = ()
    await bench.follow()
    assert numbers_of(bench) == ["analyzer-2"]
    await bench.local.close()


async def test_a_full_disk_stops_the_next_index_and_not_the_present_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_follower, "TRY_AGAIN_S", 0.0)
    with small_disk(tmp_path / "disk", 60_000_000) as folder:
        bench = FaultyBench(folder / "index")
        put(bench, texts(20))
        await bench.follow()
        bench.network.plan(analyzer=2)
        await bench.until(lambda: bool(bench.faults.present()))
        (fault,) = bench.faults.present()
        assert fault.site == FaultSite.INDEX_BESIDE and "nearly full" in fault.cause and "free some" in fault.remedy
        put(bench, texts(40)[20:])
        await bench.until(lambda: bench.local.is_current)
        assert bench.local.documents == 40 and bench.local.is_answering and not bench.local.is_stuck
        monkeypatch.setattr(index_follower, "SPARE_BYTES", 0)
        with filled(folder):
            for _ in range(4):
                await bench.local.advance()
            assert bench.local.is_answering and not bench.local.beside()[2][1]
        await bench.until(lambda: bench.local.beside()[2][1])
        bench.steady = 60.0
        assert bench.faults.present() == ()
        await bench.local.close()
