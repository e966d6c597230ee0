"""How other sites call a page finds it, from every node alike; also a URL that nobody has fetched yet. One site counts
once, however often it links, and what it takes back is gone."""

from typing import Any

from crawl import VisitState
from index import SearchRequest
from node.extras.simulation.census import take_census
from node.extras.simulation.scripted_web import HTML, TEXT, ScriptedReply
from node.extras.simulation.world import World, WorldPlan, simulate
from tests.sim.judged import assert_one_answer

PORT, QUAY = "https://port.example/times", "https://quay.example/night"
LINKING = [f"https://{name}.example/" for name in ("guide", "press1", "press2", "press3", "spam")]
PLAN = WorldPlan(seed=5, hosts=1, pages=1)
NAMED, NEVER, SHOUTED = "zanzibar ferry timetable", "pemba night boat", "cheap watches"


class Port:
    """Sites about ships: three press sites link to a page of the port that says nothing of what they call it."""

    def __call__(self, url: str) -> ScriptedReply:
        host, path = url.removeprefix("https://").split("/", 1)
        if path == "robots.txt":  # the second page of the quay waits for as long
            return ScriptedReply(200, TEXT, b"User-agent: *\nCrawl-delay: %d\n" % (300 * (host == "quay.example")), 0.1)
        links = {PORT: "port"} if host == "guide.example" else {}
        if host.startswith("press"):
            links = {PORT: NAMED, QUAY: NEVER}
        if host == "spam.example":
            links = {PORT: SHOUTED, **{f"https://spam.example/{n}": "more" for n in range(6)}}
        if host == "guide.example":
            links |= {f"https://{name}.example/": "site" for name in ("press1", "press2", "press3", "spam", "quay")}
        made = "".join(f'<p><a href="{to}">{text}</a></p>' for to, text in links.items())
        body = f'<html lang="en"><title>{host}</title><p>departures of {host}, page {path}</p>{made}</html>'
        return ScriptedReply(200, HTML, body.encode(), 0.1)


async def ask(world: World, query: str) -> list[list[dict[str, Any]]]:
    """What each node answers."""
    asked = SearchRequest(query, limit=10)
    answers = [await node.node_core.index.searcher.search(asked) for node in world.running()]
    assert all(answer["exact"] for answer in answers)
    return [answer["results"] for answer in answers]


async def all_find(world: World, query: str, url: str) -> list[dict[str, Any]]:
    """What each node answers about a page, which all of them find."""
    found = [hit for hits in await ask(world, query) for hit in hits if hit["url"] == url]
    assert len(found) == len(world.running()), (query, url)
    return found


def test_a_page_is_found_by_what_several_sites_call_it() -> None:
    async def scenario(world: World) -> None:
        web = Port()
        for name in ("guide", "port", "quay", "press1", "press2", "press3", "spam"):
            world.web.others[f"{name}.example"] = web
        await world.add(4)
        await world.crawl("https://guide.example/")
        await world.until(lambda: is_read(world), 300.0)
        await world.pass_time(60.0)
        for hit in await all_find(world, NAMED, PORT):
            assert hit["named_by"] == 5 and hit["fetched_at"] and hit["score"] > 0
        for hit in await all_find(world, NEVER, QUAY):
            assert (hit["title"], hit["named_by"], hit["fetched_at"]) == (NEVER, 3, 0.0) and hit["score"] > 0
        for hit in await all_find(world, SHOUTED, PORT):
            assert hit["score"] == 0.0, "one domain says it, by however many pages"
        await assert_one_answer(world, [NAMED, NEVER, SHOUTED, "departures"], asked=4)
        assert not [node for node in world.running() if node.node_core.index.searcher.lied]

    simulate(scenario, PLAN)


def is_read(world: World) -> bool:
    """Whether all sites that link were fetched."""
    states = take_census(world.running()).states()
    return all(states.get(url) == VisitState.FETCHED for url in (PORT, *LINKING))
