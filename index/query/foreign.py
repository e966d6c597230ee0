"""Which pages are foreign to a query: of another script than it, or of another language than its asker's.

Pure: values only. An asker's language is a guess, so it moves pages only a little, and gives way to what a query shows.
Front pages are never foreign: the name of a site is asked for in any language.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

from dht import language_code
from index.query.leaf import scripts_of
from index.query.parser import Query, QueryGroup, QueryNode
from index.query.query_tree import LanguageFilter
from index.text.analyzer import words
from index.text.forward_index import ForwardRecord
from index.text.stem_classes import ENGLISH, class_of
from index.text.stop_words import evident_languages
from index.text.writing import LATIN, scripts_of_language

OTHER_LANGUAGE, OTHER_SCRIPT = 1, 2  # 0: not foreign, or nothing is known
_OPERATORS = frozenset(("AND", "OR", "NOT"))


def for_asker(query: Query, language: str) -> Query:
    """Return a query with the language (a tag, "" unknown) in which its asker wants pages most.

    It is "" where the query asks for a language or where it is evidently of others than the asker's. Where these are
    one, it is that. Asked again with the language that it has, a query keeps it.
    """
    code = language_code(language)
    if not code or _asks_for_language(query.root):
        return query
    beyond_latin = scripts_of(query.leaves) & ~LATIN
    if beyond_latin and not beyond_latin & scripts_of_language(code):
        return query
    evident = evident_languages(_typed_words(query.text))
    if evident and code not in evident and not beyond_latin:
        code = next(iter(evident)) if len(evident) == 1 else ""
    return replace(query, asker_language=code) if code else query


class Foreign:
    """Tells how foreign pages are to one query."""

    def __init__(self, query: Query) -> None:
        self._is_latin, language = is_latin(query), query.asker_language
        self._class, self._scripts = class_of(language), scripts_of_language(language)

    def of(self, forward: ForwardRecord) -> int:
        """Return how foreign a page is. Latin words stand in addresses and menus of the whole world. Words of other
        scripts seldom stand where they are not meant. So only Latin queries have pages of other scripts."""
        if not forward.scripts or forward.is_front:
            return 0
        if self._is_latin and not forward.scripts & LATIN:
            return OTHER_SCRIPT
        if not self._scripts:
            return 0
        is_same = forward.stem_class == self._class and (
            self._class != ENGLISH or forward.scripts == self._scripts  # all languages without rules are of its class
        )
        return 0 if is_same else OTHER_LANGUAGE


def is_latin(query: Query) -> bool:
    """Tell whether all words of a query are Latin."""
    return scripts_of(query.leaves) == LATIN


def _asks_for_language(node: QueryNode) -> bool:
    if isinstance(node, QueryGroup):
        return any(map(_asks_for_language, node.children))
    return isinstance(node, LanguageFilter)


def _typed_words(text: str) -> list[str]:
    pieces = (piece for piece in text.split() if piece not in _OPERATORS and ":" not in piece)
    return list(chain.from_iterable(map(words, pieces)))
