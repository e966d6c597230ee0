"""A capture tells a stored page as it was fetched."""

from hashlib import sha256

import msgspec
import pytest

from node.captures.capture import DAY_S, capture_of
from store.record.document import Document
from store.record.record import Kind, Proof, Record, Version

URL = "http://a.example/"
DOCUMENT = Document(
    URL, 1_000.5, 200, (("Content-Type", "text/html"),), "text/html", "utf-8", noarchive=True, max_snippet=5
)


def record(epoch: int, content: bytes | None) -> Record:
    digest = sha256(b"<p>hello").digest()
    version = Version(epoch, 1_001_000, bytes(32))
    return Record(Kind.DOCUMENT, bytes(20), bytes(20), version, 9, b"", content, digest, Proof(b"k" * 32, b"", 0, ()))


def test_a_capture_is_what_the_record_and_its_document_say() -> None:
    capture = capture_of(record(7, b"<p>hello"), DOCUMENT)
    assert (capture.url, capture.captured_at, capture.status) == (URL, 1_000.5, 200)
    assert capture.headers == DOCUMENT.headers and capture.media_type == "text/html" and capture.charset == "utf-8"
    assert capture.content_digest == sha256(capture.content).digest()
    assert capture.expires_at == 9 * DAY_S and capture.author == b"k" * 32
    assert capture.noarchive and capture.max_snippet == 5


def test_an_import_has_no_author() -> None:
    assert capture_of(record(0, b"<p>hello"), DOCUMENT).author == b""


def test_links_are_told_where_they_are_asked_for() -> None:
    page = msgspec.structs.replace(DOCUMENT, links=(("http://a.test/", "A"), ("http://b.test/", "")))
    assert capture_of(record(7, b""), page).links == ()
    assert capture_of(record(7, b""), page, links=True).links == ("http://a.test/", "http://b.test/")


def test_withheld_content_makes_no_capture() -> None:
    with pytest.raises(ValueError, match="withheld"):
        capture_of(record(7, None), DOCUMENT)
