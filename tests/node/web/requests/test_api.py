"""The API as a program meets it: answers, problems with their place, the token, the document that describes it."""

import json
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest

from index import SearchRequest
from node.web.requests.openapi import openapi
from node.web.requests.problems import ProblemDetails
from node.web.requests.route_table import ROUTES
from tests.node.bodies import has_shape

PAGE = "http://docs.python.test/3/tutorial/appetite.html"
SAMPLES: dict[str, Any] = {"url": PAGE, "urls": [PAGE], "q": "computers", "query": "computers", "paused": True}
PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
SAMPLES |= {"file": "a.warc", "pages": [], "number": 1, "key": "crawl.hours", "value": "22:00-07:00"}
JSON = {"Content_Type": "application/json"}


def test_search_answers_the_contract(site: Any) -> None:
    body = site.get("/api/v1/search?q=task&limit=1&lang=en&site=python.test").json
    assert len(body["results"]) == 1
    assert body["coverage"]["answered"] == 256
    assert site.service.asked == [SearchRequest("task", limit=1, language="en", site="python.test")]


@pytest.mark.parametrize(
    ("path", "accepted", "asker"),
    [
        ("/api/v1/search?q=task", "", ""),
        ("/api/v1/search?q=task", "de-AT,de;q=0.9,en;q=0.8", "de"),
        ("/api/v1/search?q=task&asker_lang=fr", "de", "fr"),
        ("/search?q=task", "en;q=0.5, sv", "sv"),
        ("/search?q=task&hl=zh", "sv", "zh"),
        ("/search?q=task&format=json", "sv", "sv"),
    ],
)
def test_a_search_knows_the_language_of_its_asker(site: Any, path: str, accepted: str, asker: str) -> None:
    assert site.get(path, **{"Accept_Language": accepted} if accepted else {}).status == 200
    assert {each.asker_language for each in site.service.asked} == {asker}


def test_suggestions_for_programs_and_for_browsers(site: Any) -> None:
    assert site.get("/api/v1/suggest?q=tas").json == {"query": "tas", "suggestions": ["task", "<tas>"]}
    reply = site.get("/suggest?q=tas")
    assert reply.headers["content-type"].startswith("application/x-suggestions+json")
    assert json.loads(reply.text) == ["tas", ["task", "<tas>"]]
    assert site.get("/suggest?q=" + "x" * 1001).status == 400


@pytest.mark.parametrize(
    ("query", "detail"),
    [
        ("", "q: is missing"),
        ("?q=", "q: is empty"),
        ("?q=x&limit=0", "limit: is '0'; it takes a whole number from 1 to 100"),
        ("?q=x&limit=ten", "limit: is 'ten'; it takes a whole number from 1 to 100"),
        ("?q=x&limit=99999999999999999999", "limit: is '99999999999999999999'; it takes a whole number"),
        ("?q=x&explain=maybe", "explain: is 'maybe'; it takes true or false"),
        ("?q=x&sort=newest", "sort: is 'newest'; it takes relevance, date"),
        ("?q=caf%E9", "q: is 'caf\ufffd'; it takes UTF-8, as %C3%A9 for é"),
        ("?q=x&foo=1", "foo: is not a parameter of /api/v1/search, which takes q, limit, cursor, lang"),
        ("?q=" + "x" * 1001, "q: has 1001 characters, at most 1000"),
    ],
)
def test_a_bad_request_names_the_parameter(site: Any, query: str, detail: str) -> None:
    reply = site.get(f"/api/v1/search{query}")
    assert reply.status == 400
    assert reply.headers["content-type"].startswith("application/problem+json")
    assert detail in reply.json["detail"]
    assert reply.json["status"] == 400
    assert reply.json["title"] == "Bad Request"


def test_a_query_error_has_its_position(site: Any) -> None:
    reply = site.get("/api/v1/search?q=%22x")
    assert reply.status == 400
    assert reply.json["position"] == 0


def test_reading_routes(site: Any) -> None:
    assert site.get("/api/v1/status").json["slots"]["leased"] == 17
    assert len(site.get("/api/v1/peers").json["peers"]) == 2
    assert "takes trouble, name, load" in site.get("/api/v1/peers?order=beauty").json["detail"]
    assert site.get("/api/v1/peers?order=beauty").status == site.get("/api/v1/slots?slot=x").status == 400
    assert site.get("/api/v1/strategy").json["replicas"] == 3
    found = site.get("/api/v1/document?url=http://evil.test/&url=http://none.test/&local=true").json["documents"]
    assert found[0]["url"] == "http://evil.test/"
    assert found[1] is None
    assert site.get("/api/v1/document").status == 400
    assert site.get("/api/v1/document?" + "&".join(["url=a"] * 101)).status == 400


