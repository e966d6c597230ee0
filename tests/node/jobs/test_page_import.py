"""Pages out of archives become pages of the network: found at every node, and beaten by what is fetched."""

import io
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from crawl import CrawlConfig, SentRequest, request_fields
from dht import Rule
from index import SearchRequest
from node.api.documents import BroughtPage
from node.captures.capture import Capture
from node.captures.network_reader import ReadBounds
from node.captures.scope import FIRST, Wish
from node.errors import NotJoined
from node.extras.archive.json_lines import read_json_lines, write_json_lines
from node.extras.archive.read_limits import ArchiveFlaw
from node.extras.archive.warc_reader import read_warc
from node.extras.archive.warc_writer import write_warc
from node.extras.simulation.loop import EPOCH
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan, simulate
from store import decode_document
from store.errors import NotImporter
from tests.node.extras.archive.samples import HTML, capture
from tests.sim.judged import crawled
from tests.sim.simulated import simulated

OLD = EPOCH - 400 * 86_400.0
PLAN = WorldPlan(hosts=1)
ALL = ReadBounds(1000, 1 << 30, 60.0)


def page(number: int, words: str = "", *headers: tuple[str, str], **more: object) -> Capture:
    body = f"<title>Page {number}</title><p>quokka {words} number {number} of a paper archive".encode()
    more = {"at": OLD, "record_id": f"urn:uuid:{number}"} | more
    return capture(f"http://old{number % 3}.example/{number}?utm_source=x", body, HTML, *headers, **more)


ASKED = request_fields("http://old0.example/0?utm_source=x", SentRequest(1, "dse-node/1", '"tag"'))
PAGES = [page(0, request=ASKED), page(1, request=(("Host", "old1.example"),)), *map(page, range(2, 12))]
REFUSED = {
    "status 500": page(20, status=500),
    "status 404": page(21, status=404),
    "date: in the future": page(22, at=EPOCH + 9e6),
    "date: none since 1970": page(23, at=-5.0),
    "noindex": page(24, "", ("X-Robots-Tag", "noindex")),
    "media type: image/png": capture("http://old1.example/a.png", b"\x89PNG", ("Content-Type", "image/png"), at=OLD),
    "media type: text/plain, but it is no text": capture(
        "http://a.example/b", b"\x00\x01", ("Content-Type", "text/plain"), at=OLD
    ),
    "url: ": capture("http://user:word@old1.example/", b"<p>x", HTML, at=OLD),
}  # fmt: skip


async def take(
    node: SimNode, captures: Sequence[Capture], *, dry: bool = False, crawl: bool = False
) -> list[BroughtPage]:
    return list(await node.node_core.jobs.page_import.take(captures, "old.warc.gz", is_dry=dry, crawls=crawl))


async def exported(node: SimNode) -> list[Capture]:
    part = await node.node_core.store.reader.read(Wish(), FIRST, ALL, content=True)
    assert part.next is None and not part.unread
    return part.captures


async def found(node: SimNode, words: str) -> set[str]:
    answer = await node.node_core.index.searcher.search(SearchRequest(words, limit=50))
    return {result["url"] for result in answer["results"]}


def plain(url: str) -> str:
    return url.partition("?")[0]


def test_pages_of_an_archive_are_found_at_every_node_and_go_into_a_fresh_network() -> None:
    kept: list[list[Capture]] = []

    async def scenario(world: World) -> None:
        nodes = await world.add(4)
        await crawled(world)
        brought = read_json_lines(io.BytesIO(_written(kept[0]))) if kept else iter(PAGES)
        captures = [each for each in brought if isinstance(each, Capture)]
        assert {each.state for each in await take(nodes[0], captures, dry=True)} == {"taken"}
        assert await exported(nodes[0]) == []
        assert {each.state for each in await take(nodes[0], captures)} == {"taken"}
        assert {each.state for each in await take(nodes[0], captures)} == {"known"}
        await crawled(world)
        for node in nodes:
            assert await found(node, "quokka paper archive") == {plain(each.url) for each in PAGES}
        kept.append(await exported(nodes[2]))
        assert [each.request for each in kept[-1] if each.request] == [ASKED], "of others nothing is kept"
        if len(kept) > 1:
            return
        assert all(each.origin == f"old.warc.gz urn:uuid:{each.url.rpartition('/')[2]}" for each in kept[0])
        records = await nodes[3].node_core.store.lookup.records([each.url for each in kept[0]], content=False)
        assert {each.proof.author for each in records.values()} == {nodes[0].identity.public_key}
        await world.kill(nodes[1])
        await world.restart(nodes[1])
        await crawled(world)
        assert await found(nodes[1], "quokka paper archive") == {plain(each.url) for each in PAGES}

    for _ in range(2):
        simulate(scenario, PLAN)
    first, second = ([(c.url, c.captured_at, c.content_digest, c.origin) for c in part] for part in kept)
    assert first == second and len(first) == len(PAGES)


