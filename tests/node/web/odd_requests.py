"""Requests as strangers make them who mean no good, or whose programs are broken: every route, with odd values in every
place that a request has. Bytes as they are sent, in an order of chance by a seed."""

import socket
from collections.abc import Iterator, Sequence
from http.client import HTTPException, HTTPResponse
from random import Random
from typing import NamedTuple

from node.web.requests.route_table import ROUTES
from node.web.requests.routes import FORM, HttpRoute

Fields = Sequence[tuple[bytes, bytes]]

URLS = (
    *(
        b"http://[::1",
        b"//[x",
        b"http://a:99999/",
        b"http://a:x/",
        b"http://a:80:80/",
        b"http://",
        b"http:///x",
        b"[::1",
    ),
    *(
        b"http://%00/",
        b"http://a/%ff",
        b"http://xn--a/",
        b"http://u:p@a/",
        b"http://1.2.3.4.5/",
        b"ftp://a/",
        b"*.",
        b"*",
    ),
    *(b"http://\xe2\x84\x80/", b"http://[fe80::1%25eth0]/", b"javascript:1", b"http://a/" + b"b" * 3000),
)
VALUES = (
    *URLS,
    *(
        b"",
        b"%00",
        b"%ff%fe",
        b"%ED%A0%80",
        b"\xff",
        b"%F4%90%80%80",
        b"%",
        b"%zz",
        b"%0d%0aX: y",
        b"%E2%80%AE",
        b"%D9%A1",
    ),
    *(
        b"-1",
        b"9" * 5000,
        b"99999999",
        b"nan",
        b"inf",
        b"1e309",
        b"1.5",
        b"%C2%B2",
        b"true",
        b"=",
        b"+",
        b"(" * 200,
        b'"',
    ),
    *(b"0000", b"9999", b"999912", b"99991231235959", b"00000000000000", b"20240230", b"newest", b"block%20[::1"),
)
HOSTS = (
    *(
        b"localhost:99999",
        b"127.0.0.1:65536",
        b"[::1]:70000",
        b"[::1",
        b"[:::]",
        b"[1]",
        b"\xff",
        b"a b",
        b"localhost:-1",
    ),
    *(
        b"localhost:80:80",
        b"u@localhost",
        b"localhost/",
        b"[fe80::1%eth0]",
        b"127.1",
        b"localhost.",
        b"a" * 7000,
        b"%00",
    ),
)
TEXTS = (
    *(b"", b"\xff", b"\xed\xb0\x80", b'"', b'W/"\xff"', b",", b";;=", b"null", b"*", b"http://[::1", b"http://a:99999"),
    *(b"bytes=9-1", b"bytes=99999999999999999999-", b"-1", b"9" * 30, b"en;q=nan,zh;q=inf", b"en;q=1e999", b"x" * 7000),
    *(b"Thu, 99 Foo 99999 99:99:99 GMT", b"Mon, 01 Jan 0001 00:00:00 +9999", b"Mon, 01 Jan 9999 23:59:59 -2359", b"="),
    *(
        b'for="[::1',
        b"text/html;charset=\xff",
        b"multipart/form-data; boundary=",
        b"application/json;charset=x",
        b"upgrade",
    ),
    *(
        b"Bearer \xff",
        b"Bearer",
        b"Basic \xff",
        b"dse-80=\xff",
        b'a="\\377"',
        b"a=b;" * 1000,
        b"100-continue",
        b"chunked",
    ),
)
NAMES = (
    *(
        b"Authorization",
        b"Cookie",
        b"Origin",
        b"Referer",
        b"Accept",
        b"Accept-Language",
        b"Accept-Encoding",
        b"User-Agent",
    ),
    *(b"Accept-Datetime", b"If-None-Match", b"If-Match", b"If-Modified-Since", b"If-Range", b"Range", b"Content-Type"),
    *(
        b"X-Forwarded-For",
        b"X-Forwarded-Host",
        b"X-Forwarded-Proto",
        b"Forwarded",
        b"Expect",
        b"Upgrade",
        b"Connection",
    ),
    *(b"Content-Encoding", b"Content-Length", b"Transfer-Encoding", b"Sec-Purpose", b"Mcp-Session-Id", b"Date"),
)
BODIES = (
    *(
        b"",
        b"{}",
        b"[]",
        b"null",
        b'"',
        b"\xff",
        b"{",
        b"[" * 20_000,
        b"1e999",
        b'"\\ud800"',
        b"9" * 5000,
        b"a=%ff&a=%00",
    ),
    *(b'{"urls":["http://[::1"]}', b'{"urls":["\\u0000"]}', b'{"query":"\\ud800"}', b'{"q":null}', b'{"depth":1e999}'),
    b'{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{"name":"fetch","arguments":{"id":"http://[::1"}}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":null}}',
    *(b"go=" + b"%26".join([b"a%3Db"] * 400), b"back=" + b"%26".join([b"a%3Db"] * 400), b"&".join([b"a=b"] * 400)),
)
CODED = (b"none", b"\x1f\x8b\x08\0\0\0\0\0\0\0xxxx", b"\x78\x9c\xff\xff", b"\x28\xb5\x2f\xfd\0")
CHUNKS = (
    b"zz\r\n",
    b"-1\r\n",
    b"f" * 20 + b"\r\n",
    b"1\r\naXX",
    b"5;" + b"a" * 9000 + b"\r\nabcde\r\n0\r\n\r\n",
    b"5\r\nab",
)
TARGETS = (
    *(
        b"*",
        b"http://[::1/",
        b"http://localhost:99999/",
        b"//[x",
        b"//a:99999/",
        b"/\xff",
        b"/%ff",
        b"/%00",
        b"/" + b"a/" * 3000,
    ),
    *(b"https://u:p@localhost/", b"///", b"/[", b"?", b"http://\xff/", b"localhost:1", b"/nothing"),
)


