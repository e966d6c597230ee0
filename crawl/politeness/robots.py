"""Reads robots.txt: which URLs of a site we may fetch, how often, and where its sitemaps are.

Pure: bytes in, rules out. RFC 9309, read as Google's published parser reads it: lines are cut, not dropped, and common
misspellings count. All groups for our product token are one, and only without any of them those for "*" hold. The
longest pattern that matches decides, "Allow" where two are equally long. Where the two sources differ, on escapes of
characters that need none (%62 for b), both readings must allow a URL.

Every line of a file counts, so the file's size bounds the work: 500 KiB hold some 40,000 rules, 5 ms a URL. A wildcard
costs a search for what follows it, never a second attempt.
"""

import re
from dataclasses import dataclass, field
from enum import Enum, auto

_MAX_LINE_BYTES = 16_663  # eight times the longest URL of old browsers, as Google cuts lines; no honest line comes near
_BOM = b"\xef\xbb\xbf"
_TOKEN = re.compile(r"[A-Za-z_-][0-9A-Za-z_-]*")
_DELAY = re.compile(r"\d{1,9}(?:\.\d*)?|\.\d+", re.ASCII)
_RATE = re.compile(r"(\d{1,9})\s*/\s*(\d{1,9})\s*([smhd]?)", re.ASCII | re.I)
_UNIT_S = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_BEYOND_ASCII = re.compile(r"[\x80-\xff]")
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_DIRECTORY = re.compile(r"/index\.html?$")


class _Key(Enum):
    AGENT = auto()
    ALLOW = auto()
    DISALLOW = auto()
    SITEMAP = auto()
    DELAY = auto()
    RATE = auto()


_KEYS = (  # a key counts by how it begins, so that "Allowed" and "Disallow-All" do
    (_Key.AGENT, ("user-agent", "useragent", "user agent")),
    (_Key.ALLOW, ("allow",)),
    (_Key.DISALLOW, ("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw")),
    (_Key.SITEMAP, ("sitemap", "site-map")),
    (_Key.DELAY, ("crawl-delay", "crawldelay", "crawl delay")),
    (_Key.RATE, ("request-rate",)),
)


@dataclass(frozen=True, slots=True)
class RobotsRule:
    """Allows or disallows paths that begin with `parts[0]` and have the other parts after it, in this order.

    `is_anchored`: the path must end with the last part."""

    allow: bool
    parts: tuple[str, ...]
    is_anchored: bool

    def matches(self, path: str) -> bool:
        """Tell whether the pattern fits a path with its query."""
        first, *others = self.parts
        if not path.startswith(first):
            return False
        at = len(first)
        if not others:
            return at == len(path) or not self.is_anchored
        last = others.pop() if self.is_anchored else ""
        for part in others:
            at = path.find(part, at)
            if at < 0:
                return False
            at += len(part)
        return len(path) - len(last) >= at and path.endswith(last)


@dataclass(frozen=True, slots=True)
class Robots:
    """Holds what one site's robots.txt says to us: `rules` as Google reads them, `decoded` as the RFC does.

    In both the first rule that matches decides."""

    rules: tuple[RobotsRule, ...] = ()
    decoded: tuple[RobotsRule, ...] = ()
    crawl_delay_s: float = 0.0
    sitemaps: tuple[str, ...] = ()

    def allows(self, url: str) -> bool:
        """Tell whether we may fetch this canonical URL."""
        path = _path(url)
        return _decide(self.rules, path) and (
            (self.decoded is self.rules and "%" not in path) or _decide(self.decoded, _unescaped(path))
        )


ALLOW_ALL = Robots()


@dataclass(slots=True)
class _RuleGroup:
    """The rules of all groups for one name together."""

    named: bool = False
    rules: list[tuple[bool, str]] = field(default_factory=list)
    delay_s: float = 0.0


def parse_robots(body: bytes, agent: str, max_sitemaps: int = 16) -> Robots:
    """Read a robots.txt for one product token; never fails, since it skips lines that make no sense."""
    ours, anybody = _RuleGroup(), _RuleGroup()
    current: list[_RuleGroup] = []  # those that the lines before a rule name
    sitemaps: dict[str, None] = {}
    in_rules = False
    for key, value in _lines(body):
        if key is _Key.AGENT:
            current = [] if in_rules else current
            in_rules = False
            if group := _named(value, agent, ours, anybody):
                group.named = True
                current.append(group)
        elif key is _Key.SITEMAP:
            if len(sitemaps) < max_sitemaps:
                sitemaps[value.encode("latin-1").decode("utf-8", "replace")] = None
        elif key in (_Key.ALLOW, _Key.DISALLOW):
            in_rules = True
            for group in current:
                group.rules.append((key is _Key.ALLOW, value))
        else:  # no part of the RFC: it must not end the list of names
            for group in current:
                group.delay_s = max(group.delay_s, _seconds(key, value))
    group = ours if ours.named else anybody
    return _robots(group, tuple(sitemaps))


