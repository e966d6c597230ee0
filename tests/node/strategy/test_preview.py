"""A preview against what lies on the disks of a whole simulated network, counted one by one."""

from urllib.parse import urlsplit

import pytest
from msgspec.structs import replace

from crawl import decode_visit
from dht import (
    AddressPolicy,
    BadStrategy,
    Endpoint,
    Gone,
    NodeId,
    Placement,
    Revocation,
    Rule,
    Strategy,
    encode_document,
    placement_key,
    slot_of,
)
from dht.ownership.failure_domains import domains_of
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan
from node.strategy.draft import DraftRequest, draft
from node.strategy.impact import Json
from node.strategy.preview import StrategyPreview, site_range
from store import Kind
from tests.sim.judged import crawled
from tests.sim.simulated import simulated

ALL = bytes(20), b"\xff" * 20
PLAN = WorldPlan(seed=3, hosts=8, pages=4, replicas=2)


def drafted(node: SimNode, wishes: DraftRequest) -> Strategy:
    log = node.overlay.strategies
    return draft(log.newest, log.newest_digest, wishes, 1_900_000_000)


async def previewed(node: SimNode, after: Strategy) -> Json:
    preview = StrategyPreview(node.node_core.store.records, node.node_core.store.replicator, node.overlay, node.clock)
    return (await preview.preview(encode_document(after))).plain()


def copies_to_make(world: World, before: Strategy, after: Strategy) -> tuple[int, int]:
    """(copies of documents, parts with new owners), one document and one part at a time."""
    members = sorted(NodeId(bytes.fromhex(m)) for m in ids(world) if m not in after.blocked)
    everybody = sorted(NodeId(bytes.fromhex(m)) for m in ids(world))
    domains = {
        node.overlay.node_id: domains_of(
            "", [Endpoint(a.host, a.port, a.port) for a in node.addresses], AddressPolicy()
        )
        for node in world.running()
    }
    old = Placement(everybody, before.slot_bits, before.replicas, domains)
    new = Placement(members, after.slot_bits, after.replicas, domains)

    def gained(key: bytes) -> int:
        was, now = old.owners(slot_of(key, before.slot_bits)), new.owners(slot_of(key, after.slot_bits))
        return len(set(now) - set(was))

    keys = {r.id: r.key for node in world.running() for r in node.node_core.store.records.scan(Kind.DOCUMENT, *ALL)}
    fine = max(before.slot_bits, after.slot_bits)
    starts = [(part << (160 - fine)).to_bytes(20, "big") for part in range(2**fine)]
    return sum(map(gained, keys.values())), sum(gained(start) > 0 for start in starts)


def ids(world: World) -> list[str]:
    return [node.overlay.node_id.hex() for node in world.running()]


@simulated(PLAN)
async def test_what_moves_and_is_denied_is_what_the_disks_say_else_an_estimate(
    world: World,
) -> None:
    nodes = await world.add(6)
    await world.pass_time(8.0)
    await world.crawl()
    await crawled(world)
    before = nodes[0].overlay.view.strategy
    blocked = nodes[4].overlay.node_id.hex()
    for wishes in (
        DraftRequest({"replicas": 4}),
        DraftRequest({}, slot_bits=6),
        DraftRequest({}, block=[blocked]),
        DraftRequest({}),
    ):
        after = drafted(nodes[0], wishes)
        for node in nodes[:3]:
            told = await previewed(node, after)
            documents, parts = copies_to_make(world, before, after)
            assert told["documents"]["moved"] == documents, wishes
            assert told["documents"]["estimated"] == 0, "everything is here or with a peer that answers"
            assert told["parts"]["changed"] == parts
            assert (told["bytes"]["moved"] > 0) == (documents > 0)
    after = drafted(nodes[0], DraftRequest({}, rules=[Rule(action="deny", host="site3.example")]))
    for node in nodes:
        told = (await previewed(node, after))["hosts"]
        here = [decode_visit(r.body).url for r in node.node_core.store.records.scan(Kind.VISIT, *ALL)]
        denied = [url for url in here if "//site3.example/" in url]
        assert told["denied_urls"] == len(denied) and told["urls"] == len(here)
        assert not denied or told["denied"][0]["host"] == "site3.example"
    world.cut(nodes[:1], nodes[1:])
    told = await previewed(nodes[0], drafted(nodes[0], DraftRequest({"replicas": 5})))
    assert told["parts"]["reported"] == 0 and told["parts"]["estimated"] > 0, "peers that do not answer"
    assert told["documents"]["estimated"] > 0


@simulated(PLAN)
async def test_the_hosts_that_another_node_will_crawl_are_named(world: World) -> None:
    nodes = await world.add(3)
    await world.pass_time(8.0)
    await world.crawl()
    await crawled(world)
    wanted = nodes[1].overlay.node_id
    rule = Rule(action="prefer", host="*.example", peer=wanted.hex())
    told = (await previewed(nodes[0], drafted(nodes[0], DraftRequest({"replicas": 3}, rules=[rule]))))["hosts"]
    assert 0 < told["fetched_by_others_hosts"] <= 8
    assert {entry["after"] for entry in told["fetched_by_others"]} == {wanted.hex()}
    assert wanted.hex() not in {entry["before"] for entry in told["fetched_by_others"]}


