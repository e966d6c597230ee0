"""Rules by address against a real web on loopback: every address that is connected to is judged."""

from pathlib import Path

import pytest
from aiohttp import web
from msgspec.structs import replace

from crawl import (
    AddressDenied,
    AddressPrefixes,
    CrawlConfig,
    FamilyMissing,
    InlineParsers,
    JudgeAddress,
    VisitState,
    open_fetcher,
)
from dht import WorkingFamilies, system_clock
from tests.crawl.world import Crawl, Web, seed, state


def outside(*texts: str, by_operator: bool = False) -> JudgeAddress:
    """Judge as a rule does that lets addresses outside of these prefixes be contacted."""
    prefixes = AddressPrefixes(texts)

    def judge(host: str, address: str) -> AddressDenied | None:
        return AddressDenied(host, address, f"never {address}", by_operator) if prefixes.touch(address) else None

    return judge


def named(config: CrawlConfig, folder: Path, *lines: str) -> CrawlConfig:
    (folder / "more").write_text("\n".join(lines))
    return replace(config, hosts_file=str(folder / "more"))


async def test_of_several_addresses_only_allowed_ones_are_contacted(
    site: Web, config: CrawlConfig, tmp_path: Path
) -> None:
    """127.0.0.2 and 127.0.0.3 listen, too: nobody connects to them."""
    config = named(config, tmp_path, "many.test 127.0.0.2 127.0.0.3 127.0.0.1")
    site.add("many.test", {"/": "x"})
    strangers: list[str] = []

    async def stray(request: web.BaseRequest) -> web.StreamResponse:
        strangers.append(str(request.url))
        return web.Response(text="stray")

    runner = web.ServerRunner(web.Server(stray), shutdown_timeout=0.1)
    await runner.setup()
    for address in ("127.0.0.2", "127.0.0.3"):
        await web.TCPSite(runner, address, site.port).start()
    try:
        async with open_fetcher(replace(config, keepalive_s=0.0), "0", system_clock) as fetcher:
            assert (await fetcher.fetch(site.url("many.test"), {}, 100)).body == b"stray"
            strangers.clear()
            fetcher.judge_addresses(outside("127.0.0.2/31"))
            for _ in range(3):
                got = await fetcher.fetch(site.url("many.test"), {}, 100)
                assert (got.body, got.address) == (b"x", "127.0.0.1")
            fetcher.judge_addresses(outside("127.0.0.0/8"))
            with pytest.raises(AddressDenied, match=r"never 127\.0\.0\.2"):
                await fetcher.fetch(site.url("many.test"), {}, 100)
            assert await fetcher.locate(site.url("many.test")) == ""
    finally:
        await runner.cleanup()
    assert strangers == [] and len(site.log) == 3


async def test_a_connection_that_was_kept_is_not_used_once_a_rule_denies_its_address(
    site: Web, config: CrawlConfig
) -> None:
    site.add("a.test", {"/": "x"})
    async with open_fetcher(config, "0", system_clock) as fetcher:
        await fetcher.fetch(site.url("a.test"), {}, 100)
        fetcher.judge_addresses(outside("127.0.0.1"))
        with pytest.raises(AddressDenied):
            await fetcher.fetch(site.url("a.test"), {}, 100)
        with pytest.raises(AddressDenied):
            await fetcher.find_way(site.url("a.test"))
        fetcher.judge_addresses(outside("127.0.0.2"))
        assert (await fetcher.fetch(site.url("a.test"), {}, 100)).body == b"x"
    assert len(site.log) == 2


@pytest.mark.parametrize("host", ["127.0.0.1", "[::ffff:127.0.0.1]", "[::1]"])
async def test_literal_addresses_are_judged_without_a_name(site: Web, config: CrawlConfig, host: str) -> None:
    async with open_fetcher(config, "0", system_clock) as fetcher:
        fetcher.judge_addresses(outside("127.0.0.0/8", "::1"))
        with pytest.raises(AddressDenied):
            await fetcher.fetch(f"http://{host}:{site.port}/", {}, 100)
    assert site.log == []


async def test_where_a_family_is_left_that_this_machine_lacks_another_node_may_fetch(
    config: CrawlConfig, tmp_path: Path
) -> None:
    config = named(config, tmp_path, "both.test 127.0.0.1 ::1")
    async with open_fetcher(config, "0", system_clock, WorkingFamilies((4,))) as fetcher:
        fetcher.judge_addresses(outside("127.0.0.0/8"))
        with pytest.raises(FamilyMissing):
            await fetcher.fetch("http://both.test:8123/", {}, 100)


async def test_a_redirect_leads_to_no_address_that_is_denied(site: Web, config: CrawlConfig, tmp_path: Path) -> None:
    """Neither does a robots.txt that has moved there, which is asked for once, not for each page."""
    config = named(config, tmp_path, "a.test 127.0.0.1", "b.test 127.0.0.2", "c.test 127.0.0.1")

    async def away(request: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": site.url("b.test", request.path)})

    site.add("a.test", {"/": away})
    site.add("c.test", {"/robots.txt": away, "/1": "x", "/2": "x"})
    async with open_fetcher(config, "0", system_clock) as fetcher:
        fetcher.judge_addresses(outside("127.0.0.2"))
        crawl = Crawl(config, fetcher, InlineParsers())
        await crawl.run(*(seed(site.url(*at)) for at in (("a.test", "/"), ("c.test", "/1"), ("c.test", "/2"))))
    assert state(crawl, site.url("b.test")) == (VisitState.REFUSED, "address: never 127.0.0.2")
    for path in ("/1", "/2"):
        assert state(crawl, site.url("c.test", path))[1] == "robots.txt leads to where nobody asks: never 127.0.0.2"
    assert sorted((host, path) for host, path, *_ in site.log) == [
        *(("a.test", "/"), ("a.test", "/robots.txt")),
        ("c.test", "/robots.txt"),
    ]


async def test_what_the_operator_refuses_waits_for_others_and_costs_its_host_no_blame(
    site: Web, config: CrawlConfig
) -> None:
    site.add("a.test", {f"/{n}": "x" for n in range(9)})
    async with open_fetcher(config, "0", system_clock) as fetcher:
        fetcher.judge_addresses(outside("127.0.0.1", by_operator=True))
        crawl = Crawl(config, fetcher, InlineParsers())
        await crawl.run(*(seed(site.url("a.test", f"/{n}")) for n in range(9)))
        assert {state(crawl, url) for url in crawl.owner.visits} == {(VisitState.FAILED, "never 127.0.0.1")}
        assert crawl.crawler.status().broken == 0 and site.log == []
        assert all(visit.due_at - visit.visited_at >= 3_600 for visit in crawl.owner.visits.values())
