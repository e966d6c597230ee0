"""Decides what the strategy in force says of crawling a URL.

Pure: the view's answer in, decisions out. Rules are compiled once for each strategy, told apart by the document itself:
a fork has the same version and other rules. Most decisions hold for a whole host, and are remembered so: a page has a
dozen links, nearly all to few hosts.
"""

from collections.abc import Callable

from crawl import CrawlDecision
from dht import CrawlRules, Strategy, split_url
from dht import RuleDecision as Said

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
    return CrawlDecision(not denied, denied, said.min_delay_s, said.max_depth, most_s, said.peer)
