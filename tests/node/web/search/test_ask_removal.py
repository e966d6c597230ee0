"""Site owners without a node ask for the removal of pages; the node's owner deletes them or dismisses the request."""

from typing import Any
from urllib.parse import urlencode

import pytest

from node.web.search.ask_removal import ALL_AT_ONCE, CALLER_AT_ONCE
from tests.node.web.browsers import linked

FORM = "application/x-www-form-urlencoded"
EVIL = "</p><script>alert(1)</script>\u202e\x1b[31m"


def ask(site: Any, origin: str = "", caller: str = "", **fields: str) -> Any:
    headers = {"Content_Type": FORM, "Accept": "text/html", "Origin": origin or f"http://127.0.0.1:{site.port}"}
    headers |= {"X_Forwarded_For": caller} if caller else {}
    return site.send("POST", "/ask-removal", urlencode({"why": "It is mine.", **fields}).encode(), **headers)


def waiting(site: Any) -> list[str]:
    return [each.prefix for each in site.service.owner.asked_removals.waiting]


def test_a_request_waits_for_the_owner_who_deletes_or_dismisses_it(site: Any, token: str) -> None:
    form = site.get("/bot").text
    assert "works at once, on all nodes" in form and "may not control the network" in form
    noted = ask(site, pages="a.test", why="My address is there.", contact="ann@a.test")
    assert noted.status == 200 and "your request about a.test. No mail was sent." in noted.text
    ask(site, pages="https://b.test/private/", why="It is private.")
    owner = linked(site, token)
    page = owner.get("/owner").text
    assert "2 requests to remove pages" in page and "My address is there." in page and "ann@a.test" in page
    assert 'form="delete" name="deny" value="a.test"' in page
    assert 'name="deny" value="https://b.test/private/"' in page and 'name="at_once" value="1"' in page
    led = owner.post("/owner/strategy/change", {"deny": "https://b.test/private/", "at_once": "1"})
    assert led.status == 303 and led.headers["location"].startswith("/owner/strategy/draft?draft=")
    rule = owner.get(led.headers["location"].replace("/draft?", "/file?")).json["rules"][0]
    assert (rule["action"], rule["pattern"]) == ("deny", r"^https?://b\.test/private/")
    assert owner.post("/owner/removals/dismiss", {"pages": "a.test"}).headers["location"] == "/owner#asked"
    page = owner.get("/owner").text
    assert "1 request to remove pages" in page and "My address" not in page
    owner.post("/owner/removals/dismiss", {"pages": "https://b.test/private/"})
    assert "to remove pages" not in owner.get("/owner").text
    assert "My address" not in site.get("/bot").text, "strangers never see what others ask"


def test_what_strangers_write_is_shown_as_text_in_one_line(site: Any, token: str) -> None:
    ask(site, pages="a.test", why=f"one\ntwo {EVIL}", contact=EVIL)
    page = linked(site, token).get("/owner").text
    assert "one two &lt;/p&gt;&lt;script&gt;" in page
    assert "<script>alert" not in page and "\u202e" not in page and "\x1b" not in page


@pytest.mark.parametrize("pages", ["not a url", "ftp://a.test/", "//", "https://a.test/%s" % ("é" * 300)])
def test_what_is_no_address_is_said_and_what_was_typed_stays(site: Any, pages: str) -> None:
    reply = ask(site, pages=pages, why="I typed <this>", contact="ann@a.test")
    assert reply.status == 400 and "That is not a web address" in reply.text and waiting(site) == []
    assert ">I typed &lt;this&gt;</textarea>" in reply.text and 'value="ann@a.test"' in reply.text


@pytest.mark.parametrize("fields", [{"why": " "}, {"why": "x" * 601}, {"contact": "x" * 101}, {"pages": "x" * 501}])
def test_requests_are_bounded(site: Any, fields: dict[str, str]) -> None:
    assert ask(site, **{"pages": "a.test", **fields}).status == 400 and waiting(site) == []


def test_a_caller_and_all_together_ask_a_few_times(start: Any) -> None:
    site = start(web_trusted_proxies=("127.0.0.1",))
    told = [ask(site, caller="198.51.100.7", pages=f"{n}.test") for n in range(CALLER_AT_ONCE + 1)]
    assert [each.status for each in told] == [200] * CALLER_AT_ONCE + [429]
    assert "There are too many requests" in told[-1].text and f'value="{CALLER_AT_ONCE}.test"' in told[-1].text
    others = [ask(site, caller=f"203.0.113.{n}", pages=f"b{n}.test").status for n in range(int(ALL_AT_ONCE))]
    assert others.count(200) == ALL_AT_ONCE - CALLER_AT_ONCE and others[-1] == 429
    assert len(waiting(site)) == ALL_AT_ONCE


def test_another_sites_form_asks_nothing(site: Any) -> None:
    assert ask(site, origin="https://evil.test", pages="a.test").status == 403 and waiting(site) == []


def test_the_owners_page_stays_small_however_much_is_asked(site: Any, token: str) -> None:
    owner = linked(site, token)
    for n in range(int(ALL_AT_ONCE)):
        ask(site, pages=f"https://{n}.test/?{'&' * 470}", why="'" * 600, contact="'" * 100)
    reply = owner.get("/owner")
    assert f"{int(ALL_AT_ONCE)} requests to remove pages" in reply.text and len(reply.body) < 100_000
