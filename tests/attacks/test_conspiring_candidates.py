"""Two members that conspire grant each other slots of which they are candidates: no page that stands is hidden."""

from msgspec.structs import replace

from dht import RemoteError, Slot, node_id_of, slot_of
from node.extras.simulation.census import take_census
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan, simulate
from store import Draft, Kind, Record, decode_document, encode_document
from store.record.package import pack, sign_package
from store.replication.messages import PutPackage, PutReply
from tests.sim.judged import assert_complete, assert_polite, crawled
from tests.store.support import grant

PLAN = WorldPlan(seed=31, hosts=3, pages=20)
FETCHED_AGAIN_WITHIN_S = 300.0


def forged(world: World, record: Record, *, gone: bool) -> Draft:
    """Another text for a page, or that it is gone, of this moment."""
    wall = world.loop.clock()().wall
    document = replace(decode_document(record.body), text="buy here", fetched_at=wall)
    if gone:
        document = replace(document, text="", boilerplate="", gone=True, status=404)
    content = b"" if gone else b"buy here"
    day = int(wall // 86_400) + 300
    return Draft(
        Kind.DOCUMENT, record.id, record.key, int(wall), int(wall * 1000), day, encode_document(document), content
    )


async def bring(world: World, made: Draft, liars: list[SimNode], nodes: list[SimNode]) -> int:
    """Have two members bring what they granted to each other to all who own it; return how many took it."""
    network = bytes.fromhex(world.running()[0].overlay.view.strategy.network)
    given = grant(made, *(liar.identity for liar in liars), bits=world.plan.slot_bits, network=network)
    message = PutPackage(pack(sign_package([made], liars[0].identity)), (), (given,))
    taken = 0
    for node in nodes:
        try:
            reply = await liars[0].overlay.ask(node.overlay.node_id, message, PutReply, timeout_s=5.0)
        except RemoteError:
            continue
        taken += not reply.refused
    return taken


def test_no_page_is_hidden_by_what_two_members_grant_each_other_and_soon_it_is_fetched_again() -> None:
    async def scenario(world: World) -> None:
        nodes = await world.add(6)
        await world.pass_time(10.0)
        await world.crawl()
        await crawled(world)
        liars, honest = nodes[:2], nodes[2:]
        names = {node.overlay.node_id for node in liars}
        view, true = honest[0].overlay.view, take_census(honest).texts
        attacked: dict[str, Record] = {}
        for url in sorted(true):
            record = next(r for n in honest if (r := n.node_core.store.records.find(Kind.DOCUMENT, true[url].id)))
            slot = slot_of(record.key, world.plan.slot_bits)
            if names & set(view.owners(slot)) and len(names & set(view.owners(slot))) < 2:
                attacked[url] = record
        assert len(attacked) >= 5
        taken = 0
        for n, (url, record) in enumerate(attacked.items()):
            slot = Slot(slot_of(record.key, world.plan.slot_bits))
            owners = [node for node in honest if node.overlay.node_id in view.owners(slot)]
            taken += await bring(world, forged(world, record, gone=n % 2 == 0), liars, owners)
            for node in owners:
                page = node.node_core.store.records.find_page(record.id)
                assert page is not None and node_id_of(page.proof.author) not in names, url
        assert taken >= len(attacked), "it is kept beside"
        await world.pass_time(FETCHED_AGAIN_WITHIN_S)
        await crawled(world)
        for node in honest:
            store = node.node_core.store.records
            for _, id in store.standing(0, 100):  # the liars' epoch is ahead of the holders' until these change
                page, other = store.find_page(id), store.find_version(Kind.DOCUMENT, id)
                assert page is not None and other is not None and page.version.at_ms > other.at_ms, "fetched again"
        census = take_census(world.running())
        assert {url: text.body for url, text in census.texts.items()} == {u: t.body for u, t in true.items()}
        assert_complete(world)
        assert_polite(world)

    simulate(scenario, PLAN)
