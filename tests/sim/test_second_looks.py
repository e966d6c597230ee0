"""Owners fetch pages of others again: who writes what no site said is in the evidence, and loses votes; no other is."""

import logging
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import count
from random import Random

import pytest

from dht import DOMAINS_NEEDED, Family, NodeId, Rule
from node.extras.simulation.census import hurried
from node.extras.simulation.scripted_web import ScriptedReply, ScriptedWeb
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan, simulate
from node.service.machine_status import second_looks_of
from node.views.evidence import evidence_line
from store import Document, Kind, Record, decode_document
from tests.parameters import proved
from tests.sim.judged import MIN_DELAY_S
from tests.sim.simulated import simulated

NODES = 6
WEB = WorldPlan(seed=31, hosts=48, pages=4)
FORGED = WorldPlan(seed=31, hosts=160, pages=2)  # several sites in each slot, so that each owner meets enough
HONEST = WorldPlan(seed=32, hosts=24, pages=60)
LARGE = WorldPlan(seed=33, hosts=240, pages=40, slot_bits=6)
DAY_S = 86_400.0
FOUND_WITHIN_S = 900.0
WATCHED_S = 3600.0


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
        node.node_core.auditing.second_looks._fetched = count(0, by).__next__


def accused(nodes: Iterable[SimNode]) -> set[NodeId]:
    """The authors against which any of some nodes keeps evidence."""
    return {each.head.author for node in nodes for each in node.node_core.auditing.evidence.found}


def without_votes(nodes: Iterable[SimNode]) -> set[NodeId]:
    """The authors that get no votes of any of some nodes."""
    return {author for node in nodes for author in node.node_core.auditing.evidence.without_votes}


def test_a_forger_of_all_pages_is_in_the_evidence_and_without_votes_within_minutes(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.INFO, "node.audit.second_look")

    async def scenario(world: World) -> None:
        spread_out(world.web, FORGED.hosts)
        nodes = await world.add(NODES)
        liar, honest = nodes[2], [*nodes[:2], *nodes[3:]]
        liar_id = liar.identity.node_id
        world.web.shows[liar.name] = lie
        hurry(honest)
        await world.pass_time(10.0)
        await world.crawl()
        await world.until(lambda: len(pages_of(liar, honest)) > 9, FOUND_WITHIN_S)
        before = pages_of(liar, honest)
        leased = liar.overlay.view.leases()
        owners = [node for node in honest if node.overlay.view.owned() & leased.keys()]

        def is_found() -> bool:
            return all(liar_id in n.node_core.auditing.evidence.without_votes for n in owners)

        await world.until(is_found, FOUND_WITHIN_S)
        await world.until(lambda: not liar.overlay.view.leases().keys() & leased.keys(), 120.0)
        assert accused(honest) == without_votes(honest) == {liar_id} and len(owners) > 1
        for node in owners:
            told = second_looks_of(node.node_core.auditing).plain()
            (contradicted,) = told["contradicted"]
            assert contradicted["node_id"] == liar_id.hex() and len(contradicted["domains"]) >= DOMAINS_NEEDED
            assert evidence_line({"second_looks": told}).startswith(f"{liar_id.hex()[:12]} gets no votes until ")
        publisher = next(node for node in honest if node not in owners)
        listed = await publisher.node_core.auditing.desk.accused(fetches=True)
        (author,) = listed.authors
        assert author.node_id == liar_id.hex() and author.counts
        assert len({piece.finder for piece in author.pieces}) > 1, "the point has that of all finders"
        assert not hurried(world.log, MIN_DELAY_S)
        await world.kill(owners[-1])
        owners[-1].disk.crash(lose_database=True)
        await world.restart(owners[-1])
        assert is_found(), "evidence outlives the catalog of the store"
        await world.until(lambda: not pages_of(liar, honest), 900.0)
        assert before <= {url for node in honest for url, text in texts_of(node).items() if "q" not in text}

    world = simulate(scenario, FORGED)
    asked = [visited.url for visited in world.log if visited.is_second_look]
    told = [record.getMessage() for record in caplog.records if record.name == "node.audit.second_look"]
    noted = [line.removeprefix("second look url=") for line in told if line.startswith("second look url=")]
    assert sorted(noted) == sorted(asked) and asked, "a node writes down each request for a second look"


def documents(node: SimNode) -> list[tuple[Record, Document]]:
    records = node.node_core.store.records
    found = [records.find(Kind.DOCUMENT, each.id) for each in records.scan(Kind.DOCUMENT, bytes(20), b"\xff" * 20)]
    return [(record, decode_document(record.body)) for record in found if record is not None]


def pages_of(author: SimNode, nodes: Iterable[SimNode]) -> set[str]:
    """The pages by an author that lie at nodes."""
    return {d.url for n in nodes for r, d in documents(n) if r.proof.author == author.identity.public_key}


def texts_of(node: SimNode) -> dict[str, str]:
    return {document.url: document.text for _, document in documents(node)}


