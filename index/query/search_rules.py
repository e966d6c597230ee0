"""By which analyzer and ranking a query goes, and which ones the strategy names.

Pure: numbers in, values out. The numbers 1 and 2 of analyzers and 1 of rankings were written into strategies before
any release read them; they stand for what all releases did then, whatever comes later.
"""

from dataclasses import dataclass

from index.query.ranking_rules import NEWEST_RANKING, RANKINGS, RankingRules
from index.text.analyzer_rules import ANALYZERS, NEWEST_ANALYZER, AnalyzerRules

FIRST_READ = 3, 2  # analyzer and ranking: lower numbers were never read, and
UNREAD = 4, 4  # stand for these


@dataclass(frozen=True, slots=True, eq=False)
class SearchRules:
    """An analyzer and a ranking: all that two nodes must share to give one answer."""

    analyzer: AnalyzerRules
    ranking: RankingRules

    @property
    def numbers(self) -> tuple[int, int]:
        """The numbers of both."""
        return self.analyzer.number, self.ranking.number


_KNOWN = {(a, r): SearchRules(ANALYZERS[a], RANKINGS[r]) for a in ANALYZERS for r in RANKINGS}
NEWEST_RULES = _KNOWN[NEWEST_ANALYZER.number, NEWEST_RANKING.number]


def rules_of(analyzer: int, ranking: int) -> SearchRules | None:
    """Return the rules of these numbers, None where this release does not know them."""
    return _KNOWN.get((analyzer, ranking))


def meant_by(analyzer: int, ranking: int) -> tuple[int, int]:
    """Return which analyzer and ranking a strategy with these numbers means."""
    pairs = zip((analyzer, ranking), FIRST_READ, UNREAD, strict=True)
    meant, scored = (written if written >= first else unread for written, first, unread in pairs)
    return meant, scored


def closest_to(analyzer: int, ranking: int) -> SearchRules:
    """Return the rules that a strategy with these numbers means, the newest of its own in place of what this release
    does not know."""
    meant, scored = meant_by(analyzer, ranking)
    known = (
        meant if meant in ANALYZERS else NEWEST_ANALYZER.number,
        scored if scored in RANKINGS else NEWEST_RANKING.number,
    )
    return _KNOWN[known]
