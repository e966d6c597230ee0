"""What the strategy in force says of crawling a URL.

Pure: the view's answer in, decisions out. Rules are compiled once for each strategy, told apart by the document itself:
a fork has the same version and other rules.
"""

from collections.abc import Callable

from crawl import Decision
from dht import Decision as Said
from dht import Rules, Strategy


class Ruling:
    """The rules of whatever `in_force` returns now."""

    def __init__(self, in_force: Callable[[], Strategy]) -> None:
        self._in_force = in_force
        self._strategy = in_force()
        self._rules = Rules(self._strategy)
        self._said: dict[int, Decision] = {}  # by rule

    def decide(self, url: str) -> Decision:
        """The decision for a canonical URL."""
        strategy = self._in_force()
        if strategy is not self._strategy:
            self._strategy, self._rules, self._said = strategy, Rules(strategy), {}
        said = self._rules.decide(url)
        decision = self._said.get(said.rule)
        if decision is None:
            decision = self._said[said.rule] = _decision(said, strategy)
        return decision


def _decision(said: Said, strategy: Strategy) -> Decision:
    most_s = max(strategy.max_delay_s, said.min_delay_s)
    denied = f"rule {said.rule} of strategy {strategy.version}" if said.action == "deny" else ""
    return Decision(not denied, denied, said.min_delay_s, said.max_depth, most_s, said.peer)
