"""Refreshes: a page's word, in `meta`, a header field or a script, that readers are to be elsewhere after a while.

Pure. Source: HTML, "shared declarative refresh steps" (4.2.5.3), which browsers follow for the first two. Scripts are
not run: one that does nothing but move all readers is read as such.
"""

import re

MOVES_WITHIN_S = 1  # as by a redirect; a longer one is read first, so it is a link
_SPACE = "\t\n\f\r "
_DELAY = re.compile(rf"[{_SPACE}]*(?:(\d+)[\d.]*|\.[\d.]*)(?:[{_SPACE}]*[;,]|(?=[{_SPACE}]|$))[{_SPACE}]*", re.ASCII)
SCRIPT_BEGIN = 200  # characters of a script's tag and of what stands before its first word
_SCRIPT_MOVE = re.compile(
    r"<script\b[^>]*>\s*(?:(?:window|document|self|top|parent)\.)*location"
    r"(?:(?:\.href)?\s*=\s*|\.(?:replace|assign)\s*\(\s*)([\"'])([^\"'\s<>]+)\1\s*\)?\s*;?\s*</script",
    re.IGNORECASE,
)
_PREFIX = re.compile(rf"url[{_SPACE}]*=[{_SPACE}]*", re.IGNORECASE)


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


def script_move(source: str) -> str:
    """Return the reference to where a script without a condition moves readers at once, "" where none does."""
    at = source.find("location")
    while at >= 0:
        start = source.rfind("<", max(0, at - SCRIPT_BEGIN), at)
        found = _SCRIPT_MOVE.match(source, start) if start >= 0 else None
        if found and source.rfind("<!--", 0, start) <= source.rfind("-->", 0, start):
            return found[2]
        at = source.find("-->", start) if found else at  # a script in a comment: what follows that is looked at
        at = source.find("location", at + 1) if at >= 0 else -1
    return ""


def _seconds(delay: re.Match[str]) -> int:
    return int((delay[1] or "0")[:9])
