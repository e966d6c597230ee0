"""The owner of a site sees whether its removal file counts; nobody makes this node ask for anything else, or often."""

from typing import Any
from urllib.parse import urlencode

import pytest

FORM = {"Content_Type": "application/x-www-form-urlencoded"}


def check(site: Any, url: str, **headers: str) -> Any:
    sent = {**FORM, "Origin": f"http://127.0.0.1:{site.port}", **headers}
    return site.send("POST", "/bot", urlencode({"url": url}).encode(), Accept="text/html", **sent)


def test_it_is_said_whether_a_file_counts_and_why_not(site: Any) -> None:
    good = check(site, "example.org/private/")
    assert (good.status, site.service.checked) == (200, ["https://example.org/private/"])
    assert "The file counts. It covers all pages of a.test that begin with /private/." in good.text
    bad = check(site, "bad.test").text
    assert "It does not count yet: no file names it; put one there" in bad and "refused by 10.0.0.7" not in bad


@pytest.mark.parametrize("url", ["https://a.test:8443/", "http://a.test:22/", "not a url", "ftp://a.test/"])
def test_nothing_but_a_site_at_its_usual_port_is_asked(site: Any, url: str) -> None:
    assert check(site, url).status == 400 and site.service.checked == []


def test_a_site_is_asked_once_in_a_while_whoever_wants_it(site: Any) -> None:
    assert [check(site, f"https://a.test/{n}").status for n in range(3)] == [200, 429, 429]
    assert check(site, "https://b.test/").status == 200 and len(site.service.checked) == 2
    others = [check(site, f"https://{n}.test/").status for n in range(20)]
    assert others.count(200) < 15, "all sites together have a limit, too"


def test_another_sites_form_asks_nothing(site: Any) -> None:
    assert check(site, "https://a.test/", Origin="https://evil.test").status == 403 and site.service.checked == []


def test_the_page_begins_with_what_a_site_owner_wants(site: Any) -> None:
    page = site.get("/bot").text
    parts = ("User-agent: dse-node", "dse-node-removal: /", "Check your removal file", "act as one crawler", "RFC 9309")
    places = [page.index(part) for part in parts]
    assert places == sorted(places)
