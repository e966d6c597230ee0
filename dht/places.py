"""Where the strategy lets the documents of a URL live: one place, and for a while also where it let them live before.

Pure but for the view that it is given. Nearly every site lies in one place; a `spread` rule with depth d puts a big one
into 2**d, by the top bits of each path's hash. Document ids never change, so a site that is spread moves and is not
fetched anew.
"""

from collections.abc import Sequence
from typing import Protocol

from dht.keys import Key, placement_key
from dht.rules import Rules
from dht.strategy import Rule, Strategy


class Ruled(Protocol):
    """What is needed of a view."""

    @property
    def strategy(self) -> Strategy: ...

    def formers(self) -> Sequence[Strategy]: ...


class Places:
    """The places of one node's view at this moment; rules are compiled only where any of them spreads."""

    def __init__(self, view: Ruled) -> None:
        self._view = view
        self._strategy: Strategy | None = None
        self._formers: Sequence[Strategy] = ()
        self._depths: tuple[Rules | None, ...] = ()  # of the strategy in force, then of those before it

    @property
    def spreads(self) -> bool:
        """Whether any site may lie elsewhere than all did at first."""
        self._look()
        return any(self._depths)

    @property
    def mark(self) -> tuple[Rule, ...]:
        """Another one whenever places may be others."""
        self._look()
        assert self._strategy is not None
        return self._strategy.rules if self._depths[0] else ()

    def depth(self, url: str) -> int:
        """The site of a canonical URL lies in 2**depth places."""
        self._look()
        return _depth(self._depths[0], url)

    def place(self, url: str) -> Key:
        """Where the records of a canonical URL are written, and looked for first."""
        return placement_key(url, self.depth(url))

    def of(self, url: str) -> tuple[Key, ...]:
        """That place, then those where they may still lie."""
        self._look()
        return tuple(dict.fromkeys(placement_key(url, _depth(rules, url)) for rules in self._depths))

    def _look(self) -> None:
        strategy, formers = self._view.strategy, self._view.formers()
        if strategy is not self._strategy or formers is not self._formers:
            self._strategy, self._formers = strategy, formers
            self._depths = tuple(Rules(s) if _spreads(s) else None for s in (strategy, *formers))


def _spreads(strategy: Strategy) -> bool:
    return any(rule.action == "spread" and rule.depth for rule in strategy.rules)


def _depth(rules: Rules | None, url: str) -> int:
    return rules.decide(url).depth if rules is not None else 0
