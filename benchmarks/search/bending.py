"""Types what has to be bent: known items with one slip, qualified names and paths, two words as one and one as two.

A name or path is one that a single page writes; that page is meant. Words are split and joined where the pages write
them mostly the other way.
"""

import asyncio
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random

from benchmarks.figures import Row
from benchmarks.search.extent import Extent
from benchmarks.search.figure import figure, left_out, weighted_mean
from benchmarks.search.goals import CODE_IN_THREE, CORRECTED_ITEMS, MISSPELLED_MRR, SPLIT_IN_TEN
from benchmarks.search.known_rules import KnownItem, known_items
from benchmarks.search.measures import reciprocal_rank
from benchmarks.search.misspellings import hosts_of_words, slip_of
from benchmarks.search.one_node import OneNode, one_node
from benchmarks.search.web_pages import WebPage, read_web

ITEMS, CODE, SPLIT = 150, 60, 60  # of each kind
COMMON = 20  # pages at least write a word that is split or joined
SHOWN = 10
_WORD = re.compile("[A-Za-z]{5,}")
_CODE = re.compile(r"(?<![\w./:-])(?:\w+(?:::\w+)+|[a-z]\w*(?:\.[a-z]\w*){2,}|(?:/[\w.-]+){2,})(?![\w./:-])")


def rows(extent: Extent) -> list[Row]:
    """Return the rows of queries that bend."""
    if extent.web is None:
        return [left_out("queries that bend", "needs --web DIR")]
    pages = read_web(extent.web)
    return asyncio.run(_rows(pages, extent))


async def _rows(pages: Sequence[WebPage], extent: Extent) -> list[Row]:
    chance, hosts = Random(3), hosts_of_words(pages)
    items = [item for item in known_items(pages, Random(1), extent.most(ITEMS)) if _WORD.search(item.words)]
    slips = [_with_slip(item, hosts, chance) for item in items]
    code = code_queries(pages, chance)[: extent.most(CODE)]
    split = split_words(pages)[: extent.most(SPLIT)]
    async with one_node([page.text for page in pages], extent.engine) as node:
        right = [await _rank(node, item) for item in items]
        slipped = [await _rank(node, item) for item in slips]
        changed = [float(bool((await node.ask(item.words)).get("corrections"))) for item in items]
        named = [float(await _rank(node, item) >= 1 / 3) for item in code]
        bent = [float(await _finds(node, typed, meant)) for typed, meant in split]
    whole = weighted_mean(right) or 1.0
    shares = [each / whole for each in slipped]
    return [
        figure(
            f"known items with a slip, MRR as shown, of the right ones' ({len(slips)})", shares, goal=MISSPELLED_MRR
        ),
        figure("right known items 'corrected'", changed, goal=CORRECTED_ITEMS, at_least=False),
        figure(f"names, paths: the page in the first three ({len(code)})", named, goal=CODE_IN_THREE),
        figure(f"split and joined words: such pages in the first ten ({len(split)})", bent, goal=SPLIT_IN_TEN),
    ]


def code_queries(pages: Sequence[WebPage], chance: Random) -> list[KnownItem]:
    """Return qualified names and paths that one page writes, at most one a page."""
    written: dict[str, set[int]] = defaultdict(set)
    for place, page in enumerate(pages):
        for token in set(_CODE.findall(f"{page.found.title}\n{page.found.text}")):
            written[token].add(place)
    alone = {next(iter(places)): token for token, places in sorted(written.items()) if len(places) == 1}
    found = [KnownItem("code", token, frozenset([place]), pages[place].host) for place, token in alone.items()]
    chance.shuffle(found)
    return found


def split_words(pages: Sequence[WebPage]) -> list[tuple[str, str]]:
    """Return what is typed, and what such pages write: a common word as two that are common, and the other way."""
    words, pairs = Counter[str](), Counter[str]()
    for page in pages:
        text = re.findall("[a-z]+", f"{page.found.title}\n{page.found.text}".lower())
        words.update(set(text))
        pairs.update({f"{one} {other}" for one, other in pairwise(text)})
    return sorted(_split(words, pairs))


def _split(words: Counter[str], pairs: Counter[str]) -> Iterator[tuple[str, str]]:
    for pair, count in pairs.items():
        one, _, other = pair.partition(" ")
        joined = one + other
        if min(len(one), len(other)) > 3 and min(words[one], words[other]) >= COMMON:
            if words[joined] >= COMMON and words[joined] > 4 * count:
                yield pair, joined
            elif count >= COMMON and not words[joined]:
                yield joined, pair


async def _rank(node: OneNode, item: KnownItem) -> float:
    return reciprocal_rank(await node.places(item.words), item.targets)


async def _finds(node: OneNode, typed: str, meant: str) -> bool:
    """Whether pages with the words that are meant are shown."""
    shown = (await node.ask(typed, SHOWN))["results"]
    return any(meant in f"{each['title']} {each['snippet']}".lower() for each in shown)


def _with_slip(item: KnownItem, hosts: dict[str, frozenset[str]], chance: Random) -> KnownItem:
    found = chance.choice(list(_WORD.finditer(item.words)))
    slip = slip_of(found.group().lower(), hosts, chance)
    words = item.words[: found.start()] + slip + item.words[found.end() :]
    return KnownItem(item.kind, words, item.targets, item.host)
