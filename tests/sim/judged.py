"""Claims about a simulated world that several tests make, each proven from outside."""

from collections.abc import Sequence

from crawl import VisitState
from dht import Network
from index import SearchRequest
from node.app.departure import Departure
from node.config.settings import Config
from node.extras.demo.judge import MOST_SECOND_LOOK_SHARE
from node.extras.simulation.census import hurried, is_idle, is_settled, repeated, take_census, thin_records
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World
from node.owner.log_ring import LogRing
from node.owner.query_meter import QueryMeter
from node.owner.setting_desk import SettingDesk
from node.service.node_status import NodeStatus
from node.service.service import Service

MIN_DELAY_S = 1.0
CRAWLED_WITHIN_S = 900.0
SETTLED_WITHIN_S = 300.0


def status_of(node: SimNode, network: Network) -> NodeStatus:
    """Return what writes a node's status, as its service has it."""
    departure = Departure(node.overlay, node.node_core.store, None)
    return NodeStatus(node.node_core, node.overlay, network, QueryMeter(), departure, node.clock)


def service_of(world: World, node: SimNode) -> Service:
    """Return what a node answers to people and programs."""
    settings = SettingDesk(node.folder / "config.toml", Config())
    departure = Departure(node.overlay, node.node_core.store, node.folder / "leaving")
    return Service(node.node_core, node.overlay, world.network, departure, node.clock, settings, LogRing())


async def crawled(world: World) -> None:
    """Wait until nothing is left to crawl and all teams agree."""
    await world.until(lambda: is_idle(world.running()) and not is_due(world), CRAWLED_WITHIN_S)
    began = world.loop.time()
    while not (is_idle(world.running()) and is_settled(world.running())):
        assert world.loop.time() - began < SETTLED_WITHIN_S, "the network does not settle"
        await world.pass_time(5.0)


def is_due(world: World) -> bool:
    """Whether any stored URL waits to be fetched, noticed by a crawler or not."""
    now = world.loop.clock()().wall
    return any(visit.due_at <= now for visit in take_census(world.running()).visits.values())


def assert_complete(world: World) -> None:
    """Every URL that the web has was found, has its right outcome, and lies with all its owners, indexed."""
    census, wanted = take_census(world.running()), world.web.outcomes()
    wrong = {
        url: (census.states().get(url), state) for url, state in wanted.items() if census.states().get(url) != state
    }
    assert not wrong, f"URL: (state, wanted) {wrong}"
    assert census.visits.keys() == wanted.keys()
    unstored = {url for url, state in wanted.items() if state == VisitState.FETCHED} ^ census.texts.keys()
    assert not unstored, f"fetched and not stored, or the other way round: {unstored}"
    thin = thin_records(census, world.running())
    assert not thin, f"record: owners that lack it {thin}"


def assert_fetched_once(world: World) -> None:
    """Only what a node had in flight when it was killed was fetched a second time."""
    twice = repeated(world.log)
    lost = {loss.name for loss in world.node_losses}
    assert all(visit.node in lost for visits in twice.values() for visit in visits[:-1]), f"without a kill: {twice}"
    assert sum(len(visits) - 1 for visits in twice.values()) <= sum(loss.open for loss in world.node_losses), (
        f"{world.node_losses} {twice}"
    )


def assert_polite(world: World) -> None:
    """No site was asked again before it had rested, and second looks are as few as they may be."""
    pairs = hurried(world.log, MIN_DELAY_S)
    assert not pairs, f"{pairs}"
    assert sum(visited.is_second_look for visited in world.log) <= MOST_SECOND_LOOK_SHARE * len(world.log)


async def assert_one_answer(world: World, queries: Sequence[str], asked: int) -> None:
    """The first nodes give what brute force over all stored documents gives, in its order."""
    oracle = take_census(world.running()).brute_force()
    for query in queries:
        wanted = oracle.search(query)
        assert wanted.hits, query
        for node in world.running()[:asked]:
            answer = await node.node_core.index.searcher.search(SearchRequest(query, limit=10))
            found = [hit["url"] for hit in answer["results"]]
            assert found == [hit.text.url for hit in wanted.hits[:10]], f"{node.name} {query!r} {found}"
            assert answer["exact"] and answer["total"] == wanted.total
