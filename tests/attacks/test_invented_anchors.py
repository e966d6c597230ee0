"""Who tells pages of other sites that one calls them what it does not is found by its own words, and all that it told
counts no more; where its words prove nothing they go. Who tells what it read is never found, though pages change and
others fetch them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from crawl import Page
from crawl.content.page import Link
from dht import NodeId, document_id
from index import SearchRequest
from node.crawling.ingest import document_of
from node.extras.simulation.scripted_web import HTML, TEXT, ScriptedReply
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan, simulate
from store import Record, anchor_id, decode_anchor

PORT, PRESS = "https://port.example/", [f"https://press{n}.example/" for n in range(10)]
TRUE, FALSE = "ferry timetable", "cheap watches"
PLAN = WorldPlan(seed=5, hosts=1, pages=1)
FOUND_WITHIN_S = 600.0


@dataclass
class Press:
    """Sites that link to each other and to a port, whose name is followed by an edition."""

    edition: int = 0

    def __call__(self, url: str) -> ScriptedReply:
        if url.endswith("/robots.txt"):
            return ScriptedReply(200, TEXT, b"", 0.1)
        links = [(PORT, f"{TRUE} {self.edition}".removesuffix(" 0")), *((other, "press") for other in PRESS)]
        made = "".join(f'<p><a href="{to}">{text}</a></p>' for to, text in links if url != PORT)
        return ScriptedReply(200, HTML, f'<html lang="en"><title>{url}</title><p>news</p>{made}</html>'.encode(), 0.1)


async def crawled(world: World, web: Press, liar: int | None = None, trick: str = "") -> list[SimNode]:
    """Five nodes at work on the press, one of which may make up what it calls the port, and replace its own page at
    once, or date what it makes up as of an instant of which it has no page."""
    world.web.others |= {url.split("/")[2]: web for url in (PORT, *PRESS)}
    nodes = await world.add(5)
    if liar is not None:
        ingest = nodes[liar].node_core.store.ingest
        anchors = ingest._anchors
        assert anchors is not None
        honest_note, honest_tell, lied = anchors.note, anchors.tell, list[tuple[Page, int]]()

        def note(page: Page, epoch: int, before: Mapping[str, str], today: int) -> None:
            lie = replace(page, links=(Link(PORT, FALSE),), fetched_at=page.fetched_at + (trick == "dates"))
            honest_note(lie, epoch, before, today)
            lied.append((page, epoch))

        async def tell() -> None:
            await honest_tell()
            while lied:
                page, epoch = lied.pop()
                if trick == "replaces":
                    later = replace(page, fetched_at=page.fetched_at + 1.0)
                    await ingest.write([ingest._draft(later, epoch, document_of(later))])

        anchors.note, anchors.tell = note, tell  # type: ignore[method-assign]
    await world.pass_time(10.0)
    await world.crawl(PRESS[0])
    return nodes


def told(node: SimNode) -> list[Record]:
    return node.node_core.store.records.anchors(document_id(PORT))


def by(liar: SimNode, nodes: Sequence[SimNode]) -> list[str]:
    """What a node wrote of the port, as far as it lies at others."""
    mine = (r for node in nodes for r in told(node) if r.proof.author == liar.identity.public_key)
    return [decode_anchor(record.body).text for record in mine]


def convicts(nodes: Sequence[SimNode]) -> set[NodeId]:
    return {author for node in nodes for author in node.node_core.witnessing.board.convicts()}


@pytest.mark.parametrize("trick", ["replaces", pytest.param("", marks=pytest.mark.prove)])
def test_who_makes_up_what_a_page_is_called_is_found_and_what_it_told_counts_no_more(trick: str) -> None:
    async def scenario(world: World) -> None:
        nodes = await crawled(world, Press(), 2, trick)
        liar, honest = nodes[2], [*nodes[:2], *nodes[3:]]
        await world.until(lambda: all(liar.identity.node_id in convicts([node]) for node in honest), FOUND_WITHIN_S)
        await world.until(lambda: not by(liar, honest) and not liar.overlay.view.leases(), 120.0)
        assert convicts(honest) == {liar.identity.node_id}
        answers = [await node.node_core.index.searcher.search(SearchRequest(FALSE, limit=10)) for node in honest]
        assert not any(answer["results"] for answer in answers)
        assert not any(node.node_core.index.searcher.lied for node in honest)
        await world.pass_time(600.0)
        names = {anchor_id(document_id(PORT), url.split("/")[2]) for url in PRESS}
        held = [told(node) for node in honest if told(node)]
        assert held and all({record.id for record in each} == names for each in held), "others told it anew"
        assert not by(liar, honest) and {decode_anchor(r.body).text for each in held for r in each} == {TRUE}

    simulate(scenario, PLAN)


@pytest.mark.prove
def test_what_no_page_bears_out_goes_everywhere_and_stays_away() -> None:
    async def scenario(world: World) -> None:
        nodes = await crawled(world, Press(), 2, "dates")
        liar, honest = nodes[2], [*nodes[:2], *nodes[3:]]
        await world.until(lambda: FALSE in by(liar, honest), FOUND_WITHIN_S)
        await world.until(lambda: FALSE not in by(liar, honest), FOUND_WITHIN_S + 120.0)
        await world.pass_time(300.0)
        assert FALSE not in by(liar, honest) and TRUE in {decode_anchor(r.body).text for n in honest for r in told(n)}
        assert not convicts(nodes), "nothing is proved"

    simulate(scenario, PLAN)


@pytest.mark.prove
def test_whose_pages_change_and_are_fetched_by_others_is_not_found() -> None:
    async def scenario(world: World) -> None:
        web = Press()
        nodes = await crawled(world, web)
        for edition in range(1, 6):
            await world.pass_time(150.0)
            web.edition = edition
            if edition == 3:
                await world.kill(nodes[2])
            for node in world.running():
                for url in PRESS:
                    node.node_core.crawl.refetch(url)
        await world.pass_time(900.0)
        here = world.running()
        authors = {record.proof.author for node in here for record in told(node)}
        assert {decode_anchor(r.body).text for node in here for r in told(node)} == {f"{TRUE} {web.edition}"}
        assert len(authors) > 1 and sum(node.node_core.witnessing.anchor_audit.compared for node in here) > 20
        assert not convicts(here)

    simulate(scenario, PLAN)
