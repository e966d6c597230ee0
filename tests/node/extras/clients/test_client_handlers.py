"""Other programs' clients, as they send their requests and as they read the answers, over HTTP.

The request lines are those that the programs named send; each reader takes the fields that its program takes, in the
way that it takes them, and is our own.
"""

import json
import re
from email.utils import parsedate_to_datetime
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import pytest

from index import SearchRequest
from node.captures.capture import Capture
from tests.node.extras.clients.printed import DOCUMENT

PAGE = "http://docs.python.test/3/tutorial/appetite.html"
SEARXNG_YACY = "query=task&startRecord=0&maximumRecords=10&contentdom=text&resource=global"


def read_as_searxng_yacy(body: Any) -> list[dict[str, Any]]:
    """Read an answer as SearXNG's engine `yacy` (2026-10) does: link, title and description must be there, a date must
    parse."""
    return [
        {
            "url": item["link"],
            "title": item["title"],
            "content": item["description"],
            "published": parsedate_to_datetime(item["pubDate"]) if "pubDate" in item else None,
        }
        for item in body["channels"][0]["items"]
    ]


def test_searxng_finds_by_its_yacy_engine(site: Any) -> None:
    reply = site.get(f"/yacysearch.json?{SEARXNG_YACY}&lr=lang_en")
    assert reply.headers["content-type"].startswith("application/json")
    (found,) = read_as_searxng_yacy(reply.json)
    assert found["url"] == PAGE
    assert "there is some <b>task</b> to automate" in found["content"]
    assert site.service.asked == [SearchRequest("task", limit=10, language="en", deadline_ms=2000)]
    assert len(read_as_searxng_yacy(site.get(f"/yacysearch.json?{SEARXNG_YACY}").json)) == 2


FIRST_TEN = "&startRecord=0&maximumRecords=10&contentdom=text&resource=global"
NEXT_TEN = "&startRecord=10&maximumRecords=10&contentdom=text&resource=global"
RECORDED = {  # of SearXNG 9fea412, byte for byte: the query, where its page begins, the language
    f"query=sqlite+database{FIRST_TEN}": ("sqlite database", 0, ""),
    f"query=sqlite+database{NEXT_TEN}&lr=lang_en": ("sqlite database", 10, "en"),
    f"query=%E6%95%B0%E6%8D%AE+%22a+b%22%26%3D{FIRST_TEN}&lr=lang_zh": ('数据 "a b"&=', 0, "zh"),
}


@pytest.mark.parametrize("sent", RECORDED)
def test_requests_that_searxngs_yacy_engine_sent_are_answered(site: Any, sent: str) -> None:
    query, start, language = RECORDED[sent]
    reply = site.get(f"/yacysearch.json?{sent}", Accept_Encoding="gzip, deflate", Cache_Control="no-cache", DNT="1")
    assert (reply.status, read_as_searxng_yacy(reply.json)) == (200, [])
    asked = site.service.asked[-1]
    assert (asked.text, asked.limit, asked.language) == (query, start + 10, language)


def test_a_later_page_of_yacy_begins_where_the_one_before_ended(site: Any) -> None:
    channel = site.get("/yacysearch.json?query=e&startRecord=2&maximumRecords=1").json["channels"][0]
    assert (channel["startIndex"], channel["itemsPerPage"], len(channel["items"])) == ("2", "1", 1)
    assert site.service.asked[-1].limit == 3
    older = site.get("/yacysearch.json?query=e&offset=2&count=1").json["channels"][0]
    assert older["items"] == channel["items"]
    dated = site.get("/yacysearch.json?query=task+/date+/language/en").json["channels"][0]
    assert (site.service.asked[-1].text, site.service.asked[-1].is_by_date) == ("task", True)
    assert dated["link"].endswith("/search?q=task&lang=en&sort=date")


