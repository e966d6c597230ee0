"""Two members that conspire grant each other slots of which they are candidates. They hide pages for a while, erase
nothing, and once they are blocked the pages are shown again as they were, without a fetch."""

from collections.abc import Iterable

from msgspec.structs import replace

from dht import Slot, node_id_of, slot_of
from node.extras.simulation.census import take_census
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan
from store import Draft, Kind, Record, decode_document, encode_document
from store.record.former_page import erasure_of, page_in
from store.record.messages import PutPackage, PutReply
from store.record.package import pack, sign_package
from tests.sim.judged import assert_complete, assert_polite, crawled
from tests.sim.simulated import simulated
from tests.store.support import grant

PLAN = WorldPlan(seed=31, hosts=3, pages=20)
SHOWN_AGAIN_WITHIN_S = 60.0
VERSIONS = 6  # of each page, in turns: three times as many as `former_last` keeps


def forged(world: World, record: Record, number: int) -> Draft:
    """One of many false versions of a page, of this moment: another text, or that the page asks not to be found."""
    wall, gone = world.loop.clock()().wall, number % 3 == 0
    document = replace(decode_document(record.body), text=f"buy here {number}", fetched_at=wall, status=200)
    if gone:
        document = replace(document, text="", boilerplate="", gone=True)
    at_ms, content = int(wall * 1000) + number, b"" if gone else b"buy here"
    body, day = encode_document(document), int(wall // 86_400) + 300
    return Draft(Kind.DOCUMENT, record.id, record.key, int(wall) + number, at_ms, day, body, content)


async def bring(world: World, made: Draft, liars: list[SimNode], nodes: Iterable[SimNode]) -> None:
    """Have two members bring what they granted to each other to all who own it: the version, and what would erase the
    versions before it, which is refused."""
    network = bytes.fromhex(world.running()[0].overlay.view.strategy.network)
    given = grant(made, *(liar.identity for liar in liars), bits=world.plan.slot_bits, network=network)
    (page,) = sign_package([made], liars[0].identity)
    for node in nodes:
        for record in filter(None, (page, erasure_of(page))):
            message = PutPackage(pack([record]), (), (given,))
            reply = await liars[0].overlay.ask(node.overlay.node_id, message, PutReply, timeout_s=5.0)
            assert bool(reply.refused) == (record.kind == Kind.FORMER), reply


def formers(node: SimNode, page: Record) -> list[Record]:
    """The former versions of a page on a node's disk, as pages."""
    records = node.node_core.store.records
    return [page_in(each) for id in records.formers(page.id) if (each := records.find(Kind.FORMER, id))]


async def read(node: SimNode, urls: Iterable[str]) -> dict[str, bytes]:
    """The versions of pages that a node shows, wherever they lie."""
    found = await node.node_core.store.lookup.records(list(urls), content=False)
    return {url: record.version.digest for url, record in found.items()}


@simulated(PLAN)
async def test_what_two_members_grant_each_other_erases_nothing_and_is_gone_once_they_are_blocked(world: World) -> None:
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
        is_honest = node_id_of(record.proof.author) not in names
        if is_honest and len(names & set(view.owners(slot_of(record.key, world.plan.slot_bits)))) < 2:
            attacked[url] = record
    assert len(attacked) >= 5
    for url, record in attacked.items():
        owners = view.owners(Slot(slot_of(record.key, world.plan.slot_bits)))
        those = [node for node in honest if node.overlay.node_id in owners]
        for number in range(VERSIONS):
            await bring(world, forged(world, record, number), liars[:: 1 if number % 2 else -1], those)
        for node in those:
            assert record in formers(node, record), f"{url}: neither erased, nor pushed out by many versions"
    world.publish(blocked=[name.hex() for name in sorted(names)])
    truth, blocked_at = {url: record.version.digest for url, record in attacked.items()}, world.loop.time()
    while [node for node in honest if await read(node, attacked) != truth]:
        assert world.loop.time() < blocked_at + SHOWN_AGAIN_WITHIN_S, "shown again, in the versions of before"
        await world.pass_time(1.0)
    await crawled(world)
    census = take_census(honest)
    assert {url: text.body for url, text in census.texts.items()} == {u: t.body for u, t in true.items()}
    assert {url: census.texts[url].version for url in attacked} == truth
    for liar in liars:
        await world.kill(liar)
    assert_complete(world)
    assert_polite(world)
