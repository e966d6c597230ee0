"""A response is read if its body can be what its head claims; any other is refused with the reason."""

import pytest

from crawl import CrawlConfig, Fetched, Visit, VisitState, parse_task_of
from crawl.errors import BodyUnfit, PageUnreadable
from crawl.parsing.worker import parse_once
from crawl.pipeline.fetch_outcome import FollowUp, judge
from crawl.schedule.revisit_policy import RevisitStatistics

NOW = 784_111_777.0  # Sun, 06 Nov 1994 08:49:37 GMT


@pytest.mark.parametrize(
    ("value", "wait_s"),
    [
        ("120", 120.0),
        ("0", 0.0),
        ("Sun, 06 Nov 1994 08:51:37 GMT", 120.0),
        ("Sun, 06 Nov 1994 08:51:37 -0000", 120.0),
        ("Sunday, 06-Nov-94 08:51:37 GMT", 120.0),
        ("Sun Nov  6 08:51:37 1994", 120.0),
        ("Sun, 06 Nov 1994 08:40:00 GMT", 0.0),
        ("-5", 0.0),
        ("soon", 0.0),
        ("", 0.0),
        ("9" * 400, 999_999_999.0),  # politeness bounds it by a day
    ],
)
def test_retry_after_is_read_in_all_its_forms(value: str, wait_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    fetched = Fetched("http://a.test/", 503, (("Retry-After", value),), b"", False, 0.1, "")
    assert fetched.retry_after_s(NOW) == wait_s


CONFIG = CrawlConfig()
CENSUS = RevisitStatistics(CONFIG)
XHTML = b"<html lang='en' xmlns='http://www.w3.org/1999/xhtml'><head><title>T</title></head></html>"
JPEG = b"\xff\xd8\xff\xe0\0\x10JFIF\0" + bytes(range(256))


def outcome(kind: str | None, body: bytes) -> tuple[FollowUp, str]:
    headers = (("Content-Type", kind),) if kind is not None else ()
    fetched = Fetched("http://a.test/", 200, headers, body, False, 0.1, "192.0.2.1")
    judged = judge(Visit("http://a.test/", 1), fetched, 1_700_000_000.0, CONFIG, CENSUS)
    assert (judged.visit.state == VisitState.REFUSED) == (judged.follow_up == FollowUp.NOTHING)
    if judged.follow_up == FollowUp.PARSE:
        try:
            parse_once(parse_task_of(fetched, CONFIG))
        except BodyUnfit as error:
            return FollowUp.NOTHING, error.reason
        except PageUnreadable:
            pass  # it was read as what it says: a PDF that ends early
    return judged.follow_up, judged.visit.reason


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("text/html", b"<p>words"),
        ("text/html", b"words alone"),
        ("text/html, text/html; charset=utf-8", b"<p>words"),
        ("text/html;charset=gbk, */*", b"<p>words"),
        ("text/html", "<p>words".encode("utf-16-le")),
        ("text/plain", b"RIFF is a format, and ID3 another"),
        ("text/plain", b"\x1b[1mbold\x1b[0m, form feed \x0c and all"),
        ("text/plain", b"\xff\xfe" + "words".encode("utf-16-le")),
        ("text/plain; charset=utf-16le", "words".encode("utf-16-le")),
        ("application/pdf", b"\r\n%PDF-1.7 and so on"),
        (None, b"\n <!DOCTYPE html><p>words"),
        (None, b"<title>old page</title>"),
        ("", b"<!-- made by hand --><p>words"),
        ("*/*", b"<HTML><p>words"),
        ("unknown/unknown", b"<body>"),
        ("application/octet-stream", b"%PDF-1.7 and so on"),
        ("text/html", b"%PDF-1.7 and so on"),  # warc2zim 346
        ("application/json", b"%PDF-1.7 and so on"),  # flowershow 931
        ("text/xml", XHTML),  # crawlee 271
        ("application/xml", b"<?xml version='1.0'?>" + XHTML),  # crawler4j 306
        ("text/markdown", b"# words"),  # MarginaliaSearch 197
        ("application/msword", b"{\\rtf1 words}"),
    ],
)
def test_what_may_be_what_it_says_is_read(kind: str | None, body: bytes) -> None:
    assert outcome(kind, body) == (FollowUp.PARSE, "")


@pytest.mark.parametrize(
    ("kind", "body", "reason"),
    [
        ("text/html", JPEG, "media type: text/html, but it is something else"),
        ("text/plain", b"PK\3\4\x14\0", "media type: text/plain, but it is something else"),
        ("text/plain", b"what a program prints\x00\x01", "media type: text/plain, but it is no text"),
        ("application/pdf", b"<html>log in first", "media type: application/pdf, but it is no PDF"),
        ("application/octet-stream", b"<html>", "media type: application/octet-stream"),
        ("text/xml", b"<rss xmlns:h='http://www.w3.org/1999/xhtml'>", "media type: text/xml"),
        ("application/zip", b"PK\3\4...a.txt...", "media type: application/zip"),
        ("application/zip", b"PK\3\4" + bytes(26) + b"mimetypeapplication/x-xPK\3\4", "media type: application/zip"),
        ("application/msword", b"\xd0\xcf", "media type: application/msword, of old Word or with a password"),
        (
            "application/vnd.ms-word.document.macroEnabled.12",
            b"PK\3\4",
            "media type: application/vnd.ms-word.document.macroenabled.12, an office file with macros",
        ),
        (None, b"words alone", "media type: unknown"),
        (None, b"<titles>", "media type: unknown"),
        (None, JPEG, "media type: unknown"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(kind: str | None, body: bytes, reason: str) -> None:
    assert outcome(kind, body) == (FollowUp.NOTHING, reason)
