"""Clients behind a NAT: they find, search, publish seeds and fetch by order, and nobody ever waits for them."""

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from crawl import Fetched, Fetcher
from dht import Family, document_id, placement_key
from index import SearchRequest
from node.extras.simulation.census import is_idle, repeated, take_census
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import BOOTSTRAP_NODES, World, WorldPlan, simulate
from store import Kind
from tests.parameters import proved
from tests.sim.judged import assert_polite
from tests.sim.simulated import simulated

SETTLE_S = 10.0


def members_of(world: World) -> list[SimNode]:
    return [node for node in world.running() if node.mode == "member" and not node.is_bare]


async def crawl_ends(world: World) -> None:
    await world.until(lambda: is_idle(members_of(world)), 900.0)
    await world.pass_time(30.0)


@simulated()
async def test_a_client_behind_a_nat_learns_the_members_and_stands_in_no_table(world: World) -> None:
    members = await world.add(4)
    client = await world.add_client()
    await world.pass_time(SETTLE_S)
    assert client.overlay.view.members() == members[0].overlay.view.members()
    assert len(client.overlay.view.members()) == 4
    assert not client.overlay.view.owned() and not client.overlay.view.leases()
    for node in members:
        assert node.overlay.view.contact(client.identity.node_id) is None
        assert client.identity.node_id not in node.overlay.view.live()


@simulated(WorldPlan(seed=3))
async def test_a_client_publishes_seeds_fetches_by_order_and_searches(world: World) -> None:
    members = await world.add(4)
    client = await world.add_client((4, 6))
    await world.pass_time(SETTLE_S)
    await world.crawl(by=client)
    await crawl_ends(world)
    by_client = [visited for visited in world.log if visited.node == client.name]
    assert client.node_core.fetching.client_worker.carried == len(by_client) > 3
    assert not any(visited.url.endswith("/robots.txt") for visited in by_client)
    assert sum(node.node_core.fetching.client_dispatch.carried for node in members) == len(by_client)
    checked = repeated(world.log)
    assert checked, "the first page of a client is fetched again"
    for visits in checked.values():
        assert [visited.node == client.name for visited in visits] == [True, False]
    assert len(checked) <= 4, "one for each member that it worked for; of so few pages hardly any other"
    assert_polite(world)
    assert not any(node.node_core.audit.refutations() for node in members)
    wanted = await members[0].node_core.index.searcher.search(SearchRequest(world.web.words[0], limit=10))
    answer = await client.node_core.index.searcher.search(SearchRequest(world.web.words[0], limit=10))
    assert [hit["url"] for hit in answer["results"]] == [hit["url"] for hit in wanted["results"]] != []
    assert answer["exact"]
    assert not client.node_core.index.local.documents


class Liar:
    """A client's fetcher that makes its pages up."""

    def __init__(self, honest: Fetcher) -> None:
        self._honest, self.lies = honest, list[str]()

    async def fetch(self, url: str, headers: Mapping[str, str], max_bytes: int) -> Fetched:
        page = await self._honest.fetch(url, headers, max_bytes)
        if page.status != 200:
            return page
        self.lies.append(url)
        return replace(page, body=f"<title>buy</title><p>{'cheap watches and pills for everybody ' * 9}".encode())


@simulated(WorldPlan(hosts=4, pages=8))
async def test_a_client_that_makes_pages_up_is_found_out_by_its_first_one_and_gets_no_more_orders(world: World) -> None:
    members = await world.add(2)
    client = await world.add_client((4, 6))
    server = client.node_core.fetching.order_server
    liar = server._fetcher = Liar(server._fetcher)
    await world.pass_time(SETTLE_S)
    await world.crawl()
    await crawl_ends(world)
    assert 1 <= len(liar.lies) <= 2 * len(members), "a page or two before its first one was fetched again"
    whys = [told.reason for node in members for told in node.node_core.audit.refutations()]
    assert whys and all("another text than the site's" in why for why in whys)
    assert_polite(world)
    texts = take_census(members).texts
    assert all("cheap watches" not in text.body for text in texts.values()), "the site's own page is kept instead"
    kept = {url for url, state in world.web.outcomes().items() if state.name == "FETCHED"}
    assert texts.keys() == kept


