"""docs/site-owner.md, "How to have pages removed", as a site's owner follows it: a real node, and the site's file."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from machines import linked, village, wait_until

from node.sites.removal_proof import NAME
from store import PROOF_PATH
from tests.crawl.fetch.name_server import NameServer, open_name_server

pytestmark = pytest.mark.e2e
ROOMS = ["library", "pool", "museum", "canteen"]
HIDDEN_WITHIN_S = 60.0


@contextmanager
def name_server() -> Iterator[NameServer]:
    """A name server that answers from a thread of its own."""
    started, end = threading.Event(), threading.Event()
    servers: list[NameServer] = []

    async def serve() -> None:
        async with open_name_server() as server:
            servers.append(server)
            started.set()
            await asyncio.to_thread(end.wait)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        assert started.wait(10.0)
        yield servers[0]
    finally:
        end.set()
        thread.join()


def test_an_owner_removes_a_page_with_a_file_at_the_site_or_a_dns_record_and_the_command(tmp_path: Path) -> None:
    web = {"town.test": linked(ROOMS, "town.test", "town.test"), "shops.test": linked(ROOMS, "shops.test", "town.test")}
    web["shops.test"][PROOF_PATH.lstrip("/")] = f"of the shops\n{NAME} /pool.html\n"
    with village(tmp_path, web, 23000) as town, name_server() as dns:
        servers = f'crawl.txt_servers=["127.0.0.1:{dns.port}"]'
        origin, one = f"http://town.test:{town.port}", town.add("one", servers)
        one.start()
        one.do("crawl", f"{origin}/", "--depth", "9")
        wait_until("all is found", lambda: len(one.urls("opening hours")) == len(ROOMS))
        private = f"{origin}/museum.html"

        refused = one.do("remove", private, code=2)
        assert f"{PROOF_PATH}?prefix=/museum.html&place=0 answers 404" in refused
        assert f"put a text file with the line '{NAME} /museum.html' at {PROOF_PATH}" in refused
        assert one.ask("/api/v1/remove", body=b'{"url": "ftp://town.test/"}')[0] == 400

        another = one.do("remove", f"http://shops.test:{town.port}/museum.html", code=2)
        assert "answers 200, text/plain, and does not name /museum.html" in another

        file = tmp_path / "web" / "town.test" / PROOF_PATH.lstrip("/")
        file.parent.mkdir()
        file.write_text(f"of the town\n{NAME} /museum.html\n")
        assert "/museum.html will be hidden" in one.do("remove", private)
        wait_until("it is hidden", lambda: private not in one.urls("opening hours"), HIDDEN_WITHIN_S)
        assert len(one.urls("opening hours")) == len(ROOMS) - 1

        dns.texts["_dse-node-removal.town.test"] = [f'"{NAME} /pool.html"']
        assert "/pool.html will be hidden" in one.do("remove", f"{origin}/pool.html")
        wait_until("it is hidden", lambda: len(one.urls("opening hours")) == len(ROOMS) - 2, HIDDEN_WITHIN_S)
        one.stop()
