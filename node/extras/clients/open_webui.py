"""Writes results and stored pages as Open WebUI reads them from an external search and an external loader.

Pure: values in, plain data out. Shapes: https://docs.openwebui.com, "External" of its web search settings.
"""

from collections.abc import Mapping

from node.captures.capture import Capture
from node.extras.clients.found import FoundAnswer
from node.views.lenient_json import Json
from node.views.safe_text import day, plain, plain_lines


def open_webui_results(found: FoundAnswer) -> list[Json]:
    """Write an answer as the bare list that an external search returns."""
    return [{"link": page.url, "title": page.title, "snippet": page.text} for page in found.pages]


def open_webui_pages(stored: Mapping[str, Capture]) -> list[Json]:
    """Write stored pages, each under the address that it was asked for by, as an external loader returns them."""
    return [{"page_content": plain_lines(page.text), "metadata": _about(url, page)} for url, page in stored.items()]


def _about(url: str, page: Capture) -> Json:
    about = {"source": url, "title": plain(page.title), "language": plain(page.language, 12)}
    return {**about, "fetched": day(page.captured_at)}
