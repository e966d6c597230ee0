"""PDF files, made here: what is read of them, and what is not."""

from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdf import PdfWriter

from crawl import PageUnreadable, ParseTask
from crawl.content.extract import extract
from crawl.content.extract_pdf import FEW_PAGES, MAX_PAGES
from crawl.parsing.worker import parse_once


def pdf(*pages: str, head: str = "/Title (A title) /CreationDate (D:20240506070809Z)") -> bytes:
    """A file of pages with one line of text each."""
    objects = {1: "<< /Type /Catalog /Pages 2 0 R >>", 3: "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"}
    kids = " ".join(f"{10 + 2 * n} 0 R" for n in range(len(pages)))
    objects[2] = f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>"
    objects[4] = f"<< {head} >>"
    for n, text in enumerate(pages):
        content = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET"
        font = "<< /Font << /F1 3 0 R >> >>"
        objects[10 + 2 * n] = f"<< /Type /Page /Parent 2 0 R /Resources {font} /Contents {11 + 2 * n} 0 R >>"
        objects[11 + 2 * n] = f"<< /Length {len(content)} >>\nstream\n{content}\nendstream"
    body, places = "%PDF-1.4\n", {}
    for number, text in sorted(objects.items()):
        places[number] = len(body)
        body += f"{number} 0 obj\n{text}\nendobj\n"
    table = "".join(f"{number} 1\n{place:010} 00000 n \n" for number, place in sorted(places.items()))
    trailer = f"trailer\n<< /Size {max(objects) + 1} /Root 1 0 R /Info 4 0 R >>\nstartxref\n{len(body)}\n%%EOF"
    return f"{body}xref\n{table}{trailer}".encode("latin-1")


def task(body: bytes, engine: str = "lexbor", max_text_chars: int = 10_000) -> ParseTask:
    return ParseTask("http://a.test/x.pdf", body, "application/pdf", "", 100, max_text_chars, engine)  # type: ignore[arg-type]


def test_text_title_and_date_are_read() -> None:
    parsed = extract(task(pdf("Hello there", "second page")))
    assert parsed.text.split("\n") == ["Hello there", "second page"]
    assert (parsed.title, parsed.published_at) == ("A title", 1_714_979_289.0)
    assert len(parsed.signature) == 16


def test_the_first_line_stands_for_a_missing_title() -> None:
    assert extract(task(pdf("Hello there", head=""))).title == "Hello there"


def test_pages_and_characters_are_bounded() -> None:
    body = pdf(*(f"page {n}" for n in range(MAX_PAGES + 5)))
    assert len(extract(task(body)).text.split("\n")) == MAX_PAGES
    assert len(extract(task(body, engine="lxml")).text.split("\n")) == FEW_PAGES
    assert len(extract(task(body, max_text_chars=20)).text) == 20


def test_a_locked_file_is_given_up_with_a_reason() -> None:
    writer, out = PdfWriter(clone_from=BytesIO(pdf("secret"))), BytesIO()
    writer.encrypt("user", "owner", algorithm="RC4-128")
    writer.write(out)
    with pytest.raises(PageUnreadable, match="password"):
        parse_once(task(out.getvalue()))


GOOD = pdf("Hello there", "second page")


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(GOOD) - 1), st.binary(max_size=8), st.integers(0, 200))
def test_a_broken_file_is_read_or_given_up(at: int, junk: bytes, cut: int) -> None:
    body = (GOOD[:at] + junk + GOOD[at + len(junk) :])[: len(GOOD) - cut]
    try:
        parse_once(task(body)).text.encode()
    except PageUnreadable as error:
        assert error.reason.startswith("parser: ") or (b"%PDF-" not in body and error.reason.endswith("it is no PDF"))
