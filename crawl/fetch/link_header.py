"""Link header fields: links of a response that no markup is needed for, so PDF files have them too; and feeds in links.
Declarative refreshes, of `meta` or a header field, lead readers elsewhere after a while.

Pure: header fields in, links out. Sources: RFC 8288, sections 3 and B.2; HTML, 4.2.5.3. A link whose context is another
resource (its `anchor`) says nothing of this one and is left out, and so are the deprecated `rev` links.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from crawl.canonical_url import find_url

LIST_TYPE = "application/rss+xml"  # a sitemap is read as a feed is
FEED_TYPES = frozenset((LIST_TYPE, "application/atom+xml", "application/rdf+xml", "application/feed+json"))
_BESIDE, _PAGE_TYPES = frozenset(("next", "prev", "alternate")), frozenset(("", "text/html"))
MAX_NAMED = 8  # feeds that one page may name; more are translations of one another
MAX_LINKS = 32  # of one response
MAX_FIELD_CHARS = 8_192
MOVES_WITHIN_S = 1  # as by a redirect; a longer one is read first, so it is a link
_SPACE = "\t\n\f\r "
_DELAY = re.compile(rf"[{_SPACE}]*(?:(\d+)[\d.]*|\.[\d.]*)(?:[{_SPACE}]*[;,]|(?=[{_SPACE}]|$))[{_SPACE}]*", re.ASCII)
_PREFIX = re.compile(rf"url[{_SPACE}]*=[{_SPACE}]*", re.IGNORECASE)
_TARGET = re.compile(r"[\s,]*<([^<>]*)>")
_QUOTED = r'"(?:[^"\\]|\\.)*+"'  # possessive: a stranger's quotes are tried one way only
_PARAMETER = re.compile(rf'\s*+;\s*+([^\s=;,"<>]*+)\s*+(?:=\s*+({_QUOTED}|[^\s;,"]*+))?', re.S)
_REST = re.compile(rf'[^",]*+(?:{_QUOTED}[^",]*+)*+,', re.S)
_ESCAPE = re.compile(r"\\(.)", re.S)


@dataclass(frozen=True, slots=True)
class HeaderLink:
    """A link by its canonical URL; `rels` are its relation types, `media_type` its hint, in lower case."""

    url: str
    rels: frozenset[str]
    media_type: str

    @property
    def is_feed(self) -> bool:
        """Tell whether the link leads to a list of the site's newest pages."""
        return "alternate" in self.rels and self.media_type in FEED_TYPES


def links_of(headers: Iterable[tuple[str, str]], url: str) -> list[HeaderLink]:
    """List the links of the response found at a canonical URL that lead to something that can be fetched."""
    found: list[HeaderLink] = []
    for name, value in headers:
        if len(name) != 4 or name.lower() != "link":
            continue
        for target, parameters in _parsed(value[:MAX_FIELD_CHARS]):
            if len(found) >= MAX_LINKS:
                return found
            context = find_url(parameters["anchor"], url) if "anchor" in parameters else url
            link = find_url(target.strip(), url)
            if link is not None and context == url:
                media_type = parameters.get("type", "").strip().lower()
                found.append(HeaderLink(link, frozenset(parameters.get("rel", "").lower().split()), media_type))
    return found


def pages_beside(links: Iterable[HeaderLink]) -> list[str]:
    """List the pages beside a response: the next and the one before, and translations (`hreflang`)."""
    return [link.url for link in links if link.media_type in _PAGE_TYPES and not _BESIDE.isdisjoint(link.rels)]


def canonical_of(links: Iterable[HeaderLink], url: str) -> str:
    """Return the URL that a response names as its own, where that is another one; "" without one."""
    named = next((link.url for link in links if "canonical" in link.rels), "")
    return named if named != url else ""


def _parsed(value: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield targets and their parameters; what is no link ends the field."""
    at = 0
    for _ in range(2 * MAX_LINKS):
        target = _TARGET.match(value, at)
        if target is None:
            return
        at = target.end()
        parameters: dict[str, str] = {}
        while parameter := _PARAMETER.match(value, at):
            at = parameter.end()
            text = parameter[2] or ""
            if text.startswith('"'):
                text = _ESCAPE.sub(r"\1", text[1:-1])
            parameters.setdefault(parameter[1].lower(), text)  # the first of each name counts
        yield target[1], parameters
        rest = _REST.match(value, at)
        if rest is None:
            return
        at = rest.end()


def feeds_of(alternates: Iterable[tuple[str, str]], base: str) -> tuple[str, ...]:
    """List the feeds among a page's alternate forms (media type, reference), by canonical URL."""
    named = (find_url(href, base) for kind, href in alternates if kind.partition(";")[0].strip().lower() in FEED_TYPES)
    return tuple(dict.fromkeys(url for url in named if url))[:MAX_NAMED]


def parse_refresh(content: str) -> tuple[int, str] | None:
    """Return the seconds until a reader is moved, and the reference to where, "" for the page itself; None for none."""
    delay = _DELAY.match(content)
    if delay is None:
        return None
    rest = content[delay.end() :]
    prefix = _PREFIX.match(rest)
    if prefix is not None:
        rest = rest[prefix.end() :]
    elif rest[:1] in ("u", "U"):
        return _seconds(delay), rest.strip()
    if rest[:1] in ("'", '"'):
        rest = rest[1:].partition(rest[0])[0]
    return _seconds(delay), rest.strip()


def _seconds(delay: re.Match[str]) -> int:
    return int((delay[1] or "0")[:9])
