"""Writes results and stored pages as Tavily's /search and /extract return them.

Pure: values in, plain data out. Fields: https://docs.tavily.com/documentation/api-reference. A node writes no
answers of its own and looks for no pictures: those fields are there, and empty.
"""

from collections.abc import Mapping, Sequence

from node.captures.capture import Capture
from node.extras.clients.found import FoundAnswer, FoundPage
from node.views.lenient_json import Json
from node.views.safe_text import plain, plain_lines


def tavily_results(found: FoundAnswer, stored: Mapping[str, Capture]) -> Json:
    """Write an answer as /search returns it. `stored`: whole texts by address, as far as they were asked for."""
    best = max((page.score for page in found.pages), default=0.0)
    return {
        "query": found.query,
        "follow_up_questions": None,
        "answer": None,
        "images": [],
        "results": [_result(page, best, stored.get(page.url)) for page in found.pages],
        "response_time": found.took_s,
    }


def tavily_pages(asked: Sequence[str], stored: Mapping[str, Capture], took_s: float) -> Json:
    """Write stored pages as /extract returns them; what is not stored has failed."""
    return {
        "results": [
            {"url": url, "title": plain(page.title), "raw_content": plain_lines(page.text), "images": []}
            for url, page in stored.items()
        ],
        "failed_results": [
            {"url": plain(url), "error": "no copy of this page is stored, or none may be shown"}
            for url in asked
            if url not in stored
        ],
        "response_time": round(took_s, 4),
    }


def _result(page: FoundPage, best: float, stored: Capture | None) -> Json:
    """Write a result. Clients take scores for shares of 1: the best of an answer has it, whatever it is."""
    result = {
        "url": page.url,
        "title": page.title,
        "content": page.text,
        "score": round(page.score / best, 4) if best > 0 else 0.0,
        "raw_content": plain_lines(stored.text) if stored else None,
    }
    return {**result, "published_date": page.day_rfc822} if page.day_rfc822 else result