@simulated(WorldPlan(seed=2))
async def test_a_client_that_goes_away_with_its_orders_costs_only_time(world: World) -> None:
    await world.add(3)
    client = await world.add_client()
    await world.pass_time(SETTLE_S)
    await world.crawl()
    await world.until(
        lambda: any(node.node_core.fetching.client_dispatch.open for node in members_of(world)), 60.0, every_s=0.02
    )
    await world.kill(client)
    await crawl_ends(world)
    node = members_of(world)[0]
    kept = {url for url, state in world.web.outcomes().items() if state.name == "FETCHED"}
    assert sum(1 for document in await documents(node, sorted(kept)) if document) == len(kept)


@pytest.mark.parametrize("families", [(4, 6), *proved(((4,),), ((6,),))])
@simulated()
async def test_a_node_that_strangers_reach_becomes_a_member_within_seconds(
    world: World, families: tuple[Family, ...]
) -> None:
    members = await world.add(4)
    await world.pass_time(SETTLE_S)
    node = await world.add_auto(families)
    await world.until(lambda: node.overlay.takes_part, 10.0, every_s=0.2)
    await world.pass_time(5.0)
    assert all(node.identity.node_id in other.overlay.view.live() for other in members)
    await world.pass_time(30.0)
    found = {family: each for family, each in node.overlay.report.reachability().items() if each.endpoint}
    assert {family: each.shown for family, each in found.items()} == dict.fromkeys(families, "reachable")
    assert all(each.tried == 3 for each in found.values())
    assert node.overlay.view.owned()


@pytest.mark.parametrize("count", [4, *proved(1)])
@simulated()
async def test_a_node_that_nobody_reaches_finds_out_and_stays_a_client(world: World, count: int) -> None:
    members = await world.add(count)
    await world.pass_time(SETTLE_S)
    node = await world.add_client((4,), mode="auto")
    for _ in range(60):
        await world.pass_time(1.0)
        assert not node.overlay.takes_part
        assert all(other.overlay.view.contact(node.identity.node_id) is None for other in members)
    assert node.overlay.report.reachability()[4].shown.startswith("behind a firewall, ")
    assert not any("admitted" in warning for warning in node.overlay.report.warnings()), "it asks nobody to admit it"


@pytest.mark.parametrize("seed", [1, *proved(2, 3)])
def test_a_node_that_one_member_alone_does_not_hear_is_a_member_for_good(seed: int):
    async def scenario(world: World) -> None:
        nodes = [await world.add_auto((4,)) for _ in range(5)]
        world.wire.break_way("n0", "n1")
        await world.until(lambda: all(node.overlay.takes_part for node in nodes), 40.0)
        for _ in range(240):
            await world.pass_time(0.5)
            assert all(node.overlay.takes_part for node in nodes)

    simulate(scenario, WorldPlan(seed=seed))


@simulated()
async def test_a_neighbour_that_names_a_node_makes_it_no_first_contact(world: World) -> None:
    named = await world.add(BOOTSTRAP_NODES)
    for other in named:
        await world.kill(other)
    node = await world.add_auto((4,))  # the network file does not name it, and nobody is there to be asked
    node.overlay.join(node.addresses)
    await world.pass_time(5.0)
    assert not node.overlay.takes_part


@simulated()
async def test_only_the_family_that_works_is_announced(world: World) -> None:
    members = await world.add(4)
    await world.pass_time(SETTLE_S)
    node = await world.add_auto((4, 6))
    world.wire.hide(node.name, families=(6,))
    await world.pass_time(40.0)
    assert node.overlay.report.reachability()[6].shown == "behind a firewall, 3 peers tried"
    contact = members[0].overlay.view.contact(node.identity.node_id)
    assert contact is not None and contact.families == {4}


@simulated()
async def test_a_network_whose_nodes_all_wait_for_a_word_begins_anyway(world: World) -> None:
    nodes = [await world.add_auto((4,)) for _ in range(5)]
    await world.until(lambda: all(len(node.overlay.view.live()) == 5 for node in nodes), 12.0)
    await world.crawl()
    await world.until(lambda: bool(world.log), 60.0)


async def documents(node: SimNode, urls: list[str]) -> list[object]:
    found = await node.node_core.store.replicator.read_many(
        [(Kind.DOCUMENT, document_id(u), placement_key(u)) for u in urls]
    )
    return [found.get((Kind.DOCUMENT, document_id(u))) for u in urls]
