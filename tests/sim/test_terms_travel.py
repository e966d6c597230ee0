"""Whole nodes of a network in which a page is analysed by its author alone: its other owners index what that made."""

import pytest

from crawl import signature
from index import SearchOracle, SearchRequest, Text
from index.engine.index_files import IndexFiles
from index.text.page_terms import terms_of
from node.simulation.census import take_census
from node.simulation.sim_node import SimNode
from node.simulation.world import World, WorldPlan, simulate
from tests.sim.judged import crawled

WEB = WorldPlan(seed=7, hosts=8, pages=6, strategy={"terms": "travel"})
QUERIES = ("the", "page", "host", "search engine")


@pytest.fixture(autouse=True)
def believe_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have authors believed after three pages."""
    monkeypatch.setattr("index.engine.terms_trust.PAST", 3)


async def files_of(node: SimNode) -> IndexFiles:
    return await node.node_core.index.local.write(lambda files: files)


async def indexed(node: SimNode) -> dict[bytes, bytes]:
    """The forward records of a node, by document."""
    return {row.id: row.record for row in (await files_of(node)).table.following(0, 10_000)}


async def taken_by(node: SimNode) -> int:
    """How many documents a node indexed by what others made of them, unread."""
    files = await files_of(node)
    rows = files.table.following(0, 10_000)
    return len(files.table.taken([row.id for row in rows]))


async def answers(node: SimNode, texts: list[Text]) -> None:
    oracle = SearchOracle(texts, signature)
    for query in QUERIES:
        answer = await node.node_core.index.searcher.search(SearchRequest(query))
        assert [each["id"] for each in answer["results"]] == [
            hit.text.id.hex() for hit in oracle.search(query).hits[:10]
        ]


def test_owners_index_what_the_author_made_of_a_page() -> None:
    async def scenario(world: World) -> None:
        nodes = await world.add(4)
        await world.pass_time(10.0)
        await world.crawl()
        await crawled(world)
        await world.pass_time(30.0)
        texts = {text.id: text for text in take_census(nodes).texts.values()}
        for node in nodes:
            records = await indexed(node)
            assert records == {id: terms_of(texts[id]).forward for id in records}
        assert all([await taken_by(node) for node in nodes])
        for node in nodes:
            await answers(node, list(texts.values()))
        assert not any(node.node_core.index.local.trust.false_authors for node in nodes)

    simulate(scenario, WEB)
