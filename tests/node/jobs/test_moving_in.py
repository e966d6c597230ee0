"""A private node's records move in whole, however often the network is not ready for them."""

from collections.abc import Sequence

from crawl import Visit
from dht import PeerTimeout, system_clock
from node.api.documents import BroughtPage
from node.captures.capture import Capture
from node.errors import NotJoined
from node.extras.simulation.world import World, WorldPlan
from node.jobs.moving_in import BATCH, MovingIn
from store import StoreConfig
from tests.sim.judged import crawled, service_of
from tests.sim.simulated import simulated


@simulated(WorldPlan(hosts=4, pages=15))
async def test_each_page_is_brought_once_and_each_url_queued_where_the_network_crawls_it(world: World) -> None:
    (node,) = await world.add(1)
    await service_of(world, node).crawl([world.web.seed_url], depth=100)
    await crawled(world)
    known = set(world.web.outcomes())
    taken, queued, turns = list[str](), list[Visit](), iter(range(1000))

    async def take(pages: Sequence[Capture], name: str) -> Sequence[BroughtPage]:
        turn = next(turns)
        if turn < 2:
            raise NotJoined("no member yet")
        done = [BroughtPage("taken") if turn != 3 or n % 2 else BroughtPage("later", "") for n in range(len(pages))]
        taken.extend(page.url for page, each in zip(pages, done, strict=True) if each.state == "taken" and page.content)
        return done

    async def queue(seeds: Sequence[Visit]) -> None:
        if next(turns) % 2:
            raise PeerTimeout("an owner", 1.0)
        assert len(seeds) <= BATCH
        queued.extend(seeds)

    def denied(url: str) -> str:
        return "rule 1" if url in refused else ""

    refused = sorted(known)[:3]
    moving = MovingIn(node.folder, StoreConfig(), take, queue, denied, system_clock)
    told = await moving.bring(node.node_core.store.records, "before-ab")
    assert len(taken) == len(set(taken)) > 40 and set(taken) <= known
    assert {visit.url for visit in queued} >= set(taken) - set(refused)
    assert not {visit.url for visit in queued} & set(refused) and len(queued) == len({visit.url for visit in queued})
    assert told == {"taken": len(taken), "queued": len(queued)}
