"""The parts of a parsed query: a tree of conditions, the leaves that score, and how the text was read.

Pure: values, and the set algebra of the tree.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from index.query.leaf import Leaf
from index.query.search_rules import NEWEST_RULES, SearchRules


@dataclass(frozen=True, slots=True)
class SiteFilter:
    """Matches documents of a host (with `:port` only that port) and of all hosts below it."""

    host: str


@dataclass(frozen=True, slots=True)
class LanguageFilter:
    """Matches documents with this language tag, lower case."""

    code: str


@dataclass(frozen=True, slots=True)
class TagFilter:
    """Matches documents that bear this tag, see `tags`."""

    tag: str


Condition = Leaf | SiteFilter | LanguageFilter | TagFilter  # what has no children


@dataclass(frozen=True, slots=True)
class QueryGroup:
    """Matches documents that match at least `minimum` of the children and none of `without`; `minimum` is at least 1,
    so a group without children matches nothing."""

    minimum: int
    children: tuple["QueryNode", ...]
    without: tuple["QueryNode", ...] = ()


QueryNode = Condition | QueryGroup
Bent = tuple[tuple[str, str], ...]  # typed words, each with one that means the same
NOTHING = QueryGroup(1, ())


class ReadAs(StrEnum):
    """How a piece of a query was read where that is not obvious."""

    CUT_TEXT = "cut_text"  # longer than a query may be: what follows the piece was left out
    CUT_WORDS = "cut_words"  # more words than a query may have: the piece and what follows were left out
    LITERAL = "literal"  # an operator by its form, read as words
    OPTION = "option"  # a dash and letters as a command takes them, read as words and not as an exclusion
    CLOSED = "closed"  # a quotation mark or parenthesis that was open at the end
    UNPAIRED = "unpaired"  # a parenthesis that was left out
    NO_FILTER = "no_filter"  # a filter with a value that it cannot have, read as words or left out
    NO_FIELD = "no_field"  # a name before a colon that is no filter's, read as words
    COMMON = "common"  # words too common to be looked for, where others are there
    EXPANDED = "expanded"  # a pattern, and the words that are looked for in its place
    NOTHING = "nothing"  # there is no word to look for


@dataclass(frozen=True, slots=True)
class Reading:
    """Says how a piece of a query was read."""

    read_as: ReadAs
    piece: str


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query.

    `text`, `language` and `site`: what gives the same query when it is parsed again. `root`: what is ranked, all that
    holds any word that is looked for. `counted`: what is counted, all that holds enough of them. `leaves`: distinct
    terms and phrases that score, in order of appearance; none excluded. `repeats`: how often each was said, 1 … 3.
    `is_by_date`: the newest stand first, and ranked is what is counted. `rules`: by which it is parsed and scored.
    `plain`: words that may be bent, in order, with "" between those that do not stand side by side. `bent`: words that
    mean the same, each behind a typed one. `is_verbatim`: nothing is bent, and what the analyzer cuts is a phrase.
    `asker_language`: pages in others stand a little lower (`foreign.py`), "" unknown.
    """

    text: str
    language: str
    site: str
    root: QueryNode
    counted: QueryNode
    leaves: tuple[Leaf, ...]
    repeats: tuple[int, ...]
    readings: tuple[Reading, ...] = ()
    is_by_date: bool = False
    rules: SearchRules = NEWEST_RULES
    plain: tuple[str, ...] = ()
    bent: Bent = ()
    is_verbatim: bool = False
    asker_language: str = ""


def select(node: QueryNode, find: Callable[[Condition], frozenset[int]]) -> frozenset[int]:
    """Return the documents of a tree, given those of its leaves: the set algebra for engines that have none."""
    if not isinstance(node, QueryGroup):
        return find(node)
    counts: dict[int, int] = {}
    for child in node.children:
        for number in select(child, find):
            counts[number] = counts.get(number, 0) + 1
    found = frozenset(number for number, count in counts.items() if count >= node.minimum)
    for child in node.without:
        found -= select(child, find)
    return found


def tags_in(node: QueryNode) -> Iterator[str]:
    """Yield the tags that a tree asks for, excluded ones apart."""
    if isinstance(node, TagFilter):
        yield node.tag
    elif isinstance(node, QueryGroup):
        for child in node.children:
            yield from tags_in(child)


def is_any_of(node: QueryNode, leaves: Sequence[Leaf]) -> bool:
    """Tell whether a node asks for any of all leaves, and for nothing else."""
    if isinstance(node, QueryGroup):
        return node.minimum == 1 and not node.without and bool(leaves) and set(node.children) == set(leaves)
    return (node,) == tuple(leaves)


def demanded(root: QueryNode) -> tuple[QueryNode, ...]:
    """Return nodes that a document must match, all of them, to match a root, what that excludes apart."""
    if not isinstance(root, QueryGroup):
        return (root,)
    return root.children if root.minimum == len(root.children) else (QueryGroup(root.minimum, root.children),)


def demands_a_leaf(query: Query) -> bool:
    """Tell whether nothing matches a query's root that holds none of its leaves, because the root says so itself."""
    return any(is_any_of(node, query.leaves) for node in demanded(query.root))


def any_of(nodes: list[QueryNode]) -> QueryNode:
    """Return what matches where any of these does, as flat as can be."""
    flat: dict[QueryNode, None] = {}
    for node in nodes:
        is_any = isinstance(node, QueryGroup) and node.minimum == 1 and not node.without
        flat.update(dict.fromkeys(node.children if is_any and isinstance(node, QueryGroup) else (node,)))
    return at_least(1, list(flat))


def all_of(nodes: list[QueryNode], without: list[QueryNode] | None = None) -> QueryNode:
    """Return what matches where all of these do and none of `without`."""
    distinct = tuple(dict.fromkeys(nodes))
    excluded = tuple(dict.fromkeys(without or ()))
    return distinct[0] if len(distinct) == 1 and not excluded else QueryGroup(max(len(distinct), 1), distinct, excluded)


def at_least(minimum: int, nodes: list[QueryNode]) -> QueryNode:
    """Return what matches where at least `minimum` of these nodes do, equal ones counting once."""
    distinct = tuple(dict.fromkeys(nodes))
    return distinct[0] if len(distinct) == 1 else QueryGroup(max(min(minimum, len(distinct)), 1), distinct)
