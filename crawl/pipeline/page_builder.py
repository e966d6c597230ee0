"""Builds the task to parse a response, and the page that comes of it.

Pure: a response and its parsing in, values out.
"""

from crawl.config import DAY_S, CrawlConfig
from crawl.content.media_types import READ_TYPES
from crawl.content.page import Page, ParseResult, ParseTask
from crawl.content.robots_directives import RobotsDirectives, header_directives, unwanted
from crawl.fetch.response import Fetched

MAX_KEPT_HEADER_BYTES = 16_384  # of a page's header fields; what comes after is not kept


def parse_task_of(fetched: Fetched, config: CrawlConfig) -> ParseTask:
    """Return the task to parse a response; markup without a usable media type was let through, and is read as HTML."""
    media_type = fetched.media_type if fetched.media_type in READ_TYPES else "text/html"
    return ParseTask(
        url=fetched.url,
        body=fetched.body,
        media_type=media_type,
        header_charset=fetched.header_charset,
        max_links=config.max_links,
        max_text_chars=config.max_text_chars,
        agent=config.agent,
        coding=fetched.coding,
        max_bytes=config.max_body_bytes,
    )


def read_page(
    fetched: Fetched, parsed: ParseResult, fetched_at: float, now: float, config: CrawlConfig
) -> tuple[Page | None, str]:
    """Return the page that a response of `fetched_at` is, or None and why it does not want to be found `now`."""
    directives = parsed.directives.strictest_with(header_directives(fetched.headers, config.agent))
    if reason := unwanted(directives, now):
        return None, reason
    page = page_of(fetched, parsed, fetched_at, directives)
    return page, ""


def page_of(fetched: Fetched, parsed: ParseResult, now: float, directives: RobotsDirectives) -> Page:
    """Return the page that a parsed response is, fetched at `now` (Unix seconds); with nofollow it has no links."""
    return Page(
        url=fetched.url,
        fetched_at=now,
        status=fetched.status,
        headers=kept_headers(fetched),
        content=parsed.content if fetched.coding else fetched.body,
        content_digest=parsed.content_digest,
        media_type=fetched.media_type,
        charset=parsed.charset,
        language=parsed.language,
        title=parsed.title,
        headings=parsed.headings,
        text=parsed.text,
        boilerplate=parsed.boilerplate,
        max_snippet=directives.max_snippet,
        noarchive=directives.noarchive,
        unavailable_at=directives.unavailable_at,
        links=() if directives.nofollow else tuple(link for link in parsed.links if not link.nofollow),
        signature=parsed.signature,
        description=parsed.description,
        published_at=_not_later(parsed.published_at, now),
        modified_at=_not_later(parsed.modified_at, now),
        sent=fetched.sent,
    )


def _not_later(at: float, now: float) -> float:
    """Return the instant, or 0.0 where it lies in the future, as only a lie can; a day allows for time zones."""
    return at if at <= now + DAY_S else 0.0


def gone_page(url: str, status: int, now: float) -> Page:
    """Return what takes the place of a page that is no more, or that does not want to be found."""
    return Page(url, now, status, (), b"", "", "", "", "", (), "", (), gone=True)


def kept_headers(fetched: Fetched) -> tuple[tuple[str, str], ...]:
    """Return the header fields from the first on, as far as they fit into MAX_KEPT_HEADER_BYTES."""
    if 4 * sum(len(name) + len(value) for name, value in fetched.headers) <= MAX_KEPT_HEADER_BYTES:
        return fetched.headers  # a character takes four bytes at most
    kept: list[tuple[str, str]] = []
    room = MAX_KEPT_HEADER_BYTES
    for name, value in fetched.headers:
        room -= len(name.encode()) + len(value.encode())
        if room < 0:
            break
        kept.append((name, value))
    return tuple(kept)
