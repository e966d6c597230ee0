"""Clients behind a NAT: they find, search, publish seeds and fetch by order, and nobody ever waits for them."""

from dht import document_id, placement_key
from node.simulation.census import is_idle, repeated
from node.simulation.simnode import SimNode
from node.simulation.world import Plan, World, simulate
from store import Kind
from tests.sim.judged import assert_polite

SETTLE_S = 10.0


def members_of(world: World) -> list[SimNode]:
    return [node for node in world.running() if not node.is_client and not node.is_bare]


async def crawl_ends(world: World) -> None:
    await world.until(lambda: is_idle(members_of(world)), 900.0)
    await world.pass_time(30.0)


def test_a_client_behind_a_nat_learns_the_members_and_stands_in_no_table():
    async def story(world: World) -> None:
        members = await world.add(4)
        client = await world.add_client()
        await world.pass_time(SETTLE_S)
        assert client.overlay.view.members() == members[0].overlay.view.members()
        assert len(client.overlay.view.members()) == 4
        assert not client.overlay.view.owned() and not client.overlay.view.leases()
        for node in members:
            assert node.overlay.view.contact(client.identity.node_id) is None
            assert client.identity.node_id not in node.overlay.view.live()

    simulate(story)


def test_a_client_publishes_seeds_fetches_by_order_and_searches():
    async def story(world: World) -> None:
        members = await world.add(4)
        client = await world.add_client((4, 6))
        await world.pass_time(SETTLE_S)
        await world.crawl(by=client)
        await crawl_ends(world)
        by_client = [visited for visited in world.log if visited.node == client.name]
        assert client.daemon.polls.carried == len(by_client) > 3
        assert not any(visited.url.endswith("/robots.txt") for visited in by_client)
        assert sum(node.daemon.clients.carried for node in members) == len(by_client)
        assert not repeated(world.log)
        assert_polite(world)
        wanted = await members[0].daemon.searcher.search(world.web.words[0], limit=10)
        answer = await client.daemon.searcher.search(world.web.words[0], limit=10)
        assert [hit["url"] for hit in answer["results"]] == [hit["url"] for hit in wanted["results"]] != []
        assert answer["exact"]
        assert not client.daemon.index.documents

    simulate(story)


def test_a_client_that_goes_away_with_its_orders_costs_only_time():
    async def story(world: World) -> None:
        await world.add(3)
        client = await world.add_client()
        await world.pass_time(SETTLE_S)
        await world.crawl()
        await world.until(lambda: any(node.daemon.clients.open for node in members_of(world)), 60.0, every_s=0.02)
        await world.kill(client)
        await crawl_ends(world)
        node = members_of(world)[0]
        kept = {url for url, state in world.web.outcomes().items() if state.name == "FETCHED"}
        assert sum(1 for document in await documents(node, sorted(kept)) if document) == len(kept)

    simulate(story, Plan(seed=2))


async def documents(node: SimNode, urls: list[str]) -> list[object]:
    found = await node.daemon.replicator.read_many([(Kind.DOCUMENT, document_id(u), placement_key(u)) for u in urls])
    return [found.get((Kind.DOCUMENT, document_id(u))) for u in urls]
