"""Writes results and stored pages as AI clients read them from a search connector's tools, `search` and `fetch`.

Pure: values in, plain data out. Shapes: https://modelcontextprotocol.io for tools, and those that OpenAI's clients
ask of these two. An id is the address of a page. All text is safe: it has no signs that UTF-8 cannot carry, either.
"""

from collections.abc import Sequence

from node.extras.clients.found import FoundAnswer, FoundPage
from node.views.lenient_json import Json, table
from node.views.safe_text import plain, plain_lines, web_link

_TEXT: Json = {"type": "string"}
RESULTS_SCHEMA: Json = {
    "type": "object",
    "properties": {
        "results": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"id": _TEXT, "title": _TEXT, "url": _TEXT, "text": _TEXT, "date": _TEXT},
                "required": ["id", "title", "url"],
            },
        }
    },
    "required": ["results"],
}
PAGE_SCHEMA: Json = {
    "type": "object",
    "properties": {"id": _TEXT, "title": _TEXT, "text": _TEXT, "url": _TEXT, "metadata": {"type": "object"}},
    "required": ["id", "title", "text", "url"],
}


def mcp_results(found: FoundAnswer) -> Json:
    """Write an answer as `search` returns it; `text` is a snippet, and `date` is there where a page says one."""
    return {"results": [_result(page) for page in found.pages]}


def mcp_page(asked: str, loaded: Sequence[Json]) -> Json | None:
    """Write a page as `fetch` returns it, from the list that a node's loader answers to the one address `asked`. None
    where the list is empty: no copy is stored, or none may be shown."""
    if not loaded:
        return None
    about, url = table(loaded[0], "metadata"), web_link(asked)
    facts = {name: plain(about[name], 40) for name in ("language", "fetched") if about.get(name)}
    return {
        "id": url,
        "title": plain(about.get("title") or "").strip() or url,
        "text": plain_lines(str(loaded[0].get("page_content") or "")),
        "url": url,
        "metadata": facts,
    }


def _result(page: FoundPage) -> Json:
    result = {"id": page.url, "title": page.title, "url": page.url, "text": page.text}
    return {**result, "date": page.day} if page.day else result