def test_yacys_feed_and_suggestions(site: Any) -> None:
    reply = site.get(f"/yacysearch.rss?{SEARXNG_YACY}")
    assert reply.headers["content-type"].startswith("application/rss+xml")
    feed = ElementTree.fromstring(reply.text)
    assert PAGE in [item.findtext("link") for item in feed.findall("channel/item")]
    assert feed.findtext("channel/{http://a9.com/-/spec/opensearch/1.1/}totalResults") == "1234"
    assert (
        site.get("/suggest.json?query=tas").json == site.get("/suggest.json?q=tas").json == ["tas", ["task", "<tas>"]]
    )


@pytest.mark.parametrize(
    ("query", "detail"),
    [
        ("", "query: is missing"),
        ("query=x&maximumRecords=101", "maximumRecords: is '101'; it takes a whole number from 0 to 100"),
        ("query=x&startRecord=901", "startRecord: is '901'; it takes a whole number from 0 to 900"),
        ("query=x&resource=local", "resource: is 'local': a node answers for the whole network"),
        ("query=" + "x" * 1001, "query: has 1001 characters, at most 1000"),
    ],
)
@pytest.mark.parametrize("path", ["/yacysearch.json", "/yacysearch.rss"])
def test_what_yacys_clients_get_wrong_is_named(site: Any, path: str, query: str, detail: str) -> None:
    reply = site.get(f"{path}?{query}")
    assert (reply.status, reply.headers["content-type"]) == (400, "application/problem+json")
    assert detail in reply.json["detail"]
    assert site.service.asked == []


@pytest.mark.parametrize(
    "typed", ["%ff%fe%80", "%ED%A0%80", "%00", "%E2%80%AE%3Cb%3E", "]]%3E", "(" * 900, "/date", "/language/"]
)
def test_odd_queries_are_no_fault_of_the_server(site: Any, typed: str) -> None:
    for path in ("/yacysearch.json", "/yacysearch.rss", "/suggest.json"):
        reply = site.get(f"{path}?query={typed}")
        assert reply.status in (200, 400), path
        assert "\u202e" not in reply.text
    assert site.get(f"/?format=json&q={typed}").status == 303
    for path in ("/open-webui/search", "/tavily/search"):
        assert post(site, path, {"query": unquote(typed)}).status in (200, 400), path


def test_sounds_are_not_asked_of_the_network(site: Any) -> None:
    assert site.get("/yacysearch.json?query=task&contentdom=audio").json["channels"][0]["items"] == []
    assert site.service.asked == []


RECORDS = json.loads((Path(__file__).parents[3] / "data" / "client-requests.json").read_text())["requests"]


@pytest.mark.parametrize("sent", RECORDS, ids=lambda sent: f"{sent['client']} {sent['versions'][0]} {sent['printed']}")
def test_what_published_clients_sent_is_answered(site: Any, sent: dict[str, Any]) -> None:
    """The client was set up as docs/clients.md prints it, and finds the page where it looks for it."""
    assert re.search(rf"(^ +|`){re.escape(sent['printed'])}[`\n]", DOCUMENT, re.M)
    assert sent["target"].startswith(urlsplit(sent["printed"][sent["printed"].index("http") :]).path)
    reply = site.send(sent["method"], sent["target"], sent["body"].encode() or None, **sent["headers"])
    assert reply.status == 200
    assert reduce(getitem, sent["found_at"], reply.json) == PAGE


def read_as_perplexica(body: Any) -> tuple[list[dict[str, Any]], list[str]]:
    """Read an answer as Perplexica's `searchSearxng` does: results with url, title, content, maybe pictures;
    suggestions."""
    for result in body["results"]:
        assert not result.get("img_src") and not result.get("thumbnail"), "shown as a picture where it is there"
    return [{name: result[name] for name in ("url", "title", "content")} for result in body["results"]], body[
        "suggestions"
    ]