def _written(captures: Sequence[Capture]) -> bytes:
    out = io.BytesIO()
    write_json_lines(captures, out)
    return out.getvalue()


@simulated(PLAN)
async def test_each_page_is_judged_as_a_crawl_would_and_loses_to_it(world: World) -> None:
    (node,) = await world.add(1)
    await crawled(world)
    states = await take(node, list(REFUSED.values()))
    assert [each.state for each in states] == ["refused"] * len(REFUSED)
    for state, reason in zip(states, REFUSED, strict=True):
        assert state.reason.startswith(reason), state
    guarded = page(30, "", ("X-Robots-Tag", "noarchive"))
    assert [each.state for each in await take(node, [guarded])] == ["taken"]
    assert await exported(node) == []
    text = capture("http://old0.example/wet", "中文 text of a conversion".encode(), at=OLD, media_type="text/plain")
    assert [each.state for each in await take(node, [replace(text, text="ignored")])] == ["taken"]
    [wet] = await exported(node)
    assert (wet.media_type, wet.headers, wet.text) == ("text/plain", (), "中文 text of a conversion")
    newer, older = page(31, "new", at=OLD + 9), page(31, "old")
    assert [each.state for each in await take(node, [newer, older])] == ["taken", "older"]
    gone = page(31, "", ("X-Robots-Tag", "noindex"), at=OLD + 20)
    assert [each.state for each in await take(node, [gone])] == ["refused"]
    assert plain(newer.url) not in {each.url for each in await exported(node)}, "it did not want to be found any more"
    url = next(iter(world.web.outcomes()))
    mine = replace(page(40, at=EPOCH - 5.0), url=url)
    assert [each.state for each in await take(node, [mine], crawl=True)] == ["taken"]
    await world.until(lambda: _epoch(node, url) > 0, 600.0)
    assert [each.state for each in await take(node, [mine])] == ["older"]


def _epoch(node: SimNode, url: str) -> int:
    record = node.node_core.store.lookup.here(url)
    return record.version.epoch if record is not None and decode_document(record.body).url == url else 0


@simulated(WorldPlan(hosts=1, strategy={"admission": "attested"}))
async def test_who_may_not_import_is_told_how_to_be_allowed(world: World) -> None:
    nodes = await world.add(3)
    await crawled(world)
    with pytest.raises(NotImporter, match=f"{nodes[1].identity.public_key.hex()}.*--importer"):
        await take(nodes[1], PAGES)
    world.publish(importers=(nodes[1].identity.public_key.hex(),))
    await world.pass_time(30.0)
    assert {each.state for each in await take(nodes[1], PAGES)} == {"taken"}
    with pytest.raises(NotImporter):
        await take(nodes[2], PAGES)
    await crawled(world)
    assert len(await exported(nodes[0])) == len(PAGES)
    world.publish(blocked=(nodes[1].identity.node_id.hex(),))
    await world.pass_time(120.0)
    assert await exported(nodes[0]) == [], "with its author goes what it imported"


@simulated(PLAN)
async def test_what_strategy_or_operator_refuse_is_not_taken_and_a_client_imports_nothing(
    world: World,
) -> None:
    (node,) = await world.add(1)
    node.crawl = CrawlConfig(refuse=("old2.example",))
    world.publish(rules=(Rule(action="deny", host="old1.example"),))
    await world.kill(node)
    await world.restart(node)
    await crawled(world)
    states = await take(node, PAGES[:3])
    assert [each.state for each in states] == ["taken", "refused", "refused"]
    assert states[1].reason.startswith("rule 1 of strategy") and states[2].reason.endswith("crawl.refuse")
    client = await world.add_client()
    with pytest.raises(NotJoined):
        await take(client, PAGES)


def test_hostile_records_cost_themselves() -> None:
    """A hostile WARC holds invalid addresses, the same record twice, and digests of other content."""
    urls = [
        "javascript:alert(1)",
        "http://a.example/\r\nX: y",
        "http://10.0.0.1/",
        "file:///etc/passwd",
        "http://a.example/",
    ]
    out = io.BytesIO()
    write_warc([capture(url, b"<p>words", HTML, at=OLD) for url in urls] * 2, out, EPOCH)
    items = list(read_warc(io.BytesIO(out.getvalue())))

    async def scenario(world: World) -> None:
        (node,) = await world.add(1)
        await crawled(world)
        captures = [each for each in items if isinstance(each, Capture)]
        states = await take(node, captures)
        assert {each.state for each in states} <= {"taken", "known", "refused", "older"}
        stored = {each.url for each in await exported(node)}
        assert stored == {"http://a.example/", "http://10.0.0.1/", "http://a.example/%20%20X:%20y"}
        assert not any(isinstance(each, ArchiveFlaw) for each in items), "what is not of the web is passed over"

    simulate(scenario, PLAN)
