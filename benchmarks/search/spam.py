"""Adds spam to a web of real pages, kind by kind, and looks where the page that is meant stands then.

The pages of spam are read as the crawler reads all others. The web is indexed once; each kind comes and goes.
"""

import asyncio
from collections.abc import Sequence
from random import Random

from benchmarks.figures import Row
from benchmarks.search.extent import Extent
from benchmarks.search.figure import figure, left_out, weighted_mean
from benchmarks.search.goals import SPAM_LOSS
from benchmarks.search.known_rules import KnownItem, known_items
from benchmarks.search.measures import reciprocal_rank
from benchmarks.search.one_node import OneNode, one_node
from benchmarks.search.spam_kinds import KINDS, SpamPage
from benchmarks.search.web_pages import WebPage, read_page, read_web
from index import DocumentChange

MOST_PAGES = 2_500  # of the web
ITEMS = 100
OF_KINDS = ("title", "heading", "body")  # what known items are looked for by


def rows(extent: Extent) -> list[Row]:
    """Return the rows without spam, and with each kind of it."""
    if extent.web is None:
        return [left_out("spam", "needs --web DIR")]
    pages = some_pages(read_web(extent.web))
    return asyncio.run(_rows(pages, some_items(pages, extent.most(ITEMS)), extent.engine))


def some_pages(pages: Sequence[WebPage]) -> Sequence[WebPage]:
    """Return pages of all hosts, as many as are measured on."""
    return pages if len(pages) <= MOST_PAGES else sorted(Random(1).sample(pages, MOST_PAGES), key=lambda page: page.url)


def some_items(pages: Sequence[WebPage], most: int) -> list[KnownItem]:
    """Return known items, of each kind as many; queries of one host are few (`known_rules.py`)."""
    each = -(-most // len(OF_KINDS))
    return known_items(pages, Random(1), each, OF_KINDS)[:most]


async def _rows(pages: Sequence[WebPage], items: Sequence[KnownItem], engine: str) -> list[Row]:
    hosts = [item.host for item in items]
    async with one_node([page.text for page in pages], engine) as node:
        clean = await _ranks(node, pages, items)
        out = [figure(f"known items without spam ({len(items)})", clean, "MRR", groups=hosts)]
        for kind, make in KINDS.items():
            spam = list(make(items, pages, Random(1)))
            found = await _with_spam(node, spam, pages, items)
            what = f"spam: {kind} ({len(spam)} pages)"
            out.append(figure(what, found, "MRR", goal=round(weighted_mean(clean) - SPAM_LOSS[kind], 4), groups=hosts))
    return out


async def _with_spam(
    node: OneNode, spam: Sequence[SpamPage], pages: Sequence[WebPage], items: Sequence[KnownItem]
) -> list[float]:
    texts = [read_page(page.url, page.html).text for page in spam]
    node.log += [DocumentChange(text.id, text) for text in texts]
    await node.follow()
    found = await _ranks(node, pages, items)
    node.log += [DocumentChange(text.id, None) for text in texts]
    await node.follow()
    return found


async def _ranks(node: OneNode, pages: Sequence[WebPage], items: Sequence[KnownItem]) -> list[float]:
    """The reciprocal rank of each item."""
    out = []
    for item in items:
        meant = {pages[place].text.id.hex() for place in item.targets}
        found = [each["id"] for each in (await node.ask(item.words))["results"]]
        out.append(reciprocal_rank(found, meant))
    return out
