"""Words that mean what was typed: what a slip was to be, two words written as one, and one written as two.

Pure: values in, values out. Peers propose what a rare word may have been meant to be, and the sums of all slots decide
by the fixed numbers below. So every node bends a query alike. An alternative becomes a synonym of the typed word
(`leaf.py`): it is counted, covered and near as that word is, and a page needs only one of them. All synonyms weigh by
the df of the commonest. So the rarity of a slip makes no page better. Only plain words are bent: nothing that is
quoted, demanded, excluded or an alternative already.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from index.query.collection_statistics import Statistics
from index.query.leaf import Leaf, Synonyms, leaf_of, phrase_of, term_of, ways_of
from index.query.parser import Query
from index.query.query_tree import Bent
from index.query.spelling import LIKELY_SLIP, MIN_DOCUMENTS, RARER, SAME_FIRST, is_correctable, weight
from index.text.analyzer import is_unspaced, words
from index.text.folding import fold

MAX_UNSURE = 8  # words of one query for which peers are asked what they may have been meant to be
MAX_LIKELY = 3  # proposals for each, by one peer
MAX_JOINED = 8  # pairs of neighbours
MAX_PROBES = MAX_JOINED + MAX_UNSURE * MAX_LIKELY
MAX_PROBE_CHARS = 40
FORMS = 3  # times as many as hold any form of the typed word
JOINED_SHARE = 100  # of the documents with the rarer of two words, one in so many holds them as one
LEAST_JOINED = 5  # letters of both together


Counted = Leaf | str  # a string: a word as it is written, folded


class AlternativeKind(StrEnum):
    """Names how an alternative differs from what was typed."""

    CORRECTION = "correction"
    JOINED = "joined"
    SPLIT = "split"


class Alternative(NamedTuple):
    """One word or two that were typed, and what is looked for as well; `pages` hold it."""

    typed: str
    used: str
    kind: AlternativeKind
    pages: int


def joined_words(query: Query) -> tuple[str, ...]:
    """Return what neighbours in a query make where they are written as one."""
    pairs = ((one, other) for one, other in pairwise(query.plain) if _may_join(one) and _may_join(other))
    made = (fold(one + other) for one, other in pairs if LEAST_JOINED <= len(one + other) <= MAX_PROBE_CHARS)
    return tuple(dict.fromkeys(made))[:MAX_JOINED]


def unsure_words(query: Query) -> tuple[str, ...]:
    """Return the words of a query that may be slips, folded."""
    plain = (fold(word) for word in query.plain if word.isalpha() and not is_unspaced(word))
    return tuple(dict.fromkeys(word for word in plain if is_correctable(word)))[:MAX_UNSURE]


def counted_nodes(query: Query, probes: Iterable[str]) -> tuple[Counted, ...]:
    """Return what is counted for a query as it was typed: its leaves, and each probe. A word is counted where it is
    written so; two words are a phrase."""
    return (*query.leaves, *map(_node, probes))


def adopt(
    query: Query, counts: Mapping[Counted, int], likely: Mapping[str, Collection[str]]
) -> tuple[Alternative, ...]:
    """Choose the alternatives of a query. `likely`: proposals for words that may be slips, folded."""
    found = [each for pair in pairwise(query.plain) if (each := _joined(*pair, counts))]
    for typed in dict.fromkeys(query.plain):
        word = fold(typed)
        least = max(MIN_DOCUMENTS, RARER * counts.get(word, 0))
        forms = FORMS * counts.get(term_of(typed), 0)
        worth = {other: counts.get(_node(other), 0) for other in likely.get(word, ())}
        worth = {other: df for other, df in worth.items() if df >= (least if " " in other else max(least, forms))}
        if best := min(worth, key=lambda other: (-_weight(word, other, worth[other]), other), default=""):
            kind = AlternativeKind.SPLIT if " " in best else AlternativeKind.CORRECTION
            found.append(Alternative(typed, best, kind, worth[best]))
    return tuple(found)


def bent_by(alternatives: Iterable[Alternative]) -> Bent:
    """Return each typed word with what is looked for as well."""
    return tuple(dict.fromkeys((word, each.used) for each in alternatives for word in each.typed.split()))


def bent_statistics(
    query: Query, alternatives: Iterable[Alternative], counts: Mapping[Counted, int], told: Statistics
) -> Statistics:
    """Return the statistics of a bent query: the df of a word and its alternatives is that of the commonest."""
    worth, used = defaultdict[Leaf, int](int), set[Leaf]()
    for each in alternatives:
        used.add(leaf_of(words(each.used)))
        for word in each.typed.split():
            worth[term_of(word)] = max(worth[term_of(word)], each.pages)

    def df_of(leaf: Leaf) -> int:
        if leaf in counts:
            return counts[leaf]
        typed, *others = ways_of(leaf)
        own = (typed, *(way for way in others if way not in used))
        return max(counts.get(typed if len(own) == 1 else Synonyms(own), 0), worth[typed])

    return Statistics(told.documents, told.lengths, tuple(map(df_of, query.leaves)))


def written_out(text: str, alternatives: Iterable[Alternative]) -> str:
    """Return a query with the right words in place of slips."""
    for each in alternatives:
        if each.kind is not AlternativeKind.JOINED:
            at = text.lower().find(each.typed)
            text = text[:at] + each.used + text[at + len(each.typed) :] if at >= 0 else text
    return text


def _joined(one: str, other: str, counts: Mapping[Counted, int]) -> Alternative | None:
    if not (_may_join(one) and _may_join(other)):
        return None
    rarer = min(counts.get(term_of(one), 0), counts.get(term_of(other), 0))
    df = counts.get(fold(one + other), 0)
    is_used = df >= MIN_DOCUMENTS and df * JOINED_SHARE >= rarer
    return Alternative(f"{one} {other}", one + other, AlternativeKind.JOINED, df) if is_used else None


def _may_join(word: str) -> bool:
    return len(word) > 1 and word.isalpha() and not is_unspaced(word)


def _node(probe: str) -> Counted:
    return phrase_of(*probe.split()) if " " in probe.strip() else probe


def _weight(word: str, other: str, documents: int) -> int:
    if " " in other:
        return documents * LIKELY_SLIP * SAME_FIRST
    return weight(word, other, documents)
