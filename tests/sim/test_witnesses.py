"""Pages are fetched again by others of their slot's panel: who writes what no site said is found out, no other is."""

import logging
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import count
from random import Random

import pytest

from dht import Family, NodeId, Rule
from node.app.witness_status import witness_json
from node.extras.simulation.census import hurried
from node.extras.simulation.scripted_web import ScriptedReply, ScriptedWeb
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan, simulate
from node.views.witness import found_line
from node.witness.call_queue import MAX_CALLS_EACH
from node.witness.draw import COST
from node.witness.second_look import Look
from store import Document, Kind, Record, decode_document
from tests.sim.judged import MIN_DELAY_S

NODES = 6
WEB = WorldPlan(seed=31, hosts=48, pages=4)
HONEST = WorldPlan(seed=32, hosts=24, pages=60)
LARGE = WorldPlan(seed=33, hosts=240, pages=40, slot_bits=6)
DAY_S = 86_400.0
FOUND_WITHIN_S = 3600.0


def spread_out(web: ScriptedWeb, hosts: int) -> None:
    """Give each site an address in a block of its own."""
    web.addresses |= {f"site{n}.example": f"8.{n // 250}.{n % 250}.7" for n in range(hosts)}


def other_words(url: str, reply: ScriptedReply, rng: Random) -> ScriptedReply:
    """The page with its links, and not a word of its own."""
    made = lambda m: ">" + " ".join(f"q{rng.getrandbits(40):x}" for _ in m[1].split()) + "<"  # noqa: E731
    body = re.sub(r">([^<]+)<", made, reply.body.decode()).encode()
    return ScriptedReply(reply.status, reply.headers, body, reply.latency_s)


def lie(url: str, reply: ScriptedReply) -> ScriptedReply:
    is_page = reply.status == 200 and b"<html" in reply.body
    return other_words(url, reply, Random(f"lie {url}")) if is_page else reply


def hurry(nodes: Iterable[SimNode], by: int = 1000) -> None:
    """Let nodes look at pages as if they fetched so many more every second: what a share buys is shown elsewhere."""
    for node in nodes:
        node.node_core.witnessing.witness._fetched = count(0, by).__next__


def accused(nodes: Iterable[SimNode]) -> set[NodeId]:
    """Those against whom any statement stands, as far as any node has read."""
    return {author for node in nodes for author in node.node_core.witnessing.board.statements}


def test_a_holder_that_forges_pages_is_found_and_loses_its_leases_everywhere(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.INFO, "node.witness.second_look")

    async def scenario(world: World) -> None:
        spread_out(world.web, WEB.hosts)
        nodes = await world.add(NODES)
        liar, honest = nodes[2], [*nodes[:2], *nodes[3:]]
        world.web.shows[liar.name] = lie
        hurry(honest)
        await world.pass_time(10.0)
        await world.crawl()

        await world.until(lambda: len(pages_of(liar, honest)) > 9, FOUND_WITHIN_S)
        before = pages_of(liar, honest)

        def is_found() -> bool:
            return all(liar.identity.node_id in n.node_core.witnessing.board.convicts() for n in honest)

        await world.until(is_found, FOUND_WITHIN_S)
        await world.until(lambda: not liar.overlay.view.leases(), 120.0)
        for node in honest:
            assert set(node.node_core.witnessing.board.convicts()) == {liar.identity.node_id}
            told = witness_json(node.node_core.witnessing)
            (convict,), liar_id = told["convicted"], liar.identity.node_id.hex()
            assert convict["node_id"] == liar_id and len(convict["sites"]) >= 5 and told["possible"]
            assert found_line({"witness": told}).startswith(f"{liar_id[:12]} gets no leases until ")
        assert not hurried(world.log, MIN_DELAY_S)
        await world.kill(honest[-1])
        honest[-1].disk.crash(lose_database=True)
        await world.restart(honest[-1])
        assert is_found(), "a verdict outlives the catalog of the store"
        await world.until(lambda: not pages_of(liar, honest), 900.0)
        assert before <= {url for node in honest for url, text in texts_of(node).items() if "q" not in text}

    world = simulate(scenario, WEB)
    asked = [visited.url for visited in world.log if visited.as_witness]
    said = [record.getMessage() for record in caplog.records if record.name == "node.witness.second_look"]
    told = [line.removeprefix("asks as a witness url=") for line in said if line.startswith("asks as a witness url=")]
    assert sorted(told) == sorted(asked) and asked, "a node writes down what it asks sites for as a witness"


def documents(node: SimNode) -> list[tuple[Record, Document]]:
    records = node.node_core.store.records
    found = [records.find(Kind.DOCUMENT, each.id) for each in records.scan(Kind.DOCUMENT, bytes(20), b"\xff" * 20)]
    return [(record, decode_document(record.body)) for record in found if record is not None]


