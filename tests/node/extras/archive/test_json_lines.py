"""JSON lines carry all that a capture says, both ways."""

import gzip
import io
import json

import msgspec
import pytest

from node.captures.capture import Capture
from node.extras.archive.json_lines import read_json_lines, write_json_lines
from node.extras.archive.read_limits import ArchiveFlaw, ReadLimits
from tests.node.extras.archive.samples import FORBIDDEN, SAMPLES


def written(*captures: Capture) -> bytes:
    out = io.BytesIO()
    write_json_lines(captures, out)
    return out.getvalue()


def read(data: bytes) -> list[Capture | ArchiveFlaw]:
    return list(read_json_lines(io.BytesIO(data), ReadLimits(record_bytes=10_000)))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_every_capture_is_read_as_it_was_written(pack) -> None:  # type: ignore[no-untyped-def]
    assert read(pack(written(*SAMPLES, FORBIDDEN))) == list(SAMPLES)
    signed = msgspec.structs.replace(SAMPLES[0], author=b"k" * 32)
    assert json.loads(written(signed))["author"] == "6b" * 32
    assert read(written(signed)) == [SAMPLES[0]], "who imports it did not sign it"


def test_bodies_are_text_where_they_can_be() -> None:
    lines = [json.loads(line) for line in written(*SAMPLES[:2]).splitlines()]
    assert lines[0]["content"] == "<p>plain" and "content_base64" not in lines[0]
    assert "content" not in lines[1]


BAD = {
    "no object": b"[1]\n",
    "no JSON": b"{\n",
    "broken UTF-8": b'{"url": "http://a.test/\xff", "captured_at": 1, "status": 200}\n',
    "digest": b'{"url": "http://a.test/", "captured_at": 1, "status": 200, "content_digest": "sha256:00"}\n',
    "base64": b'{"url": "http://a.test/", "captured_at": 1, "status": 200, "content_base64": "?"}\n',
    "url": b'{"url": "file:///etc/passwd", "captured_at": 1, "status": 200}\n',
    "size": b'{"url": "http://a.test/", "captured_at": 1, "status": 200, "content": "' + b"x" * 11_000 + b'"}\n',
    "nested": b"[" * 9_000 + b"\n",
    "nested where nobody looks": b'{"url": "http://a.test/", "x": ' + b"[" * 19_000 + b"\n",
    "no type": b'{"url": "http://a.test/", "captured_at": 1, "status": 200, "content": "words"}\n',
}


@pytest.mark.parametrize("name", BAD)
def test_a_line_that_is_no_capture_costs_itself(name: str) -> None:
    [first, flaw, last] = read(written(SAMPLES[0]) + BAD[name] + written(SAMPLES[1]))
    assert (first, last) == (SAMPLES[0], SAMPLES[1])
    assert isinstance(flaw, ArchiveFlaw) and flaw.reason


def flaw_of(**fields: object) -> str:
    [flaw] = read(json.dumps(fields).encode())
    assert isinstance(flaw, ArchiveFlaw)
    return flaw.reason


def test_all_that_a_line_lacks_is_named_at_once() -> None:
    reason = flaw_of(url="http://a.test/", content="words")
    for name in ("captured_at", "status", "media_type"):
        assert f"{name} is missing: give " in reason
    assert "url is" not in reason and "a line needs url, captured_at and status" in reason
    [flaw] = read(b'{"url": "http://a.test/"}')
    assert isinstance(flaw, ArchiveFlaw) and flaw.url == "http://a.test/"


def test_all_that_is_wrong_with_a_line_is_named_with_its_value_and_what_to_give() -> None:
    reason = flaw_of(url="ftp://a.test/", captured_at="2026-11-24", status=[200], headers={"A": "b"}, title=7,
                     content_base64="?", content_digest="sha256:00", expires_at="never")  # fmt: skip
    for told in (
        'url is "ftp://a.test/": give the page\'s address, with http', 'captured_at is "2026-11-24": give Unix seconds',
        "status is [200]: give", 'headers is {"A": "b"}: give pairs', "title is 7: give text",
        'content_base64 is "?": give', 'expires_at is "never": give',
    ):  # fmt: skip
        assert told in reason
    assert "content_digest" not in reason, "of which body, nobody knows"


def test_what_is_said_of_a_line_is_bounded_whatever_it_holds() -> None:
    names = ("url", "captured_at", "status", "headers", "content", "media_type", "title", "text", "author", "origin")
    reason = flaw_of(**{name: [["x" * 500] * 3] for name in names}, **{"y" * 500: 1})
    assert all(f"{name} is [" in reason for name in names)
    assert "yy" not in reason and len(reason) < 2_000


@pytest.mark.parametrize(
    "more",
    [
        {"media_type": "text/plain"},
        {"headers": [["content-type", "text/plain"]]},
        {"content": "<p >words"},
        {"status": 404},
    ],
)
def test_a_line_needs_a_type_only_where_nothing_else_tells_it(more: dict[str, object]) -> None:
    line = {"url": "http://a.test/", "captured_at": 1, "status": 200, "content": "words"} | more
    assert isinstance(read(json.dumps(line).encode())[0], Capture)


def test_a_line_without_end_ends_the_reading() -> None:
    [first, flaw] = read(written(SAMPLES[0]) + b"x" * 30_000)
    assert first == SAMPLES[0] and isinstance(flaw, ArchiveFlaw) and "longer" in flaw.reason
