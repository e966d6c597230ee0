"""A reader's rules for sites, over real HTTP: a cookie, the owner's file, and what peers are asked."""

import os
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from node.errors import ConfigError
from node.web.search.preferences import RulesFile

FORM = "application/x-www-form-urlencoded"


def hit(host: str, place: int) -> dict[str, Any]:
    return {"url": f"http://{host}/{place}", "title": f"{place} of {host}"}


def set_settings(site: Any, fields: dict[str, str], origin: str = "") -> Any:
    headers = {"Content_Type": FORM, "Origin": origin or f"http://127.0.0.1:{site.port}"}
    return site.send("POST", "/settings", urlencode(fields).encode(), Accept="text/html", **headers)


def set_rules(site: Any, fields: dict[str, str], cookie: str = "", origin: str = "") -> Any:
    headers = {"Content_Type": FORM, "Origin": origin or f"http://127.0.0.1:{site.port}", "Cookie": cookie}
    return site.send("POST", "/sites", urlencode(fields).encode(), Accept="text/html", **headers)


def cookie_in(reply: Any) -> str:
    said = reply.headers["set-cookie"]
    assert "HttpOnly" in said and "SameSite=Lax" in said
    return str(said.partition(";")[0])


def titles(site: Any, path: str, cookie: str = "") -> list[str]:
    page = site.get(path, Cookie=cookie).text
    return [
        line.partition(">")[2].partition("<")[0] for line in page.split("<h2")[1:] for line in [line.partition("<a")[2]]
    ]


@pytest.fixture
def many(site: Any) -> Any:
    """A node that finds a hundred results and more, every third of a site that somebody blocks."""
    site.service.hits = [hit(("spam.test", "b.test", "c.test")[place % 3], place) for place in range(100)]
    return site


def test_a_button_of_a_result_sets_a_rule_and_leads_back(many: Any) -> None:
    reply = set_rules(many, {"set": "block spam.test", "back": "q=task&lang=en"})
    assert (reply.status, reply.headers["location"]) == (303, "/search?q=task&lang=en")
    cookie = cookie_in(reply)
    assert 'value="block b.test"' in many.get("/search?q=task", Cookie=cookie).text
    more = set_rules(many, {"set": "raise c.test"}, cookie)
    assert more.headers["location"].startswith("/sites?saved=1")
    assert many.get("/sites/rules.txt", Cookie=cookie_in(more)).text == "raise c.test\nblock spam.test\n"
    none = set_rules(many, {"set": "forget spam.test"}, cookie)
    assert "Max-Age=0" in none.headers["set-cookie"], "of no rule there is no cookie"


def test_blocked_results_are_refilled_and_that_is_said_and_no_peer_hears_of_it(many: Any) -> None:
    cookie = f"dse-sites-{many.port}=!spam.test"
    path = "/search?q=task"
    assert len(titles(many, path, cookie)) == 10
    assert many.service.asked[-1].limit == 100 and "spam" not in str(many.service.asked[-1])
    page = many.get(path, Cookie=cookie).text
    assert "34 results hidden because you blocked their sites" in page and "before your rules were applied" in page
    seen: list[str] = []
    for start in range(0, 66, 10):
        seen += titles(many, f"{path}&start={start}", cookie)
    assert len(set(seen)) == len(seen) == 66 and not [title for title in seen if "spam" in title]
    assert "start=10&amp;page=2" in page
    last = many.get(f"{path}&start=60", Cookie=cookie).text
    assert "cursor=bmV4dA&amp;page=2" in last, "after the hundred comes the next hundred"
    off = many.get(f"{path}&unruled=1", Cookie=cookie).text
    assert "0 of spam.test" in off and many.service.asked[-1].limit == 10 and "Site rules are off" in off


def test_a_list_is_pasted_changed_and_refused_in_one_line(site: Any) -> None:
    reply = set_rules(site, {"text": "block a.test\nraise b.test"})
    page = site.get("/sites", Cookie=cookie_in(reply)).text
    assert ">block a.test\nraise b.test\n</textarea>" in page
    flawed = set_rules(site, {"text": "block a.test\n</textarea><b>"})
    assert flawed.status == 400 and "line 2: " in flawed.text and "set-cookie" not in flawed.headers
    assert "</textarea><b>" not in flawed.text and "&lt;/textarea&gt;" in flawed.text
    long = set_rules(site, {"text": "\n".join(f"block {n}.example.test" for n in range(1000))})
    assert long.status == 400 and "some 200 rules" in long.text and "set-cookie" not in long.headers


@pytest.mark.parametrize("origin", ["http://evil.test", "null", "http://["])
def test_no_other_sites_page_sets_rules(site: Any, origin: str) -> None:
    reply = set_rules(site, {"set": "block a.test"}, origin=origin)
    assert reply.status == 403 and "set-cookie" not in reply.headers


def test_a_form_leads_nowhere_else(site: Any) -> None:
    for back in ("//evil.test/", "q=a\r\nX-Bad: 1", "\\evil.test", "https://evil.test/?q=1"):
        reply = set_rules(site, {"set": "block a.test", "back": back})
        assert reply.status == 303 and reply.headers["location"].startswith(("/search?", "/sites?"))
        assert "x-bad" not in reply.headers
    assert site.send("POST", "/sites", b"{}", Origin=f"http://127.0.0.1:{site.port}").status == 400


