"""A node's own addresses, as its callers see them: https behind a proxy that says so, and no stranger's word counts."""

import re
import socket
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[4]
NAME = "search.example.edu"
HTTPS = f"https://{NAME}"
PAGE = "http://docs.python.test/3/tutorial/appetite.html"
PASSED_ON = {"Host": NAME, "X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"}
ALL_WITH_OWN_ADDRESSES = (
    "/opensearchdescription.xml",
    "/search?q=task&format=rss",
    "/search?q=task&format=atom",
    "/yacysearch.json?query=task",
    "/yacysearch.rss?query=task",
    f"/timegate/{PAGE}",
    f"/timemap/link/{PAGE}",
    f"/cache/raw?url={PAGE}",
)


@pytest.fixture
def proxied(start: Any) -> Any:
    return start(web_names=(NAME,), web_trusted_proxies=("127.0.0.1",))


def own_addresses(reply: Any) -> set[str]:
    """The schemes and hosts of all addresses in an answer that are this node's: no page's, and no format's name."""
    found = re.findall(r'\bhttps?://[^/\s"<>]+', f"{reply.headers.get('location', '')} {reply.headers} {reply.text}")
    others = ("docs.python.test", "mirror.test", "a9.com", "www.w3.org", "zh.debian.test", "evil.test", "yacy.net")
    return {each for each in found if not each.endswith(others)}


@pytest.mark.parametrize("path", ALL_WITH_OWN_ADDRESSES)
def test_every_address_of_its_own_is_https_behind_a_proxy_that_ends_it(proxied: Any, path: str) -> None:
    assert own_addresses(proxied.get(path, **PASSED_ON)) == {HTTPS}
    direct = {f"http://127.0.0.1:{proxied.port}"}
    assert own_addresses(proxied.get(path)) == direct


def test_a_proxy_that_names_itself_as_host_names_the_callers_host_beside(proxied: Any) -> None:
    """Apache does so unless it is told to preserve the host."""
    passed_on = {**PASSED_ON, "Host": f"127.0.0.1:{proxied.port}", "X-Forwarded-Host": f"{NAME}:8443"}
    assert own_addresses(proxied.get("/opensearchdescription.xml", **passed_on)) == {f"{HTTPS}:8443"}


def test_the_header_of_rfc_7239_says_the_same_where_it_is_the_one_that_is_read(start: Any) -> None:
    site = start(web_names=(NAME,), web_trusted_proxies=("127.0.0.1",), web_proxy_header="Forwarded")
    forged, outer = "for=192.0.2.1;proto=http;host=evil.test", f'For="[2001:db8::9]:4711";Proto=HTTPS;Host="{NAME}:443"'
    said = f"{forged}, {outer}, for=127.0.0.1"
    assert own_addresses(site.get("/opensearchdescription.xml", Forwarded=said)) == {HTTPS}
    assert own_addresses(site.get("/opensearchdescription.xml", Host=NAME, Forwarded="for=_x;proto=https")) == {HTTPS}
    ignored = site.get("/opensearchdescription.xml", **PASSED_ON)
    assert own_addresses(ignored) == {f"http://{NAME}"}, "the other headers are as a caller wrote them"


@pytest.mark.parametrize(
    "hostile",
    [
        {"X-Forwarded-Proto": "https, http"},
        {"X-Forwarded-Proto": "https,https"},
        {"X-Forwarded-Proto": "javascript"},
        {"X-Forwarded-Proto": '"https"'},
        {"X-Forwarded-Proto": "https://evil.test/?"},
        {"X-Forwarded-Proto": ""},
        {"X-Forwarded-Host": "evil.test"},
        {"X-Forwarded-Host": f"{NAME}, evil.test"},
        {"X-Forwarded-Host": f"{NAME}, {NAME}:8443"},
        {"X-Forwarded-Host": "198.51.100.7"},
        {"X-Forwarded-Host": f"{NAME}:99999"},
        {"X-Forwarded-Host": f"{NAME}:0"},
        {"X-Forwarded-Host": f"{NAME}@evil.test"},
        {"X-Forwarded-Host": f"{NAME}/<b>"},
        {"X-Forwarded-Host": f'"{NAME}:8443"'},
        {"X-Forwarded-Host": "localhost\t:80"},
        {"Forwarded": "for=203.0.113.9;proto=https;host=evil.test"},
    ],
    ids=str,
)
def test_odd_words_of_a_proxy_leave_the_address_that_was_asked(proxied: Any, hostile: dict[str, str]) -> None:
    asked = {"Host": NAME, "X-Forwarded-For": "203.0.113.9", **hostile}
    assert own_addresses(proxied.get("/opensearchdescription.xml", **asked)) == {f"http://{NAME}"}


