"""Adds spam to a web of real pages, kind by kind, and looks where the page that is meant stands then.

The pages of spam are read as the crawler reads all others. The web is indexed once; each kind comes and goes. At last a
fifth of the hosts after the other loses all links to it, and the known items on these are looked for.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from zlib import crc32

from benchmarks.figures import Row
from benchmarks.search.extent import Extent
from benchmarks.search.figure import figure, left_out, weighted_mean
from benchmarks.search.goals import SMALL_LOSS, SPAM_LOSS
from benchmarks.search.known_rules import KnownItem, known_items
from benchmarks.search.measures import reciprocal_rank
from benchmarks.search.one_node import OneNode, one_node
from benchmarks.search.spam_kinds import KINDS
from benchmarks.search.web_pages import WebPage, read_page, read_web
from crawl import domain_of
from dht import split_url
from index import DocumentChange, Text

MOST_PAGES = 2_500  # of the web
ITEMS = 100
FOLDS = 5  # of hosts that are small in turn
FIRST_DAY = 20_000  # of the web's pages
SPAM_DAY = FIRST_DAY + 30  # spam comes when there is something to copy
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
    hosts, links = [item.host for item in items], links_to(pages)
    texts = [seen(page, links, FIRST_DAY) for page in pages]
    async with one_node(texts, engine) as node:
        clean = await _ranks(node, pages, items)
        out = [figure(f"known items without spam ({len(items)})", clean, "MRR", groups=hosts)]
        for kind, make in KINDS.items():
            made = [read_page(page.url, page.html) for page in make(items, pages, Random(1))]
            spam = [page for page in made if not page.found.moved_to]  # a redirect, whose page is not stored
            links = links_to([*pages, *spam])
            found = await _beside(node, [seen(page, links, SPAM_DAY) for page in spam], pages, items)
            goal = round(weighted_mean(clean) - SPAM_LOSS[kind], 4)
            out.append(figure(f"spam: {kind} ({len(made)} pages)", found, "MRR", goal=goal, groups=hosts))
        small = [await _small(node, texts, pages, items, fold) for fold in range(FOLDS)]
    values = [value for fold in small for value in fold]
    goal = round(weighted_mean(clean) - SMALL_LOSS, 4)
    return [*out, figure("known items on sites without in-links", values, "MRR", goal=goal)]


def links_to(pages: Sequence[WebPage]) -> dict[str, int]:
    """Return for each domain how many others link to it, as `Text.site_links` counts them; others are missing."""
    found: dict[str, set[str]] = defaultdict(set)
    for page in pages:
        home = domain_of(page.host)
        for link in page.found.links:
            if not link.nofollow and (to := domain_of(split_url(link.url).host)) != home:
                found[to].add(home)
    return {domain: len(sources).bit_length() for domain, sources in found.items()}


def seen(page: WebPage, links: Mapping[str, int], day: int) -> Text:
    """Return what the index sees of a page that was first seen that day, where these link to its site."""
    return replace(page.text, first_seen=day, site_links=links.get(domain_of(page.host), 0))


async def _beside(
    node: OneNode, spam: Sequence[Text], pages: Sequence[WebPage], items: Sequence[KnownItem]
) -> list[float]:
    """The rank of each item beside some spam."""
    node.log += [DocumentChange(text.id, text) for text in spam]
    await node.follow()
    found = await _ranks(node, pages, items)
    node.log += [DocumentChange(text.id, None) for text in spam]
    await node.follow()
    return found


async def _small(
    node: OneNode, texts: Sequence[Text], pages: Sequence[WebPage], items: Sequence[KnownItem], fold: int
) -> list[float]:
    """The rank of each item of some sites, where nobody links to these and all others are as they were."""
    are_small = [crc32(page.host.encode()) % FOLDS == fold for page in pages]
    changed = [text for text, is_small in zip(texts, are_small, strict=True) if is_small]
    other = [replace(text, site_links=0, version=bytes([fold, *text.version[1:]])) for text in changed]
    node.log += [DocumentChange(text.id, text) for text in other]
    await node.follow()
    found = await _ranks(node, pages, [item for item in items if are_small[min(item.targets)]])
    node.log += [DocumentChange(text.id, text) for text in changed]
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
