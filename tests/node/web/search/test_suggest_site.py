"""Readers suggest sites; only the node's owner has them collected."""

import json
from typing import Any
from urllib.parse import urlencode

from node.web.search.suggest_site import MAX_OF_SITE, MAX_TIPS, SiteTips


def send(site: Any, origin: str = "", cookie: str = "", **fields: str) -> Any:
    headers = {"Content_Type": "application/x-www-form-urlencoded", "Accept": "text/html", "Cookie": cookie}
    own = f"http://127.0.0.1:{site.port}"
    return site.send("POST", "/suggest-site", urlencode(fields).encode(), Origin=origin or own, **headers)


def owner(site: Any, token: str) -> str:
    headers = {"Authorization": f"Bearer {token}", "Content_Type": "application/json"}
    link = json.loads(site.send("POST", "/api/v1/login", b"{}", **headers).text)["path"]
    return str(site.get(link).headers["set-cookie"].partition(";")[0])


def test_a_suggestion_waits_for_the_owner_who_takes_or_drops_it(site: Any, token: str) -> None:
    site.service.known = None
    assert (
        "Thank you" in send(site, url="new.test/<b>").text and "Thank you" in send(site, url="http://other.test").text
    )
    assert site.service.seeds == [], "nobody else has anything collected"
    assert "new.test" not in site.get("/suggest-site").text, "only the owner sees them"
    cookie = owner(site, token)
    page = site.get("/suggest-site", Cookie=cookie).text
    assert "https://new.test/%3Cb%3E" in page and "http://other.test/" in page
    assert "the pages of its site will be crawled" in send(site, cookie=cookie, take="https://new.test/%3Cb%3E").text
    assert site.service.seeds == [(["https://new.test/%3Cb%3E"], 3)] and site.service.orders[-1][0] == "host"
    assert "Dropped" in send(site, cookie=cookie, drop="http://other.test/").text
    assert "No suggestions yet" in site.get("/suggest-site", Cookie=cookie).text


def test_an_address_that_may_not_be_fetched_is_refused_with_the_reason(site: Any, token: str) -> None:
    site.service.known, site.service.denied = None, "rule 2 of strategy 7"
    assert (
        "This address cannot be crawled: <code>http://new.test/</code> rule 2"
        in send(site, url="http://new.test/").text
    )
    assert "No suggestions yet" in site.get("/suggest-site", Cookie=owner(site, token)).text


def test_strangers_can_neither_take_nor_drop(site: Any, token: str) -> None:
    site.service.known = None
    send(site, url="http://new.test/")
    send(site, drop="http://new.test/")
    send(site, take="http://new.test/")
    assert site.service.seeds == []
    assert send(site, origin="http://evil.test", cookie=owner(site, token), take="http://new.test/").status == 403
    assert "http://new.test/" in site.get("/suggest-site", Cookie=owner(site, token)).text


def test_what_is_known_or_no_address_waits_for_nobody(site: Any, token: str) -> None:
    assert "already known" in send(site, url="http://docs.python.test/").text
    for odd in ("", "ftp://a.test/", "http://", "a" * 3000, "\x00", "//"):
        reply = send(site, url=odd)
        assert reply.status == 400 and "That is not a web address" in reply.text
    assert "No suggestions yet" in site.get("/suggest-site", Cookie=owner(site, token)).text


def test_the_list_is_bounded_by_site_and_altogether() -> None:
    tips = SiteTips()
    assert [tips.add(f"http://a.test/{n}") for n in range(MAX_OF_SITE + 1)] == [True] * MAX_OF_SITE + [False]
    assert tips.add("http://a.test/0"), "it is there already"
    added = [tips.add(f"http://{n}.test/") for n in range(MAX_TIPS)]
    assert len(list(tips)) == MAX_TIPS and added.count(False) == MAX_OF_SITE
    assert tips.take("http://a.test/0") and not tips.take("http://a.test/0")
