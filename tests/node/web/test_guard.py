"""The guard refuses requests from a rebound name and requests that take too much. None learns about errors inside."""

import json
import logging
import socket
import threading
from http.client import HTTPResponse
from typing import Any
from urllib.parse import unquote_plus

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from node.config.settings import NodeConfig
from node.web.guard import Guard
from node.web.monitoring import Metrics
from node.web.owner.login import Logins
from node.web.requests.route_table import route


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8090", "localhost", "LOCALHOST:1", "[::1]:8090", "192.168.1.7", "search.home"]
)
def test_own_names_and_addresses_are_served(start: Any, host: str) -> None:
    site = start(web_names=("search.home",))
    assert site.get("/api/v1/status", Host=host).status == 200


@pytest.mark.parametrize(
    "host", ["evil.test", "127.0.0.1.evil.test", "localhost.evil.test:8090", "", "[::1].evil.test"]
)
def test_a_name_that_points_here_is_not_served(site: Any, host: str) -> None:
    reply = site.get("/api/v1/status", Host=host)
    assert reply.status in (400, 421)
    assert "node_id" not in reply.text


@pytest.mark.parametrize(
    ("request_line", "fields", "status"),
    [
        (b"GET /readyz HTTP/1.0", (), 200),
        (b"GET /healthz HTTP/1.0", (), 200),
        (b"HEAD /readyz HTTP/1.1", (b"Host:",), 200),
        (b"GET /readyz HTTP/1.1", (b"Host: backend_1",), 200),
        (b"GET /readyz HTTP/1.1", (b"Host: dse-node:8090",), 200),
        (b"GET /healthz HTTP/1.1", (b"Host: 10-1-2-3.pods.cluster.local.:8090",), 200),
        (b"OPTIONS / HTTP/1.0", (), 204),
        (b"GET /opensearchdescription.xml HTTP/1.0", (), 200),
        (b"GET /api/v1/status HTTP/1.0", (b"Host: backend_1",), 421),
        (b"GET /healthz HTTP/1.1", (), 400),
        (b"GET /healthz HTTP/1.1", (b"Host: a", b"Host: b"), 400),
    ],
)
def test_whoever_watches_health_needs_no_name_of_ours(
    site: Any, request_line: bytes, fields: tuple[bytes, ...], status: int
) -> None:
    answer = raw_answer(site.port, b"\r\n".join((request_line, *fields, b"Connection: close", b"", b"")))
    assert answer.status == status
    assert b"opensearch" not in request_line or f"http://127.0.0.1:{site.port}/" in answer.read().decode()


@pytest.mark.parametrize(
    ("typed", "status"),
    [("%E8%8C%B6" * 950, 200), ("%E8%8C%B6" * 4_500, 200), ("x+" * 20_000, 200), ("x" * 41_000, 414)],
)
def test_a_long_query_is_kept_in_the_box_and_one_beyond_reason_gets_a_page(site: Any, typed: str, status: int) -> None:
    reply = site.get(f"/search?q={typed}", Accept="text/html")
    assert (reply.status, reply.headers["content-type"][:9]) == (status, "text/html")
    assert status != 200 or f'value="{unquote_plus(typed).strip()}"' in reply.text


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("GET /api/v1/search?q=天气 HTTP/1.1", "%-encoded UTF-8"),
        ("GET /api/v1/search?q=opening hours HTTP/1.1", "%-encoded UTF-8"),
        ("hello", "Invalid method"),
    ],
)
def test_what_is_no_http_gets_the_nodes_own_answer(site: Any, line: str, words: str) -> None:
    answer = raw_answer(site.port, f"{line}\r\nHost: localhost\r\n\r\n".encode())
    problem = json.loads(answer.read())
    assert (answer.status, answer.headers["Content-Type"]) == (400, "application/problem+json")
    assert answer.headers["Server"] == "dse-node" and words in problem["detail"] and problem["title"] == "Bad Request"


def test_a_wrong_method_or_address_learns_what_there_is(site: Any) -> None:
    assert (
        site.send("POST", "/api/v1/search", b"{}").json["detail"] == "This address takes GET, HEAD, OPTIONS, not POST."
    )
    assert "/openapi.json" in site.get("/api/v1/serch").json["detail"]


def raw_answer(port: int, sent: bytes) -> HTTPResponse:
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(sent)
        answer = HTTPResponse(connection)
        answer.begin()
        return answer


