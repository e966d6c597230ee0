"""Programs may name a page by several forms of its address. The answers of a node at work have the shapes of its
OpenAPI document."""

from typing import Any

import msgspec
import pytest

from crawl import BadUrl
from dht import encode_document
from index import SearchRequest
from node.api.crawl import Followed
from node.errors import NoRoom
from node.extras.simulation.world import World
from node.service.service import known_url
from node.web.requests.route_table import route
from tests.node.bodies import has_shape
from tests.sim.judged import crawled, service_of
from tests.sim.simulated import simulated


def test_an_address_is_made_canonical_and_other_text_names_nothing() -> None:
    assert known_url("HTTP://A.test") == "http://a.test/"
    assert known_url("no address") == "no address"


@pytest.mark.parametrize("text", ["http://[::1", "//[x", "http://\u2100/"])
def test_what_cannot_be_taken_apart_is_told_to_whoever_asked(text: str) -> None:
    with pytest.raises(BadUrl, match="cannot be crawled"):
        known_url(text)


@simulated()
async def test_a_node_answers_in_the_shapes_that_its_openapi_document_has(world: World) -> None:
    nodes = await world.add(3)
    await world.pass_time(8.0)
    service, seed = service_of(world, nodes[0]), world.web.seed_url
    answers: list[tuple[str, Any]] = [("crawl", await service.crawl([seed, "ftp://x/"], depth=100))]
    await crawled(world)
    await world.pass_time(120.0)
    await world.kill(nodes[2])
    await world.pass_time(30.0)
    words = SearchRequest("site", limit=3, explain=True, facets=True)
    answers += [("search", await service.search(words)), ("search", await service.search(words))]
    assert answers[-1][1]["results"] and "age_s" in answers[-1][1]
    answers += [("status", await service.status()), ("peers", {"peers": await service.peers()})]
    answers += [("strategy", await service.strategy()), ("strategy_log", await service.strategy_log())]
    draft = encode_document(nodes[0].overlay.view.strategy)
    answers += [("preview_strategy", await service.preview_strategy(draft))]
    answers += [("document", {"documents": await service.document([seed, "nothing"])})]
    answers += [("progress", {"urls": await service.progress([Followed(seed, 3), Followed("http://x.test/")])})]
    answers += [("explain", await service.explain(url)) for url in (seed, "nonsense", "http://new.test/")]
    answers += [("evidence", await service.evidence(fetches=False)), ("scrub", service.scrub())]
    answers += [("leave", service.leave(at_once=True, is_sure=False))]
    answers += [("leave", service.leave(at_once=False, is_sure=True)), ("status", await service.status())]
    for name, answer in answers:
        assert has_shape(msgspec.json.encode(answer), route(name).schema), (name, answer)


@simulated()
async def test_the_only_node_says_at_once_that_it_has_no_room(world: World) -> None:
    (node,) = await world.add(1)
    await world.pass_time(8.0)
    node.node_core.store.records.room.set_quota(1000, 0)
    began = node.clock().steady
    with pytest.raises(NoRoom, match="no room for new pages"):
        await service_of(world, node).crawl([world.web.seed_url], depth=0)
    assert node.clock().steady - began < 1.0
