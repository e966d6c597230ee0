"""By which analyzer and ranking a query goes now and went until lately, and which ones strategies name.

Pure: numbers and strategies in, values out. The rules before stay for a day, so that a node whose index is not there
yet can still be understood.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dht import Strategy
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


@dataclass(frozen=True, slots=True)
class PlannedRules:
    """`unknown` names the analyzer and ranking in force that this release does not know; then `now` is the newest that
    it does."""

    now: SearchRules
    before: tuple[SearchRules, ...]  # newest first, those of `now` not among them
    unknown: tuple[str, ...]

    def is_by(self, rules: SearchRules) -> bool:
        """Tell whether these are the rules in force."""
        return rules is self.now and not self.unknown


def planned_rules(now: Strategy, formers: Iterable[Strategy]) -> PlannedRules:
    """Return the rules of the strategy in force, and those of strategies before it, newest first."""
    rules = closest_to(now.analyzer, now.ranking)
    before = tuple(each for each in known_rules(formers) if each is not rules)
    return PlannedRules(rules, before, unknown_rules(now))


def unknown_rules(strategy: Strategy) -> tuple[str, ...]:
    """Name the analyzer and the ranking of a strategy that this release does not know."""
    named = ("analyzer", strategy.analyzer, ANALYZERS), ("ranking", strategy.ranking, RANKINGS)
    return tuple(f"{name} {number}" for name, number, known in named if number not in known)


def rules_warnings(plan: PlannedRules, coming: Iterable[Strategy]) -> Iterator[str]:
    """Say what of the strategies' rules of search this release cannot follow, one sentence each."""
    if plan.unknown:
        names = " and ".join(plan.unknown)
        yield f"{names}, in force now, is unknown to this dse-node, whose answers are partial: upgrade it now"
    for each in coming:
        if unknown := unknown_rules(each):
            names = " and ".join(unknown)
            yield f"strategy {each.version} brings {names}, unknown to this dse-node: upgrade it before that counts"


def known_rules(strategies: Iterable[Strategy]) -> tuple[SearchRules, ...]:
    """Return the distinct rules that strategies name, as far as this release knows them."""
    found = (rules_of(each.analyzer, each.ranking) for each in strategies)
    return tuple(dict.fromkeys(rules for rules in found if rules))
