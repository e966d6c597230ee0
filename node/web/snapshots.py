"""Shows stored copies of pages: a frame that says what it is, and inside it the copy with no rights at all.

The copy is a stranger's HTML. It is served with `Content-Security-Policy: sandbox; default-src 'none'`, so it has an
origin of its own, no scripts, forms, frames or requests; only styles and images that it carries within itself.
"""

import codecs
import re

from aiohttp import web

from node.app.service import Json, Service
from node.views.safe_text import day, plain, web_link
from node.web.api import parameters
from node.web.pages import Pages
from node.web.problems import Problem

RAW_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'"
)
_CHARSET = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,39}")
_SHOWN_AS_HTML = frozenset({"text/html", "application/xhtml+xml"})


class Snapshots:
    """Holds the handlers of stored copies, named as in the table of routes."""

    def __init__(self, service: Service, pages: Pages) -> None:
        self._service = service
        self._pages = pages

    async def cache(self, request: web.Request) -> web.Response:
        """Show a stored copy inside a frame that says what it is."""
        url = parameters(request, "cache").text("url")
        found = await self._service.snapshot(url)
        if found is None:
            return self._pages.render(request, "nocache.html", status_code=404, url=web_link(url))
        document, _ = found
        title = plain(document.get("title") or "", 160)
        return self._pages.render(
            request, "cache.html", url=web_link(url), title=title, day=day(document.get("fetched_at"))
        )

    async def cache_raw(self, request: web.Request) -> web.Response:
        """Answer with the stored copy itself, which has no rights."""
        found = await self._service.snapshot(parameters(request, "cache_raw").text("url"))
        if found is None:
            return self._pages.problem(request, Problem(404, "No copy of this page is stored in the network."))
        document, content = found
        return web.Response(
            body=content,
            headers={"Content-Type": content_type(document), "Content-Security-Policy": RAW_POLICY},
        )


def content_type(document: Json) -> str:
    """Return the type to serve a copy with: HTML as HTML, all else as plain text; the charset is one Python knows."""
    media = str(document.get("media_type") or "").partition(";")[0].strip().lower()
    kind = "text/html" if media in _SHOWN_AS_HTML else "text/plain"
    return f"{kind}; charset={_charset(str(document.get('charset') or ''))}"


def _charset(name: str) -> str:
    if not _CHARSET.fullmatch(name):
        return "utf-8"
    try:
        codecs.lookup(name)
    except LookupError:
        return "utf-8"
    return name