def test_every_answer_has_the_headers(site: Any) -> None:
    for path in ("/", "/api/v1/status", "/nothing", "/api/v1/search", "/metrics", "/style.css"):
        headers = site.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["server"] == "dse-node"
        assert "access-control-allow-origin" not in headers
    assert site.get("/search?q=task").headers["cache-control"] == "no-store"


def test_a_bug_is_a_500_without_internals_logged_once(site: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        reply = site.get("/api/v1/search?q=!bug")
        page = site.get("/search?q=!bug", Accept="text/html")
    assert reply.status == page.status == 500
    for text in (reply.text, page.text):
        assert "Unforeseen" not in text
        assert "secret" not in text
    failures = [record for record in caplog.records if "request failed" in record.getMessage()]
    assert len(failures) == 2
    assert "!bug" not in failures[0].getMessage()


def test_a_network_that_lacks_nodes_is_no_error_of_this_machine(site: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        assert site.get("/api/v1/search?q=!refused").status == 503
    levels = [record.levelno for record in caplog.records if "request refused" in record.getMessage()]
    assert levels == [logging.INFO]


def test_wrong_methods_and_bodies_are_problems(site: Any, token: str) -> None:
    reply = site.send("POST", "/api/v1/search", b"")
    assert reply.status == 405
    assert "GET" in reply.headers["allow"]
    assert reply.headers["content-type"].startswith("application/problem+json")
    large = b'{"urls": ["' + b"x" * (2 << 20) + b'"]}'
    headers = {"Authorization": f"Bearer {token}", "Content_Type": "application/json"}
    assert site.send("POST", "/api/v1/crawl", large, **headers).status == 413


def test_a_request_ends_in_time(start: Any) -> None:
    site = start(web_timeout_s=0.2)
    reply = site.get("/api/v1/search?q=!wait")
    assert reply.status == 504
    assert "retry-after" in reply.headers


def test_too_many_at_once_are_asked_to_come_back_and_health_still_answers(start: Any) -> None:
    site = start(web_max_requests=1)
    slow = threading.Thread(target=site.get, args=("/api/v1/search?q=!wait",), daemon=True)
    slow.start()
    for _ in range(1000):
        if site.service.asked:
            break
        site.get("/healthz")
    reply = site.get("/api/v1/status")
    assert reply.status == 503
    assert reply.headers["retry-after"] == "1"
    assert site.get("/healthz").status == 200
    site.loop.call_soon_threadsafe(site.service.gate.set)
    slow.join(5)
    assert site.get("/api/v1/status").status == 200


def test_garbage_does_no_harm_and_no_question_in_it_is_logged(site: Any, caplog: pytest.LogCaptureFixture) -> None:
    question = b"GET /search?q=my+secret&x=" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for garbage in (
        b"\x00" * 100,
        b"\x16\x03\x01\x02\x00",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /" + b"a" * 20_000,
        question,
    ):
        with socket.create_connection(("127.0.0.1", site.port), timeout=5) as connection:
            connection.sendall(garbage)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(4096):
                pass
    assert site.get("/healthz").text == "ok\n"
    assert "secret" not in caplog.text and "Traceback" not in caplog.text


FAR = "198.51.100.7"  # of TEST-NET-2, RFC 5737
FORM, JSON = b"Content-Type: application/x-www-form-urlencoded", b"Content-Type: application/json"


async def ask_from(guard: Guard, remote: str, name: str = "suggest", **headers: str) -> web.StreamResponse:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(text="{}")

    found = route(name)
    request = make_mocked_request(found.method, found.path, headers=headers).clone(remote=remote)
    return await guard.wrap(found, answer)(request)


async def test_a_caller_that_asks_too_often_is_told_when_to_ask_again(token: str) -> None:
    guard = Guard(NodeConfig(web_caller_per_s=0.5, web_caller_burst=2), token, Metrics(), pytest.fail, Logins(str))
    assert [(await ask_from(guard, FAR)).status for _ in range(2)] == [200, 200]
    refused = await ask_from(guard, FAR, "search")
    assert isinstance(refused, web.Response) and isinstance(refused.body, bytes)
    assert (refused.status, refused.content_type) == (429, "application/problem+json")
    assert refused.headers["Retry-After"] in ("1", "2")
    assert "0.5 a second, and 2 at once" in json.loads(refused.body)["detail"]
    assert (await ask_from(guard, "198.51.100.8")).status == 200
    assert (await ask_from(guard, "127.0.0.1")).status == 200
    for uncounted in ("healthz", "style"):
        assert (await ask_from(guard, FAR, uncounted)).status == 200


async def test_a_dear_request_uses_more_of_a_callers_allowance(token: str) -> None:
    guard = Guard(NodeConfig(web_caller_per_s=0.01, web_caller_burst=43), token, Metrics(), pytest.fail, Logins(str))
    assert [(await ask_from(guard, FAR, "cdx")).status for _ in range(3)] == [200, 200, 429]
    assert [(await ask_from(guard, FAR, "suggest")).status for _ in range(4)] == [200, 200, 200, 429]
    refused = await ask_from(guard, FAR, "documents")
    assert isinstance(refused, web.Response) and isinstance(refused.body, bytes)
    assert "This one counts as 20." in json.loads(refused.body)["detail"]
    for own in ("cdx", "metrics") * 9:
        assert (await ask_from(guard, "127.0.0.1", own)).status == 200
    small = Guard(NodeConfig(web_caller_per_s=1.0, web_caller_burst=5), token, Metrics(), pytest.fail, Logins(str))
    assert [(await ask_from(small, FAR, "cdx")).status for _ in range(2)] == [200, 429], "a full bucket pays for any"


async def test_figures_are_limited_for_strangers(token: str) -> None:
    guard = Guard(NodeConfig(web_caller_per_s=0.01, web_caller_burst=5), token, Metrics(), pytest.fail, Logins(str))
    assert [(await ask_from(guard, FAR, "metrics")).status for _ in range(3)] == [200, 200, 429]
    assert (await ask_from(guard, "127.0.0.1", "metrics")).status == 200


ODD = {
    "port": (b"GET", b"/", (b"Host: localhost:99999", b"Cookie: dse-80=a"), b""),
    "port of a site's rules": (b"GET", b"/sites/rules.txt", (b"Host: 127.0.0.1:65536",), b""),
    "token": (b"GET", b"/api/v1/status", (b"Host: localhost", b"Authorization: Bearer \xff"), b""),
    "expectation": (b"GET", b"/nothing", (b"Host: localhost", b"Expect: \xff"), b""),
    "gzip": (b"POST", b"/search", (b"Host: localhost", FORM, b"Content-Encoding: gzip"), b"no gzip"),
    "brotli": (
        b"POST",
        b"/clients/open-webui/search",
        (b"Host: localhost", JSON, b"Content-Encoding: br"),
        b"no brotli",
    ),
    "fields of a button": (b"POST", b"/search", (b"Host: localhost", FORM), b"go=" + b"%26".join([b"a%3Db"] * 400)),
    "fields to lead back": (
        b"POST",
        b"/sites",
        (b"Host: localhost", FORM, b"Origin: http://localhost"),
        b"set=block+a.test&back=" + b"%26".join([b"a%3Db"] * 400),
    ),
}


@pytest.mark.parametrize("is_page", [False, True])
@pytest.mark.parametrize("name", ODD)
def test_what_cannot_be_read_is_a_problem_in_words_and_counts(
    start: Any, name: str, is_page: bool, caplog: pytest.LogCaptureFixture
) -> None:
    site = start(web_trusted_proxies=("127.0.0.1",), web_caller_per_s=0.01, web_caller_burst=2)
    method, target, fields, body = ODD[name]
    asked = (*fields, b"X-Forwarded-For: 198.51.100.7", b"Content-Length: %d" % len(body), b"Connection: close")
    asked += (b"Accept: text/html",) if is_page else ()
    sent = b"\r\n".join((b"%b %b HTTP/1.1" % (method, target), *asked, b"", body))
    answers = []
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", site.port), timeout=5) as connection:
            connection.sendall(sent)
            answer = HTTPResponse(connection)
            answer.begin()
            answers.append((answer.status, answer.headers["Content-Type"], answer.read().decode()))
    assert [status for status, *_ in answers] == [400, 400, 429]
    for _, media_type, text in answers:
        assert media_type.startswith(
            "text/html" if is_page and not target.startswith(b"/api/") else "application/problem+json"
        ), text
        assert len(text) > 50 and "Error" not in text
    assert not caplog.text


def test_what_no_route_serves_counts_as_well(start: Any) -> None:
    site = start(web_trusted_proxies=("127.0.0.1",), web_caller_per_s=0.01, web_caller_burst=5, web_origins=("*",))
    asked = [
        site.get("/nothing", X_Forwarded_For=FAR),
        site.get("/", X_Forwarded_For=FAR, Host="evil.test"),
        site.send("POST", "/status", b"", X_Forwarded_For=FAR),
        site.send("OPTIONS", "/api/v1/search", X_Forwarded_For=FAR),
        site.get("/status", X_Forwarded_For=FAR, Expect="a miracle"),
    ]
    assert [reply.status for reply in asked] == [404, 421, 405, 204, 417]
    assert {reply.headers["server"] for reply in asked} == {"dse-node"}
    refused = [
        site.get("/nothing", X_Forwarded_For=FAR),
        site.get("/", X_Forwarded_For=FAR, Host="evil.test"),
        site.send("OPTIONS", "/api/v1/search", X_Forwarded_For=FAR),
    ]
    assert [reply.status for reply in refused] == [429] * 3


def test_a_log_tells_of_few_of_many_requests_that_fail(site: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        for _ in range(60):
            assert site.get("/api/v1/search?q=!bug").status == 500
    assert 1 <= len(caplog.records) <= 15


async def test_behind_a_proxy_that_is_named_each_caller_counts_by_itself(token: str) -> None:
    settings = NodeConfig(web_caller_per_s=0.01, web_caller_burst=1, web_trusted_proxies=("127.0.0.1",))
    guard = Guard(settings, token, Metrics(), pytest.fail, Logins(str))
    asked = ["198.51.100.7", "1.2.3.4, 198.51.100.7", "198.51.100.8"]
    told = [(await ask_from(guard, "127.0.0.1", **{"X-Forwarded-For": each})).status for each in asked]
    assert told == [200, 429, 200]
    assert (await ask_from(guard, "127.0.0.1")).status == 200, "a program of this machine comes by no proxy"


async def test_the_owners_token_is_not_limited_and_guesses_of_it_are(token: str) -> None:
    guard = Guard(NodeConfig(web_caller_per_s=0.01, web_caller_burst=3), token, Metrics(), pytest.fail, Logins(str))
    guesses = [(await ask_from(guard, FAR, "pause", Authorization=f"Bearer {n}")).status for n in range(5)]
    assert guesses == [401, 401, 401, 429, 429]
    for name in ("pause", "search"):
        assert (await ask_from(guard, FAR, name, Authorization=f"Bearer {token}")).status == 200


PRIVATE = ("/metrics", "/status", "/api/v1/status", "/api/v1/peers", "/api/v1/slots")
PASSED_ON = (
    {"X-Forwarded-For": FAR},
    {"X-Forwarded-For": "127.0.0.1"},
    {"Forwarded": f"for={FAR}"},
    {"X-Real-IP": FAR},
    {"X-Forwarded-Proto": "https"},
    {"Via": "1.1 proxy"},
)


@pytest.mark.parametrize("proxies", [(), ("127.0.0.1",)])
@pytest.mark.parametrize("path", PRIVATE)
def test_what_tells_of_members_and_of_the_machine_is_told_to_no_stranger_of_a_proxy(
    start: Any, token: str, path: str, proxies: tuple[str, ...]
) -> None:
    site = start(web_trusted_proxies=proxies)
    told = site.get(path)
    assert told.status == 200, "a program of this machine, and a machine that reaches the listener itself"
    for passed_on in PASSED_ON:
        for method in ("GET", "HEAD"):
            assert site.send(method, path, **passed_on).status == 401, passed_on
        refused = site.get(path, Accept="text/html", **passed_on)
        assert "8091" not in refused.text and "dse_peers" not in refused.text and "ab" * 6 not in refused.text
        assert site.get(path, Authorization=f"Bearer {token}", **passed_on).status == 200, "the owner"


def test_no_page_leads_a_stranger_of_a_proxy_to_what_is_not_shown(site: Any) -> None:
    stranger = {"X-Forwarded-For": FAR}
    for path in ("/", "/search?q=task", "/help", "/nothing"):
        for more, is_led in (({}, True), (stranger, False)):
            assert ('href="/status' in site.get(path, Accept="text/html", **more).text) is is_led, path
    assert site.get("/readyz", **stranger).status == site.get("/healthz", **stranger).status == 200
