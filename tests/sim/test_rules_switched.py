"""Another analyzer and ranking, switched on by a strategy while somebody searches ten times a second: at one moment, on
all nodes alike, and no answer is partial."""

import asyncio
from dataclasses import dataclass, field
from itertools import count

from crawl import signature
from index import SearchOracle, SearchRequest
from index.query.search_rules import SearchRules, closest_to
from node.extras.simulation.census import take_census
from node.extras.simulation.loop import EPOCH
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, simulate
from tests.second_rules import FIRST, SECOND, second_rules
from tests.sim.judged import crawled

OLD = closest_to(*FIRST)
with second_rules():
    NEW = closest_to(*SECOND)
AHEAD_S = 15


@dataclass
class Watch:
    """A reader's view over time: the rules that ordered each answer, and the partial answers."""

    by: list[tuple[float, SearchRules | None]] = field(default_factory=list)
    partial: list[object] = field(default_factory=list)


async def watch(world: World, seen: Watch, query: str, orders: dict[SearchRules, list[tuple[str, float]]]) -> None:
    """Ask a node every 100 ms, one after the other."""

    async def ask(node: SimNode) -> None:
        asked_at = world.loop.time()
        answer = await node.node_core.index.searcher.search(SearchRequest(query, limit=20))
        found = [(hit["url"], hit["score"]) for hit in answer["results"]]
        seen.by.append((asked_at, next((rules for rules, each in orders.items() if each == found), None)))
        if answer["partial"]:
            seen.partial.append((asked_at, node.name, answer["why"]))

    async with asyncio.TaskGroup() as tasks:
        for turn in count():
            tasks.create_task(ask(world.running()[turn % len(world.running())]))
            await world.pass_time(0.1)


def test_all_nodes_switch_at_the_instant_of_the_strategy_and_no_answer_is_partial():
    seen, at = Watch(), []

    async def scenario(world: World) -> None:
        await world.add(4)
        await world.pass_time(8.0)
        await world.crawl()
        await crawled(world)
        query = " ".join(world.web.words[:2])
        texts = [text for _, text in sorted(take_census(world.running()).texts.items())]
        hits = {rules: SearchOracle(texts, signature, rules).search(query).hits[:20] for rules in (OLD, NEW)}
        orders = {rules: [(hit.text.url, hit.scored.score) for hit in found] for rules, found in hits.items()}
        assert orders[OLD] != orders[NEW] and len(orders[NEW]) > 8
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(watch(world, seen, query, orders))
            await world.pass_time(5.0)
            instant = int(EPOCH + world.loop.time()) + AHEAD_S
            world.publish(analyzer=SECOND[0], ranking=SECOND[1], effective_at=instant)
            at.append(instant - EPOCH)
            await world.pass_time(2 * AHEAD_S)
            task.cancel()

    with second_rules():
        simulate(scenario)
    assert len(seen.by) > 250 and seen.partial == []
    (switch,) = at
    assert {rules for when, rules in seen.by if when < switch - 2} == {OLD}
    assert {rules for when, rules in seen.by if when > switch + 2} == {NEW}
    assert {rules for _, rules in seen.by} == {OLD, NEW}
