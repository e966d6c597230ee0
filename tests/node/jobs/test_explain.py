"""Explanations, progress and hand-ins in a simulated network: from any node, about URLs that others hold."""

from typing import Any

import pytest

from crawl import VisitState
from dht import BadMessage, NodeId, Rule
from node.api.crawl import Followed
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan
from node.jobs.explain import AskAbout
from node.jobs.job_wait import JobWait
from tests.sim.judged import crawled
from tests.sim.simulated import simulated

PLAN = WorldPlan(seed=5, hosts=6, pages=12, replicas=2)


async def explained(node: SimNode, url: str) -> dict[str, Any]:
    return (await node.node_core.jobs.explanations.explain(url)).plain()


@simulated(PLAN)
async def test_every_node_tells_the_same_of_every_url(world: World) -> None:
    nodes = await world.add(4)
    await world.pass_time(8.0)
    await world.crawl()
    await crawled(world)
    holders = set()
    for url, state in list(world.web.outcomes().items())[::5]:
        told = [await explained(node, url) for node in nodes]
        holders.add(told[0]["holder"]["node_id"])
        for node, each in zip(nodes, told, strict=True):
            assert each["known"]["state"] == state.name.lower()
            assert each["answer"] == ("no" if "/private/" in url else "later")
            assert each["holder"]["self"] == (each["holder"]["node_id"] == node.overlay.node_id.hex())
            assert each["holder"]["answered"]
            for same in ("url", "canonical", "id", "placement", "rule", "known"):
                assert each[same] == told[0][same]
            assert [o["node_id"] for o in each["owners"]] == [o["node_id"] for o in told[0]["owners"]]
    assert len(holders) > 1
    private = next(url for url in world.web.outcomes() if "/private/" in url)
    assert (await explained(nodes[1], private))["why"] == "the site's robots.txt forbids it"
    await _unknown_addresses_are_no_refusals_unless_something_refuses_them(world, nodes[0])
    with pytest.raises(BadMessage, match="a URL that is not canonical"):
        await nodes[0].node_core.jobs.explanations._tell(NodeId(b"p" * 20), AskAbout("http://A.test"))


@simulated(PLAN)
async def test_why_not_and_who_is_silent(world: World) -> None:
    nodes = await world.add(4)
    await world.pass_time(8.0)
    url = world.web.seed_url
    first = await explained(nodes[0], f"{url}#part")
    assert (first["canonical"], first["answer"], first["known"]) == (url, "unknown", None)
    assert first["changed"] == ["the fragment is dropped"]
    assert (await explained(nodes[0], "nonsense"))["canonical"] is None
    mail = await explained(nodes[0], "http://a.test:25/")
    assert mail["answer"] == "no" and "port 25 is that of another service" in mail["why"]
    for node in nodes:
        node.node_core.fetching.pause.pause()
    await world.crawl(url)
    await world.pass_time(3.0)
    (holder,) = [n for n in nodes if (await explained(n, url))["holder"]["self"]]
    other = next(n for n in nodes if n is not holder)
    told = await explained(other, url)
    assert (told["answer"], told["crawler"]["stand"]) == ("later", "ready")
    assert "does not crawl: paused by its operator" in told["why"]
    holder.node_core.fetching.pause.pause(20.0)
    assert "paused by its operator until" in (await explained(other, url))["why"]
    await world.pass_time(25.0)
    assert holder.node_core.fetching.pause.operator_reason() == "", "it ended by itself"
    world.publish(rules=[Rule(action="deny", host="site0.example")])
    await world.pass_time(30.0)
    told = await explained(other, url)
    assert (told["answer"], told["why"]) == ("no", "rule 1 of strategy 2 denies it")
    world.wire.kill(holder.name)
    told = await explained(other, url)
    assert not told["holder"]["answered"] and told["crawler"] is None


