"""The one score of a document for a query, the same float on every node.

Pure: integers in, one float out, always in the same order of operations.

    score = (bm25 + rewards) · coverage · script · language · doubt · proximity
    bm25  = Σ over leaves  repeats · kept · idf · tf / (tf + K1 · (1 − B + B · length / average))
    rewards, coverage: see `rewards.py`; coverage is at most 1
    idf   = ln(1 + (N − df + ½) / (df + ½)), rounded to 2⁻²⁰ so that no machine's logarithm can differ
    kept  = 1, less for words that say little of a subject (`rewards.py`)
    tf, length: sums over fields, each field times its weight; average: the network's mean of that length
    script = less than 1 for pages whose language has no Latin letters where the query has no others, fronts apart
    language = less than 1 for other pages in another language than the asker's, fronts apart (`foreign.py`)
    doubt = less than 1 for pages that look as if made to be found (`doubt.py`)
    proximity = 1 + (most − 1) · closeness, where closeness is the mean of 1/gap over neighbouring leaves of the query

Every reward is a sum that the engine adds, too, and every factor but proximity is at most 1. So the score of any
document that a peer left out has a close bound.

It is BM25 with weighted fields in its first, linear form (Robertson, Zaragoza & Taylor 2004): a field's weight is as
if its text stood there that many times. With whole weights an ordinary engine's score of the repeated text is a close
upper bound of ours. So a peer can prove that it left nothing better out. A phrase is one pseudo-term, a word said twice
counts twice. Ties go by document id. Boilerplate (menus, footers) is searched but is no field: whoever matches by it
alone scores 0. The choices of a ranking stand in `ranking_rules.py`; all else here is common to all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from math import prod
from operator import and_
from typing import Any, NamedTuple

from index.query.collection_statistics import Statistics
from index.query.doubt import doubt, is_obscure
from index.query.foreign import OTHER_LANGUAGE, OTHER_SCRIPT, Foreign
from index.query.leaf import Leaf, Phrase, Term, terms_in, ways_of, words_of
from index.query.parser import Query
from index.query.rewards import coverage, earned, kept_share, most_share, words_in
from index.text.forward_index import FIELDS, Counts, ForwardRecord, by_field, within_fields

WEIGHTS: Counts = (8, 3, 2, 1)  # title, headings, url, body
K1 = 1.2
B = 0.75  # tantivy computes with exactly these two
CLOSE_ONE = 1024  # closeness of a document whose leaves all stand side by side
CLOSE_REACH = 16  # positions; farther apart is not close
JOINED_GAP = 2
CLOSE_POSITIONS = 256  # of a leaf in one document are looked at: a long page must not cost a millisecond
IDF_STEPS = 1 << 20
MAX_FACTORS = 1 << 8  # remembered: documents that have the same of the words have the same
ROUNDED_UP = 1 + 1e-9  # sums in another order differ in their last digits


@dataclass(frozen=True, slots=True)
class ScoreInputs:
    """All that a score takes from one document. `tfs`: occurrences of each leaf by field."""

    tfs: tuple[Counts, ...]
    lengths: Counts
    closeness: int  # 0 … CLOSE_ONE
    is_front: bool  # whether it is its host's front page
    foreign: int = 0  # whether it is of another language than the asker's, or of another script, see `foreign.py`
    is_obscure: bool = False  # whether few other sites link to its site


@dataclass(frozen=True, slots=True)
class Scored:
    """A score, and the numbers that it was computed from."""

    score: float
    numbers: ScoreInputs


def weighted(counts: Counts) -> int:
    """Add up a count or length over all fields, each times its weight."""
    return WEIGHTS[0] * counts[0] + WEIGHTS[1] * counts[1] + WEIGHTS[2] * counts[2] + WEIGHTS[3] * counts[3]


def average_length(statistics: Statistics) -> float:
    """Return the network's mean weighted length, 1.0 where it holds nothing."""
    length = weighted(statistics.lengths)
    return length / statistics.documents if statistics.documents and length else 1.0


def idfs(statistics: Statistics) -> tuple[float, ...]:
    """Return the idf of each leaf; a leaf that occurs nowhere has 0."""
    out = []
    for df in statistics.df:
        exact = math.log(1 + (statistics.documents - df + 0.5) / (df + 0.5)) if 0 < df <= statistics.documents else 0.0
        out.append(math.floor(exact * IDF_STEPS + 0.5) / IDF_STEPS)
    return tuple(out)


def leaf_weights(query: Query, statistics: Statistics) -> tuple[float, ...]:
    """Return what each leaf weighs: its idf as often as it was said, or the share of that which its word keeps."""
    rules = query.rules.ranking
    parts = rules.asking_share, rules.grammar_share
    typed = (ways_of(leaf)[0] for leaf in query.leaves)
    kept = (kept_share(way.surface, *parts) if isinstance(way, Term) else 1.0 for way in typed)
    return tuple(count * idf * share for count, idf, share in zip(query.repeats, idfs(statistics), kept, strict=True))


