"""The answers of one web in the odd forms that real servers give them: heads, framing, codings, types, redirects."""

import gzip
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace

LENGTH, TYPE, TRANSFER, CHUNKED = (
    b"Content-Length",
    b"Content-Type",
    b"Transfer-Encoding",
    b"Transfer-Encoding: chunked",
)
POLICY = b"Content-Security-Policy: " + b"script-src 'sha256-abcdefghijklmnopqrstuvwxyz0123456789' " * 160


@dataclass(frozen=True)
class Asked:
    """A request as far as it matters here; `base`: scheme, host and port."""

    base: str
    target: str
    cookie: str = ""


@dataclass(frozen=True)
class Plain:
    """An answer before it is made odd. `about`: fields of the head other than type, length and coding."""

    body: bytes
    type: bytes = b"text/html; charset=utf-8"
    about: tuple[bytes, ...] = ()
    status: bytes = b"HTTP/1.1 200 OK"
    end: bytes = b"\r\n"
    codings: dict[str, str] = field(default_factory=dict)

    def sent(self, *lines: bytes, body: bytes | None = None, is_typed: bool = True) -> bytes:
        """Write it with these lines first; without a length it ends with the connection."""
        kind = (TYPE + b": " + self.type,) if is_typed else ()
        return self.end.join((self.status, *lines, *kind, *self.about, b"", self.body if body is None else body))

    def whole(self, *lines: bytes, is_typed: bool = True) -> bytes:
        return self.sent(*lines, length(self.body), is_typed=is_typed)

    def coded(self, name: bytes, body: bytes) -> bytes:
        return self.sent(b"Content-Encoding: " + name, length(body), body=body)

    def typed(self, value: bytes) -> bytes:
        return replace(self, type=value).whole()

    def chunks(self, body: bytes, *lines: bytes) -> bytes:
        return self.sent(CHUNKED, *lines, body=body)


Form = Callable[[Plain, Asked], bytes]


def length(body: bytes) -> bytes:
    return LENGTH + b": %d" % len(body)


def chunked(body: bytes, end: bytes = b"\r\n", size: str = "%x", last: bytes | None = None) -> bytes:
    """Cut a body into chunks of 5,000 bytes. `end`: of lines; `size`: how its length is written."""
    parts = [body[at : at + 5000] for at in range(0, len(body), 5000)]
    written = [(size % len(part)).encode() + end + part + end for part in parts]
    return b"".join(written) + (b"0" + end + end if last is None else last)


def moved(to: str, *lines: bytes, status: bytes = b"301 Moved", size: int = 0) -> bytes:
    return b"\r\n".join((b"HTTP/1.1 " + status, b"Location: " + to.encode(), LENGTH + b": %d" % size, *lines, b"", b""))


def spelt(word: str) -> Callable[[Asked], str]:
    """Another spelling of a target: with a parameter that counts clicks, or names a session."""
    return lambda asked: f"{asked.target}{'&' if '?' in asked.target else '?'}{word}"


def redirect(
    to: Callable[[Asked], str], *lines: bytes, status: bytes = b"302 Found", cookie: str = "", size: int = 0
) -> Form:
    """Redirect once: what asks with the target's spelling or the cookie gets the page."""

    def form(plain: Plain, asked: Asked) -> bytes:
        return plain.whole() if _has_come(asked, cookie) else moved(to(asked), *lines, status=status, size=size)

    return form


def refresh(to: Callable[[Asked], str], markup: str = "", *lines: bytes, cookie: str = "") -> Form:
    """Move readers at once, by markup or by lines of the head."""

    def form(plain: Plain, asked: Asked) -> bytes:
        if _has_come(asked, cookie):
            return plain.whole()
        there = to(asked)
        body = (markup.format(there) or "<title>Wait</title><p>One moment, please.").encode()
        return Plain(body).whole(*(line.replace(b"{}", there.encode()) for line in lines))

    return form


def _has_come(asked: Asked, cookie: str) -> bool:
    return cookie in asked.cookie if cookie else any(word in asked.target for word in (UTM, SID, "%2E"))


