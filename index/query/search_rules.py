"""By which analyzer and ranking a query goes, and which ones the strategy names.

Pure: numbers in, values out.
"""

from dataclasses import dataclass

from index.query.ranking_rules import NEWEST_RANKING, RANKINGS, RankingRules
from index.text.analyzer_rules import ANALYZERS, NEWEST_ANALYZER, AnalyzerRules


@dataclass(frozen=True, slots=True, eq=False)
class SearchRules:
    """An analyzer and a ranking: all that two nodes must share to give one answer."""

    analyzer: AnalyzerRules
    ranking: RankingRules

    @property
    def numbers(self) -> tuple[int, int]:
        """The numbers of both."""
        return self.analyzer.number, self.ranking.number


NEWEST_RULES = SearchRules(NEWEST_ANALYZER, NEWEST_RANKING)
_MADE = {NEWEST_RULES.numbers: NEWEST_RULES}  # one object for each pair: rules are compared by identity


def rules_of(analyzer: int, ranking: int) -> SearchRules | None:
    """Return the rules of these numbers, None where this release does not know them."""
    if analyzer not in ANALYZERS or ranking not in RANKINGS:
        return None
    return _MADE.setdefault((analyzer, ranking), SearchRules(ANALYZERS[analyzer], RANKINGS[ranking]))


def closest_to(analyzer: int, ranking: int) -> SearchRules:
    """Return the rules that a strategy with these numbers means, the newest of its own in place of what this release
    does not know."""
    known = rules_of(
        analyzer if analyzer in ANALYZERS else NEWEST_ANALYZER.number,
        ranking if ranking in RANKINGS else NEWEST_RANKING.number,
    )
    return known or NEWEST_RULES
