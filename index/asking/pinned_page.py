"""Looks up the page whose address was typed, at the owners of the URLs that it may have."""

import asyncio
from dataclasses import dataclass

from dht import document_id, placement_key
from index.change_feed import Read, Text
from index.engine.matcher import matches
from index.query.parser import LanguageFilter, Query, SiteFilter, TagFilter
from index.query.query_tree import demanded
from index.query.typed_address import typed_urls
from index.text.forward_index import forward_of


@dataclass(frozen=True, slots=True)
class PinnedPage:
    """The page at the address that was typed, None where there is none. `is_sure`: whether all places were asked."""

    text: Text | None = None
    is_sure: bool = True


async def pinned_page(typed: str, query: Query, read: Read, timeout_s: float) -> PinnedPage:
    """Look up the page whose address a query is, where its filters allow it. Of several the likeliest is meant."""
    wanted = [(document_id(url), placement_key(url)) for url in typed_urls(typed)]
    if not wanted:
        return PinnedPage()
    try:
        async with asyncio.timeout(timeout_s):
            texts = await read(wanted)
    except TimeoutError:
        return PinnedPage(None, is_sure=False)
    held = (texts.get(id_) for id_, _ in wanted)
    found = next((text for text in held if text is not None and _is_allowed(text, query)), None)
    return PinnedPage(found, all(id_ in texts for id_, _ in wanted))


def _is_allowed(text: Text, query: Query) -> bool:
    """Tell whether a page passes the filters of a query."""
    filters = [each for each in demanded(query.root) if isinstance(each, SiteFilter | LanguageFilter | TagFilter)]
    return all(matches(each, text, forward_of(text, query.rules.analyzer)) for each in filters)
