"""Which pages of other sites may read which answers in a browser, and who is spared an answer that is the same."""

from typing import Any

import pytest

PAGE = "https://app.test"
SHARED = [
    "/api/v1/search?q=task",
    "/api/v1/suggest?q=ta",
    "/api/v1/documents",
    "/api/v1/strategy",
    "/search?q=task&format=json",
    "/search?q=task&format=atom",
    "/yacysearch.json?query=task",
    "/yacysearch.rss?query=task",
    "/cdx?url=http://docs.python.test/",
    "/openapi.json",
]
OWN = ["/", "/search?q=task", "/status", "/api/v1/status", "/api/v1/peers", "/metrics", "/healthz", "/nothing"]


def cors(headers: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in headers.items() if name.startswith("access-control")}


@pytest.mark.parametrize("path", [*SHARED, *OWN])
def test_nothing_is_shared_unless_the_owner_says_so(site: Any, path: str) -> None:
    assert not cors(site.get(path, Origin=PAGE).headers)
    assert not cors(site.send("OPTIONS", path, Origin=PAGE, Access_Control_Request_Method="GET").headers)


def test_public_reads_are_shared_with_any_page_and_never_with_credentials(start: Any) -> None:
    site = start(web_origins=("*",))
    for path in SHARED:
        reply = site.get(path, Origin=PAGE)
        assert (reply.status, reply.headers["access-control-allow-origin"]) == (200, "*"), path
        assert "access-control-allow-credentials" not in reply.headers
    wrong = site.get("/api/v1/search", Origin=PAGE)
    assert (wrong.status, wrong.headers["access-control-allow-origin"]) == (400, "*"), "a page may read what was wrong"


def test_what_is_the_owners_is_shared_with_nobody(start: Any, token: str) -> None:
    site = start(web_origins=("*", PAGE))
    for path in OWN:
        assert not cors(site.get(path, Origin=PAGE).headers), path
    for path in {*OWN} - {"/search?q=task"}:  # which has public forms, too
        assert not cors(site.send("OPTIONS", path, Origin=PAGE).headers), path
    headers = {"Origin": PAGE, "Content_Type": "application/json", "Authorization": f"Bearer {token}"}
    reply = site.send("POST", "/api/v1/pause", b'{"paused": true}', **headers)
    assert reply.status == 200 and not cors(reply.headers)
    asked = {"Origin": PAGE, "Access_Control_Request_Method": "POST", "Access_Control_Request_Headers": "authorization"}
    for path in ("/api/v1/pause", "/api/v1/crawl", "/clients/tavily/search"):
        assert site.send("OPTIONS", path, **asked).status == 405
    assert site.send("OPTIONS", "/api/v1/strategy", **asked).headers["allow"] == "GET, HEAD, OPTIONS, POST"
    told = site.send("OPTIONS", "/api/v1/search", **asked).headers
    assert told["allow"] == "GET, HEAD, OPTIONS"
    assert told["access-control-allow-methods"] == "GET, HEAD"
    assert "authorization" not in told["access-control-allow-headers"].lower()


def test_a_page_that_the_owner_names_may_use_mcp(start: Any) -> None:
    site = start(web_origins=(PAGE,))
    wanted = "content-type,mcp-protocol-version,mcp-method,mcp-name"
    asked = {"Access_Control_Request_Method": "POST", "Access_Control_Request_Headers": wanted}
    told = site.send("OPTIONS", "/mcp", Origin=PAGE, **asked).headers
    assert (told["access-control-allow-methods"], told["allow"]) == ("POST", "OPTIONS, POST")
    assert set(wanted.split(",")) <= set(told["access-control-allow-headers"].lower().split(", "))
    message = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'
    reply = site.send("POST", "/mcp", message, Origin=PAGE, Content_Type="application/json", If_None_Match="*")
    assert (reply.status, reply.headers["access-control-allow-origin"]) == (200, PAGE) and "etag" not in reply.headers
    for other in ("https://other.test", "null"):
        assert "access-control-allow-origin" not in site.send("OPTIONS", "/mcp", Origin=other, **asked).headers
        assert site.send("POST", "/mcp", message, Origin=other, Content_Type="application/json").status == 403


def test_one_origin_is_told_that_it_may_and_another_is_not(start: Any) -> None:
    site = start(web_origins=(PAGE,))
    reply = site.get("/api/v1/search?q=task", Origin=PAGE)
    assert (reply.headers["access-control-allow-origin"], reply.headers["vary"]) == (PAGE, "Origin")
    assert "etag" in reply.headers["access-control-expose-headers"].lower()
    preflight = site.send("OPTIONS", "/api/v1/search?q=task", Origin=PAGE, Access_Control_Request_Method="GET")
    assert (preflight.status, preflight.body) == (204, b"")
    assert preflight.headers["access-control-allow-origin"] == PAGE
    gate = site.get("/timegate/http://docs.python.test/", Origin="https://other.test").headers["vary"]
    assert gate.split(", ") == ["accept-datetime", "Origin"]
    for other in ("https://app.test.evil.test", "http://app.test", "null", "*", ""):
        assert not cors(site.get("/api/v1/search?q=task", Origin=other).headers)


@pytest.mark.parametrize(
    "path", ["/search?q=task&format=atom", "/openapi.json", "/api/v1/documents", "/api/v1/strategy"]
)
def test_who_has_an_answer_is_not_sent_it_again(site: Any, path: str) -> None:
    first = site.get(path)
    tag = first.headers["etag"]
    again = site.get(path, If_None_Match=f'"other", {tag}')
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag)
    for stale in ('"other"', "W/", "garbage", tag.strip('"')):
        assert site.get(path, If_None_Match=stale).body == first.body
    head = site.send("HEAD", path, If_None_Match="*")
    assert (head.status, head.body) == (304, b"")


def test_an_answer_that_changed_has_another_tag_and_questions_are_not_kept(site: Any) -> None:
    first = site.get("/search?q=task&format=rss")
    other = site.get("/search?q=e&format=rss", If_None_Match=first.headers["etag"])
    assert other.status == 200 and other.headers["etag"] != first.headers["etag"]
    assert first.headers["cache-control"] == "no-store"
    assert site.get("/openapi.json").headers["cache-control"] == "no-cache"
    for untagged in ("/", "/search?q=task", "/api/v1/status", "/api/v1/search"):
        assert "etag" not in site.get(untagged).headers
