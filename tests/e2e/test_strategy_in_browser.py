"""A publisher changes the strategy in the browser of a real node; others follow within a minute."""

import re
import time
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode

import pytest
from machines import Machine, dse_node, linked, start_all, village, wait_until

pytestmark = pytest.mark.e2e
WEB = {
    "town.test": linked(["library", "pool", "museum"], "town.test", "shops.test"),
    "shops.test": linked(["bakery", "florist"], "shops.test", "town.test"),
}
HIDDEN_WITHIN_S = 60.0  # everywhere, from the first look at the page


class Browser:
    """Keeps its cookie, follows no link by itself, and counts what it asks for."""

    def __init__(self, machine: Machine) -> None:
        self.host = f"127.0.0.1:{machine.web_port}"
        link = machine.ask("/api/v1/login", body=b"{}")[1]["path"]
        self.cookie, self.requests = "", 0
        self.cookie = self.send("GET", link)[1].partition(";")[0]
        self.requests = 0

    def send(self, method: str, path: str, **fields: str) -> tuple[int, str, str]:
        """Return the status, the header that leads on (a cookie or a location), and the page."""
        self.requests += 1
        connection = HTTPConnection(self.host, timeout=40)
        kind = {"Content-Type": "application/x-www-form-urlencoded"} if fields else {}
        headers = {"Cookie": self.cookie, "Origin": f"http://{self.host}", "Accept": "text/html", **kind}
        connection.request(method, path, urlencode(fields) if fields else None, headers)
        answer = connection.getresponse()
        leads = answer.getheader("Set-Cookie") if "/login" in path else answer.getheader("Location")
        page = answer.read().decode()
        connection.close()
        return answer.status, leads or "", page


def test_hosts_and_pages_are_hidden_everywhere_by_a_form_and_by_a_click_and_come_back(tmp_path: Path) -> None:
    with village(tmp_path, WEB, 22500) as town:
        words = ("--bootstrap", f"127.0.0.1:{town.ports[-1]}")
        assert dse_node("network", "new", "campus", "--out", "campus.toml", *words, home=tmp_path).returncode == 0
        one = town.add("one", "node.families=[4]")
        assert (one.data / "keys" / "campus.publisher.key").exists()
        one.start()
        two = town.add("two", "node.families=[4]")
        start_all([two])
        one.do("crawl", f"http://town.test:{town.port}/", "--depth", "9", "--scope", "whole")
        for machine in (one, two):
            wait_until("all is found", lambda m=machine: len(m.urls("opening hours")) == 5)

        browser, began = Browser(one), time.monotonic()
        status, _, page = browser.send("GET", "/owner/strategy")
        assert status == 200 and "None: every address may be crawled" in page
        base = re.findall(r'name="base" value="(\w+)"', page)[0]
        status, location, _ = browser.send("POST", "/owner/strategy/change", base=base, deny="shops.test")
        assert status == 303 and "draft=" in location
        status, _, page = browser.send("GET", location)
        assert status == 200 and "deny shops.test" in page and "2 known addresses, 2 pages" in page
        digest = re.findall(r'name="draft" value="(\w+)"', page)[0]
        status, location, _ = browser.send("POST", "/owner/strategy/sign", draft=digest)
        assert (status, browser.requests) == (303, 4) and "published=" in location, location
        for machine in (one, two):
            wait_until("the shops are hidden", lambda m=machine: len(m.urls("opening hours")) == 3, HIDDEN_WITHIN_S)
        took = time.monotonic() - began
        assert took < HIDDEN_WITHIN_S, took
        print(f"hidden everywhere after {took:.1f} s")

        page = browser.send("GET", location)[2]
        assert "is published" in page and 'name="drop" value="1"' in page
        base = re.findall(r'name="base" value="(\w+)"', page)[0]
        browser.send("POST", "/owner/strategy/change", base=base, drop="1", at_once="1")
        for machine in (one, two):
            wait_until("the shops are found again", lambda m=machine: len(m.urls("opening hours")) == 5)

        browser = Browser(one)  # a new login
        page = browser.send("GET", "/search?q=opening+hours")[2]
        (pool,) = re.findall(r'name="deny" value="([^"]*/pool.html\$)"', page)
        began = time.monotonic()
        status, location, _ = browser.send("POST", "/owner/strategy/change", deny=pool, at_once="1")
        assert (status, "published=" in location) == (303, True), location
        for machine in (one, two):
            wait_until("the pool is hidden", lambda m=machine: len(m.urls("opening hours")) == 4, HIDDEN_WITHIN_S)
            assert not any("/pool" in url for url in machine.urls("opening hours"))
        print(f"hidden everywhere after {time.monotonic() - began:.1f} s")

        page = browser.send("GET", location)[2]
        assert "All nodes hide these pages within a minute" in page and ">Undo</button>" in page
        base = re.findall(r'name="base" value="(\w+)"', page)[0]
        location = browser.send("POST", "/owner/strategy/change", base=base, drop="1", at_once="1")[1]
        assert "fetch those again that they erased" in browser.send("GET", location)[2]
        for machine in (one, two):
            wait_until("the pool is found again", lambda m=machine: len(m.urls("opening hours")) == 5)
