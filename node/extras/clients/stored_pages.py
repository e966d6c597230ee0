"""Reads what the network keeps of pages that a client names; nothing is fetched."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from msgspec.structs import replace

from crawl import BadUrl, canonical_url
from index import shown_text
from node.captures.capture import Capture
from node.captures.network_reader import ReadBounds
from node.captures.scope import FIRST, Wish
from node.service.service import Service

log = logging.getLogger(__name__)

MAX_TEXT_BYTES = 4 << 20  # of pages in one answer
READ_S = 10.0  # for all of them, a third of the time that a request may take


async def stored_pages(service: Service, urls: Sequence[str]) -> dict[str, Capture]:
    """Read the stored copies of pages that may be shown, with as much text as their authors let be shown.

    Copies come in the order and by the addresses that were asked for. A copy that is late, or beyond the bytes of one
    answer, is missing."""
    canonical = {url: name for url in urls if (name := _canonical(url))}
    found, size = dict[str, Capture](), 0
    try:
        async with asyncio.timeout(READ_S):
            async with aclosing(_read(service, sorted(set(canonical.values())))) as pages:
                async for page in pages:
                    found[page.url] = page
                    size += len(page.text)
                    if size >= MAX_TEXT_BYTES:
                        break
    except TimeoutError:
        log.debug("stored pages late found=%d of=%d", len(found), len(canonical))
    return {url: found[name] for url, name in canonical.items() if name in found}


async def _read(service: Service, names: Sequence[str]) -> AsyncGenerator[Capture, None]:
    wish, at = Wish(urls=tuple(names)), FIRST if names else None  # of no names, a wish would be for all
    while at is not None:
        part = await service.archive(wish, at, ReadBounds(len(names), MAX_TEXT_BYTES, READ_S), content=False)
        for page in part.captures:
            text = shown_text(page.text)
            yield replace(page, text=text if page.max_snippet < 0 else text[: page.max_snippet])
        at = part.next


def _canonical(url: str) -> str:
    """Return the canonical form of an address, "" where it is none."""
    try:
        return canonical_url(url)
    except BadUrl:
        return ""
