"""Header bytes of strangers: whatever they are, a page with them is read, or refused with a reason."""

from hypothesis import given, settings
from hypothesis import strategies as st

from crawl import CrawlConfig, Visit
from crawl.content.link_header import links_of
from crawl.content.page import ParseResult
from crawl.content.robots_directives import header_directives
from crawl.fetch.response import Fetched
from crawl.pipeline.fetch_outcome import judge
from crawl.pipeline.page_builder import MAX_KEPT_HEADER_BYTES, page_of, parse_task_of
from crawl.schedule.revisit_policy import RevisitStatistics

CONFIG = CrawlConfig()
NAMES = st.sampled_from(
    ("Content-Type", "Retry-After", "X-Robots-Tag", "Link", "Location", "ETag", "Last-Modified", "X" * 9_000)
)
PIECES = (
    *("text/html", ";", '"', ",", ":", "<", ">", "rel=canonical", "-1", "; charset=", "Fri, 25-Jun-10 15:00"),
    "9" * 30,
)
VALUES = (
    st.binary(max_size=80).map(lambda raw: raw.decode("utf-8", "replace"))  # as fetcher.py gives them
    | st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
)
STATUSES = st.sampled_from((200, 204, 301, 304, 404, 429, 503, 999))


@settings(max_examples=120, deadline=None)
@given(st.lists(st.tuples(NAMES, VALUES), max_size=6), STATUSES, st.booleans())
def test_any_header_is_read(headers: list[tuple[str, str]], status: int, is_sitemap: bool) -> None:
    url = "http://a.test/"
    fetched = Fetched(url, status, tuple(headers), b"<p>x", False, 0.1, "")
    visit = Visit(url, 1, is_sitemap=is_sitemap)
    outcome = judge(visit, fetched, 1e9, CONFIG, RevisitStatistics(CONFIG)).visit
    assert len(outcome.etag) <= 200 and len(outcome.reason) <= 200 and outcome.due_at < 1e12
    assert len(parse_task_of(fetched, CONFIG).header_charset) <= 40
    assert fetched.retry_after_s(1e9) >= 0.0
    directives = header_directives(fetched.headers, "dse-node")
    links_of(fetched.headers, url)
    page = page_of(fetched, ParseResult("", "", "", (), "", ()), 1e9, directives)
    assert sum(len((name + value).encode()) for name, value in page.headers) <= MAX_KEPT_HEADER_BYTES
