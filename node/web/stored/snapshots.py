"""Shows stored copies of pages: their text first, or a frame with the copy inside it, which has no rights at all.

The copy is a stranger's HTML. It is served with `Content-Security-Policy: sandbox; default-src 'none'`, so it has an
origin of its own, no scripts, forms, frames or requests; only styles and images that it carries within itself.
"""

import codecs
import re
from collections.abc import Sequence

from aiohttp import web

from dht import RemoteError
from node.captures.capture import Capture, instant
from node.service.service import Service
from node.views.safe_text import day, plain, web_link
from node.web.rendering.pages import Pages
from node.web.requests.api import parameters
from node.web.requests.problems import Problem
from node.web.stored.memento import memento_headers, nearest, timestamp_of, versions, whole

MAX_TEXT_CHARS = 50_000  # of a page's text; its stored copy has all of it
MAX_LISTED = 30  # versions; more are in the list for programs (RFC 7089)
RAW_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'"
)
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8}){0,3}")
_CHARSET = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,39}")
_SHOWN_AS_HTML = frozenset({"text/html", "application/xhtml+xml"})


class Snapshots:
    """Holds the handlers of stored copies, named as in the table of routes."""

    def __init__(self, service: Service, pages: Pages) -> None:
        self._service = service
        self._pages = pages

    async def cache(self, request: web.Request) -> web.Response:
        """Show the text of a stored copy, or the copy in a frame: the one nearest to a date, where one is asked for.
        Style sheets and images are not stored, so few copies look like their pages."""
        values = parameters(request, "cache")
        url, at = values.text("url"), values.text("at")
        found, all_versions = await self._find(url, at), await self._versions(url)
        if found is None:
            return self._pages.render(request, "nocache.html", status_code=404, url=web_link(url))
        is_page, language = values.text("view") == "page", found.language
        page = self._pages.render(
            request,
            "cache.html",
            text=() if is_page else _lines(found),
            view="page" if is_page else "",
            has_text=bool(found.text),
            language=language if _LANGUAGE.fullmatch(language) else "",
            url=web_link(found.url),
            title=plain(found.title, 160),
            day=day(found.captured_at),
            origin=plain(found.origin, 160),
            asked=day(timestamp_of(at)),
            at=at,
            versions=[_stamp(version) for version in all_versions[-MAX_LISTED:]][::-1],
            shown=_stamp(found),
        )
        page.headers.update(memento_headers(request, found))
        return page

    async def cache_raw(self, request: web.Request) -> web.Response:
        """Answer with the stored copy itself, which has no rights."""
        values = parameters(request, "cache_raw")
        found = await self._find(values.text("url"), values.text("at"))
        if found is None:
            return self._pages.problem(request, Problem(404, "No copy of this page is stored in the network."))
        headers = {"Content-Type": content_type(found), "Content-Security-Policy": RAW_POLICY}
        return web.Response(body=found.content, headers={**memento_headers(request, found), **headers})

    async def _versions(self, url: str) -> Sequence[Capture]:
        """Return the versions that the frame lists, oldest first; none where nobody says what there is just now."""
        try:
            return await versions(self._service, url)
        except RemoteError:
            return ()

    async def _find(self, url: str, at: str) -> Capture | None:
        """Find the version nearest to a date, else the one that is shown."""
        instant = timestamp_of(at)
        found = await versions(self._service, url) if instant is not None else []
        return await whole(self._service, nearest(found, instant)) if found else await self._service.snapshot(url)


def _lines(capture: Capture) -> Sequence[str]:
    """Return the text of a page, line by line, as far as it is shown at once."""
    text = capture.text[:MAX_TEXT_CHARS] + "…" * (len(capture.text) > MAX_TEXT_CHARS)
    return [line for each in text.splitlines() if (line := plain(each, MAX_TEXT_CHARS).strip())]


def _stamp(version: Capture) -> tuple[str, str, str]:
    """Return a version's instant as archives write it, its day, and its time of day (UTC)."""
    at = instant(version.captured_at)
    return f"{at:%Y%m%d%H%M%S}", f"{at:%Y-%m-%d}", f"{at:%H:%M}"


def content_type(capture: Capture) -> str:
    """Return the type to serve a copy with: HTML as HTML, all else as plain text; the charset is one Python knows."""
    media = capture.media_type.partition(";")[0].strip().lower()
    kind = "text/html" if media in _SHOWN_AS_HTML else "text/plain"
    return f"{kind}; charset={_charset(capture.charset)}"


def _charset(name: str) -> str:
    if not _CHARSET.fullmatch(name):
        return "utf-8"
    try:
        codecs.lookup(name)
    except LookupError:
        return "utf-8"
    return name