def test_the_owners_file_counts_where_the_reader_says_nothing(start: Any, tmp_path: Path) -> None:
    file = tmp_path / "rules"
    file.write_text("block spam.test\nblock b.test\n")
    site = start(site_rules=str(file))
    site.service.hits = [hit("spam.test", 0), hit("b.test", 1), hit("c.test", 2)]
    assert titles(site, "/search?q=task") == ["2 of c.test"]
    assert titles(site, "/search?q=task", f"dse-sites-{site.port}=+b.test") == ["1 of b.test", "2 of c.test"]
    assert "block spam.test" in site.get("/sites").text
    file.write_text("raise c.test\n")
    os.utime(file, ns=(1, 1))
    assert titles(site, "/search?q=task")[0] == "2 of c.test", "it is read again when it changes"
    file.write_text("nonsense")
    assert titles(site, "/search?q=task")[0] == "2 of c.test", "what was good stays"


def test_a_broken_file_keeps_no_node_from_saying_so(tmp_path: Path) -> None:
    (tmp_path / "rules").write_text("block a.test\nban b.test\n")
    with pytest.raises(ConfigError, match=r"node.site_rules: .*line 2: 'ban b.test' is no rule"):
        RulesFile(str(tmp_path / "rules"))
    with pytest.raises(ConfigError, match="No such file"):
        RulesFile(str(tmp_path / "none"))


def test_settings_are_kept_by_the_browser_alone_and_hold_for_all_pages(many: Any) -> None:
    reply = set_settings(many, {"tongue": "zh", "theme": "dark", "results": "20", "keys": "off"})
    assert (reply.status, reply.headers["location"]) == (303, "/settings?saved=1")
    cookie = cookie_in(reply)
    for path in ("/", "/search?q=task", "/help", "/bot", "/nothing-here"):
        page = many.get(path, Cookie=cookie, Accept="text/html", Accept_Language="en").text
        assert '<html lang="zh-Hans">' in page and 'name="color-scheme" content="dark"' in page, path
        assert 'href="/settings"' in page, "each page leads there"
    assert 'lang="en"' in many.get("/?hl=en", Cookie=cookie).text, "an address still wins"
    shown = many.get("/settings?saved=1", Cookie=cookie).text
    for chosen in ('value="zh" selected', 'value="dark" selected', "<option selected>20<", 'value="off" selected'):
        assert chosen in shown
    assert "已保存" in shown
    plain = many.get("/search?q=task", Accept_Language="en").text
    assert '<html lang="en">' in plain and 'content="light dark"' in plain and "data-keys" in plain
    assert "data-keys" not in many.get("/search?q=task", Cookie=cookie).text, "its script knows no keys then"


def test_a_page_shows_as_many_results_as_its_reader_chose_under_rules_too(many: Any) -> None:
    settings = f"dse-settings-{many.port}=..50."
    assert len(titles(many, "/search?q=task", settings)) == 50 and many.service.asked[-1].limit == 50
    both = f"{settings}; dse-sites-{many.port}=!spam.test"
    assert len(titles(many, "/search?q=task", both)) == 50
    page = many.get("/search?q=task", Cookie=both).text
    assert "start=50&amp;page=2" in page and len(titles(many, "/search?q=task&start=50", both)) == 16
    assert len(titles(many, "/search?q=task")) == 10, "nobody else's page changes"


@pytest.mark.parametrize("odd", ["", "....", "xx.pink.1000.", "%00", "zh" * 2000, "\xff", "en.dark"])
def test_a_cookie_of_settings_that_is_none_of_ours_counts_as_far_as_it_is_good(site: Any, odd: str) -> None:
    page = site.get("/search?q=task", Cookie=f"dse-settings-{site.port}={odd}")
    assert page.status == 200 and '<html lang="en">' in page.text and site.service.asked[-1].limit == 10
    assert f'content="{"dark" if odd == "en.dark" else "light dark"}"' in page.text


def test_the_usual_settings_need_no_cookie_and_no_other_sites_page_sets_any(site: Any) -> None:
    usual = set_settings(site, {"tongue": "", "theme": "", "results": "10", "keys": ""})
    assert usual.status == 303 and "Max-Age=0" in usual.headers["set-cookie"]
    foreign = set_settings(site, {"theme": "dark"}, origin="http://evil.test")
    assert foreign.status == 403 and "set-cookie" not in foreign.headers


def test_a_posted_query_is_answered_without_an_address(site: Any) -> None:
    def posted(fields: dict[str, str]) -> Any:
        return site.send("POST", "/search", urlencode(fields).encode(), Content_Type=FORM)

    page = posted({"q": "task"}).text
    assert "1,234 results" in page and "<title>dse</title>" in page and 'method="post"' in page
    assert "q=task" not in "".join(part for part in page.split('"') if part.startswith("/")), "in no link"
    assert 'name="go" value="q=task&amp;cursor=bmV4dA&amp;page=2"' in page
    assert "Page 2" in posted({"go": "q=task&cursor=bmV4dA&page=2"}).text
    assert site.service.asked[-1].cursor == "bmV4dA"
    assert posted({"q": " "}).headers["location"] == "/?by=post"
    assert "<title>" in site.get("/?by=post").text and 'method="post"' in site.get("/?by=post").text
    for body, kind in ((b"q=a&" * 100, FORM), (b"\xff\xfe", FORM), (b"q=a", "multipart/form-data; boundary=b")):
        assert site.send("POST", "/search", body, Content_Type=kind).status in (303, 400)
    assert (
        "%FF" not in posted({"q": "task", "hl": "zh"}).text
        and '<html lang="zh-Hans">' in posted({"q": "task", "hl": "zh"}).text
    )


def test_the_page_of_a_readers_rules_has_its_own_title(site: Any) -> None:
    for tongue, title in (("en", "Your sites"), ("zh", "网站偏好")):
        page = site.get(f"/sites?hl={tongue}").text
        assert f"<title>{title} – dse</title>" in page and f"<h1>{title}</h1>" in page
