"""Finds the crawl rule of the strategy that decides a URL: the first that matches.

Pure: text in, decision out. Patterns are RE2 (linear time, bounded memory), because strategies come from strangers.
Source: Li Wei 2006 (ordered rules: host, URL pattern, hash range).
"""

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network

import re2

from dht.errors import BadStrategy
from dht.keys import NodeId, host_of, placement_key, slot_of
from dht.strategy.document import BY_ADDRESS, Action, Rule, Strategy

PATTERN_MEMORY_BYTES = 1 << 20  # a pattern whose program needs more is refused
REMEMBERED_HOSTS = 4096  # of which the rules that may match are kept: 0.5 kB each, and their list
_MAPPED = IPv6Network("::ffff:0:0/96")


@dataclass(frozen=True, slots=True)
class RuleDecision:
    """The decision of the strategy's rules about one URL. `rule` counts from 1; 0: no rule matched, its owners crawl
    it."""

    action: Action
    rule: int
    max_depth: int | None
    min_delay_s: float
    peer: NodeId | None = None  # who should crawl it, where it may
    depth: int = 0  # the site lies in 2**depth places


class Pattern:
    """A compiled RE2 pattern; its constructor raises BadStrategy where the text is none."""

    def __init__(self, text: str, memory_bytes: int = PATTERN_MEMORY_BYTES) -> None:
        options = re2.Options()
        options.max_mem = memory_bytes
        options.log_errors = False
        try:
            self._regex = re2.compile(text, options)
        except (re2.error, UnicodeEncodeError) as error:
            raise BadStrategy("pattern", f"{text!r} is no RE2 pattern ({error})", "see the RE2 syntax page") from None

    def found_in(self, text: str) -> bool:
        """Tell whether the pattern matches anywhere in a text."""
        return self._regex.search(text) is not None


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A rule with its pattern, and what it decides."""

    rule: Rule
    pattern: Pattern | None
    decision: RuleDecision

    @property
    def holds_always(self) -> bool:
        """Whether it matches every URL of its hosts."""
        return self.pattern is None and self.rule.slots is None


class CrawlRules:
    """The rules of one strategy, compiled once; which of them may match a host's URLs is worked out once a host."""

    def __init__(self, strategy: Strategy) -> None:
        self._slot_bits, floor = strategy.slot_bits, strategy.min_delay_s
        numbered = enumerate(strategy.rules, start=1)
        self._rules = [found for number, rule in numbered if (found := _compiled(number, rule, floor))]
        self._none = RuleDecision("owners", 0, None, floor)
        self._of_hosts: dict[str, list[_Compiled]] = {}

    def decide(self, url: str) -> RuleDecision:
        """Return the decision for a canonical URL; a rule's caps hold besides the strategy's own politeness bounds."""
        host = host_of(url)
        candidates = self._of_hosts.get(host)
        if candidates is None:
            candidates = self._remember(host)
        for each in candidates:
            if self._matches(each, url):
                return each.decision
        return self._none

    def decide_host(self, host: str) -> RuleDecision | None:
        """Return the decision for all URLs of a host; None where it depends on the URL."""
        candidates = self._of_hosts.get(host)
        if candidates is None:
            candidates = self._remember(host)
        if not candidates:
            return self._none
        return candidates[0].decision if candidates[0].holds_always else None

    def _remember(self, host: str) -> list[_Compiled]:
        """The rules whose host is this one, in order."""
        if len(self._of_hosts) >= REMEMBERED_HOSTS:
            self._of_hosts.clear()
        found = [each for each in self._rules if each.rule.host is None or host_matches(each.rule.host, host)]
        self._of_hosts[host] = found
        return found

    def _matches(self, each: _Compiled, url: str) -> bool:
        slots = each.rule.slots
        if slots is not None and not slots[0] <= slot_of(placement_key(url), self._slot_bits) <= slots[1]:
            return False
        return each.pattern is None or each.pattern.found_in(url)


def _compiled(number: int, rule: Rule, floor: float) -> _Compiled | None:
    """A rule made ready; None for one that decides no URL: it judges addresses, or is of a newer version."""
    if rule.action == "unknown" or rule.action in BY_ADDRESS:
        return None
    delay_s = max(floor, rule.min_delay_s or 0.0)
    peer = NodeId(bytes.fromhex(rule.peer)) if rule.peer is not None else None
    decision = RuleDecision(rule.action, number, rule.max_depth, delay_s, peer, rule.depth or 0)
    return _Compiled(rule, Pattern(rule.pattern) if rule.pattern is not None else None, decision)


def parse_prefix(text: str) -> IPv4Network | IPv6Network:
    """Read "10.20.0.0/16", "2001:db8::/48" or one address; raises ValueError."""
    network = ip_network(text)
    if isinstance(network, IPv6Network) and network.subnet_of(_MAPPED):
        raise ValueError(f"{text} stands for IPv4 addresses: write the IPv4 prefix")
    return network


def host_matches(wanted: str, host: str) -> bool:
    """Tell whether a host is the wanted one, or, for "*.suffix", the suffix itself or anything below it."""
    if wanted.startswith("*."):
        return host == wanted[2:] or host.endswith(wanted[1:])
    return host == wanted