PIECES = (b"%", b"\0", b"\r\n", b"\xff", b"&", b"=", b"%00", b"\r\n\r\n", b"[", b"%ff", b":", b" ", b"\n")
WITHIN_S = 0.3  # then no more of a request comes


class OddRequest(NamedTuple):
    """An odd request: its oddity, in words for a test that fails, and its bytes."""

    about: str
    sent: bytes


def odd_requests(port: int, token: str, seed: int, per_route: int) -> Iterator[OddRequest]:
    """Return some odd requests of every route, half of them as its owner; what ends the node is not asked for."""
    chance = Random(seed)
    for route in ROUTES:
        if route.name != "leave":
            for what, made in chance.sample(list(_of(route, port, token)), per_route):
                yield OddRequest(f"{route.method} {route.path} {what}", made)


def _of(route: HttpRoute, port: int, token: str) -> Iterator[tuple[str, bytes]]:
    method, path = route.method.encode(), route.path.replace("{url}", "http://a.test/").encode()
    needed = [b"%b=%b" % (each.name.encode(), b"http://a.test/") for each in route.parameters if each.default is None]
    target = path + b"?" + b"&".join(needed)
    body = b"" if method == b"GET" else b"&".join([b"%b=1" % each.name.encode() for each in route.form]) or b"{}"
    own = [(b"Origin", b"http://localhost:%d" % port), (b"Authorization", f"Bearer {token}".encode())]
    own += [(b"Content-Type", FORM.encode() if route.form else b"application/json")] * (method == b"POST")

    def request(fields: Fields = (), target: bytes = target, body: bytes = body, method: bytes = method) -> bytes:
        given = dict(fields)
        head = [(b"Host", b"localhost:%d" % port), (b"Connection", b"close"), (b"Accept", b"text/html"), *own]
        head += [(b"Content-Length", b"%d" % len(body))] * (b"Transfer-Encoding" not in given)
        lines = [b"%b: %b\r\n" % each for each in (*(each for each in head if each[0] not in given), *fields)]
        return b"%b %b HTTP/1.1\r\n%b\r\n%b" % (method, target, b"".join(lines), body)

    for host in HOSTS:
        yield f"Host {host[:40]!r}", request([(b"Host", host)])
        yield f"Host {host[:40]!r}, cookie", request([(b"Host", host), (b"Cookie", b"dse-80=a; dse-sites-80=b")])
    for name in NAMES:
        for text in TEXTS:
            yield f"{name!r} {text[:40]!r}", request([(name, text)])
    for name in {each.name.encode() for each in route.parameters} | {b"hl", b"q", b"\xff"}:
        for value in VALUES:
            yield f"{name!r}={value[:40]!r}", request(target=target + b"&%b=%b" % (name, value))
        yield f"400 of {name!r}", request(target=target + b"&%b=1" % name * 400)
    for value in URLS if "{url}" in route.path else ():
        yield f"path {value[:40]!r}", request(target=route.path.encode().replace(b"{url}", value))
    for other in TARGETS:
        yield f"target {other[:40]!r}", request([(b"Cookie", b"dse-80=a")], target=other)
    for verb in (b"HEAD", b"OPTIONS", b"PUT", b"TRACE", b"CONNECT", b"get"):
        yield f"verb {verb!r}", request(method=verb)
        yield f"verb {verb!r}, Host", request([(b"Host", b"localhost:99999"), (b"Cookie", b"a=b")], method=verb)
    if method != b"POST":
        return
    for each in BODIES:
        yield f"body {each[:60]!r}", request(body=each)
    for field in route.form:
        for value in VALUES:
            yield f"field {field.name}={value[:40]!r}", request(body=b"%b&%b=%b" % (body, field.name.encode(), value))
    for coding in (b"gzip", b"deflate", b"br", b"zstd", b"gzip, gzip"):
        for each in CODED:
            yield f"{coding!r} of {each!r}", request([(b"Content-Encoding", coding)], body=each)
    for each in CHUNKS:
        yield f"chunk {each[:20]!r}", request([(b"Transfer-Encoding", b"chunked")], body=each)


def changed(sent: bytes, chance: Random) -> bytes:
    """Return a request with something cut off, put in, or swapped."""
    at = chance.randrange(1, len(sent))
    match chance.randrange(4):
        case 0:
            return sent[:at]
        case 1:
            return sent[:at] + chance.randbytes(1) + sent[at + 1 :]
        case 2:
            return sent[:at] + chance.choice(PIECES) + sent[at:]
    return sent


def status_of(port: int, sent: bytes) -> int:
    """The status of the answer, 0 where there is none."""
    with socket.create_connection(("127.0.0.1", port), timeout=WITHIN_S) as connection:
        connection.sendall(sent)
        try:
            answer = HTTPResponse(connection)
            answer.begin()
            answer.read()
            return answer.status
        except (OSError, HTTPException):  # it waits for the rest, or is no HTTP/1.1
            return 0
