"""Says which sites a reader wants higher, lower or not at all, and puts results into that order.

Pure: texts and results in, values out. Rules are applied by the node that asks, to what the network answered: no peer
sees them. A rule for a host is one for the hosts below it, too, unless these have their own.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args
from urllib.parse import urlsplit

from crawl import BadUrl, canonical_url
from dht import InputError
from node.views.lenient_json import Json

SiteRule = Literal["raise", "lower", "block"]
SITE_RULES: tuple[SiteRule, ...] = get_args(SiteRule)
RULE_NAMED: Mapping[str, SiteRule] = {rule: rule for rule in SITE_RULES}

RULED_RESULTS = 100  # that are put into order: as many as one search gives
PLACES = 5  # a raised site's result counts as if it stood at a fifth of its place, a lowered one's at five times
MAX_COOKIE_CHARS = 3800  # of the 4,096 that browsers keep of a cookie, its name and attributes included (RFC 6265)
MAX_TEXT_CHARS = 1 << 18  # of the owner's file, some ten thousand rules

_SIGNS: Mapping[SiteRule, str] = {"raise": "+", "lower": "-", "block": "!"}
_BY_SIGN = {sign: rule for rule, sign in _SIGNS.items()}
_HOST = re.compile(r"[a-z0-9_]([a-z0-9._-]{0,251}[a-z0-9])?")
_UBLACKLIST = re.compile(r"\*://(?:\*\.)?([^/*]+)/\*")
_GOGGLE: Mapping[str, SiteRule] = {"boost": "raise", "downrank": "lower", "discard": "block"}


@dataclass(eq=False)
class BadSiteRule(InputError):
    """Says which line of a list of rules cannot be read, and what would be."""

    line: int
    problem: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.problem}"


@dataclass(frozen=True, slots=True)
class SiteRules:
    """Holds a rule for each of some hosts."""

    hosts: Mapping[str, SiteRule] = field(default_factory=dict)

    def of(self, host: str) -> SiteRule | None:
        """Return the rule for a host: its own, else that of the nearest host above it."""
        while host:
            if rule := self.hosts.get(host):
                return rule
            host = host.partition(".")[2]
        return None

    def set(self, host: str, rule: SiteRule | None) -> "SiteRules":
        """Return these rules with another one for a host, or with none."""
        others = {name: each for name, each in self.hosts.items() if name != host}
        return SiteRules({**others, host: rule} if rule else others)

    def over(self, others: "SiteRules") -> "SiteRules":
        """Return both, of which these count where both have a rule for a host."""
        return SiteRules({**others.hosts, **self.hosts})

    def __bool__(self) -> bool:
        return bool(self.hosts)


@dataclass(frozen=True, slots=True)
class RuledResults:
    """Holds results by a reader's rules, and how many results each rule touched."""

    results: Sequence[Json]
    touched: Mapping[SiteRule, int]


def ordered(results: Sequence[Json], rules: SiteRules, is_by_date: bool) -> RuledResults:
    """Put results into order by rules; of those by date only what is blocked is taken out."""
    touched: dict[SiteRule, int] = dict.fromkeys(SITE_RULES, 0)
    kept: list[tuple[float, Json]] = []
    for place, result in enumerate(results, 1):
        rule = rules.of(_host_of(result))
        if rule == "block" or (rule and not is_by_date):
            touched[rule] += 1
        if rule != "block":
            factor = 1.0 if is_by_date else {"raise": 1 / PLACES, "lower": PLACES}.get(rule or "", 1.0)
            kept.append((place * factor, result))
    return RuledResults([result for _, result in sorted(kept, key=lambda each: each[0])], touched)


def read_rules(text: str) -> SiteRules:
    """Read a list: a line each of `raise`, `lower` or `block` and a host; # begins a comment. Lines of uBlacklist
    (*://*.example.org/*) and of Goggles ($boost,site=example.org) are read, too. Raises BadSiteRule."""
    if len(text) > MAX_TEXT_CHARS:
        raise BadSiteRule(1, f"the list has {len(text)} characters, at most {MAX_TEXT_CHARS} are read")
    rules: dict[str, SiteRule] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].strip()
        if words and not words.startswith("!"):  # how Goggles begin a comment
            rule, host = _rule_in(words)
            if rule is None:
                raise BadSiteRule(number, f"{words[:60]!r} is no rule; write block example.org, or raise, or lower")
            rules[_host(host, number)] = rule
    return SiteRules(rules)


def written(rules: SiteRules) -> str:
    """Write rules as `read_rules` reads them, in the order of their hosts."""
    return "".join(f"{rule} {host}\n" for host, rule in sorted(rules.hosts.items()))


def cookie_of(rules: SiteRules) -> str:
    """Write rules as a cookie's value, which may be longer than a browser keeps."""
    return "|".join(f"{_SIGNS[rule]}{host}" for host, rule in rules.hosts.items())


def read_cookie(text: str) -> SiteRules:
    """Read a cookie's value; what is none of ours is left out."""
    parts = text[:MAX_COOKIE_CHARS].split("|")
    return SiteRules({part[1:]: _BY_SIGN[part[0]] for part in parts if part[:1] in _BY_SIGN and _is_host(part[1:])})


def host_named(text: str) -> str:
    """Return the host that a reader names, by itself or by an address of it; "" where it is none."""
    try:
        host = urlsplit(canonical_url(text if "://" in text else f"http://{text}/")).hostname or ""
    except (BadUrl, ValueError):
        return ""
    return host if _is_host(host) else ""


def _rule_in(line: str) -> tuple[SiteRule | None, str]:
    if found := _UBLACKLIST.fullmatch(line):
        return "block", found[1]
    if line.startswith("$"):
        options = dict(option.partition("=")[::2] for option in line[1:].split(","))
        return next((rule for name, rule in _GOGGLE.items() if name in options), None), options.get("site", "")
    name, _, host = line.partition(" ")
    return RULE_NAMED.get(name), host.strip()


def _host(text: str, line: int) -> str:
    host = host_named(text)
    if not host:
        raise BadSiteRule(line, f"{text[:60]!r} is no host, like example.org")
    return host


def _is_host(text: str) -> bool:
    return _HOST.fullmatch(text) is not None


def _host_of(result: Json) -> str:
    try:
        return urlsplit(str(result.get("url"))).hostname or ""
    except ValueError:
        return ""
