"""The holders of all slots compute PageRank together: the ranks are those of one computation of all links, whoever
dies, and a liar moves them within bounds.

What is right is computed by elimination from what lies on all disks, by URLs alone."""

from collections.abc import Sequence

import msgspec
import numpy as np
import pytest

from crawl import VisitState, decode_visit, domain_of
from dht import Message, NodeId, site_of
from dht.messages import Answer
from index import CONVERGED
from index.rank.host_rank import host_edges, rank_hosts
from index.rank.page_rank import ALPHA, BASE
from node.extras.simulation.census import FIRST, LAST, take_census
from node.extras.simulation.scripted_web import HTML, ScriptedReply
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan, simulate
from node.ranking.messages import RankExchange
from node.ranking.rank_figures import RankFigures
from store import Kind, decode_document
from tests.index.rank.dense_pagerank import dense_pagerank
from tests.sim.judged import crawled

WEB = WorldPlan(seed=3, hosts=8, pages=8, strategy={"ranks": True})
CONVERGED_WITHIN_S = 900.0
READ_WITHIN_S = 12.0  # what was stored last
SILENT_S = 30.0
HOSTS_WITHIN_S = 20.0


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let rounds follow each other at a fifth of their usual distance: there are some thirty of them."""
    monkeypatch.setattr("node.ranking.rank_keeper.ROUND_S", 1.0)
    monkeypatch.setattr("node.ranking.rank_keeper.IDLE_S", 2.0)
    monkeypatch.setattr("node.ranking.rank_keeper.RELINK_S", 6.0)
    monkeypatch.setattr("node.ranking.host_ranking.HOSTS_S", 6.0)


def figures(nodes: Sequence[SimNode]) -> list[RankFigures]:
    return [node.node_core.ranking.figures for node in nodes]


def has_converged(world: World) -> bool:
    return all(each.has_converged for each in figures(world.running()))


def true_ranks(nodes: Sequence[SimNode]) -> dict[str, float]:
    """The rank of every page, by all documents and redirects that any node has."""
    shown, links, leads = take_census(nodes).texts, dict[str, list[str]](), dict[str, str]()
    for node in nodes:
        for record in node.node_core.store.records.scan(Kind.VISIT, FIRST, LAST):
            if (visit := decode_visit(record.body)).state == VisitState.REDIRECT and visit.url not in shown:
                leads[visit.url] = visit.target
        for record in node.node_core.store.records.scan(Kind.DOCUMENT, FIRST, LAST):
            document = decode_document(record.body)
            if document.url in shown:
                links[document.url] = [url for url, _ in document.links]
    ends = {
        page: {end for url in found if (end := end_of(url, leads)) not in (None, page)} for page, found in links.items()
    }
    urls = sorted({*links, *(end for found in ends.values() for end in found)})
    number = {url: n for n, url in enumerate(urls)}
    ranks = dense_pagerank({number[url]: [number[end] for end in found] for url, found in ends.items()})
    return {url: ranks[number[url]] for url in urls}


def end_of(url: str, leads: dict[str, str]) -> str | None:
    """Where a URL leads in the end; None where that is round in a circle."""
    seen = set[str]()
    while url in leads and url not in seen:
        seen.add(url)
        url = leads[url]
    return None if url in seen else url


def true_host_ranks(nodes: Sequence[SimNode]) -> dict[str, float]:
    """The rank of every host, by all documents that any node has, as one node computes it; 1 is the mean."""
    shown, links = take_census(nodes).texts, dict[str, set[str]]()
    for node in nodes:
        for record in node.node_core.store.records.scan(Kind.DOCUMENT, FIRST, LAST):
            document = decode_document(record.body)
            if document.url in shown:
                links.setdefault(site_of(document.url), set()).update(site_of(url) for url, _ in document.links)
    edges = host_edges(links.items(), domain_of)
    return dict(zip(edges.hosts, (rank_hosts(edges) * len(edges.hosts)).tolist(), strict=True))


def assert_hosts_right(nodes: Sequence[SimNode]) -> None:
    true = true_host_ranks(nodes)
    for node in nodes:
        found = {host: node.node_core.ranking.hosts.find(host) for host in true}
        assert all(abs(told.rank - true[host]) < 1e-5 for host, told in found.items() if told is not None)
        assert None not in found.values() and node.node_core.ranking.hosts.hosts == len(true)
        assert not node.node_core.ranking.hosts.refused
    assert max(true.values()) > 1.2 * min(true.values()), "there is something to be found out"


def found_ranks(nodes: Sequence[SimNode], urls: Sequence[str]) -> dict[str, float]:
    """The rank of every page as the holder of its slot has it."""
    told = ((url, node.node_core.ranking.rank(url)) for node in nodes for url in urls)
    return {url: rank / len(urls) for url, rank in told if rank is not None}


def assert_right(nodes: Sequence[SimNode]) -> None:
    true = true_ranks(nodes)
    found = found_ranks(nodes, list(true))
    assert found.keys() == true.keys()
    away = sum(abs(found[url] - true[url]) for url in true)
    for each in figures(nodes):
        assert away <= each.distance <= CONVERGED
        assert each.all_pages == len(true)
    assert max(true.values()) > 3 * min(true.values()), "there is something to be found out"


async def converged(world: World) -> None:
    """Wait until every node says that the ranks are proved, of what lies there now."""
    await crawled(world)
    await world.pass_time(READ_WITHIN_S)
    await world.until(lambda: has_converged(world), CONVERGED_WITHIN_S)
    await world.pass_time(HOSTS_WITHIN_S)


def test_ranks_are_those_of_one_computation_whatever_comes_and_goes() -> None:
    async def scenario(world: World) -> None:
        nodes = await world.add(5)
        await world.pass_time(10.0)
        await world.crawl()
        await converged(world)
        assert_right(nodes)
        assert_hosts_right(nodes)

        before = [each.sent_bytes for each in figures(nodes)]
        await world.pass_time(SILENT_S)
        assert [each.sent_bytes for each in figures(nodes)] == before, "where nothing changes nothing is said"
        urls = list(true_ranks(nodes))
        levels = {url: levels_of(nodes, url) for url in urls}
        assert all(len(found) == 1 for found in levels.values()) and max(levels.values()) > [1]

        asked = [await node.node_core.rank_lookup.find(urls[0]) for node in nodes]
        assert len(set(asked)) == 1 and [asked[0].level] == levels[urls[0]], "any node tells it"
        assert asked[0].host_rank is not None and asked[0].host_level is not None

        add_late_sites(world, urls)
        await world.crawl("http://late.example/")
        await converged(world)
        assert_right(nodes)
        assert_hosts_right(nodes)
        assert len(true_ranks(nodes)) > len(urls)

        await world.kill(max(nodes, key=lambda node: node.node_core.ranking.figures.slots))
        await converged(world)
        assert_right(world.running())
        assert_hosts_right(world.running())

    simulate(scenario, WEB)


def add_late_sites(world: World, urls: Sequence[str]) -> None:
    """Two sites whose pages redirect in all ways: over several hops, back to who links to them, and in a circle."""
    leads = {
        "http://late.example/far": "http://later.example/further",
        "http://later.example/further": "http://later.example/end",
        "http://later.example/end": urls[0],
        "http://late.example/back": "http://late.example/",
        "http://late.example/round": "http://later.example/round",
        "http://later.example/round": "http://late.example/round",
    }
    body = "".join(f'<a href="{url}">one</a>' for url in [*leads, *urls[:40]]).encode()

    def reply(url: str) -> ScriptedReply:
        if url in leads:
            return ScriptedReply(302, (("Location", leads[url]),), b"", 0.1)
        if url == "http://late.example/":
            return ScriptedReply(200, HTML, b"<html>late words" + body + b"</html>", 0.1)
        return ScriptedReply(404, HTML, b"", 0.1)

    world.web.others |= {"late.example": reply, "later.example": reply}


def levels_of(nodes: Sequence[SimNode], url: str) -> list[int]:
    found = (node.node_core.ranking.level(url) for node in nodes)
    return [level for level in found if level is not None]


def lies(node: SimNode, times: float) -> None:
    """Let a node tell all others that its slots give so many times what they do."""
    ask = node.overlay.ask

    async def exaggerate(peer: NodeId, message: Message, answer: type[Answer], *, timeout_s: float) -> Answer:
        if isinstance(message, RankExchange):
            inflows = tuple(msgspec.structs.replace(m, values=more(m.values, times)) for m in message.inflows)
            words = tuple(msgspec.structs.replace(w, given=more(w.given, times)) for w in message.statements)
            message = msgspec.structs.replace(message, inflows=inflows, statements=words)
        return await ask(peer, message, answer, timeout_s=timeout_s)

    node.overlay.ask = exaggerate  # type: ignore[method-assign]


def more(values: bytes, times: float) -> bytes:
    return (np.frombuffer(values, "<f4") * np.float32(times)).tobytes()


@pytest.mark.prove
def test_who_gives_more_than_it_has_moves_ranks_within_bounds_and_all_others_say_so() -> None:
    async def scenario(world: World) -> None:
        nodes = await world.add(5)
        liar, honest = nodes[1], [nodes[0], *nodes[2:]]
        lies(liar, 1e6)
        await world.pass_time(10.0)
        await world.crawl()
        await crawled(world)
        await world.pass_time(100.0)
        true, documents = true_ranks(nodes), len(take_census(nodes).texts)
        for node in honest:
            assert "give more than they can have" in node.node_core.ranking.figures.why
        # A slot gives no more than a share of what its documents have and are given, be that all there is.
        most = len(true) + ALPHA * (BASE * documents + len(true)) / BASE
        for node in honest:
            average, ranks = node.node_core.ranking._average, (node.node_core.ranking.rank(url) for url in true)
            assert sum(rank * average for rank in ranks if rank is not None) < most

    simulate(scenario, WEB)
