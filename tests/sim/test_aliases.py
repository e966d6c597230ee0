"""Hosts that are others under another name: found, then only sampled; what they alone have is not lost."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from urllib.parse import urlsplit

import pytest

from crawl import AliasEvidence, Visit, VisitState
from crawl.frontier import mirror_detector
from crawl.pipeline import fetch_outcome
from dht import slot_of
from node.extras.simulation import sim_node
from node.extras.simulation.census import take_census
from node.extras.simulation.scripted_web import ScriptedReply
from node.extras.simulation.world import World, WorldPlan, simulate
from store import HostAlias, host_name
from tests.sim.judged import assert_polite, crawled

MANUAL, COPY, LINKS = "manual.example", "copy.example", "links.example"
PAGES = 40
ONLY = ("/only/a", "/only/b", "/only/c")
HTML = (("Content-Type", "text/html; charset=utf-8"),)


@dataclass
class Manual:
    """A manual at https://, its mirror, and a page elsewhere that links to all of it at http://, which redirects."""

    words: Sequence[str]
    edition: str = "first"

    def serve(self, url: str) -> ScriptedReply:
        parts = urlsplit(url)
        if parts.path == "/robots.txt":
            return ScriptedReply(404, HTML, b"", 0.2)
        if parts.netloc == LINKS:
            return page("links", "somewhere else", [f"http://{MANUAL}{path(n)}" for n in range(PAGES)])
        if parts.scheme == "http":
            return ScriptedReply(301, (("Location", f"https://{parts.netloc}{parts.path}"),), b"", 0.2)
        if parts.path in ONLY and parts.netloc == MANUAL:
            return ScriptedReply(404, HTML, b"", 0.2)
        if parts.path in ONLY:
            return page(parts.path, f"a page that the mirror alone has, {parts.path}", [])
        number = 0 if parts.path == "/" else int(parts.path.removeprefix("/page"))
        below = [path(n) for n in range(4 * number + 1, 4 * number + 5) if n < PAGES]
        return page(f"chapter {self._words(number)}", self._words(number, parts.netloc), [*below, f"https://{MANUAL}/"])

    def _words(self, number: int, host: str = MANUAL) -> str:
        edition = self.edition if host == COPY else "first"
        return " ".join(Random(f"{number} {edition}").choices(self.words, k=30))


def page(title: str, text: str, links: Sequence[str]) -> ScriptedReply:
    nav = " ".join(f'<a href="{link}">next</a>' for link in links)
    return ScriptedReply(200, HTML, f"<title>{title}</title><main><p>{text}</p></main><nav>{nav}</nav>".encode(), 0.2)


def path(number: int) -> str:
    return f"/page{number}" if number else "/"


def aliases(world: World, host: str) -> tuple[HostAlias, ...]:
    record = take_census(world.running()).hosts.get(f"https://{host}/")
    return record.aliases if record is not None else ()


def visits(world: World, origin: str) -> dict[str, Visit]:
    return {url: visit for url, visit in take_census(world.running()).visits.items() if url.startswith(origin)}


def holder(world: World, site: str) -> sim_node.SimNode:
    home = slot_of(host_name(site)[1], world.plan.slot_bits)
    return next(node for node in world.running() if home in node.overlay.view.leases())


def asked(world: World, origin: str, since: int = 0) -> set[str]:
    return {v.url for v in world.log[since:] if v.url.startswith(origin) and not v.url.endswith("robots.txt")}


def test_a_mirror_and_an_old_scheme_are_sampled_until_they_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror_detector, "OLDER_S", 20.0)
    monkeypatch.setattr(fetch_outcome, "LOOK_S", 20.0)
    plan = WorldPlan(seed=31, hosts=1, pages=2)

    async def scenario(world: World) -> None:
        manual = Manual(world.web.words)
        world.web.others |= dict.fromkeys((MANUAL, COPY, LINKS), manual.serve)
        await world.add(3)
        await world.pass_time(8.0)
        await world.crawl(f"https://{MANUAL}/", f"https://{LINKS}/")
        await world.pass_time(80.0)
        await world.crawl(f"https://{COPY}/")
        await crawled(world)
        await world.crawl(*(f"https://{COPY}{path}" for path in ONLY))
        await world.pass_time(30.0)  # twins that were not fetched yet are looked at again
        await crawled(world)
        (mirror,), (scheme,) = aliases(world, COPY), aliases(world, MANUAL)
        assert (mirror.target, mirror.is_secure, mirror.how) == (f"https://{MANUAL}/", True, AliasEvidence.BYTES)
        assert (scheme.target, scheme.is_secure, scheme.how) == (f"https://{MANUAL}/", False, AliasEvidence.REDIRECTS)
        for origin, ours in ((f"https://{COPY}/", len(ONLY)), (f"http://{MANUAL}/", 0)):
            left = [v for v in visits(world, origin).values() if v.reason == f"alias of https://{MANUAL}/"]
            assert len(left) > PAGES / 2 and all(v.state == VisitState.REFUSED for v in left), (origin, len(left))
            assert len(asked(world, origin)) < PAGES / 2 + ours
        texts = take_census(world.running()).texts
        assert {f"https://{MANUAL}{path(n)}" for n in range(PAGES)} <= texts.keys()
        assert {f"https://{COPY}{path}" for path in ONLY} <= texts.keys(), "what the mirror alone has is not lost"
        refused = sum(n.node_core.crawl.crawler.status().refused.get("alias", 0) for n in world.running())
        assert refused > PAGES
        answer = await world.running()[0].node_core.jobs.explanations.explain(f"https://{COPY}/page39")
        assert f"alias of https://{MANUAL}/" in answer.why, answer.why

        await world.kill(holder(world, COPY))
        manual.edition = "second"  # the mirror goes its own way; who holds it next has the host record and the visits
        mark = len(world.log)
        await world.pass_time(60.0)
        for url in visits(world, f"https://{COPY}/"):
            holder(world, COPY).node_core.control.refetch(url)  # its next visit
        await world.until(lambda: not aliases(world, COPY), 600.0)
        await crawled(world)
        assert aliases(world, MANUAL) == (scheme,)
        assert len(asked(world, f"https://{COPY}/", mark)) > PAGES / 2, "what was left out before is fetched now"
        assert {v.state for v in visits(world, f"https://{COPY}/").values()} == {VisitState.FETCHED}
        assert_polite(world)

    simulate(scenario, plan)
