"""Captures as the network has them, awkward ones among them."""

from hashlib import sha256

from node.captures.capture import Capture

MADE_AT = 1_750_000_000.0
CHINESE = "<html><title>网页</title><p>分布式搜索引擎".encode("gb18030")


def capture(
    url: str, content: bytes, *headers: tuple[str, str], at: float = 1_700_000_000.25, **more: object
) -> Capture:
    """Make a capture of a page that was fetched with status 200, if `more` does not say otherwise."""
    fields: dict[str, object] = {"status": 200, "media_type": "text/html", "charset": "utf-8"} | more
    return Capture(url, at, headers=headers, content=content, content_digest=sha256(content).digest(), **fields)  # type: ignore[arg-type]


HTML = ("Content-Type", "text/html; charset=utf-8")
SAMPLES = (
    capture("http://a.example/", b"<p>plain", HTML, ("Content-Length", "8"), title="Plain"),
    capture("https://www.a.example:8443/x?b=2&a=1", CHINESE, ("Content-Type", "text/html; charset=gb18030"),
            ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), charset="gb18030", title="网页", language="zh"),
    capture("http://a.example/packed", b"<p>was gzip", HTML, ("Content-Encoding", "gzip"), ("Content-Length", "31"),
            ("transfer-encoding", "chunked"), at=1_700_000_001.0),
    capture("http://a.example/deflated", b"<p>was deflate", HTML, ("Content-Encoding", "deflate")),
    capture("http://a.example/missing", b"<h1>no", HTML, status=404),
    capture("http://a.example/empty", b"", ("Content-Type", "text/plain"), media_type="text/plain", charset=""),
    capture("http://a.example/unheaded", b"<p>no head", charset="utf-8"),
    capture("http://a.example/unheaded-error", b"<p>no head", status=500),
    capture("http://a.example/odd", b"\x00\xff\r\n\r\nWARC/1.1\r\n", ("X-Odd", "a\r\nContent-Length: 5"), ("X-Ü", "ü"),
            media_type="application/octet-stream", charset=""),
    capture("http://b.example/asked", b"<p>asked", HTML, request=(("Host", "b.example"), ("User-Agent", "dse"))),
    capture("http://b.example/lines", b"<p>lines", HTML, ("X-Lines", "one\u2028two\x85three")),
    capture("http://b.example/again", b"<p>asked", HTML, at=-5.0),
)  # fmt: skip
FORBIDDEN = capture("http://c.example/secret", b"<p>do not copy me", HTML, noarchive=True)
