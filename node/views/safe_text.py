"""Makes text from strangers fit to be shown: no control characters, no reversed lines, hits as marked pieces.

Pure: strings in, strings out. A page's title may hold terminal escapes or characters that turn a line round; the
page and the command line both show it through here.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_RAW_IN_JSON = re.compile(f"[\x7f-\x9f\u2028\u2029\ufeff{''.join(sorted(_BIDI))}]")  # JSON escapes the others itself
_BREAKS = frozenset("\t\n\v\f\r\x85\u2028\u2029")
MAX_HIGHLIGHTS = 200


class Piece(NamedTuple):
    """Holds a run of text; `is_hit` where it matches the query."""

    text: str
    is_hit: bool


def plain(text: object, limit: int = 2000) -> str:
    """Return a text as one line without control or direction-changing characters, at most `limit` characters."""
    cut = str(text)[:limit]
    return cut if cut.isprintable() else "".join(_kept(character) for character in cut)


def shortened(text: object, limit: int) -> str:
    """Return a text as one plain line of at most `limit` characters, cut between words and then with an ellipsis."""
    line = plain(text, limit * 2).strip()
    if len(line) <= limit:
        return line
    cut = line[:limit]
    head, gap, _ = cut.rpartition(" ")
    return f"{head if gap and len(head) > limit // 2 else cut[:-1]}…"


def plain_lines(text: str) -> str:
    """Return a text of many lines with each of them plain and whole."""
    return "\n".join(plain(line, len(line)) for line in text.splitlines())


def plain_json(text: str) -> str:
    """Return a JSON text of the same value whose strings escape control and direction-changing characters."""
    return _RAW_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def pieces(text: str, highlights: Sequence[Sequence[int]]) -> list[Piece]:
    """Cut a text at its highlights: (start, end) character offsets; overlapping or wild ones do no harm."""
    cut: list[Piece] = []
    at = 0
    for start, end in _spans(highlights, len(text)):
        if start > at:
            cut.append(Piece(plain(text[at:start]), False))
        if end > at:
            cut.append(Piece(plain(text[max(start, at) : end]), True))
            at = end
    return [*cut, Piece(plain(text[at:]), False)] if at < len(text) else cut


def web_link(url: object) -> str:
    """Return a URL where it may stand in a link (http or https), else an empty string."""
    text = plain(url, 4096)
    return text if text.startswith(("http://", "https://")) else ""


def trail(url: object, limit: int = 90) -> tuple[str, str]:
    """Write a URL for reading: (host, " › path › parts"), percent-decoded, cut in the middle where it is long; a
    stranger's that is none is written as it stands."""
    try:
        parts = urlsplit(plain(url, 4096))
    except ValueError:
        return plain(url, limit), ""
    steps = [plain(unquote(step)) for step in parts.path.split("/") if step]
    if parts.query:
        steps.append("?" + plain(unquote(parts.query)))
    path = "".join(f" › {step}" for step in steps)
    if len(path) > limit:
        path = path[: limit // 2].rstrip() + " … " + path[-limit // 2 :].lstrip()
    return parts.netloc, path


def around(query: str, position: int | None) -> tuple[str, str, str]:
    """Cut a query at the character that does not parse: (before, that one, after); its end is shown as a space."""
    if position is None or position < 0:
        return plain(query), "", ""
    at = min(position, len(query))
    return plain(query[:at]), plain(query[at : at + 1]) or " ", plain(query[at + 1 :])


def day(at: object) -> str:
    """Write the UTC day of an instant in Unix seconds, ISO 8601; empty where it is none."""
    if isinstance(at, int | float) and 0 < at < 253_402_300_800:  # the year 10000: datetime ends there
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")
    return ""


def day_rfc822(at: object) -> str:
    """Write the UTC day of an instant in Unix seconds as feeds have it, RFC 822; empty where it is none."""
    if not day(at) or not isinstance(at, int | float):
        return ""
    return format_datetime(datetime.fromtimestamp(at, UTC).replace(hour=0, minute=0, second=0, microsecond=0))


def _kept(character: str) -> str:
    if character in _BREAKS:
        return " "
    if character in _BIDI or not (character.isprintable() or character in "\u00a0\u3000\u00ad\u200c\u200d"):
        return ""
    return character


def _spans(highlights: Sequence[Sequence[int]], length: int) -> Iterator[tuple[int, int]]:
    given = [h for h in highlights[:MAX_HIGHLIGHTS] if isinstance(h, list | tuple) and len(h) == 2]
    bounded = [h for h in given if all(isinstance(n, int) for n in h)]
    clipped = ((max(0, h[0]), min(h[1], length)) for h in bounded)
    yield from sorted((start, end) for start, end in clipped if start < end)
