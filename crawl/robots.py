"""robots.txt: what a site asks of us.

Pure: text in, rules out. RFC 9309 over Protego's matcher, with one repair: Protego takes a group named "dse" for ours
if we are "dse-node" (it searches the name inside ours), where the RFC wants the whole product token. So the groups are
told apart here, and Protego sees only those that are about us.
"""

import re
from dataclasses import dataclass

from protego import Protego

_MAX_LINE_CHARS = 2_000  # URLs end at 2048; longer lines are there to cost us time
_MAX_RULES = 10_000  # per file; the largest robots.txt of well-known sites has 3,000
_MAX_WILDCARDS = 8  # per line
_TOKEN = re.compile(r"[A-Za-z_-]+[0-9A-Za-z_-]*")
_AGENT_LINE = re.compile(r"\s*user[- ]?agent\s*[:\s]\s*(.*)", re.I)
_OURS, _ANYBODY = "us", "*"


@dataclass(frozen=True, slots=True)
class Robots:
    """One site's rules for us."""

    rules: Protego | None  # None: everything is allowed
    crawl_delay_s: float
    sitemaps: tuple[str, ...]

    def allows(self, url: str) -> bool:
        """True where we may fetch this canonical URL."""
        return self.rules is None or bool(self.rules.can_fetch(url, _OURS))


ALLOW_ALL = Robots(None, 0.0, ())


def parse_robots(body: bytes, agent: str, max_sitemaps: int = 16) -> Robots:
    """Read a robots.txt for one product token; never fails, since lines that are none are skipped."""
    text = body.decode("utf-8", "replace").removeprefix("\ufeff")
    rules = Protego.parse("\n".join(_relevant(text, agent.lower())))
    delay = rules.crawl_delay(_OURS) or 0.0
    rate = rules.request_rate(_OURS)
    if rate is not None:
        delay = max(delay, rate.seconds / rate.requests)
    sitemaps = tuple(dict.fromkeys(rules.sitemaps))[:max_sitemaps]
    return Robots(rules, delay, sitemaps)


def _relevant(text: str, agent: str) -> list[str]:
    """The lines, with our own product token and "*" renamed for Protego and all other groups named away."""
    lines: list[str] = []
    for line in re.split(r"[\r\n]+", text):
        line = line.partition("#")[0]
        if len(line) > _MAX_LINE_CHARS or line.count("*") > _MAX_WILDCARDS:
            continue
        named = _AGENT_LINE.match(line)
        if named:
            lines.append(f"User-agent: {_whose(named[1].strip(), agent)}")
        elif line.strip():
            lines.append(line)
        if len(lines) >= _MAX_RULES:
            break
    return lines


def _whose(name: str, agent: str) -> str:
    if name.startswith("*"):
        return _ANYBODY
    token = _TOKEN.match(name)
    return _OURS if token and token[0].lower() == agent else "somebody-else"
