"""What pages ask of robots: directives in meta elements, in X-Robots-Tag header fields, and on links.

Pure: text in, words out. Directives for everybody and for our product token count together, so that the strictest of
them holds. Sources: robotstxt.org on meta elements; Google's published treatment of both; WHATWG link types.
"""

import re
from collections.abc import Iterable

NOINDEX, NOFOLLOW = frozenset(("noindex", "none")), frozenset(("nofollow", "none"))
_UNENDORSED = frozenset(("nofollow", "ugc", "sponsored"))  # link types by which a page does not vouch for a link
_SPLIT = re.compile(r"[\s,;]+")
_VALUED = frozenset(("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"))  # take a ":" too


def meta_wishes(metas: Iterable[tuple[str, str]], agent: str) -> frozenset[str]:
    """The directives of the meta elements (lower-case name, content) that are for everybody or for us."""
    names = {"robots", agent.lower()} - {""}
    return frozenset(word for name, content in metas if name in names for word in _SPLIT.split(content.lower()) if word)


def header_wishes(headers: Iterable[tuple[str, str]], agent: str) -> frozenset[str]:
    """The directives of X-Robots-Tag fields that are for everybody or for us; a name holds to the end of its field or
    to the next name."""
    wishes: set[str] = set()
    for field, value in headers:
        if field.lower() != "x-robots-tag":
            continue
        is_for_us = True
        for part in value.lower().split(","):
            word = part.strip()
            name, colon, rest = word.partition(":")
            if colon and name.strip() not in _VALUED and not name[-2:].isdigit():  # else a time of day
                is_for_us, word = name.strip() in ("*", agent.lower()), rest.strip()
            if is_for_us and word:
                wishes.add(word)
    return frozenset(wishes)


def is_unendorsed(rel: str) -> bool:
    """True for a link that is neither to be followed nor to be counted."""
    return not _UNENDORSED.isdisjoint(_SPLIT.split(rel.lower()))
