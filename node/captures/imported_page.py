"""Judges a capture from an archive as a crawl judges what it fetched: what page it is, or why it is none that is taken.

Pure: captures and their parsing in, values out. A capture without a head gives a page without one; what tells its type
is what the archive says of it.
"""

from math import isfinite

from msgspec.structs import replace

from crawl import (
    BadUrl,
    CrawlConfig,
    Fetched,
    Page,
    ParseResult,
    canonical_url,
    kept_headers,
    read_page,
    read_request,
    unfit,
)
from node.captures.capture import Capture, Headers, one_line
from store import MAX_ORIGIN_CHARS

PAGE = 200  # the status of what is a page; no other is read
GONE = (404, 410)  # the statuses by which a site says that there is no page any more
LATEST_S = 2**47 / 1000.0  # versions are dated in milliseconds of 48 bits


def capture_flaw(capture: Capture, now: float) -> str:
    """Say why a capture is not looked at, "" where it is. `now`: Unix seconds."""
    if not isfinite(capture.captured_at) or capture.captured_at < 0 or capture.captured_at >= LATEST_S:
        return "date: none since 1970"
    if capture.captured_at > now:
        return "date: in the future"
    try:
        canonical_url(capture.url)
    except BadUrl as error:
        return f"url: {error.reason}"
    return "" if capture.status in (PAGE, *GONE) else f"status {capture.status}"


def response_of(capture: Capture) -> Fetched:
    """Return a capture as a crawler would have fetched it; its URL must be one."""
    headers = tuple((one_line(name), one_line(value)) for name, value in capture.headers)
    if capture.media_type and not any(name.lower() == "content-type" for name, _ in headers):
        charset = f"; charset={one_line(capture.charset)}" if capture.charset else ""
        headers = (*headers, ("Content-Type", f"{one_line(capture.media_type)}{charset}"))
    url = canonical_url(capture.url)
    sent = read_request(url, capture.request)
    return Fetched(url, capture.status, headers, capture.content, False, 0.0, "", sent=sent)


def kept_request(capture: Capture) -> Headers:
    """Return the request of a capture where it says what requests of ours do; of any other too much would be kept."""
    try:
        url = canonical_url(capture.url)
    except BadUrl:
        return ()
    return capture.request if read_request(url, capture.request) else ()


def response_flaw(response: Fetched, config: CrawlConfig) -> str:
    """Say why a response is none that is read, "" where it is; its status says that there was a page."""
    if response.status in GONE:
        return f"status {response.status}"
    return unfit(replace(response, cut=len(response.body) > config.max_body_bytes), config)


def imported_page(
    capture: Capture, response: Fetched, parsed: ParseResult, now: float, config: CrawlConfig
) -> tuple[Page | None, str]:
    """Return the page that a capture is once it was parsed, or None and why it does not want to be found `now`."""
    page, reason = read_page(response, parsed, capture.captured_at, now, config)
    if page is None:
        return None, reason
    return replace(page, headers=kept_headers(response) if capture.headers else ()), ""


def origin_of(capture: Capture, file: str) -> str:
    """Return what tells where a page was taken from: what the archive itself says of that, else its name and record."""
    origin = capture.origin or f"{file} {capture.record_id}".strip()
    return one_line(origin)[:MAX_ORIGIN_CHARS] or "an archive"