def test_perplexica_reads_searxngs_json(site: Any) -> None:
    sent = "/search?format=json&q=task&categories=general&engines=&pageno=1&language=en-US"
    results, suggestions = read_as_perplexica(site.get(sent).json)
    assert (results[0]["url"], suggestions) == (PAGE, [])
    assert site.service.asked == [SearchRequest("task", limit=20, language="en", deadline_ms=2500)]


def test_searxngs_programs_may_post(site: Any) -> None:
    """SearXNG takes a form. LangChain for JavaScript posts nothing beside the address, Flowise also says it is JSON."""
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    asked = [
        site.send("POST", "/search?q=task&format=json", None),
        site.send("POST", "/search?q=task&format=json", None, **{"Content-Type": "application/json"}),
        site.send("POST", "/search", b"q=task&format=json", **form),
    ]
    assert [reply.json["results"][0]["url"] for reply in asked] == [PAGE] * 3
    assert site.send("POST", "/search", b"q=task&format=csv", **form).status == 400


def test_a_search_at_the_root_leads_to_the_results(site: Any) -> None:
    """LangChain's `SearxSearchWrapper` asks the host itself, and follows."""
    reply = site.get("/?language=en&format=json&q=a%26b%0d%0aX:+1")
    assert (reply.status, reply.headers["location"]) == (303, "/search?language=en&format=json&q=a%26b%0D%0AX:+1")
    assert site.get("/?q=").headers["location"] == "/search?q="


def test_searxngs_json_has_every_field(site: Any) -> None:
    site.service.answered = 200
    body = site.get("/search?q=zebar&format=json").json
    assert {name: body[name] for name in ("query", "results", "answers", "infoboxes")} == {
        "query": "zebar",
        "results": [],
        "answers": [],
        "infoboxes": [],
    }
    assert (body["suggestions"], body["corrections"]) == (["zebra <finch>"], ["<zebra> crossing"])
    assert body["unresponsive_engines"][0][0] == "dse"
    (first, *_) = site.get("/search?q=task&format=json").json["results"]
    assert first.keys() >= {"url", "title", "content", "publishedDate", "engine", "engines", "category", "score"}
    assert (first["positions"], first["template"], first["engines"]) == ([1], "default.html", ["dse"])
    assert first["parsed_url"] == ["http", "docs.python.test", "/3/tutorial/appetite.html", "", "", ""]


def test_searxngs_pages_and_time_ranges(site: Any) -> None:
    assert site.get("/search?q=task&format=json&pageno=3").json["results"] == []
    assert site.service.asked[-1].limit == 60
    site.get("/search?q=cat+OR+dog&format=json&time_range=week")
    assert re.fullmatch(r"after:\d{4}-\d\d-\d\d \(cat OR dog\)", site.service.asked[-1].text)


@pytest.mark.parametrize(
    ("query", "detail"),
    [
        ("q=x&pageno=47", "pageno: is '47'; it takes a whole number from 1 to 46"),
        ("q=x&time_range=decade", "time_range: is 'decade'; it takes day, week, month, year"),
        ("q=+", "q: is empty"),
        ("q=%22x", "no closing quotation mark"),
    ],
)
def test_what_searxngs_clients_get_wrong_is_named(site: Any, query: str, detail: str) -> None:
    reply = site.get(f"/search?{query}&format=json", Accept="text/html")
    assert (reply.status, reply.headers["content-type"]) == (400, "application/problem+json")
    assert detail in reply.json["detail"]


JSON = {"Content_Type": "application/json", "Authorization": "Bearer whatever was typed as the key"}


def post(site: Any, path: str, body: Any) -> Any:
    return site.send("POST", f"/clients{path}", json.dumps(body).encode(), **JSON)


def test_open_webui_searches_and_reads_a_bare_list(site: Any) -> None:
    reply = post(site, "/open-webui/search", {"query": "task", "count": 3})
    found = [(each.get("link"), each.get("title"), each.get("snippet")) for each in reply.json[:3]]
    assert found[0][0] == PAGE and "some task to automate" in found[0][2]
    assert site.service.asked == [SearchRequest("task", limit=3, deadline_ms=2000)]
    assert len(post(site, "/open-webui/search", {"query": "task"}).json) == 2