def test_pages_of_slots_and_sites_are_small_and_lead_on(site: Any, token: str) -> None:
    assert site.get("/api/v1/sites").status == 401, "no stranger reads what is crawled"
    for path in ("/api/v1/slots?limit=200", "/api/v1/sites?limit=200"):
        reply = site.get(path, Authorization=f"Bearer {token}")
        assert len(reply.body) < 110_000 and reply.json["next"] == 200, path
        assert site.get(f"{path}&from=200", Authorization=f"Bearer {token}").json["next"] == 400
    assert site.get("/api/v1/slots?slot=4095").json["slots"][0]["slot"] == 4095
    assert site.get("/api/v1/sites?order=beauty", Authorization=f"Bearer {token}").status == 400


def test_administration_needs_the_token(site: Any, token: str) -> None:
    for path in ("/api/v1/crawl", "/api/v1/pause", "/api/v1/strategy", "/api/v1/leave", "/api/v1/scrub"):
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {token}"}):
            reply = site.send("POST", path, b"{}", **JSON, **headers)
            assert reply.status == 401
            assert reply.headers["www-authenticate"] == "Bearer"
    assert site.service.seeds == []
    assert not (site.service.is_paused or site.service.left or site.service.scrubs)


def test_leaving_is_begun_and_asked_for_alike(site: Any, token: str) -> None:
    right = {"Authorization": f"Bearer {token}", **JSON}
    risk = site.send("POST", "/api/v1/leave", b'{"at_once": true}', **right).json
    assert (risk["state"], risk["at_risk"]) == ("here", 7)
    states = [site.send("POST", "/api/v1/leave", b"{}", **right).json["state"] for _ in range(3)]
    assert states == ["leaving", "leaving", "gone"]
    assert site.send("POST", "/api/v1/leave", b'{"now": true}', **right).status == 400


def test_a_scrub_is_asked_for_by_an_empty_body(site: Any, token: str) -> None:
    right = {"Authorization": f"Bearer {token}", **JSON}
    assert [site.send("POST", "/api/v1/scrub", b"{}", **right).json["share"] for _ in range(2)] == [0.0, 0.0]
    assert site.service.scrubs == 1
    assert site.send("POST", "/api/v1/scrub", b'{"now": true}', **right).status == 400


def test_crawl_pause_and_publish(site: Any, token: str) -> None:
    right = {"Authorization": f"Bearer {token}", **JSON}
    body = json.dumps({"urls": ["http://a.test/", "ftp://b"], "depth": 2}).encode()
    reply = site.send("POST", "/api/v1/crawl", body, **right)
    assert (reply.json["accepted"], reply.json["refused"][0]["url"]) == (1, "ftp://b")
    assert site.service.seeds == [(["http://a.test/", "ftp://b"], 2)] and site.service.left_out == [[]]
    body = json.dumps({"urls": ["http://a.test/"], "exclude": ["/private/", r"\.pdf$"]}).encode()
    assert site.send("POST", "/api/v1/crawl", body, **right).status == 200
    assert site.service.left_out[-1] == ["/private/", r"\.pdf$"]
    bad = site.send("POST", "/api/v1/crawl", b'{"urls": ["http://a.test/"], "exclude": ["a b"]}', **right)
    assert bad.status == 400 and "exclude: 'a b' has characters that stand in no address; write" in bad.json["detail"]
    kept = site.send("POST", "/api/v1/crawl", b'{"urls": ["http://few-copies.test/"]}', **right)
    assert (reply.status, kept.status, kept.json["waits"]) == (200, 202, "taken, and waits for 1a2b")
    assert site.send("POST", "/api/v1/pause", b'{"paused": true}', **right).json["paused"] is True
    assert site.service.is_paused
    timed = site.send("POST", "/api/v1/pause", b'{"paused": true, "for_s": 90}', **right).json
    assert (timed["reason"], site.service.paused_for_s) == ("paused by its operator", 90.0)
    assert site.send("POST", "/api/v1/pause", b'{"paused": true, "for_s": -1}', **right).status == 400
    assert site.send("POST", "/api/v1/strategy", b'{"signatures": []}', **right).json["version"] == 4
    refused = site.send("POST", "/api/v1/strategy", b"{}", **right)
    assert refused.status == 400
    assert "let another publisher sign it" in refused.json["detail"]


def test_a_removal_needs_the_token_an_address_and_the_file_at_its_site(site: Any, token: str) -> None:
    right = {"Authorization": f"Bearer {token}", **JSON}
    body = {"url": "https://a.test/private/"}
    assert site.send("POST", "/api/v1/remove", json.dumps(body).encode(), **JSON).status == 401
    done = site.send("POST", "/api/v1/remove", json.dumps(body).encode(), **right)
    assert (done.status, done.json["site"], done.json["prefix"]) == (200, "a.test", "/private/")
    unproved = site.send("POST", "/api/v1/remove", b'{"url": "https://bad.test/"}', **right)
    assert (unproved.status, unproved.json["detail"]) == (400, "https://bad.test/: no file names it; put one there")
    for strange in (b"{}", b'{"url": 7}', b'{"urls": ["https://a.test/"]}', b"[]", b"", b"\xff"):
        assert site.send("POST", "/api/v1/remove", strange, **right).status == 400, strange
    assert site.get("/api/v1/remove").status == 405


