"""`dse-node join`: a private node moves into a network with one command, and nothing that it kept is lost."""

from pathlib import Path
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

import pytest
from machines import dse_node, linked, village, wait_until

from node.extras.archive.warc_records import response_targets

pytestmark = pytest.mark.e2e
ROOMS = ["library", "pool", "museum", "canteen", "workshop", "bakery", "florist", "printer", "tailor", "harbour"]
WEB = {"town.test": linked(ROOMS, "town.test", "town.test"), "late.test": linked(["later"], "late.test", "late.test")}


def test_a_private_node_joins_with_its_pages_and_addresses(tmp_path: Path) -> None:
    with village(tmp_path, WEB, 26920) as town:
        anna = town.add("anna", "node.families=[4]")
        anna.start()
        anna.do("crawl", f"http://town.test:{town.port}/", "--depth", "50", "--wait")
        anna.do("pause")
        anna.do("crawl", f"http://late.test:{town.port}/")
        pages = len(ROOMS)
        wait_until("all are indexed", lambda: anna.status()["documents"] == pages)

        new = ("network", "new", "campus", "--out", "campus.toml", "--bootstrap", f"127.0.0.1:{town.ports[-1]}")
        assert dse_node(*new, home=tmp_path).returncode == 0
        founder = town.add("founder", "node.families=[4]")
        founder.start()
        wait_until("the founder owns all", lambda: founder.status()["slots"]["owned"] > 0)

        told = anna.do("join", str(tmp_path / "campus.toml"))
        (archive,) = anna.data.glob("before-*/pages.warc.gz")
        assert f"{pages} pages in {archive}" in told
        with archive.open("rb") as file:
            assert len(set(response_targets(file))) == pages
        assert "is in campus already" in anna.do("join", str(tmp_path / "campus.toml"), code=1)
        anna.start()
        wait_until("all pages are found at the founder", lambda: founder.status()["documents"] >= pages, 120)
        wait_until("and that is noted", lambda: list(anna.data.glob("before-*/moved")), 60)
        late = f"http://late.test:{town.port}/"
        wait_until("what had waited is fetched there", lambda: late in founder.urls("later opening hours"), 90)
        for room in ROOMS[1:]:
            assert f"http://town.test:{town.port}/{room}.html" in founder.urls(f"{room} opening hours")
        assert "is a member of campus beside others" in anna.do("join", _another(tmp_path), code=1)


def test_the_network_that_was_chosen_in_a_browser_is_joined_by_the_running_process(tmp_path: Path) -> None:
    with village(tmp_path, WEB, 26940) as town:
        anna = town.add("anna", "node.families=[4]")
        (anna.data / "welcome").touch()
        anna.start()
        new = ("network", "new", "campus", "--out", "campus.toml", "--bootstrap", f"127.0.0.1:{town.ports[-1]}")
        assert dse_node(*new, home=tmp_path).returncode == 0
        town.add("founder", "node.families=[4]").start()
        link = f"http://127.0.0.1:{anna.web_port}{anna.ask('/api/v1/login', body=b'{}')[1]['path']}"
        browser = build_opener(HTTPCookieProcessor())
        browser.open(link).close()
        own = {"Origin": f"http://127.0.0.1:{anna.web_port}"}
        answers = urlencode({"network": str(tmp_path / "campus.toml")}).encode()
        told = browser.open(Request(f"{own['Origin']}/owner/welcome", answers, own)).read().decode()
        assert "is joining the network" in told
        assert anna.process
        wait_until("it runs in campus", lambda: "network=campus" in anna.log and anna.is_up(), 60)
        wait_until("both are members", lambda: anna.status()["members"] == 2, 60)
        assert anna.process.poll() is None, "it is the same process"
        anna.stop()


def _another(folder: Path) -> str:
    """The file of one more network."""
    assert dse_node("network", "new", "other", "--out", "other.toml", home=folder).returncode == 0
    return str(folder / "other.toml")
