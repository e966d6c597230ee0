"""Whole nodes with a directory of terms: they crawl, tell each other of their terms, and answer typed queries by it."""

import pytest

from crawl import signature
from index import SearchOracle, SearchRequest
from index.shard.level_audit import CHECK_S
from node.extras.simulation.census import take_census
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan, simulate
from tests.sim.judged import crawled

WEB = WorldPlan(seed=5, hosts=12, pages=6, strategy={"directory": True})
TELL_S, EPOCH_S = 60.0, 600.0


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let them tell each other ten times as often, and an epoch be as long as ten tellings."""
    for name, seconds in (("TELL_S", TELL_S), ("SETTLE_S", TELL_S / 2), ("AHEAD_S", EPOCH_S / 2)):
        monkeypatch.setattr(f"index.shard.impact_teller.{name}", seconds)
    for module in ("directory.told_epoch", "directory.weighed_owners", "directory.row_keeper", "shard.impact_teller"):
        monkeypatch.setattr(f"index.{module}.EPOCH_S", EPOCH_S)


async def ask(node: SimNode, query: str) -> tuple[dict[str, object], list[str]]:
    answer = await node.node_core.index.searcher.search(SearchRequest(query))
    assert answer["directory"] is not None, "it went by the directory"
    return answer["directory"], [each["id"] for each in answer["results"]]


def test_nodes_answer_by_a_directory_that_they_keep_for_each_other() -> None:
    async def scenario(world: World) -> None:
        nodes = await world.add(5)
        await world.pass_time(10.0)
        await world.crawl()
        await crawled(world)
        await world.pass_time(2 * EPOCH_S)
        texts = list(take_census(nodes).texts.values())
        words = sorted({word for text in texts for word in text.title.lower().split() if word.isalpha()})[::5]
        oracle, now = SearchOracle(texts, signature), world.loop.clock()().wall
        for node in nodes[:2]:
            for word in words:
                directory, found = await ask(node, word)
                wanted = [hit.text.id.hex() for hit in oracle.search(word).hits[:10]]
                assert directory["proven"] and found == wanted, word
                assert now - 3 * TELL_S < float(str(directory["as_of"])) <= now
        own = [node.node_core.index.teller for node in nodes]
        assert all(each.entries and each.sent_bytes for each in own)
        await world.pass_time(CHECK_S)
        assert sum(node.node_core.index.level_audit.checked for node in nodes) > 1, "some levels were drawn"
        assert not any(node.node_core.index.rows.disbelieved() for node in nodes), "nobody lies"

    simulate(scenario, WEB)
