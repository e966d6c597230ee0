"""The impact of a term in a document: what it adds to a score for each unit of its weight, as a level of one byte.

Pure: terms in, levels out. A level is rounded up, so that it bounds. It holds what the term's frequency earns and what
it earns in titles and addresses by a query of many words, which is the most; being the name of a front page is told
apart, as its reward falls steeply with the other words of the query (`rewards.py`). The impact depends on the network's
mean length, so each epoch of the directory names the one that its levels were computed with.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.query.collection_statistics import Statistics
from index.query.ranking_rules import FRONT_MOST, RankingRules
from index.query.rewards import MANY, earned
from index.query.scoring import K1, ROUNDED_UP, WEIGHTS, B, average_length, weighted
from index.text.field_terms import TITLE, URL, FieldTerms
from index.text.forward_index import Counts, ForwardRecord, lengths_of

STEPS = 150  # for 1: frequency earns a word less than 1, titles and addresses .6 at most
MOST_LEVEL = 255
_IN_TITLE, _IN_ADDRESS = (1, 0, 0, 0), (0, 0, 1, 0)


@dataclass(frozen=True, slots=True)
class DirectoryEpoch:
    """Names what all rows of one epoch have in common. `documents`, `lengths`: of the whole network when it began, by
    which its levels were computed and queries are scored."""

    number: int
    analyzer: int
    ranking: int
    slot_bits: int
    documents: int
    lengths: Counts

    @property
    def average(self) -> float:
        """The mean length of a document."""
        return average_length(Statistics(self.documents, self.lengths, ()))


@dataclass(frozen=True, slots=True, eq=False)
class TermImpacts:
    """Says of each term of a document's vocabulary its level, and whether it names a front page."""

    levels: NDArray[np.uint8]
    is_name: NDArray[np.bool_]


def impacts_of(fields: FieldTerms, is_front: bool, rules: RankingRules, average: float) -> TermImpacts:
    """Compute the levels of all terms of a document; those that stand in its boilerplate alone have 0."""
    count = len(fields.vocabulary)
    title, *headings, url, body, _ = fields.lines
    parts = [title, np.concatenate([title[:0], *headings]), url, body]
    counts = np.stack([np.bincount(part, minlength=count) for part in parts], axis=1)
    return _levels(counts, lengths_of(fields), is_front, rules, average)


def impacts_in(forward: ForwardRecord, rules: RankingRules, average: float) -> tuple[list[str], TermImpacts]:
    """Compute the levels of all terms of a document that is indexed; return the terms, too."""
    terms, counts = forward.counts()
    return terms, _levels(counts, forward.lengths, forward.is_front, rules, average)


def _levels(
    counts: NDArray[np.int64], lengths: Counts, is_front: bool, rules: RankingRules, average: float
) -> TermImpacts:
    """The levels of terms that stand so often in each field."""
    tf, has = counts @ np.array(WEIGHTS), counts > 0
    in_title, in_address = earned(rules, (_IN_TITLE, _IN_ADDRESS), lengths, False, (1.0, 1.0), MANY)
    norm = K1 * (1 - B + B * weighted(lengths) / average)
    impact = tf / (tf + norm) + in_title * has[:, TITLE] + in_address * has[:, URL]
    levels = np.ceil(impact * STEPS * ROUNDED_UP).astype(np.uint8)
    is_named = is_front and rules.front_share > 0 and lengths[URL] <= FRONT_MOST
    return TermImpacts(levels, has[:, URL] & is_named)


def looser_by(average: float, known: float) -> float:
    """Return by what impacts by a known mean length are multiplied to bound those by another one: where documents are
    longer in the mean, a long one is less of an exception."""
    return max(1.0, average / known)
