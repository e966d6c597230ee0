"""Five tasks of a stranger and five of an owner, done in Chromium on a real node, in at most three steps each.

A step is a click on a visible control, or a form that is filled in and sent. An owner begins on the page to which the
link of `dse-node open` leads, a stranger on the front page. Without a browser the tasks are skipped by name.
"""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import pytest
from machines import Machine, dse_node, linked, village, wait_until
from test_removal import name_server

from node.sites.removal_proof import NAME

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.prove,
    pytest.mark.skipif(not find_spec("playwright"), reason="playwright is not installed"),
]

MOST_STEPS = 3
ROOMS = ["library", "pool", "museum"]
WEB = {
    "town.test": linked(ROOMS, "town.test", "shops.test"),
    "shops.test": linked(["bakery", "florist"], "shops.test", "town.test"),
    "farm.test": linked(["orchard"], "farm.test", "farm.test"),
    "slow.test": linked(ROOMS, "slow.test", "slow.test") | {"robots.txt": "User-agent: *\nCrawl-delay: 60\n"},
}


@dataclass
class Town:
    """Holds a node that has crawled town.test and shops.test, and the port of its web."""

    node: Machine
    port: int

    def address(self, site: str, page: str = "") -> str:
        return f"http://{site}:{self.port}/{page}"


@dataclass
class Person:
    """Uses a page as people do, and counts the steps."""

    page: Any
    steps: int = 0

    def press(self, name: str) -> None:
        """Press the first visible control whose text begins so."""
        controls = self.page.locator("a:visible, button:visible, summary:visible")
        controls.filter(has_text=re.compile(rf"^\s*{re.escape(name)}")).first.click()
        self.steps += 1

    def send(self, label: str, text: str, button: str) -> None:
        """Fill a field and press the button of its form."""
        form = self.page.locator("form:visible", has=self.page.get_by_label(label)).first
        form.get_by_label(label).first.fill(text)
        form.get_by_role("button", name=button, exact=True).click()
        self.steps += 1

    def sees(self, text: str) -> None:
        """End a task: this stands on the page, and the steps were few."""
        self.page.get_by_text(text).locator("visible=true").first.wait_for()
        assert self.steps <= MOST_STEPS, self.steps
        print(f"{self.steps} steps: {text}")


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    folder = tmp_path_factory.mktemp("town")
    with village(folder, WEB, 27100) as here, name_server() as dns:
        dns.texts["_dse-node-removal.town.test"] = [f'"{NAME} /museum.html"']
        words = ("--bootstrap", f"127.0.0.1:{here.ports[-1]}")
        assert dse_node("network", "new", "campus", "--out", "campus.toml", *words, home=folder).returncode == 0
        one = here.add("one", "node.families=[4]", f'crawl.txt_servers=["127.0.0.1:{dns.port}"]')
        one.start()
        one.do("crawl", *(f"http://{site}:{here.port}/" for site in ("town.test", "shops.test")), "--depth", "9")
        wait_until("all is found", lambda: len(one.urls("opening hours")) == 5, 40)
        yield Town(one, here.port)
        one.stop()


@pytest.fixture
def stranger(town: Town, tab: Callable[..., Any]) -> Person:
    page = tab(locale="en-GB")
    page.goto(f"http://127.0.0.1:{town.node.web_port}/")
    return Person(page)


@pytest.fixture
def owner(town: Town, tab: Callable[..., Any]) -> Person:
    page = tab(locale="en-GB")
    page.goto(f"http://127.0.0.1:{town.node.web_port}" + town.node.ask("/api/v1/login", body=b"{}")[1]["path"])
    return Person(page)


def test_a_stranger_reads_a_stored_copy(stranger: Person) -> None:
    stranger.send("Search the web", "museum", "Search")
    stranger.press("⋯")
    stranger.press("Stored copy")
    stranger.sees("Stored copy of")
    stranger.sees("Opening hours of the museum, as town.test has them.")


def test_a_stranger_narrows_the_results_to_a_site(stranger: Person) -> None:
    stranger.send("Search the web", "opening hours", "Search")
    assert stranger.page.locator("h2 a").count() == 5
    stranger.press("Filters")
    stranger.press("shops.test")
    stranger.sees("site: shops.test")
    assert {each.inner_text() for each in stranger.page.locator("h2 a").all()} == {"About bakery", "About florist"}


def test_a_stranger_reads_the_pages_in_another_language(stranger: Person) -> None:
    stranger.press("中文")
    stranger.sees("不属于任何人的搜索引擎")


def test_a_stranger_suggests_a_site(stranger: Person) -> None:
    stranger.press("Suggest a site")
    stranger.send("Address of a page", "https://example.org/", "Suggest")
    stranger.sees("Thank you. The owner of this node will see it: https://example.org/")


def test_the_owner_of_a_site_checks_how_its_pages_are_removed(stranger: Person) -> None:
    stranger.press("For site owners")
    stranger.page.get_by_text("dse-node-removal.txt").wait_for()
    stranger.send("Address of your site", "http://town.test/museum.html", "Check")
    stranger.sees("The file counts. It covers all pages of town.test that begin with /museum.html.")


def test_an_owner_adds_a_site(owner: Person, town: Town) -> None:
    owner.send("Address", town.address("farm.test"), "Crawl")
    owner.sees("Added: 1 address.")
    wait_until("its page is found", lambda: town.node.urls("orchard") == [town.address("farm.test")])


def test_an_owner_sees_why_nothing_is_crawled(owner: Person, town: Town) -> None:
    owner.page.goto(f"http://127.0.0.1:{town.node.web_port}/")
    wait_until("nothing is left", lambda: town.node.status()["crawl"]["state"] == "idle")
    owner.press("Your node")
    owner.sees("All good – nothing to crawl right now: 6 URLs known here, all visited; the next one is due again in")


def test_an_owner_deletes_a_page(owner: Person, town: Town) -> None:
    florist = town.address("shops.test", "florist.html")
    assert town.node.urls("florist") == [florist]
    owner.press("Strategy")
    owner.send("Deny a host", florist, "Show the effect")
    owner.page.get_by_text("1 known addresses, 1 pages").wait_for()
    owner.press("Sign and publish")
    owner.sees("is published: the other nodes take it over within seconds.")
    wait_until("the page is hidden", lambda: florist not in town.node.urls("florist"), 60)
    assert len(town.node.urls("bakery")) == 1, "its neighbour stays"


def test_an_owner_cancels_a_crawl(owner: Person, town: Town) -> None:
    wanted = f'{{"urls": ["{town.address("slow.test")}"], "depth": 9}}'.encode()
    assert town.node.ask("/api/v1/crawl", body=wanted)[0] == 200
    owner.press("Work")
    owner.press("Cancel")
    owner.sees("cancelled: ")


def test_an_owner_sets_the_hours(owner: Person, town: Town) -> None:
    later, until = (time.strftime("%H:%M", time.localtime(time.time() + hours * 3600)) for hours in (2, 4))
    owner.press("Settings")
    owner.send("Crawling hours", f"{later}-{until}", "Save")
    owner.sees("Saved. It is in use now.")
    owner.press("Overview")
    owner.sees(f"Crawling is paused: outside crawl.hours ({later}-{until}); goes on at {later}")
