"""Records that a strategy denies, or that a blocked node wrote, are gone from every node and every disk, and stay gone.
Pages that are allowed again, or that only the wrong node wrote, come back."""

import pytest

from crawl import VisitState
from dht import Rule, document_id
from index import SearchRequest
from node.captures.network_reader import ReadBounds
from node.captures.scope import FIRST, Wish
from node.errors import NotProved
from node.extras.simulation.census import is_settled, take_census
from node.extras.simulation.scripted_web import HTML, TEXT, ScriptedReply
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan, simulate
from node.sites.removal_proof import NAME
from store import PROOF_PATH, Document, Kind, decode_document
from tests.parameters import proved
from tests.sim.judged import assert_complete, assert_one_answer, crawled
from tests.sim.simulated import simulated

HIDDEN_WITHIN_S, ERASED_WITHIN_S, QUIET_S = 60.0, 600.0, 120.0  # an hour is promised
BACK_WITHIN_S = 150.0
HOST = "site1.example"
DENY = Rule(action="deny", host=HOST)
DAY_S = 86_400.0
WHOLE = ReadBounds(100, 1 << 20, 10.0)
WEEKS_S = 21 * DAY_S
SMALL = WorldPlan(hosts=6)


def denied_on(node: SimNode) -> list[str]:
    """The pages of the host that a node has in its store or its index."""
    records = node.node_core.store.records
    rows = records._catalog.reader.walk(bytes(20), b"\xff" * 20)  # what lies there, hidden or not
    found = (records._records._find(row.kind, row.id, content=False, proven=True) for row in rows)
    stored = [decode_document(r.body).url for r in found if r is not None and r.kind == Kind.DOCUMENT]
    return [url for url in stored if HOST in url]


async def is_found(node: SimNode, query: str = f"site:{HOST}") -> bool:
    answer = await node.node_core.index.searcher.search(SearchRequest(query))
    assert not answer["results"] or answer["total"]
    return bool(answer["results"])


def bytes_on(node: SimNode) -> bytes:
    """All that a node's segments hold, opened."""
    segments = node.node_core.store.records._ledger.segments
    frames = [frame for number in segments.numbers for frame in segments.frames(number)]
    return b"".join(frame.head + frame.content for frame in frames)


async def nowhere(world: World, within_s: float = HIDDEN_WITHIN_S) -> None:
    """Wait until no node finds or stores a page of the host."""
    began = world.loop.time()
    while any([await is_found(node) for node in world.running()]) or any(map(denied_on, world.running())):
        assert world.loop.time() - began < within_s
        await world.pass_time(1.0)


async def assert_quiet(world: World) -> None:
    """All owners hold the same, and nobody copies anything."""
    await world.until(lambda: is_settled(world.running()), QUIET_S)
    before = [world.wire.carried[name] for name in ("FetchRecords", "PutPackage")]
    await world.pass_time(QUIET_S)
    assert [world.wire.carried[name] for name in ("FetchRecords", "PutPackage")] == before


@simulated(SMALL)
async def test_a_denied_host_is_gone_within_a_minute_and_off_the_disks_within_an_hour_and_comes_back_when_it_is_allowed(
    world: World,
) -> None:
    await world.add(5)
    await world.crawl()
    await crawled(world)
    page = f"https://{HOST}/".encode()
    assert all([await is_found(node) for node in world.running()])
    assert any(page + b"page" in bytes_on(node) for node in world.running())
    world.publish(rules=(DENY,))
    await nowhere(world)
    await world.pass_time(ERASED_WITHIN_S - HIDDEN_WITHIN_S)
    words = b" 1 0</h1>"  # of the content of its first page, which was fetched once
    assert not any(words in bytes_on(node) for node in world.running())
    await assert_quiet(world)
    await assert_one_answer(world, [" ".join(world.web.words[:2])], asked=5)
    assert not [node for node in world.running() if node.node_core.index.searcher.lied]
    census = take_census(world.running())
    visits = [visit for url, visit in census.visits.items() if HOST in url]
    assert visits and not [visit for visit in visits if visit.state == VisitState.FETCHED]
    assert any(visit.reason.startswith("rule 1 of") for visit in visits)
    world.publish(rules=())
    await world.until(lambda: any(map(denied_on, world.running())), HIDDEN_WITHIN_S)
    await crawled(world)
    await world.pass_time(2 * HIDDEN_WITHIN_S)
    await crawled(world)
    assert_complete(world)
    assert all([await is_found(node) for node in world.running()])


