"""Scores by the statistics of today what peers found by those of a moment ago.

Pure: values in, values out. A hit carries the numbers that its score is computed from, so its new score is exact. Of a
document that a peer left out only the greatest score is known, and of that follows what it scores now at most. A score
is a sum of weights, each times a factor that grows with the average length, times the coverage. So it grows at most as
the weight did that grew most, and as the average length did. The share of the words that a document has enters the
coverage by a power, and the reward of a front page by the eighth power.
"""

from typing import NamedTuple

from msgspec import structs

from index.query.collection_statistics import Statistics
from index.query.parser import Query
from index.query.rewards import COVER_STEPS, MANY, SHARE_STEPS, most_share, words_in
from index.query.scoring import ROUNDED_UP, Scorer, max_proximity
from index.shard.messages import BestAnswer

FRONT_POWER = 8


class Shift(NamedTuple):
    """Bounds a score by other statistics: `times` the score by the former ones, and `plus`."""

    times: float
    plus: float

    def of(self, score: float) -> float:
        """Return what a document scores at most that scored so."""
        return score * self.times + self.plus


def shift(query: Query, former: Scorer, now: Scorer) -> Shift | None:
    """Return how far scores can have grown; None where a word that weighed nothing weighs something, or the reverse."""
    pairs = [pair for pair in zip(former.weights, now.weights, strict=True) if any(pair)]
    if not all(map(all, pairs)):
        return None
    grown = [after / before for before, after in pairs] or [1.0]
    most, apart = max(grown), max(grown) / min(grown)
    rules, words = query.rules.ranking, words_in(query.leaves)
    covered = apart ** (max(MANY - len(now.weights), 0) / rules.cover_fade)
    times = most * max(1.0, now.average / former.average, apart**FRONT_POWER) * covered
    rounded = 1 / SHARE_STEPS + (1 + most_share(rules, words)) / COVER_STEPS
    return Shift(times * ROUNDED_UP, sum(now.weights) * rounded * max_proximity(query))


class Rescoring:
    """Turns answers by one set of statistics into what they say by another. `k`: hits that were asked for."""

    def __init__(self, query: Query, former: Statistics, now: Statistics, k: int) -> None:
        self._scorer, before = Scorer(query, now), Scorer(query, former)
        self._up, self._back, self._k = shift(query, before, self._scorer), shift(query, self._scorer, before), k

    def answer(self, answer: BestAnswer) -> BestAnswer:
        """Return an answer with the scores of now, in their order."""
        hits = [structs.replace(hit, score=self._scorer.score(hit.numbers)) for hit in answer.hits]
        is_cut = len(hits) >= self._k
        left_out = max(answer.bound, answer.hits[-1].score) if is_cut else answer.bound
        complete = answer.complete and not is_cut
        bound = 0.0 if complete else self._up.of(left_out) if self._up else float("inf")
        hits.sort(key=lambda hit: hit.place)
        return structs.replace(answer, hits=tuple(hits), complete=complete, bound=bound)

    def reach(self, score: float) -> float:
        """Return what those documents score now at most that scored no more than one that scores so now."""
        return self._up.of(self._back.of(score)) if self._up and self._back else float("inf")
