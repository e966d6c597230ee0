"""A query: text to a tree, hardened against strangers.

Pure: values only. Words must all occur; `OR` (or `|`) joins alternatives; `-word`, `NOT word` exclude; "a phrase";
`( … )`; `site:host` (that host and all below it); `lang:xx`. `AND` may be written. A word that the analyzer cuts into
several terms is a phrase ("x-ray"); in scripts without spaces it asks for all bigrams of a short run and for a quarter
of a long one, at least three, because a long run is a sentence whose word borders nobody knows: on questions of CMRC
2018 typed as they are, three fifths find 41 %, a quarter 92 %. Length, depth and leaves are bounded, and an error says
where.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from index.errors import QueryError
from index.text.analyzer import is_unspaced, terms

MAX_CHARS = 1024
MAX_DEPTH = 16
MAX_LEAVES = 64
MAX_SITE_CHARS = 255
SHORT_RUN = 3  # bigrams: a run of four characters is mostly one name or word
_SPECIAL = '()"|'


@dataclass(frozen=True, slots=True)
class Term:
    """Matches documents that hold one analysed term anywhere."""

    term: str


@dataclass(frozen=True, slots=True)
class Phrase:
    """Matches two terms or more at consecutive positions of one field; it ranks as one pseudo-term."""

    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SiteFilter:
    """Matches documents of a host (with `:port` only that port) and of all hosts below it."""

    host: str


@dataclass(frozen=True, slots=True)
class LanguageFilter:
    """Matches documents with this language tag, lower case."""

    code: str


Leaf = Term | Phrase  # what scores
Condition = Term | Phrase | SiteFilter | LanguageFilter  # what has no children


@dataclass(frozen=True, slots=True)
class QueryGroup:
    """Matches documents that match at least `minimum` of the children and none of `without`."""

    minimum: int
    children: tuple["QueryNode", ...]
    without: tuple["QueryNode", ...] = ()


QueryNode = Condition | QueryGroup


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query. `leaves`: distinct terms and phrases that score, in order of appearance; none excluded."""

    text: str
    root: QueryNode
    leaves: tuple[Leaf, ...]


def parse_query(text: str, language: str = "", site: str = "") -> Query:
    """Parse a query; `language` and `site` narrow it like `lang:` and `site:`. Raises QueryError with the position."""
    if len(text) > MAX_CHARS:
        raise QueryError(MAX_CHARS, f"the query is longer than {MAX_CHARS} characters")
    for position, character in enumerate(text):
        if "\ud800" <= character <= "\udfff":
            raise QueryError(position, "half a character (a lone surrogate)")
    root = _Parser(text).parse()
    narrow: list[QueryNode] = []
    if language:
        narrow.append(_language(language, 0))
    if site:
        narrow.append(_site(site, 0))
    if narrow:
        root = QueryGroup(1 + len(narrow), (root, *narrow))
    return Query(text, root, tuple(dict.fromkeys(_leaves(root))))


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


def _leaves(node: QueryNode) -> Iterator[Leaf]:
    if isinstance(node, QueryGroup):
        for child in node.children:
            yield from _leaves(child)
    elif isinstance(node, Term | Phrase):
        yield node


@dataclass(frozen=True, slots=True)
class _Excluded:
    node: QueryNode


