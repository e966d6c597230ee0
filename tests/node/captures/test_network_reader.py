"""The whole network is read from any node, part by part, in the order of keys; who dies or lies there is survived."""

import re
from collections import Counter
from random import Random

from crawl import Visit, VisitState
from crawl.schedule.url_state import History
from dht import Key, Rule, Slot, document_id, placement_key, slot_of
from node.captures.capture import DAY_S, Lifetime
from node.captures.network_reader import ArchivePart, ReadBounds, lifetime_of
from node.captures.scope import FIRST, Wish, following, wish_of
from node.extras.simulation.scripted_web import HTML, ScriptedReply
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan
from store import Document
from tests.sim.judged import crawled
from tests.sim.simulated import simulated

PLAN = WorldPlan(hosts=5)
ALL = ReadBounds(1000, 1 << 30, 60.0)


async def _read(node: SimNode, wish: Wish, *, start: Key = FIRST, bounds: ReadBounds = ALL) -> ArchivePart:
    return await node.node_core.store.reader.read(wish, start, bounds, content=True)


async def _urls(node: SimNode, wish: Wish) -> list[str]:
    part = await _read(node, wish)
    assert part.next is None and not part.unread
    return [capture.url for capture in part.captures]


def _guarded(url: str) -> ScriptedReply:
    """A site whose author forbids copies."""
    if url.endswith("/robots.txt"):
        return ScriptedReply(404, HTML, b"", 0.1)
    return ScriptedReply(200, (*HTML, ("X-Robots-Tag", "noarchive")), b"<title>guarded</title><p>words here", 0.1)


@simulated(PLAN)
async def test_every_node_reads_all_that_the_network_shows_and_nothing_else(world: World) -> None:
    world.web.others["guarded.example"] = _guarded
    await world.add(5)
    await world.crawl()
    await world.crawl("https://guarded.example/")
    await crawled(world)
    stored = {url for url, state in world.web.outcomes().items() if state == VisitState.FETCHED}
    for node in world.running():
        part = await _read(node, Wish())
        assert (part.next, part.unread, part.left_out["noarchive"]) == (None, [], 1)
        assert [c.url for c in part.captures] == sorted(stored, key=placement_key)
        assert all(c.content == world.web.reply(c.url).body for c in part.captures)
        assert not any(c.links for c in part.captures)
        assert all(c.changes_at > c.captured_at + 86_400 for c in part.captures), "seen once, no change is near"
    for told in (await _read(node, Wish(links=True))).captures:
        hrefs = set(re.findall(rb'href="([^"]+)"', told.content))
        assert {link.encode() for link in told.links} <= hrefs and bool(told.links) == bool(hrefs)
    node = world.running()[0]
    lives = (await _read(node, Wish(lifetimes=True))).lifetimes
    outcomes = Counter(world.web.outcomes().values())
    assert sum(life.seen_at > 0 for life in lives) == len(stored) + 1, (
        "a copy of the guarded page is forbidden, no more"
    )
    assert sum(life.gone_at > 0 for life in lives) == outcomes[VisitState.GONE] > 0
    assert not (await _read(node, Wish())).lifetimes
    await _goes_on(node, sorted(stored, key=placement_key))
    host = "site1.example"
    assert set(await _urls(node, wish_of(host, "host"))) == {url for url in stored if host in url}
    assert set(await _urls(node, wish_of("example", "domain"))) == stored
    assert await _urls(node, wish_of(f"{host}/page1", "")) == [f"https://{host}/page1"]
    slot = slot_of(placement_key(f"https://{host}/"), PLAN.slot_bits)
    in_slot = {url for url in stored if slot_of(placement_key(url), PLAN.slot_bits) == slot}
    assert set(await _urls(node, Wish(slot=slot))) == in_slot
    world.publish(rules=(Rule(action="deny", host=host),))
    await world.pass_time(60.0)
    for each in world.running():
        assert set(await _urls(each, Wish())) == {url for url in stored if host not in url}


async def _goes_on(node: SimNode, stored: list[str]) -> None:
    """A reading in small parts, taken up again each time, is the same as a whole one."""
    found: list[str] = []
    at: Key | None = FIRST
    while at is not None:
        part = await _read(node, Wish(), start=at, bounds=ReadBounds(7, 1 << 30, 60.0))
        assert len(part.captures) <= 7
        found, at = found + [capture.url for capture in part.captures], part.next
    assert found == stored
    assert len((await _read(node, Wish(), bounds=ReadBounds(1000, 1, 60.0))).captures) <= 8
    some = Random(1).choice(stored)
    rest = await _read(node, Wish(), start=following(placement_key(some)))
    assert [capture.url for capture in rest.captures] == stored[stored.index(some) + 1 :]


@simulated(PLAN)
async def test_nodes_that_die_meanwhile_cost_nothing_that_others_have_and_what_nobody_has_is_named(
    world: World,
) -> None:
    nodes = await world.add(6)
    await world.crawl()
    await crawled(world)
    stored = {url for url, state in world.web.outcomes().items() if state == VisitState.FETCHED}
    reader, found = nodes[0], Counter[str]()
    parts = reader.node_core.store.reader.parts(Wish(), FIRST, 4, content=True)
    async for part in parts:
        assert not part.unread
        found.update(capture.url for capture in part.captures)
        if found.total() > 10:
            for node in nodes[4:]:
                if node in world.running():
                    await world.kill(node)
    assert found == Counter(stored)
    for node in nodes[1:4]:
        await world.kill(node)
    part = await _read(reader, Wish())
    owned = {slot for slot in range(1 << PLAN.slot_bits) if slot in reader.node_core.store.replicator.ready_slots()}
    lost = {slot_of(placement_key(url), PLAN.slot_bits) for url in stored - {c.url for c in part.captures}}
    assert lost <= {unread.slot for unread in part.unread}
    assert {unread.slot for unread in part.unread} | owned == {Slot(s) for s in range(1 << PLAN.slot_bits)}
    assert all("answered; read it again later" in unread.reason for unread in part.unread)


def test_a_lifetime_ends_where_the_site_says_so_and_not_where_the_page_hides() -> None:
    """Found on day 20,000, last seen 10 days later, and gone at day 20,040."""
    url, at = "http://a.test/", 20_000 * DAY_S
    history = History(seen_at=int(at + 10 * DAY_S), first_seen=20_001)
    visit = Visit(url, 0, state=VisitState.GONE, visited_at=at + 40 * DAY_S, history=history)
    id, noon = document_id(url), at + DAY_S / 2
    page = int.from_bytes(id[:8])
    for status, gone_at in ((404, at + 40 * DAY_S), (410, at + 40 * DAY_S), (200, 0.0), (301, 0.0)):
        gone = Document(url, at + 40 * DAY_S, status, gone=True)
        assert lifetime_of(id, gone, visit) == Lifetime(page, noon, at + 10 * DAY_S, gone_at)
    shown = Document(url, at + 3 * DAY_S, 200, first_seen=20_001)
    assert lifetime_of(id, shown, None) == Lifetime(page, noon, at + 3 * DAY_S)
    assert lifetime_of(id, Document(url, at, 404, gone=True), None) == Lifetime(page, 0.0, 0.0, at)
