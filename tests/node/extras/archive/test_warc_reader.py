"""WARCs of other programs are read, and what is broken in them costs its records alone."""

import gzip
import io
import zlib
from hashlib import sha1
from random import Random

import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from node.captures.capture import Capture
from node.extras.archive.read_limits import ArchiveFlaw, ReadLimits
from node.extras.archive.warc_reader import read_warc

BODY = b"<p>hello, archive" * 20
DATE = "2024-05-06T07:08:09Z"
SMALL = ReadLimits(record_bytes=100_000, head_bytes=4_096, headers=50)


def record(url: str, block: bytes, kind: str = "response", *fields: str, length: int | None = None) -> bytes:
    http = "application/http; msgtype=response"
    named = ("WARC/1.0", f"WARC-Type: {kind}", f"WARC-Target-URI: {url}", f"WARC-Date: {DATE}",
             *(fields if any(f.startswith("Content-Type") for f in fields) else (*fields, f"Content-Type: {http}")),
             f"Content-Length: {len(block) if length is None else length}")  # fmt: skip
    return "\r\n".join(named).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


def response(body: bytes, *fields: str) -> bytes:
    return "\r\n".join(("HTTP/1.1 200 OK", *fields)).encode() + b"\r\n\r\n" + body


def read(data: bytes, limits: ReadLimits = SMALL) -> list[Capture | ArchiveFlaw]:
    return list(read_warc(io.BytesIO(data), limits))


def captures(data: bytes) -> list[Capture]:
    found = read(data)
    assert all(isinstance(item, Capture) for item in found), found
    return [item for item in found if isinstance(item, Capture)]


def outline(data: bytes) -> list[str]:
    """Return the URLs of what was read, and the reasons of what was not."""
    return [item.url if isinstance(item, Capture) else item.reason for item in read(data)]


PLAIN = [record(f"http://a.test/{n}", response(BODY, "Content-Type: text/html; charset=Big5")) for n in range(3)]


def test_the_head_of_a_response_is_kept_and_its_charset_read() -> None:
    page = captures(b"".join(PLAIN))[1]
    assert (page.url, page.status, page.content) == ("http://a.test/1", 200, BODY)
    assert (page.media_type, page.charset, page.captured_at) == ("text/html", "big5", 1_714_979_289.0)


@pytest.mark.parametrize("is_packed", [False, True])
def test_what_warcio_writes_is_read(is_packed: bool) -> None:
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=is_packed)
    head = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
    writer.write_record(writer.create_warcinfo_record("x.warc", {"software": "warcio"}))
    for n in range(3):
        writer.write_record(
            writer.create_warc_record(f"http://a.test/{n}", "response", io.BytesIO(BODY), http_headers=head)
        )
    writer.write_record(
        writer.create_revisit_record("http://a.test/again", "sha1:" + "A" * 32, "http://a.test/0", DATE)
    )
    found = read(out.getvalue())
    assert [item.url for item in found] == [
        "http://a.test/0",
        "http://a.test/1",
        "http://a.test/2",
        "http://a.test/again",
    ]
    assert isinstance(found[-1], ArchiveFlaw) and "repeats" in found[-1].reason


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        (gzip.compress(BODY), ["Content-Encoding: gzip"]),
        (BODY, ["Content-Encoding: gzip"]),  # undone by the writer, which left the head
        (zlib.compress(BODY), ["Content-Encoding: deflate"]),
        (b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY), ["Transfer-Encoding: chunked"]),
        (BODY, ["Transfer-Encoding: chunked"]),
        (b"5;x=y\r\n%s\r\n%X\r\n%s\r\n0\r\n\r\n" % (BODY[:5], len(BODY) - 5, BODY[5:]), ["Transfer-Encoding: chunked"]),
    ],
    ids=["gzip", "gzip undone", "deflate", "chunked", "chunked undone", "chunks with extensions"],
)
def test_codings_are_undone(body: bytes, fields: list[str]) -> None:
    digest = "WARC-Payload-Digest: sha1:" + sha1(body).hexdigest()
    [page] = captures(record("http://a.test/", response(body, *fields), "response", digest))
    assert page.content == BODY


def test_a_text_of_common_crawl() -> None:
    block = record("http://a.test/", "天气".encode(), "conversion", "Content-Type: text/plain")
    [page] = captures(block)
    assert (page.text, page.media_type, page.charset) == ("天气", "text/plain", "utf-8")


def test_a_revisit_gives_the_body_that_it_repeats() -> None:
    digest = "WARC-Payload-Digest: sha1:" + sha1(BODY).hexdigest()
    first = record("http://a.test/", response(BODY), "response", digest)
    again = record("http://a.test/2", response(b"", "Content-Type: text/html"), "revisit", digest)
    assert [(page.url, page.content) for page in captures(first + again)] == [
        ("http://a.test/", BODY),
        ("http://a.test/2", BODY),
    ]


