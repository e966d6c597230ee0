"""Directives of pages to robots: those in meta elements, in X-Robots-Tag header fields, and on links.

Pure: text in, values out. Directives for everybody and for our product token count together, so that the strictest of
them holds. Sources: robotstxt.org on meta elements; Google's published treatment of both, with the dates that it takes
(RFC 822, RFC 850, ISO 8601); WHATWG link types.
"""

import re
from collections.abc import Iterable, Iterator

import msgspec

from crawl.content.dates import find_date

DAY_S = 86_400.0
NOINDEX = "noindex: the page asks not to be found"
UNAVAILABLE = "unavailable_after: the page asks not to be found any longer"
UNWANTED_REASONS = frozenset((NOINDEX, UNAVAILABLE))
_MAX_CHARS = 4_096  # of one element or field
_UNENDORSED = frozenset(("nofollow", "ugc", "sponsored"))  # link types by which a page does not vouch for a link
_SPLIT = re.compile(r"[\s,;]+")
_VALUED = frozenset(("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"))  # take a ":" too
_AGENT = re.compile(r"(?:\*|[a-z0-9_.-]*[a-z_-][a-z0-9_.-]*)")
_WEEKDAY = re.compile(r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*")
_DAY = re.compile(r"\d{4}-?\d{2}-?\d{2}|\d{1,2}[ -][a-z]{3}[ -]\d{2,4}")


class RobotsDirectives(msgspec.Struct, frozen=True, array_like=True):
    """The directives of a page to robots. `max_snippet`: characters of its text that may be shown, -1: any number.
    `unavailable_at`: Unix seconds from which on nothing of it may be shown, 0.0: never."""

    noindex: bool = False
    nofollow: bool = False
    noarchive: bool = False
    max_snippet: int = -1
    unavailable_at: float = 0.0
    noimageindex: bool = False

    def strictest_with(self, other: "RobotsDirectives") -> "RobotsDirectives":
        """Return the strictest of these and other directives."""
        if other is NO_DIRECTIVES:
            return self
        return RobotsDirectives(
            self.noindex or other.noindex,
            self.nofollow or other.nofollow,
            self.noarchive or other.noarchive,
            min((n for n in (self.max_snippet, other.max_snippet) if n >= 0), default=-1),
            min((at for at in (self.unavailable_at, other.unavailable_at) if at), default=0.0),
            self.noimageindex or other.noimageindex,
        )


NO_DIRECTIVES = RobotsDirectives()


def meta_directives(metas: Iterable[tuple[str, str]], agent: str) -> RobotsDirectives:
    """Return what meta elements (lower-case name, content) ask of everybody or of us."""
    names = {"robots", agent.lower()} - {""}
    return _strictest(d for name, content in metas if name in names for d in _directives(content, is_header=False))


def header_directives(headers: Iterable[tuple[str, str]], agent: str) -> RobotsDirectives:
    """Return what X-Robots-Tag fields ask of everybody or of us; a name holds up to the end of its field or to the next
    name."""
    ours = ("", "*", agent.lower())
    fields = [value for field, value in headers if len(field) == 12 and field.lower() == "x-robots-tag"]
    if not fields:
        return NO_DIRECTIVES
    return _strictest(d for value in fields for d in _directives(value, is_header=True) if d[0] in ours)


def unwanted(directives: RobotsDirectives, now: float) -> str:
    """Explain why a page does not want to be found, "" where it does. `now`: Unix seconds."""
    if directives.noindex:
        return NOINDEX
    return UNAVAILABLE if directives.unavailable_at and directives.unavailable_at <= now else ""


def wishes(directives: RobotsDirectives) -> Iterator[str]:
    """Yield in plain words what a page asks for that is found."""
    if directives.nofollow:
        yield "its links are not followed (nofollow)"
    if directives.max_snippet == 0:
        yield "no text of it is shown (nosnippet)"
    elif directives.max_snippet > 0:
        yield f"at most {directives.max_snippet} characters of it are shown (max-snippet)"
    if directives.noarchive:
        yield "no copy of it is shown (noarchive)"
    if directives.noimageindex:
        yield "its images are left out (noimageindex)"


def is_unendorsed(rel: str) -> bool:
    """Tell whether a link is neither to be followed nor to be counted."""
    return not _UNENDORSED.isdisjoint(_SPLIT.split(rel.lower()))


def _directives(text: str, *, is_header: bool) -> Iterator[tuple[str, str, str]]:
    """Yield each directive as (agent, name, value), in lower case; agent "" for everybody."""
    agent = ""
    parts = re.split("[,;]", text[:_MAX_CHARS].lower())
    for place, part in enumerate(parts):
        name, colon, value = (piece.strip() for piece in part.partition(":"))
        if colon and is_header and name not in _VALUED and _AGENT.fullmatch(name):
            agent = name
            name, colon, value = (piece.strip() for piece in value.partition(":"))
        if not colon:
            yield from ((agent, word, "") for word in name.split())
            continue
        *before, name = name.split() or [""]  # meta elements are written with spaces instead of commas, too
        yield from ((agent, word, "") for word in before)
        if _WEEKDAY.fullmatch(value) and place + 1 < len(parts):  # "Friday, 25-Jun-10": the comma ends nothing
            value = parts[place + 1].strip()
        yield agent, name, value


def _strictest(directives: Iterable[tuple[str, str, str]]) -> RobotsDirectives:
    found = RobotsDirectives()
    for _, name, value in directives:
        if name in _MEANINGS:
            found = found.strictest_with(_MEANINGS[name])
        elif name == "max-snippet" and re.fullmatch(r"[0-9]{1,9}", value):
            found = found.strictest_with(RobotsDirectives(max_snippet=int(value)))
        elif name == "unavailable_after":
            found = found.strictest_with(RobotsDirectives(unavailable_at=_end_of(value)))
    return found


def _end_of(date: str) -> float:
    """Read a date into Unix seconds, 0.0 for none; a day without a time of day counts to its end."""
    if not _DAY.fullmatch(date):
        return find_date(date.upper())  # as the T and Z of ISO 8601 have to be
    start = find_date(date) or find_date(f"{date} 00:00:00")
    return start + DAY_S if start else 0.0


_MEANINGS = {
    "noindex": RobotsDirectives(noindex=True),
    "nofollow": RobotsDirectives(nofollow=True),
    "none": RobotsDirectives(noindex=True, nofollow=True),
    "noimageindex": RobotsDirectives(noimageindex=True),
    "noarchive": RobotsDirectives(noarchive=True),
    "nocache": RobotsDirectives(noarchive=True),
    "nosnippet": RobotsDirectives(max_snippet=0),
}
