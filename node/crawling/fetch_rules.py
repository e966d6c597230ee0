"""Says whether a URL may be fetched: by the strategy, by the owner of its site, by this node's operator.

Pure: the view's answer in, decisions out. Rules are compiled once for each strategy, told apart by the document itself:
a fork has the same version and other rules. Most decisions hold for a whole host, and are remembered so: a page has a
dozen links, nearly all to few hosts.
"""

from collections.abc import Callable
from dataclasses import replace

from crawl import AddressDenied, CrawlDecision, Decide, JudgeAddress, OperatorBlocklist, permitted, refusal_reason
from dht import CrawlRules, Strategy, split_url
from dht import RuleDecision as Said
from store import REMOVED

RULE = "rule "  # begins the reason of what a rule denies
REMEMBERED_HOSTS = 4096  # as many as the rules remember: their name and 0.1 kB each


class StrategyPolicy:
    """Applies the rules of whatever strategy `in_force` returns now."""

    def __init__(self, in_force: Callable[[], Strategy]) -> None:
        self._in_force = in_force
        self._strategy = in_force()
        self._rules = CrawlRules(self._strategy)
        self._said: dict[int, CrawlDecision] = {}  # by rule
        self._of_hosts: dict[str, CrawlDecision] = {}  # of hosts of which all URLs have it

    def decide(self, url: str) -> CrawlDecision:
        """Return the decision for a canonical URL."""
        strategy, host = self._in_force(), split_url(url).host
        if strategy is not self._strategy:
            self._strategy, self._rules, self._said, self._of_hosts = strategy, CrawlRules(strategy), {}, {}
        return self._of_hosts.get(host) or self._work_out(url, host)

    def _work_out(self, url: str, host: str) -> CrawlDecision:
        whole = self._rules.decide_host(host)
        said = whole or self._rules.decide(url)
        decision = self._said.get(said.rule)
        if decision is None:
            decision = self._said[said.rule] = _decision(said, self._strategy)
        if whole is not None:
            if len(self._of_hosts) >= REMEMBERED_HOSTS:
                self._of_hosts.clear()
            self._of_hosts[host] = decision
        return decision


def _decision(said: Said, strategy: Strategy) -> CrawlDecision:
    most_s = max(strategy.max_delay_s, said.min_delay_s)
    denied = f"{RULE}{said.rule} of strategy {strategy.version}" if said.action == "deny" else ""
    return CrawlDecision(not denied, denied, said.min_delay_s, said.max_depth, most_s, said.peer, rule=said.rule)


class FetchRules:
    """Holds the network's rules beside those of one operator. The network's hold for everybody; another node may still
    fetch what this operator refuses."""

    def __init__(
        self,
        by_strategy: Decide,
        is_removed: Callable[[str], bool],
        refusals: OperatorBlocklist,
        judge: JudgeAddress = permitted,
    ) -> None:
        """`is_removed`: whether the owner of a URL's site has removed it. `judge`: by the strategy's rules."""
        self._by_strategy, self._is_removed, self.refusals, self._judge = by_strategy, is_removed, refusals, judge

    def decide(self, url: str) -> CrawlDecision:
        """Return what the strategy says of a canonical URL, and its site's owner as far as it is heard here."""
        decision = self._by_strategy(url)
        is_removed = decision.allowed and self._is_removed(url)
        return replace(decision, allowed=False, reason=REMOVED) if is_removed else decision

    def judge_address(self, host: str, address: str) -> AddressDenied | None:
        """Return what to raise where the network, or this node's operator, denies a host at an address; else None."""
        if denied := self._judge(host, address):
            return denied
        if not self.refusals.judges_addresses or not (reason := self.refusals.address_reason(address)):
            return None
        return AddressDenied(host, address, f"refused here by {reason}: the host is at {address}", by_operator=True)

    def judge_carried(self, url: str, address: str) -> AddressDenied | None:
        """Return what to raise where the network denies what another node fetched from this address; else None."""
        return self._judge(split_url(url).host, address)

    def is_allowed(self, url: str) -> bool:
        """Tell whether the network lets anybody fetch a canonical URL."""
        return self.decide(url).allowed

    def denied(self, url: str) -> str:
        """Say why the network takes no page of a canonical URL, "" where it does."""
        return refusal_reason(url, self.decide(url))
