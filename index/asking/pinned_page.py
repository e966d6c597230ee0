"""Looks up the page whose address was typed, at the owners of the URLs that it may have."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from dht import document_id, placement_key
from index.change_feed import Read, Text
from index.engine.matcher import matches
from index.query.parser import LanguageFilter, Query, SiteFilter, TagFilter
from index.query.query_tree import demanded
from index.text.forward_index import forward_of


@dataclass(frozen=True, slots=True)
class PinnedPage:
    """The page at the address that was typed, None where there is none. `is_sure`: whether all places answered where a
    likelier one could be."""

    text: Text | None = None
    is_sure: bool = True


async def pinned_page(urls: Sequence[str], query: Query, read: Read, timeout_s: float) -> PinnedPage:
    """Look up the first of some URLs that has a page which the filters of a query allow."""
    wanted = [(document_id(url), placement_key(url)) for url in urls]
    try:
        async with asyncio.timeout(timeout_s):
            texts = await read(wanted)
    except TimeoutError:
        return PinnedPage(None, is_sure=False)
    is_sure = True
    for id_, _ in wanted:
        is_sure &= id_ in texts
        if (text := texts.get(id_)) is not None and _is_allowed(text, query):
            return PinnedPage(text, is_sure)
    return PinnedPage(None, is_sure)


def _is_allowed(text: Text, query: Query) -> bool:
    """Tell whether a page passes the filters of a query."""
    filters = [each for each in demanded(query.root) if isinstance(each, SiteFilter | LanguageFilter | TagFilter)]
    return all(matches(each, text, forward_of(text, query.rules.analyzer)) for each in filters)