@simulated(WorldPlan(seed=3, hosts=24, pages=2, replicas=2))
async def test_who_fetched_a_host_before_is_who_does_so_in_truth(world: World) -> None:
    """A rule names a node as crawler of some hosts, owner or not; of other hosts, the holder of the lease fetches."""
    nodes = await world.add(5)
    await world.pass_time(8.0)
    preferred, other = (node.overlay.node_id for node in nodes[1:3])
    world.publish(rules=[Rule(action="prefer", pattern=r"^https?://site\d\.example", peer=preferred.hex())])
    await world.pass_time(30.0)
    await world.crawl()
    await crawled(world)
    urls = {urlsplit(seen.url).netloc: seen.url for seen in world.log}
    fetched = {(urlsplit(seen.url).netloc, world.nodes[seen.node].overlay.node_id) for seen in world.log}
    for host, url in urls.items():  # a lease may have moved since
        if (host, preferred) in fetched:
            continue
        slot = slot_of(placement_key(url), nodes[0].overlay.view.strategy.slot_bits)
        fetched |= {(host, node.overlay.node_id) for node in nodes if slot in node.overlay.view.leases()}
    said: dict[str, set[str]] = {}
    for node in nodes:
        rules = [Rule(action="prefer", host="*.example", peer=other.hex())]
        told = (await previewed(node, drafted(node, DraftRequest({}, rules=rules, drop_rules=[1]))))["hosts"]
        for entry in told["fetched_by_others"]:
            said.setdefault(entry["host"], set()).add(entry["before"])
            assert (entry["host"], NodeId(bytes.fromhex(entry["before"]))) in fetched, entry
    befores = set().union(*said.values())
    assert preferred.hex() in befores and len(befores) > 1, "some hosts are not the named node's"
    assert all(len(each) == 1 for each in said.values()), "all nodes say the same"


@simulated(PLAN)
async def test_what_could_not_be_published_is_said_and_what_is_none_is_refused(world: World) -> None:
    (node,) = await world.add(1)
    await world.pass_time(5.0)
    after = drafted(node, DraftRequest({}))
    fields = {name: getattr(after, name) for name in Strategy.__struct_fields__}
    gap = Strategy(**fields | {"version": 5})
    assert any("could not be published" in note for note in (await previewed(node, gap))["notes"])
    wishes = DraftRequest({"analyzer": 3}, slot_bits=7, block=[node.overlay.node_id.hex()])
    notes = " ".join((await previewed(node, drafted(node, wishes)))["notes"])
    assert "8 times as many slots" in notes and "analyzer" in notes and "this very node" in notes
    with pytest.raises(BadStrategy, match="network: is"):
        await previewed(node, Strategy(**fields | {"network": "ab" * 20}))
    with pytest.raises(BadStrategy, match="replicas: is 99"):
        await previewed(node, Strategy(**fields | {"replicas": 99}))


def test_a_site_s_range_holds_its_pages():
    first, last = site_range("a.test")
    assert first <= placement_key("https://a.test/x?y") <= last
    assert not first <= placement_key("https://b.test/x?y") <= last


@simulated(WorldPlan(strategy={"declared_prefixes": ("10.0.0.0/8",), "bootstrap": ("10.1.0.1:8091",)}))
async def test_who_would_be_left_is_named_and_why_the_others_would_not(world: World) -> None:
    nodes = await world.add_at("10.1.0.1", "10.1.0.2", "10.2.0.1")
    await world.until(lambda: all(len(node.overlay.view.live()) == 3 for node in nodes), 120.0)
    names, at = [node.overlay.node_id.hex() for node in nodes], int(nodes[0].clock().wall)

    async def left(**fields: object) -> tuple[set[str], dict[str, str]]:
        newest = nodes[1].overlay.strategies.newest
        spans = {
            "previous": nodes[1].overlay.strategies.newest_digest,
            "effective_at": at,
            "next_at": at + 10,
            "expires_at": at + 20,
        }
        told = await previewed(nodes[1], replace(newest, version=2, **{**spans, **fields}))
        return set(told["stay"]), {each["node"]: each["reason"] for each in told["lost"]}

    assert await left(replicas=2) == (set(names), {})
    assert await left(puzzle_bits=20) == (set(names), {}), "there is time for that"
    stay, lost = await left(declared_prefixes=("10.1.0.0/16",))
    assert stay == set(names[:2]) and "10.2.0.1 is in none of the declared_prefixes" in lost[names[2]]
    assert await left(blocked=names[:2]) == ({names[2]}, dict.fromkeys(names[:2], "it is blocked"))
    assert (await left(gone=(Gone(names[0], at + 60),)))[1] == {names[0]: "it is said to be gone"}
    assert set((await left(revoked=(Revocation(world.publisher.public_key.hex()),)))[1]) == set(names)
    assert set((await left(puzzle_bits=20, effective_at=at - 30 * 86_400))[1]) == set(names)
    assert set((await left(puzzle_bits=28))[1]) == set(names), "more than an hour of a small machine"
    told = await previewed(nodes[1], drafted(nodes[1], DraftRequest({"bootstrap": ["10.9.0.1:8091"]})))
    assert any("no member has one of the bootstrap addresses" in note for note in told["notes"])