def bm25(tfs: Sequence[Counts], lengths: Counts, weights: Sequence[float], average: float) -> float:
    """Compute the part of the score that counts how often words occur."""
    norm = K1 * (1 - B + B * weighted(lengths) / average)
    score = 0.0
    of_title, of_headings, of_url, of_body = WEIGHTS
    for (title, headings, url, body), weight in zip(tfs, weights, strict=True):
        tf = of_title * title + of_headings * headings + of_url * url + of_body * body
        if tf:
            score += weight * tf / (tf + norm)
    return score


class Needed(NamedTuple):
    """The words that a document needs: any of some leaves, by their numbers, and of all leaves so many. `others`: what
    the factors of those that do not have it make together at most."""

    any_of: tuple[int, ...]
    least_count: int
    others: float

    def is_more_than(self, other: Needed) -> bool:
        """Tell whether fewer documents have this."""
        return len(self.any_of) < len(other.any_of) or self.least_count > other.least_count


class Scorer:
    """Scores documents for one query by one set of statistics."""

    def __init__(self, query: Query, statistics: Statistics) -> None:
        self.weights, self.average = leaf_weights(query, statistics), average_length(statistics)
        self._rules, self._words = query.rules.ranking, words_in(query.leaves)
        self._shares = 1.0, self._rules.other_language, self._rules.other_script  # by how foreign a page is
        self._most_proximity = max_proximity(query)
        self._factors: dict[tuple[bool, ...], tuple[float, float]] = {}

    def relevance(self, tfs: Sequence[Counts], lengths: Counts, is_front: bool) -> float:
        """Compute what an engine adds up: the words' frequencies and the rewards, no factor."""
        rewards = earned(self._rules, tfs, lengths, is_front, self.weights, self._words)
        return bm25(tfs, lengths, self.weights, self.average) + sum(rewards)

    def before_proximity(
        self, tfs: Sequence[Counts], lengths: Counts, is_front: bool, foreign: int, is_obscure: bool
    ) -> float:
        """Compute the score but for the last factor."""
        found = self.relevance(tfs, lengths, is_front) * self.factors(tuple(map(any, tfs)))[0]
        return found * self._shares[foreign] * doubt(tfs, lengths, is_front, is_obscure)

    def proximity(self, closeness: float) -> float:
        """Return what closeness multiplies a score by: 1 and more."""
        return 1 + (self._most_proximity - 1) * (closeness / CLOSE_ONE)

    def factors(self, has: tuple[bool, ...]) -> tuple[float, float]:
        """Return by what the relevance of a document that has these of the words is multiplied: its coverage, and what
        its proximity is at most. Words that stand beside none of their neighbours in the query are close to nothing."""
        if (found := self._factors.get(has)) is None:
            pairs = sum(map(and_, has, has[1:]))
            closest = 1 + (self._most_proximity - 1) * pairs / (len(has) - 1) if pairs else 1.0
            found = coverage(self._rules, has, self.weights), closest
            if len(self._factors) < MAX_FACTORS:
                self._factors[has] = found
        return found

    def needed(self, least: float) -> Needed:
        """Tell what a document needs to have for its factors to reach `least`."""
        count, heaviest = len(self.weights), sorted(range(len(self.weights)), key=lambda each: -self.weights[each])
        needed, others = heaviest, 0.0
        for number in range(1, count):
            lacking = prod(self.factors(tuple(each not in heaviest[:number] for each in range(count))))
            if lacking < least:
                needed, others = heaviest[:number], lacking
                break
        for number in range(count - 1, 0, -1):  # of so many words the heaviest stand side by side at best
            covered, _ = self.factors(tuple(each in heaviest[:number] for each in range(count)))
            fewer = covered * self.proximity(CLOSE_ONE * (number - 1) / (count - 1))
            if fewer < least:
                return Needed(tuple(needed), number + 1, max(others, fewer))
        return Needed(tuple(needed), 1, others)

    def score(self, numbers: ScoreInputs) -> float:
        """Compute the score of a document with these numbers."""
        marks = numbers.is_front, numbers.foreign, numbers.is_obscure
        alone = self.before_proximity(numbers.tfs, numbers.lengths, *marks)
        return alone * self.proximity(numbers.closeness)


def measure(forward: ForwardRecord, query: Query) -> ScoreInputs:
    """Measure the numbers of one document for a query."""
    places = [within_fields(occurrences(forward, leaf)) for leaf in query.leaves]
    tfs = tuple(map(by_field, places))
    marks = forward.is_front, Foreign(query).of(forward), is_obscure(forward.site_links)
    return ScoreInputs(tfs, forward.lengths, closeness(query.leaves, places), *marks)


def score(forward: ForwardRecord, query: Query, statistics: Statistics) -> Scored:
    """Score a document for a query. Whether it matches the query at all is the caller's business."""
    numbers = measure(forward, query)
    return Scored(Scorer(query, statistics).score(numbers), numbers)


