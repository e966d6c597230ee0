"""Whole nodes of a network in which a page is analysed by its author alone: its other owners index what that made."""

import pytest
from msgspec.structs import replace

from crawl import InlineParsers, MadeTerms, ParseResult, ParseTask, signature
from index import SearchOracle, SearchRequest, Text
from index.engine.index_files import IndexFiles
from index.text.page_terms import terms_of
from node.crawling.page_analysis import analyse_page
from node.extras.simulation.census import take_census
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan, simulate
from tests.sim.judged import crawled

WEB = WorldPlan(seed=7, hosts=8, pages=6, strategy={"terms": "travel"})
QUERIES = ("the", "page", "host", "search engine")


@pytest.fixture(autouse=True)
def believe_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have authors believed after three pages."""
    monkeypatch.setattr("index.engine.terms_trust.PAST", 3)


async def files_of(node: SimNode) -> IndexFiles:
    return node.node_core.index.local._serving.files


async def indexed(node: SimNode) -> dict[bytes, bytes]:
    """The forward records of a node, by document."""
    return {row.id: row.record for row in (await files_of(node)).table.rows(range(1, 10_000))}


async def taken_by(node: SimNode) -> int:
    """How many documents a node indexed by what others made of them, unread."""
    files = await files_of(node)
    rows = list(files.table.rows(range(1, 10_000)))
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


def lie(node: SimNode) -> None:
    """Have a node sign for each page that it says every word of QUERIES twenty times."""

    def false(task: ParseTask, parsed: ParseResult) -> MadeTerms | None:
        return analyse_page(task, replace(parsed, text=f"{parsed.text} {' '.join(QUERIES) * 20}"))

    parsers = node.node_core.crawl.crawler._process_stage.ports.parsers
    assert isinstance(parsers, InlineParsers)
    parsers._analyse = false


def test_false_terms_cost_their_author_all_and_nobody_is_a_liar_for_a_page_that_it_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Taken unread at first, they are found out once a page is to be shown."""
    monkeypatch.setattr("index.engine.terms_trust.PAST", 0)
    monkeypatch.setattr("index.engine.terms_trust.SAMPLED", 0.0)

    async def scenario(world: World) -> None:
        nodes = await world.add(4)
        liar, honest = nodes[1], [nodes[0], *nodes[2:]]
        lie(liar)
        await world.pass_time(10.0)
        await world.crawl()
        await crawled(world)
        texts = {text.id: text for text in take_census(nodes).texts.values()}
        before = [await indexed(node) for node in honest]
        assert any(records[id] != terms_of(texts[id]).forward for records in before for id in records)
        for node in honest:
            await answers(node, list(texts.values()))
        await world.pass_time(60.0)
        author = liar.identity.public_key
        for node in honest:
            core = node.node_core
            assert core.index.local.trust.false_authors == {author}
            assert core.audit.refuted() <= {liar.identity.node_id}
            records = await indexed(node)
            assert records == {id: terms_of(texts[id]).forward for id in records}

    simulate(scenario, WEB)