@simulated(SMALL)
async def test_a_host_that_is_allowed_while_some_have_erased_it_is_whole_again_within_a_minute(world: World) -> None:
    await world.add(5)
    await world.crawl()
    await crawled(world)
    nodes = world.running()
    before = [len(denied_on(node)) for node in nodes]
    world.publish(rules=(DENY,))
    while all(denied_on(node) for node, count in zip(nodes, before, strict=True) if count):
        await world.pass_time(0.05)
    assert any(map(denied_on, nodes)), "one was quicker than another"
    world.publish(rules=())
    began = world.loop.time()
    while [len(denied_on(node)) for node in nodes] != before:
        assert world.loop.time() - began < HIDDEN_WITHIN_S
        await world.pass_time(1.0)


async def totals(world: World) -> list[int]:
    """How many pages of the host each node finds."""
    query = SearchRequest(f"site:{HOST}")
    return [(await node.node_core.index.searcher.search(query))["total"] for node in world.running()]


async def denied_after_a_death(world: World) -> list[int]:
    """Publish a denial right after a crawl and a death, while slots change hands; return `totals` before it."""
    _, victim, *_ = await world.add(5)
    await world.crawl()
    await crawled(world)
    await world.kill(victim)
    await world.pass_time(3.0)
    before = await totals(world)
    world.publish(rules=(DENY,))
    return before


async def assert_back(world: World, before: list[int]) -> None:
    """Allow the host again, and wait until all nodes find all pages: of one that was erased, once it is fetched."""
    world.publish(rules=())
    began = world.loop.time()
    while await totals(world) != before:
        assert world.loop.time() - began < BACK_WITHIN_S
        await world.pass_time(1.0)


@simulated(WorldPlan(seed=5, hosts=6))
async def test_pages_that_were_fetched_a_moment_before_come_back_too(world: World) -> None:
    before = await denied_after_a_death(world)
    while any(await totals(world)):
        await world.pass_time(0.2)
    await assert_back(world, before)


@pytest.mark.parametrize("seed", [20, *proved(3, 9, 21, 24)])
def test_a_denial_that_is_undone_amid_its_sweep_loses_no_page(seed: int) -> None:
    simulate(undone_amid_its_sweep, WorldPlan(seed=seed, hosts=4, pages=60))


async def undone_amid_its_sweep(world: World) -> None:
    before = await denied_after_a_death(world)
    held = [len(denied_on(node)) for node in world.running()]
    while [len(denied_on(node)) for node in world.running()] == held:
        await world.pass_time(0.02)
    await assert_back(world, before)


@simulated(SMALL)
async def test_an_owner_that_returns_after_weeks_does_not_revive_what_was_denied(world: World) -> None:
    nodes = await world.add(3)
    *others, late = nodes
    await world.crawl()
    await crawled(world)
    assert denied_on(late)
    await world.kill(late)
    await world.pass_time(60.0)
    world.publish(rules=(DENY,))
    await nowhere(world)
    for node in others:
        await world.kill(node)
    await world.pass_time(WEEKS_S)  # nobody runs: that costs nothing
    for node in nodes:
        await world.restart(node)
    assert denied_on(late)
    await nowhere(world)
    await crawled(world)  # all pages are due after weeks
    await assert_quiet(world)
    assert not any(map(denied_on, nodes))


