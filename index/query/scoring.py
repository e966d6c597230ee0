"""The one score of a document for a query, the same float on every node.

Pure: integers in, one float out, always in the same order of operations.

    score = bm25 · proximity
    bm25  = Σ over leaves  idf · tf / (tf + K1 · (1 − B + B · length / average))
    idf   = ln(1 + (N − df + ½) / (df + ½)), rounded to 2⁻²⁰ so that no machine's logarithm can differ
    tf, length: sums over fields, each field times its weight; average: the network's mean of that length
    proximity = 1 + (P_MAX − 1) · closeness, where closeness is the mean of 1/gap over neighbouring leaves of the query

It is BM25 with weighted fields in its first, linear form (Robertson, Zaragoza & Taylor 2004): a field's weight is as
if its text stood there that many times. Whole weights make an ordinary engine's score of the repeated text a close
upper bound of ours, which is what lets a peer prove that it left nothing better out. A phrase is one pseudo-term. Ties
go by document id. Boilerplate (menus, footers) is searched but is no field: whoever matches by it alone scores 0. A
change here must raise `RANKING`.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from index.query.collection_statistics import Statistics
from index.query.parser import Leaf, Phrase, Query, Term
from index.text.forward_index import FIELDS, Counts, ForwardRecord, by_field, within_fields

RANKING = 1
WEIGHTS: Counts = (4, 2, 2, 1)  # title, headings, url, body
K1 = 1.2
B = 0.75  # tantivy computes with exactly these two
P_MAX = 1.25  # what being close together may add at most; also how loose the bound of `upper_bound` is
CLOSE_ONE = 1024  # closeness of a document whose leaves all stand side by side
CLOSE_REACH = 16  # positions; farther apart is not close
CLOSE_POSITIONS = 256  # of a leaf in one document are looked at: a long page must not cost a millisecond
IDF_STEPS = 1 << 20


@dataclass(frozen=True, slots=True)
class ScoreInputs:
    """All that a score takes from one document. `tfs`: occurrences of each leaf by field."""

    tfs: tuple[Counts, ...]
    lengths: Counts
    closeness: int  # 0 … CLOSE_ONE


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


def bm25(tfs: Sequence[Counts], lengths: Counts, idf: Sequence[float], average: float) -> float:
    """Compute the score without proximity."""
    norm = K1 * (1 - B + B * weighted(lengths) / average)
    score = 0.0
    for counts, weight in zip(tfs, idf, strict=True):
        tf = weighted(counts)
        if tf:
            score += weight * tf / (tf + norm)
    return score


def proximity(closeness: int) -> float:
    """Return what closeness multiplies a score by, 1 … P_MAX."""
    return 1 + (P_MAX - 1) * (closeness / CLOSE_ONE)


def score_of(numbers: ScoreInputs, statistics: Statistics) -> float:
    """Compute the score of a document with these numbers: so an asker checks a peer's arithmetic."""
    score = bm25(numbers.tfs, numbers.lengths, idfs(statistics), average_length(statistics))
    return score * proximity(numbers.closeness)


def measure(forward: ForwardRecord, query: Query) -> ScoreInputs:
    """Measure the numbers of one document for a query."""
    places = [within_fields(occurrences(forward, leaf)) for leaf in query.leaves]
    return ScoreInputs(tuple(map(by_field, places)), forward.lengths, closeness(query.leaves, places))


def score(forward: ForwardRecord, query: Query, statistics: Statistics) -> Scored:
    """Score a document for a query. Whether it matches the query at all is the caller's business."""
    numbers = measure(forward, query)
    return Scored(score_of(numbers, statistics), numbers)


def upper_bound(query: Query, statistics: Statistics) -> float:
    """Return a score that no document exceeds."""
    return sum(idfs(statistics)) * max_proximity(query)


def max_proximity(query: Query) -> float:
    """Return by how much proximity can multiply a score of this query."""
    return P_MAX if len(query.leaves) > 1 else 1.0


def occurrences(forward: ForwardRecord, leaf: Leaf) -> array[int]:
    """Return the positions at which a leaf begins, ascending: a phrase begins where its terms follow each other."""
    if isinstance(leaf, Term):
        return forward.positions(leaf.term)
    first, *rest = (forward.positions(term) for term in leaf.terms)
    begins = set(first)
    for offset, positions in enumerate(rest, 1):
        begins &= {position - offset for position in positions}
    return array("H", sorted(begins))


def closeness(leaves: Sequence[Leaf], places: Sequence[array[int]]) -> int:
    """Measure how near each leaf stands to the next one of the query: 1/gap in CLOSE_ONE parts, averaged over the
    pairs.
    """
    if len(leaves) < 2:
        return 0
    near = 0
    for number in range(len(leaves) - 1):
        gap = _gap(places[number], _span(leaves[number]), places[number + 1], _span(leaves[number + 1]))
        near += CLOSE_ONE // gap if gap <= CLOSE_REACH else 0
    return near // (len(leaves) - 1)


def explain(query: Query, scored: Scored, statistics: Statistics) -> dict[str, Any]:
    """Tell where a score comes from, as plain data: every number that went into it."""
    numbers, average = scored.numbers, average_length(statistics)
    leaves = []
    for number, weight in enumerate(idfs(statistics)):
        alone = bm25(numbers.tfs[number : number + 1], numbers.lengths, (weight,), average)
        tf, name = dict(zip(FIELDS, numbers.tfs[number], strict=True)), name_of(query.leaves[number])
        leaves.append({"leaf": name, "df": statistics.df[number], "idf": weight, "tf": tf, "score": alone})
    return {
        "ranking": RANKING,
        "score": scored.score,
        "bm25": bm25(numbers.tfs, numbers.lengths, idfs(statistics), average),
        "proximity": proximity(numbers.closeness),
        "documents": statistics.documents,
        "length": weighted(numbers.lengths),
        "average_length": average,
        "weights": dict(zip(FIELDS, WEIGHTS, strict=True)),
        "leaves": leaves,
    }


def name_of(leaf: Leaf) -> str:
    """Write a leaf as text."""
    return leaf.term if isinstance(leaf, Term) else f'"{" ".join(leaf.terms)}"'


def _span(leaf: Leaf) -> int:
    return len(leaf.terms) if isinstance(leaf, Phrase) else 1


def _gap(a: array[int], a_span: int, b: array[int], b_span: int) -> int:
    """The least distance between an end of one and the begin of the other, at least 1; large where none is near."""
    best, i, j = 1 << 16, 0, 0
    a_end, b_end = min(len(a), CLOSE_POSITIONS), min(len(b), CLOSE_POSITIONS)
    while i < a_end and j < b_end:
        if a[i] <= b[j]:
            gap = b[j] - a[i] - a_span + 1
            i += 1
        else:
            gap = a[i] - b[j] - b_span + 1
            j += 1
        if gap < best:
            best = max(gap, 1)
    return best