def test_a_body_that_is_not_its_digests() -> None:
    digest = "WARC-Payload-Digest: sha1:" + sha1(b"other").hexdigest()
    broken = record("http://a.test/bad", response(BODY), "response", digest)
    assert outline(PLAIN[0] + broken + PLAIN[1]) == [
        "http://a.test/0", "a body has another digest than its record says", "http://a.test/1"
    ]  # fmt: skip


BROKEN = {
    "no status line": (record("http://a.test/bad", b"hello"), "a response has no status line"),
    "no date": (PLAIN[0].replace(DATE.encode(), b"yesterday"), "a record has no date: 'yesterday'"),
    "fields": (record("http://a.test/bad", response(b"", *["X: y"] * 99)), "an HTTP head has 99 fields, 50 allowed"),
    "HTTP head": (
        record("http://a.test/bad", response(b"", "X: " + "y" * 9_000)),
        "an HTTP head is longer than 4096 bytes",
    ),
    "too large": (record("http://a.test/bad", bytes(200_000)), "a record is larger than 100000 bytes"),
    "bomb within": (
        record("http://a.test/bad", response(gzip.compress(bytes(900_000)), "Content-Encoding: gzip")),
        "a body unpacks to more than 100000 bytes",
    ),
    "brotli": (
        record("http://a.test/bad", response(b"\x0b\x02", "Content-Encoding: br")),
        "content coding 'br', which we did not offer",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("is_packed", [False, True])
def test_a_record_that_is_no_page_costs_itself(name: str, is_packed: bool) -> None:
    broken, reason = BROKEN[name]
    pack = gzip.compress if is_packed else bytes
    noise = record("http://a.test/noise", Random(1).randbytes(40_000), "metadata")
    found = outline(b"".join(map(pack, [PLAIN[0], noise, broken, PLAIN[1]])))
    assert found == ["http://a.test/0", reason, "http://a.test/1"]


BENT = {
    "no length": (PLAIN[1].replace(b"Content-Length", b"Content-Breadth"), "a record does not say how long it is"),
    "too short": (record("http://a.test/1", response(BODY), length=80), "a record does not begin with WARC/"),
    "too long": (record("http://a.test/1", response(BODY), length=600), "a record is shorter than it says"),
    "no WARC": (b"hello\n" * 9, "a record does not begin with WARC/"),
    "head": (b"WARC/1.0\r\n" + b"X: y\r\n" * 9_000, "a line or head is longer than"),
}


@pytest.mark.parametrize("name", BENT)
def test_a_record_of_another_length_than_it_says_costs_its_member(name: str) -> None:
    bent, reason = BENT[name]
    found = outline(b"".join(map(gzip.compress, [PLAIN[0], bent, PLAIN[2]])))
    assert found[0] == "http://a.test/0" and found[-1] == "http://a.test/2"
    assert found[-2].startswith(reason)


@pytest.mark.parametrize("name", BENT)
def test_in_a_plain_file_nothing_behind_such_a_record_is_guessed(name: str) -> None:
    """A page may hold what looks like a record of another site."""
    found = outline(b"".join([PLAIN[0], BENT[name][0], PLAIN[2]]))
    assert found[0] == "http://a.test/0"
    assert "http://a.test/2" not in found


@pytest.mark.parametrize("is_packed", [False, True])
def test_a_file_cut_anywhere_gives_what_came_before(is_packed: bool) -> None:
    parts = [gzip.compress(part) if is_packed else part for part in PLAIN]
    whole = b"".join(parts)
    for end in range(0, len(whole), 7):
        found = read(whole[:end])
        complete = sum(len(b"".join(parts[: n + 1])) <= end for n in range(3))
        assert [item.url for item in found if isinstance(item, Capture)][:complete] == [
            f"http://a.test/{n}" for n in range(complete)
        ]
        assert sum(isinstance(item, Capture) for item in found) <= complete + 1


def test_a_bomb_ends_the_reading() -> None:
    bomb = gzip.compress(record("http://a.test/bomb", bytes(50_000_000), "metadata"))
    found = outline(gzip.compress(PLAIN[0]) + bomb)
    assert found == ["http://a.test/0", "it unpacks to more than 100 times its size"]


def test_what_is_no_page_of_the_web_is_passed_over() -> None:
    lookup = record("dns:a.test", b"20240506\n", "response", "Content-Type: text/dns")
    assert outline(lookup + record("urn:x", b"x", "resource") + PLAIN[0]) == ["http://a.test/0"]