@pytest.mark.parametrize(
    "lines",
    [
        b"X-Forwarded-Proto: https\r\nX-Forwarded-Proto: http",
        b"X-Forwarded-Proto: http\r\nX-Forwarded-Proto: https",
        b"X-Forwarded-Host: localhost\r\nX-Forwarded-Host: evil.test",
        b"X-Forwarded-Proto: https\r\n evil: x",
        b"X-Forwarded-Proto: ht\xfftps",
        b"X-Forwarded-Host: local\x00host",
    ],
)
def test_headers_that_came_twice_or_broken_count_for_nothing(proxied: Any, lines: bytes) -> None:
    answer = raw(proxied, b"GET /opensearchdescription.xml HTTP/1.1\r\nHost: localhost\r\n" + lines)
    own = set(re.findall(rb"https?://[^/\s\"<>]+/(?:search|suggest|favicon)", answer))
    assert {each.rpartition(b"/")[0] for each in own} <= {b"http://localhost"}
    assert b" 200 " in answer[:20] or b" 400 " in answer[:20]


def test_a_target_with_a_host_of_its_own_names_no_other_node(proxied: Any) -> None:
    answer = raw(proxied, b"GET http://evil.test/opensearchdescription.xml HTTP/1.1\r\nHost: localhost")
    assert b'template="http://localhost/search' in answer and b"evil.test" not in answer


def raw(site: Any, head: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", site.port), timeout=10) as connection:
        connection.sendall(head + b"\r\nConnection: close\r\n\r\n")
        answer = b""
        while part := connection.recv(65536):
            answer += part
    return answer


@pytest.mark.parametrize("proxies", [(), ("192.0.2.1",)])
def test_who_is_no_named_proxy_is_not_believed(start: Any, token: str, proxies: tuple[str, ...]) -> None:
    site = start(web_names=(NAME,), web_trusted_proxies=proxies)
    passed_on = {**PASSED_ON, "X-Forwarded-Host": "localhost", "Forwarded": "proto=https;host=localhost"}
    for path in ALL_WITH_OWN_ADDRESSES:
        assert own_addresses(site.get(path, **passed_on)) == {f"http://{NAME}"}
    assert "Secure" not in logged_in(site, token, passed_on)


def logged_in(site: Any, token: str, headers: dict[str, str]) -> str:
    """Follow a link that the owner's program made; return the cookie as it was set."""
    order = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    path = site.send("POST", "/api/v1/login", b"{}", **order).json["path"]
    return str(site.get(path, **headers).headers["set-cookie"])


@pytest.mark.parametrize("port", ["", ":443", ":8443"])
def test_cookies_are_secure_and_forms_of_the_https_page_are_own(proxied: Any, token: str, port: str) -> None:
    """A proxy may name the port that a browser leaves out."""
    page = {**PASSED_ON, "Host": f"{NAME}{port}", "Origin": HTTPS + port.replace(":443", "")}
    cookie = logged_in(proxied, token, page)
    assert "; Secure" in cookie and cookie.startswith(f"dse-{port[1:] or 443}=")
    browser = {**page, "Cookie": cookie.partition(";")[0]}
    form = {"Content-Type": "application/x-www-form-urlencoded", **browser}
    set_, forgotten = (
        proxied.send("POST", "/sites", body, **form) for body in (b"set=block+a.test", b"set=forget+a.test")
    )
    assert proxied.send("POST", "/owner/pause", b"paused=1", **form).status == 303
    ended = proxied.send("POST", "/logout", **browser)
    for reply in (set_, forgotten, ended):
        assert reply.status == 303 and "; Secure" in reply.headers["set-cookie"], reply
        assert not reply.headers["location"].startswith("http"), "where a redirect leads is a path"


def test_nginx_as_the_documents_set_it_up_passes_on_all_of_that(proxied: Any) -> None:
    """The headers that docs/campus.md has nginx set, for a caller that forges each of them."""
    text = (ROOT / "docs" / "campus.md").read_text()
    set_ = re.findall(r"^ +proxy_set_header (\S+) (\S+);$", text, re.M)
    values = {"$http_host": f"{NAME}:8443", "$scheme": "https", "$proxy_add_x_forwarded_for": "127.0.0.1, 203.0.113.9"}
    headers = {"X-Forwarded-Host": "evil.test", "Forwarded": "for=127.0.0.1;proto=http"}
    headers |= {name: values[variable] for name, variable in set_}
    assert own_addresses(proxied.get("/opensearchdescription.xml", **headers)) == {f"{HTTPS}:8443"}
    for path in ("/metrics", "/status", "/api/v1/status", "/api/v1/peers"):
        assert proxied.get(path, **headers).status == 401


def test_nothing_else_of_the_web_makes_an_address_of_a_requests_scheme_or_host() -> None:
    web = ROOT / "node" / "web"
    own = web / "requests" / "own_origin.py"
    makers = r"request\.(?:scheme|host|url|secure)\b"
    found = [path for path in web.rglob("*.py") if path != own and re.search(makers, path.read_text())]
    assert found == []