def pages_of(author: SimNode, nodes: Iterable[SimNode]) -> set[str]:
    """The pages by an author that lie at nodes."""
    return {d.url for n in nodes for r, d in documents(n) if r.proof.author == author.identity.public_key}


def texts_of(node: SimNode) -> dict[str, str]:
    return {document.url: document.text for _, document in documents(node)}


@pytest.mark.prove
def test_four_places_that_show_one_crawler_something_else_convict_nobody():
    async def scenario(world: World) -> None:
        world.web.addresses |= {f"site{n}.example": f"8.8.{n % 4}.7" for n in range(WEB.hosts)}
        nodes = await world.add(NODES)
        victim = nodes[2]
        world.web.shows[victim.name] = lie
        hurry(nodes)
        await world.pass_time(10.0)
        await world.crawl()
        heard = lambda: sum(node.node_core.witnessing.hearing.agreed for node in nodes)  # noqa: E731
        await world.until(lambda: heard() >= 6 and bool(accused(nodes)), FOUND_WITHIN_S)
        await world.pass_time(300.0)
        assert accused(nodes) == {victim.identity.node_id}
        shown = {url for node in nodes for url in pages_of(victim, [node]) if "q" in texts_of(node)[url]}
        true = {url for node in nodes for url in pages_of(victim, [node]) if "q" not in texts_of(node)[url]}
        assert shown - true
        assert len(true) >= 4, "it stores what its witnesses saw in place of what it was shown"
        assert not any(node.node_core.witnessing.board.convicts() for node in nodes)
        assert victim.overlay.view.leases()

    simulate(scenario, WEB)


@pytest.mark.prove
@pytest.mark.parametrize("seed", [33, 37])  # 37: the forger calls first
def test_a_forger_of_a_tenth_of_all_pages_is_found_within_minutes_at_three_fetches_of_a_hundred(seed: int):
    async def scenario(world: World) -> None:
        spread_out(world.web, LARGE.hosts)
        nodes = await world.add(8)
        liar, honest = nodes[2], [*nodes[:2], *nodes[3:]]
        world.web.shows[liar.name] = lie
        world.publish(min_delay_s=5.0)  # or all is crawled before anybody could have told
        await world.pass_time(10.0)
        await world.crawl()
        await world.until(lambda: any(node.node_core.witnessing.board.convicts() for node in honest), FOUND_WITHIN_S)
        forged = sum(visit.node == liar.name and not visit.url.endswith("/robots.txt") for visit in world.log)
        witnessed = sum(visit.as_witness for visit in world.log)
        print(f"forged {forged} fetches {len(world.log)} as witness {witnessed} at {world.loop.time():.0f} s")
        assert forged <= 1000
        assert witnessed <= 0.03 * len(world.log)

    simulate(scenario, replace(LARGE, seed=seed))


MIXED = replace(WEB, seed=35)
FAR = WorldPlan(seed=36, hosts=12, pages=4)
SPREAD = WorldPlan(seed=37, hosts=2, pages=80, slot_bits=6)
BIG = "site0.example"
FEW: tuple[Family, ...] = (6,)  # the family of all sites, and of three that could look at them
MANY: tuple[Family, ...] = (4,)


@pytest.mark.prove
def test_pages_of_sites_that_most_owners_cannot_reach_are_looked_at_by_those_who_can():
    async def scenario(world: World) -> None:
        spread_out(world.web, MIXED.hosts)
        world.web.addresses |= {f"site{n}.example": f"2600:{n:x}::7" for n in range(MIXED.hosts)}
        world.web.families |= dict.fromkeys(world.web.addresses, FEW)
        both = (*MANY, *FEW)
        nodes = [await world.add_with(has) for has in (both, MANY, both, MANY, MANY, FEW, MANY, FEW, MANY)]
        liar, honest = nodes[2], [*nodes[:2], *nodes[3:]]
        world.web.shows[liar.name] = lie
        hurry(honest)
        await world.pass_time(30.0)
        await world.crawl()

        def is_found() -> bool:
            return any(liar.identity.node_id in n.node_core.witnessing.board.convicts() for n in honest)

        await world.until(is_found, FOUND_WITHIN_S)
        assert accused(honest) <= {liar.identity.node_id}

    simulate(scenario, MIXED)


