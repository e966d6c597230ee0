"""Reads an answer of the node as other programs' clients are given it: safe text, web addresses, days.

Pure: plain data in, values out. Tolerant: a result whose address cannot be shown costs its own place only. Some
clients put what they get into pages as it is, so no address holds a sign that could end an attribute.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from urllib.parse import SplitResult, urlsplit

from node.views.lenient_json import Json, count, number, texts
from node.views.safe_text import Piece, day, day_rfc822, pieces, plain, web_link

MAX_TITLE = 300
MAX_SNIPPET = 1000
_ENDS_ATTRIBUTES = str.maketrans({sign: f"%{ord(sign):02X}" for sign in "\"'<>` \\^{|}"})


@dataclass(frozen=True, slots=True)
class FoundImage:
    """Holds what clients are told of an image of a page; 0 where a side is unknown."""

    url: str
    text: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class FoundPage:
    """Holds what clients are told of one result. `day`: by the page's own word, ISO 8601, "" unknown."""

    url: str
    address: SplitResult
    id: str
    title: str  # its address where it has none
    snippet: tuple[Piece, ...]
    score: float
    day: str
    day_rfc822: str
    fetched_day: str
    images: tuple[FoundImage, ...]

    @property
    def text(self) -> str:
        """Return the snippet as one line."""
        return "".join(piece.text for piece in self.snippet)


@dataclass(frozen=True, slots=True)
class FoundAnswer:
    """Holds what clients are told of an answer. `start`: how many results lie before the first of `pages`."""

    query: str
    pages: tuple[FoundPage, ...]
    start: int
    total: int
    took_s: float
    is_partial: bool
    suggestions: tuple[str, ...]
    corrections: tuple[str, ...]


def read_found(answer: Json, query: str, start: int = 0) -> FoundAnswer:
    """Read an answer of the node to a query, as it was asked, from the `start`-th result on."""
    results = answer.get("results")
    return FoundAnswer(
        query=plain(query),
        pages=tuple(_pages(results if isinstance(results, list | tuple) else ())),
        start=start,
        total=max(0, count(answer, "total")),
        took_s=round(max(0.0, number(answer, "took_ms")) / 1000, 4),
        is_partial=answer.get("partial") is True,
        suggestions=tuple(texts(answer, "suggestions", limit=200, most=10)),
        corrections=tuple(texts(answer, "corrections", limit=200, most=3)),
    )


def _pages(results: list[Json] | tuple[Json, ...]) -> Iterator[FoundPage]:
    for result in results:
        try:
            page = _page(result)
        except (ValueError, TypeError, AttributeError, OverflowError):
            continue
        if page is not None:
            yield page


def _page(result: Json) -> FoundPage | None:
    url = web_link(result.get("url")).translate(_ENDS_ATTRIBUTES)
    address = urlsplit(url)
    if not address.hostname:
        return None
    highlights, score = result.get("highlights"), number(result, "score")
    marked = highlights if isinstance(highlights, list | tuple) else ()
    return FoundPage(
        url=url,
        address=address,
        id=plain(result.get("id") or "", 80),
        title=plain(result.get("title") or "", MAX_TITLE).strip() or url,
        snippet=tuple(pieces(str(result.get("snippet") or "")[:MAX_SNIPPET], marked)),
        score=score if isfinite(score) else 0.0,
        day=day(result.get("date")),
        day_rfc822=day_rfc822(result.get("date")),
        fetched_day=day(result.get("fetched_at")),
        images=tuple(_images(result.get("images"))),
    )


def _images(entries: object) -> Iterator[FoundImage]:
    for entry in entries if isinstance(entries, list | tuple) else ():
        if url := web_link(entry.get("url")).translate(_ENDS_ATTRIBUTES):
            text = next(filter(None, (plain(entry.get(name) or "") for name in ("text", "caption", "heading"))), "")
            yield FoundImage(url, text, count(entry, "width"), count(entry, "height"))