def test_open_webui_loads_what_is_stored_and_nothing_is_fetched(site: Any) -> None:
    asked = [PAGE.replace("http://docs", "HTTP://DOCS"), "http://none.test/", "no url"]
    (page,) = post(site, "/open-webui/load", {"urls": asked}).json
    assert page["page_content"].startswith("If you do much work on computers")
    assert page["metadata"]["source"] == asked[0] and page["metadata"]["language"] == "en"
    assert site.service.wishes[0][0].urls and site.service.seeds == []
    assert post(site, "/open-webui/load", {"urls": ["no url", ""]}).json == []
    assert len(site.service.wishes) == 1, "no address is not every address"


def test_many_pages_are_loaded_however_few_come_at_once(site: Any) -> None:
    urls = [PAGE, *(f"http://other.test/{number}" for number in range(3))]
    site.service.versions = [Capture(url, 1.8e9, 200, (), b"", b"", text=url) for url in urls[1:]]
    site.service.most_pages = 1
    assert [page["metadata"]["source"] for page in post(site, "/open-webui/load", {"urls": urls}).json] == urls


@pytest.mark.parametrize(("most", "shown"), [(-1, "no  more than this"), (8, "no  more"), (0, "")])
def test_no_more_of_a_page_is_given_than_its_author_lets_be_shown(site: Any, most: int, shown: str) -> None:
    url = "http://other.test/"
    text = "no \ufdd0secret\ufdd1more than this"
    site.service.versions = [Capture(url, 1.8e9, 200, (), b"", b"", text=text, max_snippet=most)]
    assert [page["page_content"] for page in post(site, "/open-webui/load", {"urls": [url]}).json] == [shown]
    assert post(site, "/tavily/extract", {"urls": url}).json["results"][0]["raw_content"] == shown


def test_tavilys_search_and_its_whole_texts(site: Any) -> None:
    sent = {"query": "task", "search_depth": "advanced", "topic": "general", "max_results": 2, "api_key": "x"}
    body = post(site, "/tavily/search", {**sent, "include_answer": True, "include_raw_content": "markdown"}).json
    assert body.keys() >= {"query", "answer", "images", "follow_up_questions", "results", "response_time"}
    first = body["results"][0]
    assert (first["url"], first["score"], body["query"]) == (PAGE, 1.0, "task")
    assert first["raw_content"].startswith("If you do much work")
    assert site.service.asked == [SearchRequest("task", limit=2, deadline_ms=2000)]
    plain = post(site, "/tavily/search", {"query": "task"}).json["results"]
    assert [each["raw_content"] for each in plain] == [None, None] and site.service.asked[-1].limit == 5
    assert post(site, "/tavily/search", {"query": "task", "max_results": 0}).json["results"] == []


def test_tavilys_filters_become_those_of_the_query(site: Any) -> None:
    hosts = {"include_domains": ["a.test", "https://*.b.test/"], "exclude_domains": ["c.test"]}
    body = post(
        site, "/tavily/search", {"query": "x OR y", **hosts, "start_date": "2026-01-02", "time_range": None}
    ).json
    assert site.service.asked[-1].text == "-site:c.test after:2026-01-02 (site:a.test OR site:b.test) AND (x OR y)"
    assert body["query"] == "x OR y"
    post(site, "/tavily/search", {"query": "x", "topic": "news", "days": 3})
    assert re.fullmatch(r"after:\d{4}-\d\d-\d\d \(x\)", site.service.asked[-1].text)


def test_tavilys_extract_says_what_is_not_stored(site: Any) -> None:
    body = post(site, "/tavily/extract", {"urls": [PAGE, "http://none.test/"], "extract_depth": "basic"}).json
    assert [(each["url"], each["images"]) for each in body["results"]] == [(PAGE, [])]
    assert body["results"][0]["raw_content"].startswith("If you do much work")
    assert [each["url"] for each in body["failed_results"]] == ["http://none.test/"]
    assert "no copy" in body["failed_results"][0]["error"] and body["response_time"] >= 0
    assert len(post(site, "/tavily/extract", {"urls": PAGE}).json["results"]) == 1, "one address need be no list"