class _Parser:
    """Recursive descent over the characters; depth is counted, so recursion is bounded."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._leaves = 0

    def parse(self) -> QueryNode:
        node = self._any(0)
        if self._peek() == ")":
            raise QueryError(self._at, "a closing parenthesis without an opening one")
        if node is None:
            raise QueryError(0, "the query has no words to look for")
        if isinstance(node, _Excluded):
            raise QueryError(0, "a query of exclusions only finds nothing; add a word to look for")
        return node

    def _any(self, depth: int) -> QueryNode | _Excluded | None:
        start = self._at
        branches = [self._all(depth)]
        while self._take_or():
            branches.append(self._all(depth))
        found = [branch for branch in branches if branch is not None]
        if len(found) <= 1:
            return found[0] if found else None
        nodes = [branch for branch in found if not isinstance(branch, _Excluded)]
        if len(nodes) < len(found):
            raise QueryError(start, "OR between exclusions means nearly everything; exclude outside of the OR")
        return QueryGroup(1, tuple(dict.fromkeys(nodes)))

    def _all(self, depth: int) -> QueryNode | _Excluded | None:
        wanted: list[QueryNode] = []
        without: list[QueryNode] = []
        while self._peek() not in ("", ")") and not self._at_or():
            item = self._item(depth)
            if isinstance(item, _Excluded):
                without.append(item.node)
            elif item is not None:
                wanted.append(item)
        if not wanted:
            return _Excluded(_group(1, without)) if without else None
        return _group(None, wanted, without)

    def _item(self, depth: int) -> QueryNode | _Excluded | None:
        start = self._at
        if self._text[start] == "-" or self._at_word("NOT"):
            self._at += 1 if self._text[start] == "-" else 3
            if self._text[start] == "N":
                self._peek()  # "NOT cat", but "- cat" is a dash
            if self._text[self._at : self._at + 1].strip() in ("", ")", "|"):
                return None
            item = self._positive(depth)
            if isinstance(item, _Excluded):
                raise QueryError(start, "an exclusion of an exclusion; leave both out")
            return item and _Excluded(item)
        if self._at_word("AND"):
            self._at += 3
            return None
        return self._positive(depth)

    def _positive(self, depth: int) -> QueryNode | _Excluded | None:
        character = self._text[self._at]
        if character == "(":
            return self._parentheses(depth + 1)
        if character == '"':
            return self._quoted()
        return self._word()

    def _parentheses(self, depth: int) -> QueryNode | _Excluded | None:
        start = self._at
        if depth > MAX_DEPTH:
            raise QueryError(start, f"parentheses deeper than {MAX_DEPTH}")
        self._at += 1
        node = self._any(depth)
        if self._peek() != ")":
            raise QueryError(start, "a parenthesis that is never closed")
        self._at += 1
        return node

    def _quoted(self) -> QueryNode | None:
        start = self._at
        end = self._text.find('"', start + 1)
        if end < 0:
            raise QueryError(start, "a quotation mark that is never closed")
        self._at = end + 1
        found = tuple(terms(self._text[start + 1 : end]))
        self._count(start, len(found))
        return (Term(found[0]) if len(found) == 1 else Phrase(found)) if found else None

    def _word(self) -> QueryNode | None:
        start = self._at
        while (
            self._at < len(self._text) and not self._text[self._at].isspace() and self._text[self._at] not in _SPECIAL
        ):
            self._at += 1
        word = self._text[start : self._at]
        name, colon, value = word.partition(":")
        if colon and name.lower() in ("site", "lang"):
            self._count(start, 1)
            return _site(value, start) if name.lower() == "site" else _language(value, start)
        found = tuple(terms(word))
        self._count(start, len(found))
        return _cut_word(found)

    def _count(self, start: int, leaves: int) -> None:
        self._leaves += leaves
        if self._leaves > MAX_LEAVES:
            raise QueryError(start, f"more than {MAX_LEAVES} words")

    def _peek(self) -> str:
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1
        return self._text[self._at : self._at + 1]

    def _at_word(self, word: str) -> bool:
        end = self._at + len(word)
        if self._text[self._at : end] != word:
            return False
        return end == len(self._text) or self._text[end].isspace() or self._text[end] in _SPECIAL

    def _at_or(self) -> bool:
        return self._peek() == "|" or self._at_word("OR")

    def _take_or(self) -> bool:
        if not self._at_or():
            return False
        self._at += 1 if self._text[self._at] == "|" else 2
        return True


def _cut_word(found: tuple[str, ...]) -> QueryNode | None:
    if len(found) <= 1:
        return Term(found[0]) if found else None
    if not any(map(is_unspaced, found)):
        return Phrase(found)
    distinct = tuple(Term(term) for term in dict.fromkeys(found))
    need = len(distinct) if len(distinct) <= SHORT_RUN else max(SHORT_RUN, -(-len(distinct) // 4))
    return QueryGroup(need, distinct) if len(distinct) > 1 else distinct[0]


def _group(minimum: int | None, children: list[QueryNode], without: list[QueryNode] | None = None) -> QueryNode:
    distinct = tuple(dict.fromkeys(children))
    if len(distinct) == 1 and not without:
        return distinct[0]
    return QueryGroup(minimum or len(distinct), distinct, tuple(dict.fromkeys(without or ())))


def _site(value: str, position: int) -> SiteFilter:
    if len(value) > MAX_SITE_CHARS or any("\ud800" <= character <= "\udfff" for character in value):
        raise QueryError(position, f"site: needs a host of at most {MAX_SITE_CHARS} characters")
    host = value.lower().removeprefix("http://").removeprefix("https://").partition("/")[0].strip(".")
    if not host:
        raise QueryError(position, "site: needs a host, as in site:example.org")
    if not host.isascii():
        try:
            host = host.encode("idna").decode()
        except UnicodeError:
            raise QueryError(position, f"site: {host} is not a host name") from None
    return SiteFilter(host)


def _language(value: str, position: int) -> LanguageFilter:
    code = value.lower()
    if not (2 <= len(code) <= 8 and code.isascii() and code.replace("-", "").isalnum()):
        raise QueryError(position, "lang: needs a language code, as in lang:en")
    return LanguageFilter(code)
