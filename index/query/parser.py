"""A query: text to what is ranked, what is counted and what scores. Nothing that people type is an error.

Pure: values only. Words are wished: every document that holds one of them is *ranked*, and every one that holds enough
of them is *counted*. How many are enough depends on their number alone (`enough_of`), so that every engine counts
alike. `+word`, "a phrase" and words joined by `AND` are demanded; `-word`, `NOT word` exclude; `OR` (or `|`) joins
alternatives; `( … )`; filters as `site:host`, all of which `filters.py` has in a table. Stop words are left out where
there is any other word, but stand in phrases. `compounds.py` says how a token of several words is
looked for. A word may have others that mean the same: those are given, see `alternatives.py`. Nothing that is
demanded or stands in alternatives is cut or changed, and nothing of a verbatim query.
In scripts without spaces it asks for all its bigrams. Half of them are enough to count, since every second one may
stand across the border of two words, and a third of a sentence. One character alone asks for all documents that hold it
(`tags.py`). Length, depth and leaves are bounded. `readings` tells where a piece was read in a way that is not obvious.
"""

import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from index.query.compounds import leaves_of
from index.query.filters import FILTERS, read_filter
from index.query.leaf import Leaf, Term, leaf_of, term_of, words_of
from index.query.query_tree import (
    NOTHING,
    Bent,
    Condition,
    LanguageFilter,
    Query,
    QueryGroup,
    QueryNode,
    ReadAs,
    Reading,
    SiteFilter,
    TagFilter,
    all_of,
    any_of,
    at_least,
    select,
)
from index.query.question import words_around
from index.query.search_rules import NEWEST_RULES, SearchRules
from index.query.signs import in_ascii
from index.query.small_words import small_words
from index.query.syntax import MAX_DEPTH, MAX_PIECE, Filter, Group, Item, Words, filters_of, read_syntax, said_in
from index.text.analyzer import is_unspaced, joined_word, words
from index.text.tags import character_tag, is_character

MAX_CHARS = 1024
MAX_LEAVES = 64
MAX_REPEATS = 3  # a word said more often counts no more
_CUT_OFF = re.compile(r"""(?:(?:\bNOT\s+|(?<!\S)-)(?:"[^"]*|\([^)]*)|\s\S{0,255}|)\Z""")
SHORT_RUN = 3  # bigrams: a run of four characters is mostly two words, or one name
LONG_RUN = 9  # bigrams and more are a sentence

__all__ = [
    "MAX_CHARS",
    "MAX_DEPTH",
    "MAX_LEAVES",
    "Condition",
    "LanguageFilter",
    "Query",
    "QueryGroup",
    "QueryNode",
    "ReadAs",
    "Reading",
    "SiteFilter",
    "TagFilter",
    "parse_query",
    "select",
]


@lru_cache(64)  # both rounds and the asker parse the same
def parse_query(
    text: str,
    language: str = "",
    site: str = "",
    is_by_date: bool = False,
    rules: SearchRules = NEWEST_RULES,
    bent: Bent = (),
    is_verbatim: bool = False,
) -> Query:
    """Parse a query; `language` and `site` narrow it like `lang:` and `site:`. It never raises.

    `bent`: typed words, each with one that means the same. `is_verbatim`: everything is looked for as it is written.
    Sorted by date, only what is counted is found: else a page of today that holds one word of five would stand first.
    """
    readings: list[Reading] = []
    text = _clean(text, readings)
    beside = [each for each in (Filter("lang", language), Filter("site", site)) if each.value]
    readings += [_no_filter(each) for each in beside if _filter(each) is None]
    kept = {each.name: each.value for each in beside if _filter(each)}
    language, site = kept.get("lang", ""), kept.get("site", "")
    syntax, odd = read_syntax(text)
    around = frozenset[str]() if is_verbatim else words_around(text)
    builder = _Builder(syntax, language, bent, around, is_verbatim=is_verbatim)
    unit = builder.whole()
    if unit is None:  # operators without anything to work on
        builder = _Builder(_literal(text), language, bent, is_verbatim=is_verbatim)
        unit = builder.whole()
        odd = (Reading(ReadAs.LITERAL if unit else ReadAs.NOTHING, text[:MAX_PIECE]),)
    filters: list[QueryNode] = [found for each in beside if (found := _filter(each))]
    ranked, counted = (unit.ranked, unit.counted) if unit else (NOTHING, NOTHING)
    if filters:
        ranked, counted = all_of([ranked, *filters]), all_of([counted, *filters])
    repeats = tuple(min(count, MAX_REPEATS) for count in builder.said.values())
    told = (*readings, *odd, *builder.readings)
    root = counted if is_by_date else ranked
    scoring = tuple(builder.said), repeats, told, is_by_date, rules
    return Query(text, language, site, root, counted, *scoring, tuple(builder.plain), bent, is_verbatim)


