"""Says whether a URL may be fetched: by the strategy, by the owner of its site, by this node's operator.

Pure: decisions of others in, one decision out.
"""

from collections.abc import Callable
from dataclasses import replace

from crawl import CrawlDecision, Decide, OperatorBlocklist, refusal_reason
from store import REMOVED


class FetchRules:
    """Holds the network's rules beside those of one operator. The network's hold for everybody; another node may still
    fetch what this operator refuses."""

    def __init__(self, by_strategy: Decide, is_removed: Callable[[str], bool], refusals: OperatorBlocklist) -> None:
        """`is_removed`: whether the owner of a URL's site has removed it."""
        self._by_strategy, self._is_removed, self.refusals = by_strategy, is_removed, refusals

    def decide(self, url: str) -> CrawlDecision:
        """Return what the strategy says of a canonical URL, and its site's owner as far as it is heard here."""
        decision = self._by_strategy(url)
        is_removed = decision.allowed and self._is_removed(url)
        return replace(decision, allowed=False, reason=REMOVED) if is_removed else decision

    def is_allowed(self, url: str) -> bool:
        """Tell whether the network lets anybody fetch a canonical URL."""
        return self.decide(url).allowed

    def denied(self, url: str, now: float) -> str:
        """Say why the network takes no page of a canonical URL at `now` (Unix seconds), "" where it does."""
        return refusal_reason(url, self.decide(url), now)
