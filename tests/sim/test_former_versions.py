"""A page that changes leaves the same former versions with every owner, whoever slept or came later, until its author
takes it back: then with none."""

from crawl import VisitState
from dht import document_id, placement_key, slot_of
from node.captures.network_reader import ReadBounds
from node.captures.scope import FIRST, Wish
from node.extras.simulation.census import is_settled, take_census
from node.extras.simulation.scripted_web import HTML, TEXT, ScriptedReply
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan
from store import Kind
from tests.sim.judged import crawled
from tests.sim.simulated import simulated

PAGE, OTHER = "https://maker.example/news", "https://maker.example/"
DAY_S = 86_400.0
BETWEEN_S = 20 * DAY_S
PLAN = WorldPlan(hosts=1, pages=1)
WHOLE = ReadBounds(100, 1 << 20, 10.0)


class Maker:
    """A site that says what a scenario has it say; its robots.txt allows everything."""

    says, headers = "first", HTML

    def __call__(self, url: str) -> ScriptedReply:
        if url.endswith("/robots.txt"):
            return ScriptedReply(200, TEXT, b"User-agent: *\nAllow: /\n", 0.1)
        link = f'<a href="{PAGE}">news</a>'
        body = f'<html lang="en"><title>news</title><p>the {self.says} edition of today</p>{link}</html>'
        return ScriptedReply(200, self.headers, body.encode(), 0.1)


def holders(world: World) -> list[SimNode]:
    """The running owners of the page."""
    owners = world.running()[0].overlay.view.owners(slot_of(placement_key(PAGE), PLAN.slot_bits))
    return [node for node in world.running() if node.overlay.node_id in owners]


def kept(node: SimNode) -> list[tuple[int, str]]:
    """The former versions of the page on a node's disk: when they were written, and what they say."""
    records = node.node_core.store.records
    found = [records.find(Kind.FORMER, id) for id in records.formers(document_id(PAGE))]
    return [(each.version.at_ms, said(each.content)) for each in found if each is not None]


def said(content: bytes | None) -> str:
    return (content or b"").decode().partition("<p>the ")[2].partition(" edition")[0]


def all_keep(world: World, *editions: str) -> bool:
    """Whether all owners have these versions, and the same ones."""
    owners = [kept(node) for node in holders(world)]
    return len(owners) == 3 and all(each == owners[0] for each in owners) and [e for _, e in owners[0]] == [*editions]


async def changed(world: World, maker: Maker, says: str, *, but: SimNode | None = None) -> None:
    """The page changes, and weeks later, in which nobody runs, it is fetched again; one node is away meanwhile."""
    nodes = [node for node in world.nodes.values() if node is not but]
    for node in world.running():
        await world.kill(node)
    await world.pass_time(BETWEEN_S)
    maker.says = says
    for node in nodes:
        await world.restart(node)
    await world.until(lambda: shows(world, says), 900.0)
    await crawled(world)


def shows(world: World, says: str) -> bool:
    found = [node.node_core.store.records.find(Kind.DOCUMENT, document_id(PAGE)) for node in holders(world)]
    return bool(found) and all(page is not None and said(page.content) == says for page in found)


async def read(node: SimNode, wish: Wish) -> list[str]:
    part = await node.node_core.store.reader.read(wish, FIRST, WHOLE, content=True)
    assert part.next is None and not part.unread
    return [said(capture.content) for capture in part.captures]


@simulated(PLAN)
async def test_every_owner_has_the_same_versions_and_a_page_is_read_as_it_was_on_a_day(world: World) -> None:
    maker = world.web.others["maker.example"] = Maker()
    await world.add(3)
    await world.crawl(OTHER)
    await crawled(world)
    await changed(world, maker, "second")
    sleeper = holders(world)[0]
    await changed(world, maker, "third", but=sleeper)
    await changed(world, maker, "fourth", but=sleeper)
    await world.restart(sleeper)
    await world.add(1)
    await world.until(lambda: all_keep(world, "first", "second", "third"), 900.0)
    await world.until(lambda: is_settled(world.running()), 600.0)
    census = take_census(world.running())
    formers = {url: names for (kind, url), names in census.holders.items() if kind == Kind.FORMER and PAGE in url}
    assert len(formers) == 3 and all(len(names) >= 3 for names in formers.values())
    instants = [at / 1000 for at, _ in kept(holders(world)[0])]
    for node in world.running():
        assert await read(node, Wish(urls=(PAGE,))) == ["fourth"]
        assert await read(node, Wish(urls=(PAGE,), all_versions=True)) == ["first", "second", "third", "fourth"]
        for n, (at, says) in enumerate(zip(instants, ("first", "second", "third"), strict=True)):
            assert await read(node, Wish(urls=(PAGE,), at=at + DAY_S)) == [says], n
        assert await read(node, Wish(urls=(PAGE,), at=instants[0] - DAY_S)) == ["first"], "there is none before it"
        assert await read(node, Wish(urls=(PAGE,), at=world.loop.clock()().wall)) == ["fourth"]
    assert not [node for node in world.running() if node.node_core.index.searcher.lied]
    await withheld(world, maker, instants[1])
    await taken_back(world, maker)


async def withheld(world: World, maker: Maker, at: float) -> None:
    """The page forbids copies: none of any version is shown, and all are kept, should it change its mind."""
    maker.headers = (*HTML, ("X-Robots-Tag", "noarchive"))
    await changed(world, maker, "fifth")
    await world.until(lambda: all_keep(world, "first", "second", "third", "fourth"), 900.0)
    for node in world.running():
        for wish, count in ((Wish(urls=(PAGE,), all_versions=True), 5), (Wish(urls=(PAGE,), at=at), 1)):
            part = await node.node_core.store.reader.read(wish, FIRST, WHOLE, content=True)
            assert (part.captures, part.left_out["noarchive"], part.unread) == ([], count, [])


async def taken_back(world: World, maker: Maker) -> None:
    """The page asks not to be found while an owner is away, which brings nothing back."""
    sleeper = holders(world)[0]
    maker.headers = (*HTML, ("X-Robots-Tag", "noindex"))
    others = [node for node in world.nodes.values() if node is not sleeper]
    for node in world.running():
        await world.kill(node)
    await world.pass_time(BETWEEN_S)
    for node in others:
        await world.restart(node)
    await world.until(lambda: take_census(world.running()).visits[PAGE].state == VisitState.GONE, 900.0)
    await crawled(world)
    assert len(kept(sleeper)) == 4
    await world.restart(sleeper)
    await world.until(lambda: all_keep(world, ""), 900.0)  # the erasure alone
    await crawled(world)
    for node in world.running():
        assert await read(node, Wish(urls=(PAGE,), all_versions=True)) == []
        assert await read(node, Wish(urls=(PAGE,), at=world.loop.clock()().wall - 2 * BETWEEN_S)) == []