def test_who_has_no_way_to_a_site_asks_for_none_of_its_turns_and_others_look_in_its_place():
    async def scenario(world: World) -> None:
        spread_out(world.web, FAR.hosts)
        world.web.families |= dict.fromkeys(world.web.addresses, FEW)
        both = (*MANY, *FEW)
        nodes = [await world.add_with(has) for has in (both, both, both, MANY, MANY, MANY)]
        able, blind = nodes[:3], nodes[3:]
        asked, handed = Counter[str](), Counter[str]()
        for node in nodes:
            note(node.node_core.witnessing.look._turns, "acquire", node, asked)
            note(node.node_core.witnessing.hearing, "hand_on", node, handed)
        hurry(able)
        hurry(blind, by=5)
        await world.pass_time(30.0)
        await world.crawl()
        await world.until(lambda: sum(node.node_core.witnessing.witness.compared for node in nodes) > 9, FOUND_WITHIN_S)
        await world.pass_time(60.0)
        assert set(asked) <= {node.name for node in able}
        assert sum(asked.values()) <= sum(visited.as_witness for visited in world.log) + len(nodes), "one a request"
        share = world.loop.time() * 5 * 0.03 / COST
        assert all(0 < handed[node.name] <= share for node in blind), "a page handed on counts as one looked at"

    simulate(scenario, FAR)


def note(part: object, name: str, node: SimNode, counted: Counter[str]) -> None:
    """Count the calls of a method of a node's part."""
    method = getattr(part, name)

    def noted(*args: object) -> object:
        counted[node.name] += 1
        return method(*args)

    setattr(part, name, noted)


def test_pages_of_a_site_that_several_crawl_are_looked_at_in_its_turns():
    async def scenario(world: World) -> None:
        spread_out(world.web, SPREAD.hosts)
        nodes = await world.add(NODES)
        hurry(nodes)
        await world.pass_time(10.0)
        world.publish(rules=(Rule(action="spread", host=BIG, depth=2),))
        await world.pass_time(20.0)
        await world.crawl()
        looked = lambda: {v.node for v in world.log if v.as_witness and f"//{BIG}/page" in v.url}  # noqa: E731
        await world.until(lambda: len(looked()) > 2, FOUND_WITHIN_S)
        assert not any(node.node_core.witnessing.look.without_turn for node in nodes)
        assert not hurried(world.log, MIN_DELAY_S)

    simulate(scenario, SPREAD)


@pytest.mark.parametrize("shown", ["once", pytest.param("as it was", marks=pytest.mark.prove)])
def test_who_calls_in_vain_costs_each_other_few_looks(shown: str):
    """Also for pages of sites that show each page once: nobody can say anything of them any more."""

    async def scenario(world: World) -> None:
        spread_out(world.web, WEB.hosts)
        nodes = await world.add(NODES)
        liar, honest = nodes[2], [*nodes[:2], *nodes[3:]]
        asked, answered = set[str](), Counter[str]()

        async def accuse(url: str) -> Look:
            return Look(Random(url).randbytes(16), liar.clock().wall, b"\x08\x08\x08")

        liar.node_core.witnessing.look.observe = accuse  # type: ignore[method-assign]

        def once(url: str, reply: ScriptedReply) -> ScriptedReply:
            is_again = url in asked
            asked.add(url)
            return replace(reply, status=404) if is_again and not url.endswith("robots.txt") else reply

        if shown == "once":
            world.web.shows |= {node.name: once for node in nodes}
        for node in honest:
            note(node.node_core.witnessing.witness, "_answer_call", node, answered)
        hurry(nodes)
        await world.pass_time(10.0)
        await world.crawl()
        await world.pass_time(900.0)
        assert answered and max(answered.values()) <= MAX_CALLS_EACH, "two, or all that wait"
        assert not accused(honest)

    simulate(scenario, WEB)


class ChangingWeb:
    """Pages of which a fifth says something else with each visit, a fifth every six hours, a fifth once a day."""

    def __init__(self, world: World) -> None:
        self._loop, self._rng = world.loop, Random(5)

    def __call__(self, url: str, reply: ScriptedReply) -> ScriptedReply:
        kind = Random(url).randrange(5)
        if reply.status != 200 or b"<html" not in reply.body or kind > 2:
            return reply
        since = int((self._loop.time() + Random(f"phase {url}").random() * DAY_S) // (DAY_S / 4 if kind else DAY_S))
        return other_words(url, reply, self._rng if kind == 2 else Random(f"{url} {since}"))


@pytest.mark.prove
def test_where_nobody_lies_and_pages_change_nobody_is_accused_and_few_pages_are_fetched_again():
    async def scenario(world: World) -> None:
        spread_out(world.web, HONEST.hosts)
        nodes = await world.add(NODES)
        changing = ChangingWeb(world)
        world.web.shows |= {node.name: changing for node in nodes}
        await world.pass_time(10.0)
        await world.crawl()
        await world.pass_time(1200.0)
        witnessed = sum(visit.as_witness for visit in world.log)
        assert 10 < witnessed <= 0.03 * len(world.log)
        assert sum(node.node_core.witnessing.witness.unlike for node in nodes) > 0
        assert not any(node.node_core.witnessing.hearing.agreed for node in nodes)
        assert not accused(nodes)
        assert not hurried(world.log, MIN_DELAY_S)

    simulate(scenario, HONEST)