def enough_of(wished: int) -> int:
    """Return how many of so many wished words a document must hold to count. Up to two words it is all of them, up to
    eight two thirds, then a third, at least four."""
    if wished <= 2:
        return wished
    return -(-2 * wished // 3) if wished <= 8 else max(4, -(-wished // 3))


def enough_of_run(bigrams: int) -> int:
    """Return how many bigrams of a run without spaces are enough to count."""
    if bigrams < SHORT_RUN:
        return bigrams
    return (bigrams + 1) // 2 if bigrams < LONG_RUN else max(4, -(-bigrams // 3))


@dataclass(frozen=True, slots=True)
class _Unit:
    """One member of a sequence, as it is ranked and as it is counted."""

    ranked: QueryNode
    counted: QueryNode


class _Builder:
    """Makes the trees of one query, with at most MAX_LEAVES words."""

    def __init__(
        self, syntax: Group, language: str, bent: Bent, around: Set[str] = frozenset(), *, is_verbatim: bool
    ) -> None:
        """`around`: words that look for nothing, beside stop words."""
        self.readings: list[Reading] = []
        self.said: Counter[Leaf] = Counter()
        self.plain: list[str] = []  # words that may be bent, "" between those that do not stand side by side
        self._bent = bent
        self._is_plain = not is_verbatim and len(syntax.alternatives) == 1
        self._syntax = syntax
        self._room = MAX_LEAVES
        self._is_cut = False
        named = [each.value for each in filters_of(syntax) if each.name == "lang" and _filter(each)]
        self._is_one_of_many = sum(not item.sign for item, _ in said_in(syntax)) > 1
        self._weak = small_words(syntax, language or (named[0] if named else ""), around)
        self._left_out: dict[str, None] = {}

    def whole(self) -> _Unit | None:
        """Return the whole query, None where it looks for nothing."""
        unit, without = self._group(self._syntax)
        if self._left_out:
            self.readings.append(Reading(ReadAs.COMMON, " ".join(self._left_out)[: 4 * MAX_PIECE]))
        if unit is None:
            return None
        if without:
            unit = _Unit(all_of([unit.ranked], without), all_of([unit.counted], without))
        return unit

    def _group(self, group: Group) -> tuple[_Unit | None, list[QueryNode]]:
        """A group, and what is excluded beside it because it stands alone in an alternative."""
        parts = [self._sequence(items) for items in group.alternatives]
        units = [unit for unit, _ in parts if unit]
        lifted = [node for unit, without in parts if not unit for node in without]
        if not units:
            return None, lifted
        return _Unit(any_of([unit.ranked for unit in units]), any_of([unit.counted for unit in units])), lifted

    def _sequence(self, items: Sequence[Item]) -> tuple[_Unit | None, list[QueryNode]]:
        """A sequence; where it only excludes, what it excludes."""
        wished: list[_Unit] = []
        demanded: list[_Unit] = []
        filters: list[QueryNode] = []
        without: list[QueryNode] = []
        for item in items:
            node = item.node
            if item.sign or not isinstance(node, Words):
                self.plain.append("")
            if item.sign == "-":
                without += self._excluded(node)
                continue
            if isinstance(node, Filter) and (found := self._kept(node)):
                filters.append(found)
                if FILTERS[node.name].weighs:
                    self._word(Words(node.value), is_demanded=True)
                if not FILTERS[node.name].scores:
                    continue
                node = Words(node.value)
            was, self._is_plain = self._is_plain, self._is_plain and isinstance(item.node, Words)
            unit, lifted = self._positive(node, bool(item.sign))
            self._is_plain = was
            without += lifted
            if unit:
                (demanded if item.sign == "+" else wished).append(unit)
        if not (wished or demanded or filters):
            return None, without
        return _joined(wished, demanded, filters, without), []

    def _positive(self, node: Words | Filter | Group, is_demanded: bool) -> tuple[_Unit | None, list[QueryNode]]:
        if isinstance(node, Group):
            return self._group(node)
        if isinstance(node, Filter):
            return self._word(Words(f"{node.name} {node.value}"), is_demanded), []
        return self._word(node, is_demanded), []

    def _kept(self, node: Filter) -> QueryNode | None:
        """A filter as a condition; None where its value cannot be, which is said."""
        found = _filter(node)
        if found is None:
            self.readings.append(_no_filter(node))
        return found if found is None or self._take(1, node.name) else None

    def _excluded(self, node: Words | Filter | Group) -> list[QueryNode]:
        """Return the nodes that an excluded item excludes. A run without spaces excludes itself as it is written, not
        all documents that hold half of it."""
        if isinstance(node, Group):
            said = self.said.copy()
            unit, _ = self._group(node)
            self.said = said
            return [unit.counted] if unit else []
        if isinstance(node, Filter):
            if (found := self._kept(node)) is None:
                return []
            value = words(node.value) if FILTERS[node.name].scores else []
            return [all_of([found, _exactly(value)]) if len(value) > 1 else found]
        every = words(node.text)
        cut = self._cut(every)
        return [self._wherever(_exactly(cut))] if cut == every and cut else []  # half of it would exclude more

    def _word(self, written: Words, is_demanded: bool) -> _Unit | None:
        found = words(written.text)
        if not is_demanded and len(found) == 1 and found[0] in self._weak:
            self._left_out[found[0]] = None
            self.plain.append("")
            return None
        text = written.text.partition("://")[2] or written.text
        is_plain = self._is_plain and not is_demanded and " " not in text.strip()
        if len(found) > 1 and is_plain and not any(map(is_unspaced, found)):
            self.plain.append("")
            return self._compound(text, is_address="://" in written.text)
        cut = self._cut(words(text))
        if not cut:
            return None
        if is_demanded or len(cut) == 1 or not any(map(is_unspaced, cut)):
            leaf = _exactly(cut, joined_word(text))
            if is_plain and len(cut) == 1:
                leaf = leaf_of(cut, self._others(cut[0]))
            self.said[leaf] += 1
            node = self._wherever(leaf)
            return _Unit(node, node)
        self.plain.append("")
        leaves = list(map(term_of, cut))
        self.said.update(leaves)
        bigrams: list[QueryNode] = list(leaves)
        return _Unit(any_of(bigrams), at_least(enough_of_run(len(set(cut))), bigrams))

    def _compound(self, text: str, *, is_address: bool) -> _Unit | None:
        """A token of several words: it is counted where all of these stand. Words of an address are not bent."""
        begin = len(self.plain)
        about = (text, self._weak) if is_address else (text, self._weak, self._others)
        leaves, beside = leaves_of(*about)
        self.plain[begin:] = chain.from_iterable((word, "") for word in self.plain[begin:])
        if self._is_one_of_many and len(leaves) == 1 and leaves[0] in set[Leaf](map(term_of, self._weak)):
            self._left_out[text] = None
            return None
        if not leaves or not self._take(sum(len(words_of(leaf)) for leaf in (*leaves, *beside)), text):
            return None
        self.said.update((*leaves, *beside))
        nodes = list(map(self._wherever, leaves))
        return _Unit(any_of(nodes), all_of(nodes))

    def _others(self, word: str) -> list[list[str]]:
        """Return what means the same as a word, and note that it may be bent."""
        self.plain.append(word)
        return [found for typed, other in self._bent if typed == word and (found := words(other))]

    def _wherever(self, leaf: Leaf) -> QueryNode:
        """Return the query of all documents that hold a leaf. A character that is a word by itself is also found inside
        longer words."""
        if isinstance(leaf, Term) and is_character(leaf.surface):
            return any_of([TagFilter(character_tag(leaf.surface)), leaf])
        return leaf

    def _cut(self, found: list[str]) -> list[str]:
        """Keep as many of these terms as there is room for."""
        kept = found[: self._room]
        self._take(len(found), " ".join(found[len(kept) :]))
        return kept

    def _take(self, count: int, piece: str) -> bool:
        is_room = count <= self._room
        self._room = max(self._room - count, 0)
        if not is_room and not self._is_cut:
            self._is_cut = True
            self.readings.append(Reading(ReadAs.CUT_WORDS, piece[:MAX_PIECE]))
        return is_room


def _joined(wished: list[_Unit], demanded: list[_Unit], filters: list[QueryNode], without: list[QueryNode]) -> _Unit:
    """Join the parts of a sequence into one unit. Its `ranked` query asks for all demanded parts, or, without any, for
    one of the wished. Its `counted` query asks for all demanded parts, and for enough of all parts (`enough_of`). Both
    demand the filters and exclude `without`."""
    ranked = [unit.ranked for unit in demanded] or ([any_of([unit.ranked for unit in wished])] if wished else [])
    every = list(dict.fromkeys(unit.counted for unit in (*demanded, *wished)))
    counted, enough = every, enough_of(len(every))
    if wished and enough < len(every):
        counted = [*(unit.counted for unit in demanded), at_least(enough, every)]
    return _Unit(all_of([*ranked, *filters], without), all_of([*counted, *filters], without))


def _exactly(found: Sequence[str], joined: str = "") -> Leaf:
    return leaf_of(found, [(joined,)] if joined and len(found) > 1 else ())


def _clean(text: str, readings: list[Reading]) -> str:
    """The text as it can travel: no half characters, not too long. A word that the end cuts is left out. So is an
    excluded quotation or group, half of which would exclude more."""
    kept = "".join(character for character in text[: 4 * MAX_CHARS] if not "\ud800" <= character <= "\udfff")
    if len(kept) > MAX_CHARS or len(text) > 4 * MAX_CHARS:
        kept = kept[: min(MAX_CHARS, len(_CUT_OFF.split(in_ascii(kept[: MAX_CHARS + 1]), 1)[0]))]
        readings.append(Reading(ReadAs.CUT_TEXT, kept.rstrip()[-32:]))
    return kept


def _literal(text: str) -> Group:
    """All words of a text, whatever signs stand before them."""
    return Group((tuple(Item("", Words(word.strip('+-()"|'))) for word in text.split()),))


def _no_filter(filter_: Filter) -> Reading:
    return Reading(ReadAs.NO_FILTER, f"{filter_.name}:{filter_.value}"[:MAX_PIECE])


def _filter(filter_: Filter) -> QueryNode | None:
    return read_filter(filter_.name, filter_.value)
