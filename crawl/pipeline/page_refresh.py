"""Finds out whether a page moves its readers at once, and where to.

A Refresh header or a meta element does so. If it leads to another spelling of the page's own URL, the request for that
belongs to the same chain. So the question is asked before the page is read.
"""

from crawl.canonical_url import find_url
from crawl.config import CrawlConfig
from crawl.content.page import ParseResult, Parsers
from crawl.errors import PageUnreadable
from crawl.fetch.link_header import MOVES_WITHIN_S, parse_refresh
from crawl.fetch.response import HTML_TYPES, Fetched
from crawl.pipeline.fetch_outcome import parse_task_of

_MOST_BYTES = 4_096  # of a page that only moves its readers, as it was sent
_SEARCHED_BYTES = 4_096


def refresh_of(fetched: Fetched, parsed: ParseResult) -> tuple[str, str]:
    """Return what moves readers to another URL, and to which; "" where nothing does."""
    for by, reference in (("a Refresh header", _of_header(fetched)), (parsed.moved_by, parsed.moved_to)):
        target = find_url(reference, fetched.url) if reference else None
        if target is not None and target != fetched.url:
            return by, target
    return "", ""


async def refresh_ahead(fetched: Fetched, parsers: Parsers, config: CrawlConfig) -> str:
    """Return the reference to where a response moves readers at once, "" where it does not. Of pages only short ones
    are looked at."""
    if not fetched.is_success:
        return ""
    if reference := _of_header(fetched):
        return reference
    if len(fetched.body) > _MOST_BYTES or b"refresh" not in fetched.start(_SEARCHED_BYTES).lower():
        return ""
    if fetched.read_as not in HTML_TYPES:
        return ""
    try:
        return (await parsers.parse(parse_task_of(fetched, config))).moved_to
    except PageUnreadable:  # whoever reads the page finds out
        return ""


def _of_header(fetched: Fetched) -> str:
    said = fetched.header("Refresh")
    found = parse_refresh(said) if said else None
    return found[1] if found and found[0] <= MOVES_WITHIN_S else ""
