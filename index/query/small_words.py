"""The words of a query that look for nothing: stop words, and those around a question.

Pure: a query's syntax in, words out.
"""

from collections.abc import Set
from itertools import chain

from index.query.syntax import Group, said_in
from index.text.analyzer import is_unspaced, words
from index.text.stop_words import stop_words


def small_words(syntax: Group, language: str, around: Set[str]) -> frozenset[str]:
    """Return the words that are left out; none of a query that has no others. `language`: a tag, where it is known;
    `around`: words that are left out in any case."""
    wished = [words(each.text) for item, each in said_in(syntax) if not item.sign]
    small = stop_words([*chain.from_iterable(wished)], language)
    if not any(is_unspaced(word) and word not in small for word in chain.from_iterable(wished)):
        small = frozenset(word for word in small if not is_unspaced(word))  # it may be another language
    small |= around
    alone = [found[0] for found in wished if len(found) == 1]
    return small if _has_others(syntax) or not small.issuperset(alone) else frozenset()


def _has_others(syntax: Group) -> bool:
    """Whether there are words that are demanded, or of several terms."""
    return any(words(each.text) and (item.sign or len(words(each.text)) > 1) for item, each in said_in(syntax))
