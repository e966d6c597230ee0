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


def test_a_host_is_denied_in_the_browser_and_hidden_everywhere(tmp_path: Path) -> None:
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
        _, location, _ = browser.send("POST", "/owner/strategy/change", base=base, drop="1")
        digest = re.findall(r'name="draft" value="(\w+)"', browser.send("GET", location)[2])[0]
        browser.send("POST", "/owner/strategy/sign", draft=digest)
        wait_until("nothing is denied any more", lambda: two.get("/api/v1/strategy")["rules"] == [])
