"""Reads pages with either engine: those of `tests/data/web`, and small ones that a test writes."""

import pytest

from crawl import ParseTask
from crawl.content.extract import extract
from crawl.content.page import ParseResult
from tests.crawl.web.raw_sites import case

TYPES = {"html": "text/html", "xhtml": "application/xhtml+xml", "pdf": "application/pdf", "txt": "text/plain"}
both_engines = pytest.mark.parametrize("engine", ["lexbor", "lxml"])


def read(page: str | bytes, engine: str = "lexbor", media_type: str = "text/html", charset: str = "") -> ParseResult:
    """Read a page of http://a.test/page."""
    body = page if isinstance(page, bytes) else page.encode()
    return extract(ParseTask("http://a.test/page", body, media_type, charset, 100, 10_000, engine))  # type: ignore[arg-type]


def read_file(name: str, engine: str = "lexbor") -> ParseResult:
    """Read a page of a case: "09-frames/fr.test.html" is http://fr.test/, "a.test-x.html" http://a.test/x."""
    folder, _, file = name.partition("/")
    stem, _, suffix = file.rpartition(".")
    host, _, path = stem.partition("-")
    url = f"http://{host}/{path}" + (f".{suffix}" if suffix in ("pdf", "txt") else "")
    body = case(folder)[url].partition(b"\r\n\r\n")[2]
    return extract(ParseTask(url, body, TYPES[suffix], "", 100, 10_000, engine))  # type: ignore[arg-type]


def lines(parsed: ParseResult) -> list[str]:
    """List all lines of a page, the main text first."""
    return [line for text in (parsed.text, parsed.boilerplate) for line in text.split("\n") if line]