@simulated(SMALL)
async def test_pages_of_a_blocked_author_are_fetched_anew_by_another(world: World) -> None:
    nodes = await world.add(4)
    await world.crawl()
    await crawled(world)
    author = max(nodes, key=lambda node: len(written_by(world, node)))
    lost = written_by(world, author)
    others = [node for node in nodes if node is not author]
    assert len(lost) > 3
    await world.kill(author)  # first: the strategy is handed to a node that runs
    world.publish(blocked=(author.identity.node_id.hex(),))
    await world.until(lambda: not written_by(world, author), HIDDEN_WITHIN_S)
    await world.until(lambda: lost <= take_census(others).texts.keys(), 900.0)
    await crawled(world)
    await world.pass_time(60.0)
    assert_complete(world)
    await assert_one_answer(world, [" ".join(world.web.words[:2])], asked=3)
    await assert_quiet(world)


def written_by(world: World, author: SimNode) -> set[str]:
    """The pages that are stored somewhere and signed by a node."""
    others = [node for node in world.running() if node is not author]
    found = set()
    for node in others:
        records = node.node_core.store.records
        for row in records._catalog.reader.walk(bytes(20), b"\xff" * 20):
            record = records._records._find(row.kind, row.id, content=False, proven=True)
            if row.kind == Kind.DOCUMENT and record and record.proof.author == author.identity.public_key:
                document = decode_document(record.body)
                found |= {document.url} if not document.gone else set()
    return found


ALLOWED, BARRED = b"User-agent: *\nAllow: /\n", b"User-agent: *\nDisallow: /secret/\n"
ORIGIN = "https://maker.example"
SECRET, OPEN = f"{ORIGIN}/secret/plan", f"{ORIGIN}/open"


class Maker:
    """A site whose robots.txt changes."""

    def __init__(self) -> None:
        self.robots = ALLOWED

    def __call__(self, url: str) -> ScriptedReply:
        if url.endswith("/robots.txt"):
            return ScriptedReply(200, TEXT, self.robots, 0.1)
        words = "zinnober quittung " + url.replace("/", " ")
        return ScriptedReply(200, HTML, f'<html lang="en"><title>{words}</title><p>{words}</p></html>'.encode(), 0.1)


async def shown(world: World) -> set[str]:
    """The pages of the site that nodes show, to whoever searches or asks for them; all nodes the same."""
    found = []
    for node in world.running():
        answer = await node.node_core.index.searcher.search(SearchRequest("zinnober"))
        stored = await node.node_core.store.lookup.documents([SECRET, OPEN])
        listed = {result["url"] for result in answer["results"]}
        read = await node.node_core.store.reader.read(Wish(urls=(SECRET, OPEN)), FIRST, WHOLE, content=True)
        assert listed & {SECRET, OPEN} == {capture.url for capture in read.captures}
        assert listed & {SECRET, OPEN} == {url for url, document in stored.items() if not document.gone}
        found.append(listed)
    assert all(each == found[0] for each in found)
    return found[0]


async def after(world: World, seconds: float) -> None:
    """Let time pass while nobody runs, which costs nothing; then a new page of the site is handed in, and rules are
    read."""
    nodes = world.running()
    for node in nodes:
        await world.kill(node)
    await world.pass_time(seconds)
    for node in nodes:
        await world.restart(node)
    await world.pass_time(20.0)
    await world.crawl(f"https://maker.example/new{world.loop.time():.0f}")
    await world.pass_time(60.0)


def secrets(world: World) -> list[Document]:
    """Return all copies of the disallowed page on the disks."""
    kept = [node.node_core.store.records.find(Kind.DOCUMENT, document_id(SECRET)) for node in world.running()]
    return [decode_document(record.body) for record in kept if record is not None]


@simulated(SMALL)
async def test_robots_that_newly_disallow_a_page_hide_it_at_once_and_erase_it_after_a_week(world: World) -> None:
    maker = world.web.others["maker.example"] = Maker()
    await world.add(3)
    await world.pass_time(10.0)
    await world.crawl(SECRET, OPEN)
    await crawled(world)
    assert {SECRET, OPEN} <= await shown(world)
    maker.robots = BARRED
    await after(world, DAY_S)
    assert SECRET not in await shown(world) and OPEN in await shown(world)
    assert not [node for node in world.running() if node.node_core.index.searcher.lied]
    maker.robots = ALLOWED
    await after(world, DAY_S)
    assert SECRET in await shown(world)
    maker.robots = BARRED
    await after(world, DAY_S)
    assert SECRET not in await shown(world)
    await after(world, 6 * DAY_S)
    assert SECRET not in await shown(world)
    assert len(secrets(world)) == 3 and all(document.text for document in secrets(world))
    await after(world, 1.1 * DAY_S)
    assert len(secrets(world)) == 3 and all(document.gone for document in secrets(world))
    assert OPEN in await shown(world)