UTM, SID, SET = "utm_source=odd", "PHPSESSID=0dd", b"Set-Cookie: seen=1; Path=/; HttpOnly"
META = "<!doctype html><html><head><meta http-equiv='refresh' content=\"0; url={}\"></head><body></body></html>"
LATER = "<title>Moved</title><p>Please wait<META HTTP-EQUIV=Refresh CONTENT=\"0;URL='{}'\">"
Own = Callable[[Asked], str]
SAME: Own = lambda asked: asked.target  # noqa: E731

HEADS: dict[str, Form] = {
    "9 kB of a policy": lambda p, _: p.whole(POLICY),
    "60 kB of fields": lambda p, _: p.whole(*[POLICY[:7000]] * 9),
    "60 kB in one field": lambda p, _: p.whole(POLICY * 6),
    "a line without a colon": lambda p, _: p.whole(b"PHP Warning: no", b"in line 3"),
    "bare line feeds": lambda p, _: replace(p, end=b"\n").whole(b"X-A: b"),
    "bare line feeds and an odd line": lambda p, _: replace(p, end=b"\n").whole(b"odd"),
    "a field that goes on": lambda p, _: p.whole(b"X-Long: one", b"\ttwo", b" three"),
    "a type that goes on": lambda p, _: p.whole(TYPE + b":", b" " + p.type, is_typed=False),
    "a name with spaces": lambda p, _: p.whole(b"Power by: Auto", b"X-Cache : HIT"),
    "bytes that are no UTF-8": lambda p, _: p.whole(b"X-Place: K\xf6ln", b"Gr\xf6\xdfe: 7"),
    "a NUL": lambda p, _: p.whole(b"X-A: b\0c"),
    "empty lines before": lambda p, _: b"\r\n\r\n" + p.whole(),
    "hints before": lambda p, _: b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n" + p.whole(),
    "continue before": lambda p, _: b"HTTP/1.1 100 Continue\r\n\r\n" + p.whole(b"odd"),
    "no reason": lambda p, _: replace(p, status=b"HTTP/1.1 200").whole(),
    "a reason in Latin-1": lambda p, _: replace(p, status=b"HTTP/1.1 200 Gew\xe4hrt").whole(),
    "small letters": lambda p, _: replace(p, status=b"http/1.1 200 ok").whole(),
    "HTTP/1.0 without a length": lambda p, _: replace(p, status=b"HTTP/1.0 200 OK").sent(),
    "status 203": lambda p, _: replace(p, status=b"HTTP/1.1 203 Transformed").whole(),
    "status 202": lambda p, _: replace(p, status=b"HTTP/1.1 202 Accepted").whole(),
    "300 cookies": lambda p, _: p.whole(*(b"Set-Cookie: c%d=%d; Path=/" % (n, n) for n in range(300))),
}
FRAMING: dict[str, Form] = {
    "no length": lambda p, _: p.sent(b"Connection: close"),
    "chunks": lambda p, _: p.chunks(chunked(p.body)),
    "chunks with bare line feeds": lambda p, _: p.chunks(chunked(p.body, b"\n")),
    "a head and chunks with bare line feeds": lambda p, _: replace(p, end=b"\n").chunks(chunked(p.body, b"\n")),
    "sizes with bare line feeds alone": lambda p, _: p.chunks(b"%x\n%b\r\n0\r\n\r\n" % (len(p.body), p.body)),
    "chunks that end with bare line feeds": lambda p, _: p.chunks(b"%x\r\n%b\n0\r\n\r\n" % (len(p.body), p.body)),
    "chunks whose sizes are padded": lambda p, _: p.chunks(chunked(p.body, size="%x      ")),
    "chunks whose sizes have zeros": lambda p, _: p.chunks(chunked(p.body, size="%08X")),
    "chunks with extensions": lambda p, _: p.chunks(chunked(p.body, size="%x;name=value; other")),
    "a trailer without a colon": lambda p, _: p.chunks(chunked(p.body, last=b"0\r\nodd\r\n\r\n")),
    "a trailer with bare line feeds": lambda p, _: p.chunks(chunked(p.body, last=b"0\nX-Sum: 1\n\n")),
    "no line after the last chunk": lambda p, _: p.chunks(chunked(p.body, last=b"0\r\n")),
    "no last chunk": lambda p, _: p.chunks(chunked(p.body, last=b"")),
    "chunks and a length": lambda p, _: p.chunks(chunked(p.body), LENGTH + b": 77"),
    "chunks twice": lambda p, _: p.chunks(chunked(p.body), CHUNKED),
    "chunks of HTTP/1.0": lambda p, _: replace(p, status=b"HTTP/1.0 200 OK").chunks(chunked(p.body)),
    "chunks in capitals": lambda p, _: p.sent(b"Transfer-Encoding: Chunked", body=chunked(p.body)),
    "chunks that keep their connection": lambda p, _: p.chunks(chunked(p.body), b"Connection: keep-alive"),
    "identity": lambda p, _: p.whole(b"Transfer-Encoding: identity"),
    "one length twice": lambda p, _: p.whole(length(p.body)),
    "one length twice in a field": lambda p, _: p.sent(length(p.body) + b", %d" % len(p.body)),
    "an empty length": lambda p, _: p.sent(LENGTH + b":"),
    "a length below zero": lambda p, _: p.sent(LENGTH + b": -1"),
    "a length with a plus": lambda p, _: p.sent(LENGTH + b": +%d" % len(p.body)),
    "a length that is too long": lambda p, _: p.sent(LENGTH + b": %d" % (len(p.body) + 9)),
    "more than the length": lambda p, _: p.whole() + b"\r\n\r\n",
}
CODINGS: dict[str, Form] = {
    "gzip without its trailer": lambda p, _: p.coded(b"gzip", gzip.compress(p.body)[:-8]),
    "gzip with half a trailer": lambda p, _: p.coded(b"gzip", gzip.compress(p.body)[:-4]),
    "gzip with a wrong sum": lambda p, _: p.coded(b"gzip", gzip.compress(p.body)[:-8] + b"\1" * 8),
    "gzip and rubbish": lambda p, _: p.coded(b"gzip", gzip.compress(p.body) + b"\0\0\0rubbish"),
    "gzip that nobody names": lambda p, _: replace(p, body=gzip.compress(p.body)).whole(),
    "gzip named as framing": lambda p, _: p.sent(
        b"Transfer-Encoding: gzip, chunked", body=chunked(gzip.compress(p.body))
    ),
    "gzip in two members": lambda p, _: p.coded(b"x-gzip", gzip.compress(p.body[:9]) + gzip.compress(p.body[9:])),
    "gzip in odd chunks": lambda p, _: p.chunks(chunked(gzip.compress(p.body), b"\n"), b"Content-Encoding: GZIP"),
    "deflate": lambda p, _: p.coded(b"deflate", zlib.compress(p.body)),
    "raw deflate": lambda p, _: p.coded(b"deflate", zlib.compress(p.body)[2:-4]),
    "deflate without its sum": lambda p, _: p.coded(b"deflate", zlib.compress(p.body)[:-4]),
    "deflate with a wrong sum": lambda p, _: p.coded(b"deflate", zlib.compress(p.body)[:-4] + b"\1" * 4),
    "a charset as a coding": lambda p, _: p.coded(b"utf-8", p.body),
    "an empty coding": lambda p, _: p.coded(b"", p.body),
    "gzip and identity": lambda p, _: p.coded(b"gzip, identity", gzip.compress(p.body)),
}
TYPES: dict[str, Form] = {
    "no type": lambda p, _: p.whole(is_typed=False),
    "an empty type": lambda p, _: p.typed(b""),
    "no slash": lambda p, _: p.typed(b"html"),
    "another slash": lambda p, _: p.typed(b"text\\html"),
    "a colon": lambda p, _: p.typed(b"text/html: charset=utf-8"),
    "two semicolons": lambda p, _: p.typed(b"text/html;; charset=utf-8;"),
    "capitals": lambda p, _: p.typed(b"Text/HTML; Charset=UTF8"),
    "a quote that stays open": lambda p, _: p.typed(b'text/html; charset="utf-8'),
    "twice in a field": lambda p, _: p.typed(b"text/html, text/html; charset=utf-8"),
    "twice": lambda p, _: p.whole(TYPE + b": text/html"),
    "anything": lambda p, _: p.typed(b"*/*"),
    "unknown": lambda p, _: p.typed(b"unknown/unknown"),
    "a charset that is none": lambda p, _: p.typed(b"text/html; charset=none"),
    "a charset with a typing error": lambda p, _: p.typed(b"text/html; charset=utf-8utf-8"),
    "UTF-8 called Latin-1": lambda p, _: p.typed(b"text/html; charset=iso-8859-1"),
    "UTF-8 called Latin-1, with a mark": lambda p, _: replace(p, body=b"\xef\xbb\xbf" + p.body).typed(
        b"text/html; charset=iso-8859-1"
    ),
    "UTF-8 with two marks": lambda p, _: replace(p, body=b"\xef\xbb\xbf" * 2 + p.body).whole(),
    "UTF-16 by its mark": lambda p, _: replace(p, body=p.body.decode().encode("utf-16")).whole(),
    "UTF-8 with a broken byte, called Latin-1": lambda p, _: replace(p, body=p.body + b"<!-- \xff -->").typed(
        b"text/html; charset=iso-8859-1"
    ),
    "UTF-8 with a broken byte": lambda p, _: replace(p, body=p.body + b"<!-- \xe4 -->").typed(b"text/html"),
    "UTF-8 called UTF-16": lambda p, _: p.typed(b"text/html; charset=utf-16"),
    "UTF-8 called GBK": lambda p, _: p.typed(b"text/html; charset=gbk"),
    "XHTML that is none": lambda p, _: replace(p, body=p.body + b"<br><p>").typed(b"application/xhtml+xml"),
    "empty lines before": lambda p, _: replace(p, body=b"\n\n \n" + p.body).typed(b""),
    "NULs after": lambda p, _: replace(p, body=p.body + bytes(9)).whole(),
    "UTF-16 without a mark": lambda p, _: replace(p, body=p.body.decode().encode("utf-16-le")).typed(b"text/html"),
}
MOVES: dict[str, Form] = {
    "clicks": redirect(spelt(UTM), SET, status=b"301 Moved"),
    "a session": redirect(spelt(SID), SET),
    "a session, 303": redirect(spelt(SID), status=b"303 See Other"),
    "a query alone": redirect(lambda a: f"?{UTM}"),
    "a space before and after": redirect(lambda a: f"  {spelt(UTM)(a)}  "),
    "an escaped dot": redirect(lambda a: a.target.replace(".", "%2E") if "." in a.target else spelt(UTM)(a)),
    "a length without its body": redirect(spelt(UTM), size=500),
    "a length without its body, open": redirect(spelt(SID), SET, size=500),
    "a cookie": redirect(SAME, SET, cookie="seen=1"),
    "a cookie, 307": redirect(SAME, SET, b"Refresh: 0; url=/elsewhere", status=b"307 Temporary", cookie="seen=1"),
    "the whole URL": redirect(lambda a: a.base.replace("http:", "HTTP:").upper() + spelt(UTM)(a)),
    "no scheme": redirect(lambda a: a.base.removeprefix("http:") + spelt(UTM)(a) + "#top"),
    "a dot too many": redirect(lambda a: "/./" + spelt(UTM)(a)[1:], SET),
    "meta refresh": refresh(spelt(UTM), META),
    "meta refresh in the body": refresh(spelt(SID), LATER),
    "meta refresh and a cookie": refresh(SAME, META, SET, cookie="seen=1"),
    "Refresh": refresh(spelt(SID), "", b"Refresh: 0; url={}"),
    "Refresh in quotes, and a cookie": refresh(SAME, "", b"refresh: 0;URL='{}'", SET, cookie="seen=1"),
}
ENDLESS = frozenset(  # these end with the connection
    (
        "head: HTTP/1.0 without a length",
        "framing: no length",
        "move: a length without its body",
        "framing: no last chunk",
        "framing: no line after the last chunk",
        "framing: an empty length",
        "framing: a length below zero",
        "framing: a length with a plus",
        "framing: a length that is too long",
    )
)
FORMS: dict[str, Form] = {
    f"{kind}: {name}": form
    for kind, forms in (("head", HEADS), ("framing", FRAMING), ("coding", CODINGS), ("type", TYPES), ("move", MOVES))
    for name, form in forms.items()
}
