"""One member writes as fast as it can, within its rights: it holds its leases, signs all, and the web gave it nothing.

It reaches its limits, is named, and takes room, work and answers from nobody. Honest members never meet a limit."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec
import pytest
from msgspec.structs import replace

from crawl import Visit, VisitState, reach
from dht import Identity, Rule, document_id, placement_key, slot_of
from node.crawling.ingest import visit_draft
from node.extras.simulation.census import take_census
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan
from node.views.evidence import local_lines
from node.views.peers import peer_rows
from store import Document, Draft, Kind, Record, TooFewCopies, decode_document, encode_document
from store.record.messages import PutPackage, PutReply
from store.record.package import pack, sign_package
from store.writing import author_budgets, budget_keeper
from store.writing.author_budgets import OF_ROOM, OF_SITE
from tests.sim.judged import assert_complete, assert_one_answer, crawled, status_of
from tests.sim.simulated import simulated
from tests.store.network import Net, Node, in_network
from tests.store.support import DAY, draft

FLOOD, QUOTA = 5_000, 170_000_000
AN_HOUR = 2 * 3600 / 1.0 + 100  # pages of one site, at the strategy's delay of a second
BIG = 400_000
STRANGER = Identity(b"s" * 32)


def of_one_site(n: int) -> Draft:
    return draft(n, hosts=1, at=n / 1000, size=10)


def of_one_page(n: int) -> Draft:
    return replace(draft(1, at=n / 1000), content=b"%d" % n)


def as_former_versions(n: int) -> Draft:
    return draft(n, hosts=1, at=-n / 1000, size=10)  # older and older


def on_made_up_sites(n: int) -> Draft:
    return replace(draft(n, hosts=10**9), content=os.urandom(BIG))


def with_long_texts(n: int) -> Draft:
    made = draft(n, hosts=10**9)
    return replace(made, body=encode_document(replace(decode_document(made.body), text=os.urandom(BIG // 2).hex())))


def huge_visits(n: int) -> Draft:
    made = draft(n, kind=Kind.VISIT)
    return replace(made, body=msgspec.msgpack.encode((*msgspec.msgpack.decode(made.body), os.urandom(BIG))))


def big_versions_of_few_pages(n: int) -> Draft:
    return replace(draft(n % 12, hosts=10**9, at=n / 1000), content=os.urandom(BIG))


def of_a_coming_kind(n: int) -> Draft:
    return replace(on_made_up_sites(n), kind=Kind(77))


def found(n: int, host: str = "one.example") -> Draft:
    url = f"http://{host}/made-up/{n}"
    body = msgspec.msgpack.encode((url, 3))
    return Draft(Kind.VISIT, document_id(url), placement_key(url), 0, 12, DAY + 700, body)


def packages(make: Callable[[int], Draft], count: int, size: int) -> Iterator[list[Draft]]:
    for start in range(0, count, size):
        yield [make(n) for n in range(start + 1, min(start + size, count) + 1)]


async def push(net: Net, liar: Node, to: Node, made: Sequence[Draft], signer: Identity | None = None) -> list[str]:
    """Why each record that is refused is so."""
    grants = net.elect(made, liar.identity)
    message = PutPackage(pack(sign_package(made, signer or liar.identity)), (), grants)
    reply = await liar.overlay.ask(to.id, message, PutReply, timeout_s=60.0)
    return [each.reason for each in reply.refused]


def share_leases(net: Net, nodes: Iterable[Node]) -> None:
    """All members hold as many leases."""
    for node in nodes:
        node.overlay.promised = lambda slot: net.list[min(slot, 14) % 5].id  # type: ignore[method-assign]


def named(node: Node, liar: Node) -> bool:
    return liar.id in node.replicator.budgets.excesses


def pages_by(node: Node, liar: Node, kinds: Iterable[Kind] = (Kind.DOCUMENT, Kind.FORMER)) -> list[Record]:
    held = [r for kind in kinds for r in node.store.scan(kind, bytes(20), b"\xff" * 20)]
    full = [node.store.find(r.kind, r.id, content=False) for r in held]
    return [r for r in full if r is not None and r.proof.author == liar.identity.public_key]


@pytest.mark.parametrize("make", [of_one_site, of_one_page, as_former_versions])
@in_network(3)
async def test_of_one_site_it_writes_no_more_than_a_polite_crawler_fetches(
    net: Net, make: Callable[[int], Draft]
) -> None:
    await net.start(3)
    liar, victim, other = net.list
    refused = list[str]()
    for made in packages(make, FLOOD, 250):
        refused += await push(net, liar, victim, made)
    assert len(refused) > FLOOD - AN_HOUR / 2 - 1 and {*refused} == {OF_SITE}
    assert named(victim, liar) and not named(victim, other) and victim.replicator.refusals.authors
    another = replace(draft(FLOOD + 1, hosts=10**9))
    assert not await push(net, liar, victim, [another]), "of other sites it writes on"


@in_network(3)
async def test_an_hour_later_the_same_author_writes_the_site_again(net: Net) -> None:
    await net.start(3)
    liar, victim, _ = net.list
    for made in packages(of_one_site, FLOOD, 250):
        await push(net, liar, victim, made)
    later = [replace(draft(FLOOD + n, hosts=1, at=3700.0)) for n in range(5)]
    victim.slept_s = 3700.0
    assert not await push(net, liar, victim, later)


@in_network(4, replicas=4)
async def test_repair_brings_what_others_wrote_however_much_that_is(net: Net) -> None:
    """Years of one site's pages come to a newcomer in minutes, from their author among others."""
    await net.start(3)
    author = net.list[0]
    hour = 3600.0
    pages = [draft(n, hosts=1, at=-hour * (n // 3000), size=10) for n in range(1, 9000)]
    signed = sign_package(pages[:1000], author.identity)
    for start in range(0, len(pages), 1000):
        part = pages[start : start + 1000]
        signed, grants = sign_package(part, author.identity), net.elect(part, author.identity)
        for node in net.list[:3]:
            await node.store.grants.keep(grants)
            await node.store.put(signed)
    net.list[3].start()
    await net.all_ready()
    await net.until(lambda: len(pages_by(net.list[3], author)) == len(pages), 600)
    assert not any(node.replicator.budgets.excesses for node in net.list)


BIG_ONES = (on_made_up_sites, with_long_texts, huge_visits, big_versions_of_few_pages, of_a_coming_kind)


@pytest.mark.parametrize(("make", "signer"), [*((make, None) for make in BIG_ONES), (of_a_coming_kind, STRANGER)])
@in_network(5, replicas=5)
async def test_it_fills_two_fifths_of_a_disk_at_most(
    net: Net, make: Callable[[int], Draft], signer: Identity | None
) -> None:
    net.config(quota_bytes=QUOTA, segment_bytes=4 << 20)
    await net.start(2)
    liar, victim = net.list[:2]
    for node in net.list[2:]:
        node.start()
    share_leases(net, [victim])
    await victim.replicator.budgets.step()
    refused = list[str]()
    for made in packages(make, 360, 12):
        refused += await push(net, liar, victim, made, signer)
    assert refused and {*refused} == {OF_ROOM}
    assert victim.store.room.used_bytes <= 0.4 * QUOTA + 12 * BIG
    assert signer is not None or named(victim, liar)
    honest = net.list[2]
    assert not await push(net, honest, victim, [replace(draft(10**6), content=os.urandom(BIG))])


@in_network(3)
async def test_its_older_found_urls_make_room_for_newer_ones_of_one_site(net: Net) -> None:
    await net.start(3)
    liar, victim, other = net.list
    assert not await push(net, other, victim, [found(n, "honest.example") for n in range(100)])
    for made in packages(found, 13_000, 1000):
        assert not await push(net, liar, victim, made)
    kept = pages_by(victim, liar, [Kind.VISIT])
    assert 8_000 <= len(kept) <= 10_000 and named(victim, liar) and not named(victim, other)
    assert {found(n).id for n in range(12_500, 13_000)} <= {r.id for r in kept}
    assert len(pages_by(victim, other, [Kind.VISIT])) == 100


@pytest.mark.parametrize("signer", [None, STRANGER])
@in_network(5, replicas=5)
async def test_found_urls_are_a_bounded_table_and_one_author_has_its_part(
    net: Net, monkeypatch: pytest.MonkeyPatch, signer: Identity | None
) -> None:
    for where in (author_budgets, budget_keeper):
        monkeypatch.setattr(where, "MOST_FOUND", 10_000)
        monkeypatch.setattr(where, "LEAST_FOUND", 1_000)
    await net.start(5)
    liar, victim, other = net.list[:3]
    assert not await push(net, other, victim, [found(n, f"honest{n}.example") for n in range(900)])
    for made in packages(lambda n: found(n, f"made-up{n}.example"), 9_000, 1000):
        assert not await push(net, liar, victim, made, signer)
    sums = victim.store.authors
    assert sums.held().found <= 900 + 4_000 and sums.held(other.identity.public_key).found == 900
    assert signer is not None or named(victim, liar)
    assert victim.store.log.sequence >= 9_900, "they did come"
    assert victim.store.tables.query("SELECT count(*) FROM gone") == [(0,)], "what went leaves nothing behind"


def budgets_of(world: World) -> list[budget_keeper.AuthorBudgets]:
    return [node.node_core.store.replicator.budgets for node in world.running()]


def page_of(liar: SimNode, n: int) -> Draft:
    """A page that nobody sent, of a site in a slot of which the liar holds the lease."""
    slot, epoch = next(iter(liar.overlay.view.leases().items()))
    hosts = (f"flood{n}.example" for n in range(10**6))  # all of the flood rest a minute, by a rule
    bits = liar.overlay.view.strategy.slot_bits
    host = next(host for host in hosts if slot_of(placement_key(f"http://{host}/"), bits) == slot)
    url, wall = f"http://{host}/{n}", liar.clock().wall
    body = encode_document(Document(url, wall, 200, text=f"cheap watches {n}"))
    return Draft(
        Kind.DOCUMENT, document_id(url), placement_key(url), epoch, int(wall * 1000), int(wall / 86400) + 30, body, b"x"
    )


def url_of_flood(liar: SimNode, n: int) -> Draft:
    visit = Visit(f"http://flood.example/{n}", 3)
    return visit_draft(visit, 0, reach(visit), int(liar.clock().wall / 86400) + 30, placement_key(visit.url))


async def flood(liar: SimNode, make: Callable[[SimNode, int], Draft], count: int) -> bool:
    """Write as fast as it goes; tell whether owners stopped it."""
    for start in range(0, count, 100):
        try:
            await liar.node_core.store.replicator.write([make(liar, n) for n in range(start, start + 100)])
        except TooFewCopies as error:
            assert error.refusal == OF_SITE
            return True
    return False


def floods(node: SimNode, liar: SimNode) -> int:
    """Count the liar's pages, and its URLs that nobody fetched."""
    records = node.node_core.store.records
    pages = records.scan(Kind.DOCUMENT, bytes(20), b"\xff" * 20)
    return records.authors.held(liar.identity.public_key).found + sum(b"cheap watches" in page.body for page in pages)


@simulated(WorldPlan(hosts=8, pages=12))
async def test_a_flood_harms_no_crawl_and_no_answer_and_is_named_within_five_minutes_and_swept_after_a_block(
    world: World,
) -> None:
    nodes = await world.add(5)
    liar, honest = nodes[0], nodes[1:]
    world.publish(rules=(Rule(action="owners", pattern="://flood", min_delay_s=60.0),))
    await world.pass_time(30.0)
    await world.crawl()
    await world.until(lambda: bool(liar.overlay.view.leases()), 60.0)
    assert not await flood(liar, url_of_flood, 300)
    assert await flood(liar, page_of, 500)
    began = world.loop.time()
    wanted = {url for url, state in world.web.outcomes().items() if state == VisitState.FETCHED}
    await world.until(lambda: wanted <= take_census(honest).texts.keys(), 900.0)
    await world.pass_time(max(0.0, began + 300.0 - world.loop.time()))
    name = liar.overlay.node_id.hex()
    told = [node for node in honest if liar.overlay.node_id in node.node_core.store.replicator.budgets.excesses]
    assert len(told) >= 2, "all owners of the slot but the author"
    for node in told:
        status = status_of(node, world.network)
        (need,) = [need for need in status.outlook().needs if need.topic == "limits"]
        assert need.state == "trouble" and name in need.text
        assert any(name in line for line in local_lines((await status.status()).plain()))
        assert [row.beyond for row in peer_rows([p.plain() for p in status.peers()]) if row.id == name] != [""]
    (own,) = [need for need in status_of(liar, world.network).outlook().needs if need.topic == "limits"]
    assert "take no more of this node" in own.text, "its own owner is told"
    await world.kill(liar)  # first: the strategy is handed to a node that runs
    world.publish(blocked=(name,))
    began = world.loop.time()
    assert any(floods(node, liar) for node in honest)
    while any(floods(node, liar) for node in honest):
        assert world.loop.time() - began < 3600.0
        await world.pass_time(20.0)
    await crawled(world)
    await assert_one_answer(world, [" ".join(world.web.words[:2])], asked=4)
    assert {author for budgets in budgets_of(world) for author in budgets.excesses} == {liar.overlay.node_id}
    words = [word for node in honest for word in node.node_core.store.replicator.possession.accusations()]
    assert {word.peer for word in words} <= {liar.overlay.node_id}, "no honest node is blamed by another"


@simulated(WorldPlan(hosts=10, pages=10))
async def test_honest_members_meet_no_limit_though_one_dies_and_others_join(world: World) -> None:
    nodes = await world.add(4)
    await world.crawl()
    await world.pass_time(40.0)
    await world.kill(nodes[1])
    await world.pass_time(60.0)
    await world.restart(nodes[1])
    await world.add(2)
    await crawled(world)
    assert_complete(world)
    for budgets in budgets_of(world):
        assert not budgets.excesses and not budgets.refused