def _named(value: str, agent: str, ours: _RuleGroup, anybody: _RuleGroup) -> _RuleGroup | None:
    """Return the group that a name is about: the whole product token counts, so "dse" is not "dse-node"."""
    if value[:1] == "*" and not value[1:2].strip():
        return anybody
    token = _TOKEN.match(value)
    return ours if token and token[0].lower() == agent.lower() else None


def _lines(body: bytes) -> list[tuple[_Key, str]]:
    """Return keys and values; bytes beyond ASCII stand as the Latin-1 characters of the same numbers."""
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        body = body.decode("utf-16", "replace").encode()
    for size in (3, 2, 1):  # a mark may be broken, and is never part of the first line
        if body.startswith(_BOM[:size]):
            body = body[size:]
            break
    found = (_line(line[:_MAX_LINE_BYTES].decode("latin-1")) for line in re.split(rb"[\r\n]+", body))
    return [line for line in found if line is not None]


def _line(text: str) -> tuple[_Key, str] | None:
    text = text.partition("#")[0].strip(" \t\v\f\0")
    name, colon, value = text.partition(":")
    if not colon:  # forgotten, where there are just two words
        words = text.split()
        if len(words) != 2:
            return None
        name, value = words
    name = name.strip(" \t\v\f").lower()
    key = next((key for key, names in _KEYS if name.startswith(names)), None)
    return None if key is None else (key, value.strip(" \t\v\f"))


def _seconds(key: _Key, value: str) -> float:
    if key is _Key.DELAY:
        delay = _DELAY.match(value)
        return float(delay[0]) if delay else 0.0
    rate = _RATE.match(value)
    return int(rate[2]) * _UNIT_S[rate[3].lower()] / int(rate[1]) if rate and int(rate[1]) else 0.0


def _robots(group: _RuleGroup, sitemaps: tuple[str, ...]) -> Robots:
    raw: dict[tuple[bool, str], None] = {}
    for allow, text in group.rules:
        pattern = _escaped(text)
        if pattern:  # an empty one forbids nothing
            raw[allow, pattern] = None
        if allow and (directory := _DIRECTORY.sub("/$", pattern)) != pattern:
            raw[allow, directory] = None
    decoded = dict.fromkeys((allow, _unescaped(pattern)) for allow, pattern in raw)
    rules = _ordered(raw)
    return Robots(rules, rules if decoded == raw else _ordered(decoded), group.delay_s, sitemaps)


def _ordered(patterns: dict[tuple[bool, str], None]) -> tuple[RobotsRule, ...]:
    """Sort the longest first, and of equal ones those that allow: so the first that matches decides."""
    ordered = sorted(patterns, key=lambda rule: (-len(rule[1]), not rule[0]))
    return tuple(_rule(allow, pattern) for allow, pattern in ordered)


def _rule(allow: bool, pattern: str) -> RobotsRule:
    return RobotsRule(allow, tuple(pattern.removesuffix("$").split("*")), pattern.endswith("$"))


def _decide(rules: tuple[RobotsRule, ...], path: str) -> bool:
    return next((rule.allow for rule in rules if rule.matches(path)), True)


def _path(url: str) -> str:
    """Return the path and query of a URL, "/" at least."""
    rest = url.partition("://")[2].partition("#")[0]
    at = min((at for mark in "/?;" if (at := rest.find(mark)) >= 0), default=len(rest))
    return rest[at:] if rest[at : at + 1] == "/" else f"/{rest[at:]}"


def _escaped(text: str) -> str:
    """Write octets beyond ASCII as escapes, and all escapes with upper-case digits."""
    text = _BEYOND_ASCII.sub(lambda found: f"%{ord(found[0]):02X}", text)
    return _ESCAPE.sub(lambda found: found[0].upper(), text) if "%" in text else text


def _unescaped(text: str) -> str:
    """Undo escapes of characters that need none."""
    return _ESCAPE.sub(_plain, text) if "%" in text else text


def _plain(found: re.Match[str]) -> str:
    character = chr(int(found[0][1:], 16))
    return character if character in _UNRESERVED else found[0].upper()