@pytest.mark.parametrize(("members", "shown"), [*proved((NODES, ("//site0.example", "//site1.example"))), (3, ("//",))])
def test_two_sites_that_show_one_crawler_something_else_cost_it_no_votes_nor_anything_in_a_network_of_three(
    members: int, shown: tuple[str, ...]
):
    def other(url: str, reply: ScriptedReply) -> ScriptedReply:
        return lie(url, reply) if any(part in url for part in shown) else reply

    async def scenario(world: World) -> None:
        spread_out(world.web, WEB.hosts)
        nodes = await world.add(members)
        hurry(nodes)
        world.web.shows |= {nodes[2].name: other}
        await world.pass_time(10.0)
        await world.crawl()
        await world.pass_time(FOUND_WITHIN_S)
        assert not without_votes(nodes) and nodes[2].overlay.view.leases()
        contradicted = [node.node_core.auditing.evidence.contradicted() for node in nodes]
        assert any(contradicted) == (members == 3), "its owners are told"

    simulate(scenario, WEB)


@pytest.mark.prove
@pytest.mark.parametrize("seed", [33, 37])
def test_a_forger_of_a_tenth_of_all_pages_is_found_within_minutes_at_three_fetches_of_a_hundred(seed: int):
    async def scenario(world: World) -> None:
        spread_out(world.web, LARGE.hosts)
        nodes = await world.add(8)
        liar, honest = nodes[2], [*nodes[:2], *nodes[3:]]
        world.web.shows[liar.name] = lie
        world.publish(min_delay_s=5.0)  # or all is crawled before anybody could have told
        await world.pass_time(10.0)
        await world.crawl()
        await world.until(lambda: bool(without_votes(honest)), FOUND_WITHIN_S)
        looked = sum(visit.is_second_look for visit in world.log)
        print(f"fetches {len(world.log)} for second looks {looked} at {world.loop.time():.0f} s")
        assert looked <= 0.03 * len(world.log)

    simulate(scenario, replace(LARGE, seed=seed))


MIXED = replace(FORGED, seed=35)
FAR = WorldPlan(seed=36, hosts=12, pages=4)
SPREAD = WorldPlan(seed=37, hosts=2, pages=80, slot_bits=6)
BIG = "site0.example"
FEW: tuple[Family, ...] = (6,)  # the family of all sites, and of three that could look at them
MANY: tuple[Family, ...] = (4,)


@pytest.mark.prove
@simulated(MIXED)
async def test_pages_of_sites_that_most_owners_cannot_reach_are_looked_at_by_those_who_can(world: World) -> None:
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

    await world.until(lambda: liar.identity.node_id in without_votes(honest), FOUND_WITHIN_S)


@simulated(FAR)
async def test_a_node_without_a_way_to_a_site_asks_for_none_of_its_turns(world: World) -> None:
    spread_out(world.web, FAR.hosts)
    world.web.families |= dict.fromkeys(world.web.addresses, FEW)
    both = (*MANY, *FEW)
    nodes = [await world.add_with(has) for has in (both, both, both, MANY, MANY, MANY)]
    asked = Counter[str]()
    for node in nodes:
        note(node.node_core.auditing.look._turns, "acquire", node, asked)
    hurry(nodes)
    await world.pass_time(30.0)
    await world.crawl()
    looks = [node.node_core.auditing.second_looks for node in nodes]
    await world.until(lambda: sum(each.compared for each in looks) > 9, WATCHED_S)
    await world.pass_time(60.0)
    assert set(asked) <= {node.name for node in nodes[:3]}
    seen = sum(visited.is_second_look for visited in world.log)
    assert sum(asked.values()) <= seen + len(nodes), "one a request"


def note(part: object, name: str, node: SimNode, counted: Counter[str]) -> None:
    """Count the calls of a method of a node's part."""
    method = getattr(part, name)

    def noted(*args: object) -> object:
        counted[node.name] += 1
        return method(*args)

    setattr(part, name, noted)


@simulated(SPREAD)
async def test_pages_of_a_site_that_several_crawl_are_looked_at_in_its_turns(world: World) -> None:
    spread_out(world.web, SPREAD.hosts)
    nodes = await world.add(NODES)
    hurry(nodes)
    await world.pass_time(10.0)
    world.publish(rules=(Rule(action="spread", host=BIG, depth=2),))
    await world.pass_time(20.0)
    await world.crawl()
    looked = lambda: {v.node for v in world.log if v.is_second_look and f"//{BIG}/page" in v.url}  # noqa: E731
    await world.until(lambda: len(looked()) > 2, WATCHED_S)
    assert not any(node.node_core.auditing.look.without_turn for node in nodes)
    assert not hurried(world.log, MIN_DELAY_S)


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
@simulated(HONEST)
async def test_where_nobody_lies_and_pages_change_nobody_is_accused_and_few_pages_are_fetched_again(
    world: World,
) -> None:
    spread_out(world.web, HONEST.hosts)
    nodes = await world.add(NODES)
    changing = ChangingWeb(world)
    world.web.shows |= {node.name: changing for node in nodes}
    await world.pass_time(10.0)
    await world.crawl()
    await world.pass_time(1200.0)
    looked = sum(visit.is_second_look for visit in world.log)
    assert 10 < looked <= 0.03 * len(world.log)
    assert sum(node.node_core.auditing.second_looks.unlike for node in nodes) > 0
    assert not without_votes(nodes)
    assert not hurried(world.log, MIN_DELAY_S)