@simulated(PLAN)
async def test_who_fetches_for_the_holder_and_why_that_is_another_now(world: World) -> None:
    nodes = await world.add(5)
    await world.pass_time(8.0)
    for node in nodes:
        node.node_core.fetching.pause.pause()
    url = world.web.seed_url
    await world.crawl(url)
    await world.pass_time(3.0)
    told = await explained(nodes[0], url)
    assert (told["fetcher"]["node_id"], told["fetcher"]["why"]) == (told["holder"]["node_id"], "")
    named = next(node for node in nodes[1:] if node.overlay.node_id.hex() not in [o["node_id"] for o in told["owners"]])
    name = named.overlay.node_id.hex()
    world.publish(rules=[Rule(action="prefer", host="*.example", peer=name)])
    await world.pass_time(30.0)
    for node in nodes:
        told = await explained(node, url)
        assert told["fetcher"]["node_id"] == name and told["fetcher"]["self"] == (node is named)
        assert told["fetcher"]["why"] == "rule 1 of the strategy names it"
        assert (told["rule"]["number"], told["rule"]["preferred"]) == (1, name)
    asked = next(
        node for node in nodes if node is not named and node.overlay.node_id.hex() != told["holder"]["node_id"]
    )
    await world.kill(named)
    await world.pass_time(60.0)
    told = await explained(asked, url)
    assert told["fetcher"]["node_id"] == told["holder"]["node_id"]
    assert told["fetcher"]["why"] == f"node {name[:12]}, which rule 1 names, does not answer at present"
    assert told["why"].startswith("due, but node") and "paused" in told["why"]


async def _unknown_addresses_are_no_refusals_unless_something_refuses_them(world: World, asked: SimNode) -> None:
    world.publish(rules=[Rule(action="deny", host="denied.example")])
    await world.pass_time(30.0)
    asked.node_core.fetching.refusals.set_entries(["refused.example"])
    refused = {
        "https://denied.example/": "rule 1 of strategy 2 denies it",
        "https://refused.example/": "refused by this node's crawl.refuse",
        f"{world.web.seed_url}private/new": "robots.txt forbids",
        "http://10.1.2.3/": "a private address",
        "http://[::1]:8850/": "a private address",
        "http://169.254.169.254/": "an address that no web site has",
        "ftp://example.com/": "give an http or https URL",
    }
    for url, words in refused.items():
        told = await explained(asked, url)
        assert (told["answer"], told.get("known")) == ("no", None) and words in told["why"], told
    for url in (
        "https://example.com/",
        "http://new.test:8800/page.html",
        f"{world.web.seed_url}new",
        "http://8.8.8.8/",
    ):
        assert (await explained(asked, url))["answer"] == "unknown"


@simulated(PLAN)
async def test_who_waits_sees_the_whole_crawl_from_any_node(world: World) -> None:
    nodes = await world.add(3)
    await world.pass_time(8.0)
    asked = nodes[2].node_core
    url, other = world.web.seed_url, "https://site1.example/"
    dry = await asked.jobs.submission.crawl([url, "ftp://x/"], [], 20, "host", True)
    assert (dry.accepted, dry.seeds[0].known, len(dry.refused)) == (1, "", 1)
    assert not await asked.store.lookup.find([url])
    handed = await asked.jobs.submission.crawl([url], [], 20, "host", False)
    track = JobWait({"url": s.url, "depth": 20, "scope": s.scope} for s in handed.seeds)
    while not track.is_done:
        batch = track.ask(250)
        answers = await asked.jobs.progress.answer([Followed(**entry) for entry in batch])
        track.take(batch, [answer.plain() for answer in answers])
        await world.pass_time(1.0)
    right = {u: s for u, s in world.web.outcomes().items() if u.startswith(url)}
    assert not await asked.store.lookup.find([other]), "out of scope"
    assert track.counts["fetched"] == sum(s == VisitState.FETCHED for s in right.values())
    assert track.counts["refused"] == 1 and track.reasons == {"robots": 1}
    seeds, patterns = [url, f"{url}private/1"], ["/private/"]
    left_out = await asked.jobs.submission.crawl(seeds, [], 20, "host", True, patterns)
    assert [(each.url, each.reason) for each in left_out.refused] == [(seeds[1], "excluded by this job")]
    again = await asked.jobs.submission.crawl([url], [], 20, "host", True)
    assert (again.seeds[0].known, again.behind) == ("fetched", 0)
    wider = await asked.jobs.submission.crawl([url], [], 20, "whole", False)
    assert wider.seeds[0].known == "fetched" and wider.behind > 0
    await world.pass_time(20.0)
    assert await asked.store.lookup.find([other]), "what is behind known pages is handed in, too"