def upper_bound(query: Query, statistics: Statistics) -> float:
    """Return a score that no document exceeds."""
    most = sum(leaf_weights(query, statistics)) * (1 + most_share(query.rules.ranking, words_in(query.leaves)))
    return most * ROUNDED_UP * max_proximity(query)


def max_proximity(query: Query) -> float:
    """Return by how much proximity can multiply a score of this query."""
    return query.rules.ranking.most_proximity(len(query.leaves))


def occurrences(forward: ForwardRecord, leaf: Leaf) -> list[int]:
    """Return the positions at which a leaf begins, ascending: a phrase begins where its terms follow each other, and
    synonyms where any of them does."""
    every = terms_in(leaf, forward.stem_class)
    found = [follow_each_other(list(map(forward.positions, terms))) for terms in every]
    return found[0] if len(found) == 1 else sorted(chain.from_iterable(found))


def follow_each_other(places: Sequence[list[int]]) -> list[int]:
    """Return where the first of some terms stands with the others after it, given the positions of each."""
    if len(places) == 1:
        return places[0]
    if not all(places):
        return []
    begins = set(places[0])
    for offset, positions in enumerate(places[1:], 1):
        begins.intersection_update([position - offset for position in positions])
    return sorted(begins)


def closeness(leaves: Sequence[Leaf], places: Sequence[list[int]]) -> int:
    """Measure how near each leaf stands to the next one of the query: 1/gap in CLOSE_ONE parts, averaged over the
    pairs.
    """
    if len(leaves) < 2:
        return 0
    near = 0
    for number, (here, there) in enumerate(pairwise(places)):
        if here and there:
            gap = _gap(here, len(words_of(leaves[number])), there, len(words_of(leaves[number + 1])))
            near += CLOSE_ONE // gap if gap <= CLOSE_REACH else 0
    return near // (len(leaves) - 1)


def explain(query: Query, scored: Scored, statistics: Statistics) -> dict[str, Any]:
    """Tell where a score comes from, as plain data: every number that went into it."""
    numbers, scorer, rules = scored.numbers, Scorer(query, statistics), query.rules.ranking
    tfs, lengths, weights = numbers.tfs, numbers.lengths, scorer.weights
    rewards = earned(rules, tfs, lengths, numbers.is_front, weights, words_in(query.leaves))
    leaves = [
        {
            "leaf": name_of(leaf),
            "df": statistics.df[number],
            "idf": idf,
            "repeats": query.repeats[number],
            "weight": weights[number],
            "tf": dict(zip(FIELDS, tfs[number], strict=True)),
            "score": bm25(tfs[number : number + 1], lengths, weights[number : number + 1], scorer.average),
            "reward": rewards[number],
        }
        for number, (leaf, idf) in enumerate(zip(query.leaves, idfs(statistics), strict=True))
    ]
    return {
        "ranking": rules.number,
        "score": scored.score,
        "bm25": bm25(tfs, lengths, weights, scorer.average),
        "rewards": sum(rewards),
        "coverage": scorer.factors(tuple(map(any, tfs)))[0],
        "script": rules.other_script if numbers.foreign == OTHER_SCRIPT else 1.0,
        "language": rules.other_language if numbers.foreign == OTHER_LANGUAGE else 1.0,
        "asker_language": query.asker_language,
        "doubt": doubt(tfs, lengths, numbers.is_front, numbers.is_obscure),
        "proximity": scorer.proximity(numbers.closeness),
        "documents": statistics.documents,
        "length": weighted(lengths),
        "average_length": scorer.average,
        "is_front": numbers.is_front,
        "weights": dict(zip(FIELDS, WEIGHTS, strict=True)),
        "leaves": leaves,
    }


def name_of(leaf: Leaf) -> str:
    """Write a leaf as text."""
    return "|".join(map(_name_of, ways_of(leaf)))


def _name_of(way: Term | Phrase) -> str:
    return way.surface if isinstance(way, Term) else f'"{" ".join(word.surface for word in way.words)}"'


def _gap(a: list[int], a_span: int, b: list[int], b_span: int) -> int:
    """The least distance between an end of one and the begin of the other, at least 1; large where none is near. Of
    what was typed apart and is written as one word it is JOINED_GAP, so that what is written as typed stands first."""
    best = 1 << 16
    all_a, all_b = iter(a[:CLOSE_POSITIONS]), iter(b[:CLOSE_POSITIONS])
    here, there = next(all_a, None), next(all_b, None)
    while here is not None and there is not None:
        if here == there:
            after, behind = next(all_a, None), next(all_b, None)
            beside = [] if behind is None else [behind - here - a_span + 1]
            beside += [] if after is None else [after - there - b_span + 1]
            gap = min([JOINED_GAP, *beside])
            here, there = after, behind
        elif here < there:
            gap = there - here - a_span + 1
            here = next(all_a, None)
        else:
            gap = here - there - b_span + 1
            there = next(all_b, None)
        if gap < best:
            if gap <= 1:
                return 1
            best = gap
    return best
