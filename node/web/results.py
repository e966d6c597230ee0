"""Makes the body of /api/v1/search ready for the page: escaped nowhere (the template does), bounded everywhere.

Pure: plain data in, values out. Tolerant: a missing or odd field is left out, never an error.
"""

from dataclasses import dataclass
from typing import Any

from node.views.lenient_json import Json, count, table, texts
from node.views.safe_text import Piece, day, pieces, plain, trail, web_link
from node.web.score_view import explained

MAX_TITLE = 160
MAX_SIMILAR = 5


@dataclass(frozen=True, slots=True)
class Result:
    """Holds what is shown of one result. `explain`: lines to read, or empty."""

    url: str
    host: str
    path: str
    title: str
    snippet: tuple[Piece, ...]
    language: str
    day: str
    replicas: int
    site_more: bool
    similar: tuple[str, ...]
    similar_count: int
    explain: str


@dataclass(frozen=True, slots=True)
class ResultPage:
    """Holds what the page says about the answer as a whole."""

    results: tuple[Result, ...]
    total: int
    is_exact_total: bool
    took_ms: int
    slots: int
    answered: int
    is_partial: bool
    next_cursor: str
    corrections: tuple[str, ...]


def result_page(answer: Json) -> ResultPage:
    """Read an answer of the node as a page of results."""
    coverage = table(answer, "coverage")
    slots, answered = count(coverage, "slots"), count(coverage, "answered")
    return ResultPage(
        results=tuple(_result(entry) for entry in answer.get("results", ()) if web_link(entry.get("url"))),
        total=count(answer, "total"),
        is_exact_total=answer.get("total_is") == "exact",
        took_ms=count(answer, "took_ms"),
        slots=slots,
        answered=answered,
        is_partial=answer.get("partial") is True or answered < slots,
        next_cursor=plain(answer.get("next_cursor") or ""),
        corrections=tuple(texts(answer, "corrections", limit=200, most=3)),
    )


def _result(entry: Json) -> Result:
    url = web_link(entry.get("url"))
    host, path = trail(url)
    similar = [web_link(other if isinstance(other, str) else _url_in(other)) for other in _listed(entry.get("similar"))]
    return Result(
        url=url,
        host=host,
        path=path,
        title=plain(entry.get("title") or "", MAX_TITLE).strip(),
        snippet=tuple(pieces(str(entry.get("snippet") or "")[:1000], _listed(entry.get("highlights")))),
        language=_language(entry.get("language")),
        day=day(entry.get("fetched_at")),
        replicas=count(entry, "replicas"),
        site_more=bool(entry.get("site_more")),
        similar=tuple(other for other in similar[:MAX_SIMILAR] if other),
        similar_count=len(similar),
        explain=explained(entry.get("explain")),
    )


def _url_in(value: object) -> str:
    return str(value.get("url", "")) if isinstance(value, dict) else ""


def _listed(value: object) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _language(value: object) -> str:
    """Return a language code fit for an attribute, or nothing."""
    text = str(value or "")
    return text if len(text) <= 12 and text.isascii() and text.replace("-", "").isalnum() else ""