@pytest.mark.parametrize(
    ("path", "body", "detail"),
    [
        ("/open-webui/search", {}, "query"),
        ("/open-webui/search", {"query": " "}, "query: is empty"),
        ("/open-webui/search", {"query": "x" * 1001}, "query: has 1001 characters; at most 1000"),
        ("/open-webui/search", {"query": "x", "count": 101}, "count: is 101; it takes 1 to 100"),
        ("/open-webui/search", {"query": "x", "count": "ten"}, "count: takes a whole number"),
        ("/open-webui/load", {"urls": []}, "urls: has 0 addresses; it takes 1 to 20"),
        ("/open-webui/load", {"urls": [f"http://a.test/{n}" for n in range(21)]}, "urls: has 21 addresses"),
        ("/open-webui/load", {"urls": ["http://a.test/" + "x" * 2048]}, "urls: has an address of 2062 characters"),
        ("/tavily/search", {"query": "x", "max_results": 21}, "max_results: is 21; it takes 0 to 20"),
        ("/tavily/search", {"query": "x", "topic": "sports"}, "topic: is 'sports'; it takes general, news, finance"),
        ("/tavily/search", {"query": "x", "time_range": "era"}, "time_range: is 'era'; it takes day"),
        ("/tavily/search", {"query": "x", "days": 0}, "days: is 0; it takes 1 or more"),
        ("/tavily/search", {"query": "x", "end_date": "soon"}, "end_date: is 'soon'; it takes a day like 2026-11-24"),
        ("/tavily/search", {"query": "x", "include_domains": ["a.test"] * 21}, "include_domains: has 21 hosts"),
        ("/tavily/search", {"query": "x", "exclude_domains": ["a) OR b"]}, "exclude_domains: has 'a) OR b'; it takes"),
        ("/tavily/search", {"query": "x" * 900, "include_domains": ["a" * 90 + ".test"]}, "at most 1000 are read"),
        ("/tavily/extract", {"urls": 7}, "urls: expected str | list"),
    ],
)
def test_what_a_body_gets_wrong_is_named_and_nothing_is_asked(site: Any, path: str, body: Any, detail: str) -> None:
    reply = post(site, path, body)
    assert (reply.status, reply.headers["content-type"]) == (400, "application/problem+json")
    assert detail in reply.json["detail"]
    assert site.service.asked == [] and site.service.wishes == []


@pytest.mark.parametrize("path", ["/open-webui/search", "/open-webui/load", "/tavily/search", "/tavily/extract"])
def test_bodies_are_bounded_and_json(site: Any, path: str) -> None:
    large = site.send("POST", f"/clients{path}", b'{"query": "' + b"x" * (64 << 10) + b'"}', **JSON)
    assert (large.status, "65536" in large.json["detail"]) == (413, True)
    assert site.send("POST", f"/clients{path}", b"q=x", Content_Type="application/x-www-form-urlencoded").status == 400
    for strange in (b"", b"[]", b"{", b"\xff", b"null", b'{"query": "\\ud800"}'):
        assert site.send("POST", f"/clients{path}", strange, **JSON).status == 400, strange
    assert site.get(f"/clients{path}").status == 405
    assert "access-control-allow-origin" not in large.headers


def test_a_busy_or_failing_node_tells_clients_as_it_tells_others(start: Any) -> None:
    site = start(web_timeout_s=0.2)
    late = post(site, "/tavily/search", {"query": "!wait"})
    assert (late.status, late.headers["retry-after"]) == (504, "1")
    assert post(site, "/open-webui/search", {"query": "!bug"}).status == 500
    assert site.get("/yacysearch.json?query=!bug").status == 500
