"""Reads the pages of a web, however large: without what only a crawler needs of them."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from msgspec.structs import replace as changed

from benchmarks.scale.spread_work import spread
from benchmarks.search.web_pages import WebPage, page_files, read_page, says_anything


def read_pages(root: Path) -> Sequence[WebPage]:
    """Return all pages of a web that say anything, in order of hosts and paths; of their links those with a text."""
    return [_shared(page) for page in spread(_read, list(page_files(root))) if says_anything(page)]


def _read(page: tuple[str, Path]) -> WebPage:
    url, file = page
    found = read_page(url, file.read_bytes())
    links = tuple({(link.url, link.anchor): link for link in found.found.links if link.anchor}.values())
    return replace(found, html=b"", found=changed(found.found, links=links))


def _shared(page: WebPage) -> WebPage:
    """A page whose links share their strings with those of other pages, which lead to the same."""
    links = tuple(changed(link, url=sys.intern(link.url), anchor=sys.intern(link.anchor)) for link in page.found.links)
    return replace(page, found=changed(page.found, links=links))