def test_a_dry_run_progress_and_an_explanation(site: Any, token: str) -> None:
    right = {"Authorization": f"Bearer {token}", **JSON}
    body = {"urls": [], "sitemaps": ["http://a.test/s"], "scope": "domain", "dry_run": True}
    assert site.send("POST", "/api/v1/crawl", json.dumps(body).encode(), **right).json["accepted"] == 1
    assert (site.service.orders, site.service.seeds) == ([("domain", ("http://a.test/s",), True)], [])
    asked = json.dumps({"urls": [{"url": "http://a.test/", "depth": 1}]}).encode()
    assert site.send("POST", "/api/v1/crawl/progress", asked, **right).json["urls"][0]["state"] == "waiting"
    many = json.dumps({"urls": [{"url": "a"}] * 251}).encode()
    assert "251 addresses" in site.send("POST", "/api/v1/crawl/progress", many, **right).json["detail"]
    assert site.send("POST", "/api/v1/crawl/progress", asked, **JSON).status == 401
    assert site.get("/api/v1/explain?url=http://a.test/").json["answer"] == "later"
    assert site.get("/api/v1/explain").status == 400


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b'{"urls": ["a"], "scope": "planet"}', "scope"),
        (b"{", "body"),
        (b"[]", "body"),
        (b'{"urls": []}', "urls: has 0 addresses"),
        (b'{"urls": ["a"], "depth": 101}', "depth: is 101; it takes 0 to 100"),
        (b'{"urls": ["a"], "deep": 1}', "unknown field deep; it takes urls, depth, scope"),
        (b'{"urls": ["a"], "scope": "web"}', "scope: invalid enum value 'web'; it takes \"host\""),
        (b'{"urls": ["a"], "depth": "1"}', "body: depth: takes a whole number, not a text"),
        (b"[]", "takes an object, not a list; it takes urls"),
        (b"{", "body: input data was truncated; it takes urls"),
        (b"\xff\xfe{", "body: JSON is malformed"),
        (json.dumps({"urls": ["http://a/" + "x" * 3000]}).encode(), "more than 2048"),
        (json.dumps({"urls": ["a"] * 1001}).encode(), "urls: has 1001"),
    ],
)
def test_a_bad_order_is_refused_with_the_reason(site: Any, token: str, body: bytes, detail: str) -> None:
    reply = site.send("POST", "/api/v1/crawl", body, Authorization=f"Bearer {token}", **JSON)
    assert reply.status == 400
    assert detail in reply.json["detail"]
    assert site.service.seeds == []


def test_every_route_of_the_document_exists_and_the_other_way_round(site: Any, token: str) -> None:
    document = site.get("/openapi.json").json
    assert document["openapi"].startswith("3.1")
    assert document == json.loads(msgspec.json.encode(openapi("0.1.0")))
    described = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert described == {(route.method, route.path) for route in ROUTES}
    own, answered = f"http://127.0.0.1:{site.port}", set[tuple[str, int]]()
    for route in sorted(ROUTES, key=lambda each: each.name == "leave"):
        wanted = {each.name: SAMPLES[each.name] for each in route.parameters if each.name in SAMPLES}
        path = route.path.replace("{url}", PAGE) + (f"?{urlencode(wanted)}" if wanted and route.path[-1] != "}" else "")
        fields = SAMPLES | ({"urls": [{"url": PAGE}]} if route.name == "progress" else {})
        names = getattr(route.takes, "__struct_fields__", ())
        sent = json.dumps({name: fields[name] for name in names if name in fields}).encode()
        sent = {"publish_strategy": b"signatures", "preview_strategy": b"signatures", "mcp": PING}.get(route.name, sent)
        reply = site.send(
            route.method,
            path,
            sent if route.method == "POST" else None,
            Authorization=f"Bearer {token}",
            Origin=own,
            **JSON,
        )
        assert reply.status in (200, 302, 303, 400), f"{path} answers {reply.status}"
        if "json" in (kind := reply.headers.get("content-type", "")):
            answered.add((route.name, reply.status))
            shape = ProblemDetails if "problem" in kind else route.schema
            assert has_shape(reply.body, shape), f"{path} answers {reply.text}"
    without_draft = {"owner_strategy_file"}  # it answers 404 where there is no draft
    assert {route.name for route in ROUTES if "json" in route.gives} - without_draft == {
        name for name, code in answered if code == 200
    }
    for name in _references(document):
        assert name in document["components"]["schemas"]


def _references(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"].rpartition("/")[2]] if "$ref" in value else []
        return own + [name for inner in value.values() for name in _references(inner)]
    return [name for inner in value for name in _references(inner)] if isinstance(value, list) else []