class Owner(Maker):
    """A site whose owner may put a file there that names what is to go."""

    named = ""

    def __call__(self, url: str) -> ScriptedReply:
        if PROOF_PATH not in url:
            return super().__call__(url)
        body = f"# what shall go\n{NAME} /other {self.named}\n".encode()
        return ScriptedReply(200 if self.named else 404, TEXT, body if self.named else b"", 0.1)


@simulated(SMALL)
async def test_what_a_sites_owner_removes_is_gone_everywhere_until_the_file_is(world: World) -> None:
    owner = world.web.others["maker.example"] = Owner()
    await world.add(4)
    await world.pass_time(10.0)
    await world.crawl(SECRET, OPEN)
    await crawled(world)
    removals = world.running()[-1].node_core.jobs.removals
    with pytest.raises(NotProved, match="does not name /secret/"):
        await removals.remove(f"{ORIGIN}/secret/")
    assert {SECRET, OPEN} <= await shown(world)
    owner.named = "/secret/"
    with pytest.raises(NotProved, match="does not name /open"):
        await removals.remove(OPEN)
    assert (await removals.remove(f"{ORIGIN}/secret/")).prefix == "/secret/"
    await world.pass_time(HIDDEN_WITHIN_S)
    assert SECRET not in await shown(world) and OPEN in await shown(world)
    assert not secrets(world)
    await world.crawl(f"{ORIGIN}/secret/more")
    await crawled(world)
    assert take_census(world.running()).visits[f"{ORIGIN}/secret/more"].state == VisitState.REFUSED
    late = next(node for node in world.running() if node.node_core.store.site_removals.is_any)
    await world.kill(late)
    await world.restart(late)
    await world.pass_time(HIDDEN_WITHIN_S)
    assert late.node_core.store.site_removals.is_any
    assert SECRET not in await shown(world) and not secrets(world)
    owner.named = ""
    await after(world, 61 * DAY_S)  # by then the file was looked for
    await world.pass_time(HIDDEN_WITHIN_S)
    assert SECRET in await shown(world)


@simulated(SMALL)
async def test_what_a_dns_record_removes_is_gone_though_the_site_is_down_and_stays_so_where_dns_does_not_answer(
    world: World,
) -> None:
    web, record = world.web, "_dse-node-removal.maker.example"
    owner = web.others["maker.example"] = Owner()
    await world.add(4)
    await world.pass_time(10.0)
    await world.crawl(SECRET, OPEN)
    await crawled(world)
    removals = world.running()[-1].node_core.jobs.removals
    with pytest.raises(NotProved, match=f"TXT record with that text at {record}"):
        await removals.remove(f"{ORIGIN}/secret/")
    web.others["maker.example"] = lambda _: ScriptedReply(503, TEXT, b"", 0.1)
    web.texts[record] = ("v=spf1 -all", f"{NAME} /secret/")
    assert (await removals.remove(f"{ORIGIN}/secret/")).prefix == "/secret/"
    await world.pass_time(HIDDEN_WITHIN_S)
    assert SECRET not in await shown(world) and OPEN in await shown(world)
    assert not secrets(world)
    web.others["maker.example"], web.texts[record] = owner, None
    await after(world, 61 * DAY_S)  # by then it was looked for
    await world.pass_time(HIDDEN_WITHIN_S)
    assert SECRET not in await shown(world)
    web.texts[record] = ()
    await after(world, 61 * DAY_S)
    await world.pass_time(HIDDEN_WITHIN_S)
    assert SECRET in await shown(world)
