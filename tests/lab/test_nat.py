"""A node at home, behind a router that gives it another port for everybody whom it speaks to and lets in nobody else.

It is told nothing of that: it finds out, stays a client, and is of use.
"""

import shutil
from pathlib import Path

import pytest

from node.extras.demo.sample_web import unpack_sample
from tests.lab import judge
from tests.lab.host import Host, until
from tests.lab.internet import Internet, needs_lab
from tests.lab.load import answers
from tests.lab.router import PORT as PORT_FILTER
from tests.lab.router import SYMMETRIC
from tests.lab.sites import PORT

pytestmark = [pytest.mark.e2e, pytest.mark.prove, needs_lab]
SITE = "www.postgresql.test"
PAGES = 71  # of that site


def one_site(root: Path) -> Path:
    """One site of the sample web, so that a client has to help with it."""
    unpack_sample(root / "all")
    shutil.copytree(root / "all" / SITE, root / "one" / SITE)
    return root / "one"


async def test_a_node_behind_a_nat_finds_out_joins_searches_and_crawls_by_order(tmp_path: Path) -> None:
    async with Internet(tmp_path) as net:
        members = [net.host(f"m{n}", (4,)) for n in range(3)]
        home = net.host("home", (4,), router=net.router(SYMMETRIC))
        await net.serve_web(one_site(tmp_path))
        await net.found(members[:1])
        await net.install(*members, settings=["crawl.max_open_fetches=1"])  # so that there is work for a client
        await judge.one_view(members, within_s=60)
        await net.install(home)
        await until("it finds out", lambda: is_client(home), within_s=30)
        assert "client: stores nothing" in await home.do("status")
        front_page = f"http://{SITE}:{PORT}/"
        assert "1 address added" in await home.do("crawl", front_page, "--depth", "9")
        await judge.rested(members, within_s=90)
        assert judge.fetches(net).pages == PAGES
        for url, ((_, first), *others) in judge.fetched_again(net).items():  # some of what a client brings is audited
            assert first == net.routers[0].address and len(others) == 1, url
        found = await answers([home, *members], ["generated columns", "row security policies"])
        assert judge.contradictions(found) == [] and min(row.total for row in found) > 0
        fetched = judge.rows(net)
        by_home = sum(row["ip"] == net.routers[0].address for row in fetched)
        assert by_home, "the client fetched nothing"
        assert (await home.get("/api/v1/status"))["clients"]["carried_here"] == by_home
        for member in members:
            assert len((await member.get("/api/v1/peers"))["peers"]) == len(members)


async def test_homes_between_which_no_hole_leads_search_the_whole_network(tmp_path: Path) -> None:
    """Two homes' routers filter by port, and the router of a third gives it another port for each peer. So the third is
    no member, and gets the answers of those two through their introducers."""
    async with Internet(tmp_path) as net:
        servers = [net.host(f"server{n}", (4,)) for n in range(2)]
        homes = [net.host(f"home{n}", (4,), router=net.router(PORT_FILTER)) for n in range(2)]
        client = net.host("client", (4,), router=net.router(SYMMETRIC))
        await net.serve_web(one_site(tmp_path))
        await net.found(servers[:1], replicas=1, min_acks=1)
        await net.install(*servers, *homes)
        await judge.one_view([*servers, *homes], within_s=90)
        assert "1 address added" in await homes[0].do("crawl", f"http://{SITE}:{PORT}/", "--depth", "9")
        await judge.rested([*servers, *homes], within_s=120)
        await net.install(client)
        await until("it finds out", lambda: is_client(client), within_s=60)
        queries = ["generated columns", "row security policies"]
        await answers([client], queries)  # the first question finds out that no hole leads there
        found = await answers([client, *servers, *homes], queries)
        assert judge.contradictions(found) == [] and min(row.total for row in found) > 0
        assert not [row for row in found if row.is_partial]


async def is_client(host: Host) -> bool:
    status = await host.status()
    return bool(status and status["reachable"]["ipv4"]["state"] == "behind a firewall")
