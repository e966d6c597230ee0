"""Which crawl rule of the strategy decides a URL: the first that matches.

Pure: text in, decision out. Patterns are RE2 (linear time, bounded memory), because strategies come from strangers.
Source: Li Wei 2006 (ordered rules: host, URL pattern, hash range).
"""

from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

import re2

from dht.errors import BadStrategy
from dht.keys import NodeId, placement_key, slot_of
from dht.strategy import Rule, Strategy

PATTERN_MEMORY_BYTES = 1 << 20  # a pattern whose program needs more is refused


@dataclass(frozen=True, slots=True)
class Decision:
    """What the strategy says of a URL. `rule` counts from 1; 0: no rule matched, its owners crawl it."""

    action: Literal["owners", "prefer", "spread", "deny"]
    rule: int
    max_depth: int | None
    min_delay_s: float
    peer: NodeId | None = None  # who should crawl it, where it may
    depth: int = 0  # the site lies in 2**depth places


class Pattern:
    """A compiled RE2 pattern; raises BadStrategy where it is none."""

    def __init__(self, text: str) -> None:
        options = re2.Options()
        options.max_mem = PATTERN_MEMORY_BYTES
        options.log_errors = False
        try:
            self._regex = re2.compile(text, options)
        except (re2.error, UnicodeEncodeError) as error:
            raise BadStrategy("pattern", f"{text!r} is no RE2 pattern ({error})", "see the RE2 syntax page") from None

    def found_in(self, text: str) -> bool:
        return self._regex.search(text) is not None


class Rules:
    """The rules of one strategy, compiled once."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy
        self._rules = [(rule, Pattern(rule.pattern) if rule.pattern is not None else None) for rule in strategy.rules]

    def decide(self, url: str) -> Decision:
        """The decision for a canonical URL; a rule's caps hold besides the strategy's own politeness bounds."""
        host = urlsplit(url).hostname or ""
        floor = self._strategy.min_delay_s
        for number, (rule, pattern) in enumerate(self._rules, start=1):
            if self._matches(rule, pattern, url, host):
                delay_s = max(floor, rule.min_delay_s or 0.0)
                peer = NodeId(bytes.fromhex(rule.peer)) if rule.peer is not None else None
                return Decision(rule.action, number, rule.max_depth, delay_s, peer, rule.depth or 0)
        return Decision("owners", 0, None, floor)

    def _matches(self, rule: Rule, pattern: Pattern | None, url: str, host: str) -> bool:
        if rule.host is not None and not host_matches(rule.host, host):
            return False
        if rule.slots is not None:
            slot = slot_of(placement_key(url), self._strategy.slot_bits)
            if not rule.slots[0] <= slot <= rule.slots[1]:
                return False
        return pattern is None or pattern.found_in(url)


def host_matches(wanted: str, host: str) -> bool:
    """Whether a host is the wanted one, or, for "*.suffix", the suffix itself or anything below it."""
    if wanted.startswith("*."):
        return host == wanted[2:] or host.endswith(wanted[1:])
    return host == wanted
