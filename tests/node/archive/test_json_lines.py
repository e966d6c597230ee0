"""JSON lines carry all that a capture says, both ways."""

import gzip
import io
import json

import msgspec
import pytest

from node.archive.capture import ArchiveFlaw, Capture, ReadLimits
from node.archive.json_lines import read_json_lines, write_json_lines
from tests.node.archive.samples import FORBIDDEN, SAMPLES


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
}


@pytest.mark.parametrize("name", BAD)
def test_a_line_that_is_no_capture_costs_itself(name: str) -> None:
    [first, flaw, last] = read(written(SAMPLES[0]) + BAD[name] + written(SAMPLES[1]))
    assert (first, last) == (SAMPLES[0], SAMPLES[1])
    assert isinstance(flaw, ArchiveFlaw) and flaw.reason


def test_a_line_without_end_ends_the_reading() -> None:
    [first, flaw] = read(written(SAMPLES[0]) + b"x" * 30_000)
    assert first == SAMPLES[0] and isinstance(flaw, ArchiveFlaw) and "longer" in flaw.reason
