"""The element of a page that holds its article: all around it is boilerplate, as menus, comments and teasers are.

Pure. A page may declare it: by `itemprop=articleBody`, or by its only outermost `article`, or by the only one that has
the main heading. The smallest element with nearly all words of paragraphs is one, too, where little other text stands
around it: pages of tables and lists have a paragraph as introduction. Source: Mozilla's Readability scores parents by
their paragraphs. Elements are nodes of an engine, which `Reach` reads.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from crawl.content.raw_html import (
    ARTICLE,
    ARTICLE_END,
    BREAK,
    CLOSE,
    LINK,
    OPEN,
    PARAGRAPHS,
    PARAGRAPHS_END,
    names_in,
)

ARTICLE_BODY = "articleBody"
_SIGNS = tuple(sign.encode() for sign in ("comments", "<article", ARTICLE_BODY, "og:title", "ld+json"))
_COMMENTS = re.compile(rb"[\"'=#/_-]comments|comments[\"'_-]")  # as a name; the word says nothing
FEWEST_CHARS = 200  # without spaces; less is no article: a headline, a notice
PARAGRAPH_CHARS = 40
_LOOK_CHARS = 20_000  # of an element, to see that it is long
SHARE = 0.75  # of the paragraphs' characters: comments and teasers may have the rest
AROUND = 2.5  # times the text of the paragraphs' element may stand around it, outside links
OUTSIDE = frozenset(("nav", "aside", "footer", "header"))  # holds no article
_QUOTES = frozenset(("blockquote", "li", "dd"))  # their paragraphs count for what they stand in
_TOP = frozenset(("body", "html"))

Node = TypeVar("Node")


@dataclass(frozen=True, slots=True)
class Reach(Generic[Node]):
    """How nodes of an engine are read."""

    parents: Callable[[Node], Iterable[Node]]  # the innermost first
    tag: Callable[[Node], str]
    key: Callable[[Node], Hashable]


def has_signs(source: bytes) -> bool:
    """Tell whether a page has signs of news or a blog: pages without them are hardly ever among teasers."""
    found = names_in(source, _SIGNS)
    return found > 1 or (found == 1 and _COMMENTS.search(source) is not None)


def is_long(text: str) -> bool:
    """Tell whether a text may be an article's."""
    return len(text) >= FEWEST_CHARS and len("".join(text[:_LOOK_CHARS].split())) >= FEWEST_CHARS


def declared_article(bodies: Sequence[Node], articles: Sequence[tuple[Node, bool]], reach: Reach[Node]) -> Node | None:
    """Return the article that a page declares. `articles`: each with whether it has a main heading."""
    if len(bodies) == 1:
        return bodies[0]
    outermost = [
        (node, has_heading)
        for node, has_heading in articles
        if not any((tag := reach.tag(parent)) == "article" or tag in OUTSIDE for parent in reach.parents(node))
    ]
    if len(outermost) != 1:
        outermost = [each for each in outermost if each[1]]
    return outermost[0][0] if len(outermost) == 1 else None


def paragraphs_element(paragraphs: Iterable[tuple[Node, int]], reach: Reach[Node]) -> Node | None:
    """Return the smallest element that has SHARE of all paragraphs, each a node with its characters."""
    parents: dict[Hashable, list[Node]] = {}  # of each parent its own, too
    weights: dict[Hashable, int] = {}
    for node, chars in paragraphs:
        if chars < PARAGRAPH_CHARS:
            continue
        parent = next((each for each in reach.parents(node) if reach.tag(each) not in _QUOTES), None)
        if parent is not None:
            key = reach.key(parent)
            weights[key] = weights.get(key, 0) + chars
            if key not in parents:
                parents[key] = [parent, *reach.parents(parent)]
    inside = {key: nodes for key, nodes in parents.items() if not any(reach.tag(each) in OUTSIDE for each in nodes)}
    shares: dict[Hashable, int] = {}
    for key, nodes in inside.items():
        for node in nodes:
            own = reach.key(node)
            shares[own] = shares.get(own, 0) + weights[key]
    enough = SHARE * sum(weights[key] for key in inside)
    heaviest = max(inside, key=lambda key: weights[key], default=None)
    if heaviest is None:
        return None
    found = next(node for node in inside[heaviest] if shares[reach.key(node)] >= enough or reach.tag(node) in _TOP)
    return None if reach.tag(found) in _TOP else found


def settle_article(marked: str) -> str:
    """Make boilerplate of all that stands around the article, and take its marks out."""
    if ARTICLE not in marked and PARAGRAPHS not in marked:
        return marked
    for begin, end, around in ((PARAGRAPHS, PARAGRAPHS_END, AROUND), (ARTICLE, ARTICLE_END, None)):
        if begin not in marked:
            continue
        before, _, rest = marked.partition(begin)
        inner, _, after = rest.partition(end)
        if around is None or _unlinked(before) + _unlinked(after) <= around * _unlinked(inner):
            return _without(f"{OPEN}{before}{BREAK}{CLOSE}{inner}{OPEN}{after}{BREAK}{CLOSE}")
    return _without(marked)


def _unlinked(marked: str) -> int:
    """Count the characters outside links."""
    return len("".join("".join(marked.split(LINK)[::2]).split()))


def _without(marked: str) -> str:
    for mark in (ARTICLE, ARTICLE_END, PARAGRAPHS, PARAGRAPHS_END):
        marked = marked.replace(mark, "")
    return marked
