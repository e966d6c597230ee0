"""Writes an answer as SearXNG writes its own (`format=json`), so that programs made for it need no other setting.

Pure: values in, plain data out. Fields: https://docs.searxng.org/dev/search_api.html, and what Perplexica, LibreChat,
Open WebUI and LangChain read. One engine is named, this network.
"""

from urllib.parse import urlparse

from node.extras.clients.found import FoundAnswer, FoundPage
from node.views.lenient_json import Json

ENGINE = "dse"


def searxng_json(found: FoundAnswer) -> Json:
    """Write an answer as SearXNG's JSON."""
    return {
        "query": found.query,
        "number_of_results": found.total,
        "results": [_result(page, found.start + number) for number, page in enumerate(found.pages, 1)],
        "answers": [],
        "corrections": found.corrections,
        "infoboxes": [],
        "suggestions": found.suggestions,
        "unresponsive_engines": [[ENGINE, "partial: some of the network did not answer"]] if found.is_partial else [],
    }


def _result(page: FoundPage, position: int) -> Json:
    return {
        "url": page.url,
        "title": page.title,
        "content": page.text,
        "publishedDate": f"{page.day}T00:00:00" if page.day else None,
        "engine": ENGINE,
        "engines": [ENGINE],
        "category": "general",
        "template": "default.html",
        "parsed_url": list(urlparse(page.url)),
        "positions": [position],
        "score": page.score,
        "thumbnail": "",
        "img_src": "",
        "priority": "",
    }
