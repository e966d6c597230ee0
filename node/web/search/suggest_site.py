"""Lets readers suggest a site: an address waits for the node's owner, who has it crawled or drops it."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from aiohttp import web

from crawl import BadUrl, canonical_url
from dht import RemoteError
from node.crawling.typed_address import with_scheme
from node.service.service import Service
from node.views.safe_text import plain
from node.web.rendering.pages import ROLE, Pages
from node.web.requests.forms import is_own_page, read_form
from node.web.requests.problems import Problem
from node.web.requests.routes import MAX_URL

MAX_TIPS = 200
MAX_OF_SITE = 3  # so that nobody fills the list with one


class SiteTips:
    """Holds addresses that wait for the owner, oldest first. Nothing is written down: a restart forgets them, and who
    suggested what is never known."""

    def __init__(self) -> None:
        self._waiting: dict[str, None] = {}

    def add(self, url: str) -> bool:
        """Note a canonical URL; return False where there is no room for it."""
        if url in self._waiting:
            return True
        of_site = sum(urlsplit(each).hostname == urlsplit(url).hostname for each in self._waiting)
        if len(self._waiting) >= MAX_TIPS or of_site >= MAX_OF_SITE:
            return False
        self._waiting[url] = None
        return True

    def take(self, url: str) -> bool:
        """Forget a URL; return whether it was here."""
        return self._waiting.pop(url, False) is None

    def __iter__(self) -> Iterator[str]:
        return iter(self._waiting)


OWNERS_DEPTH = 3  # links to follow within the site, from an address that the owner takes


class SuggestSite:
    """Holds the handlers of suggesting a site, named as in the table of routes."""

    def __init__(self, service: Service, pages: Pages) -> None:
        self._service, self._pages = service, pages
        self._tips = SiteTips()

    async def suggest_site(self, request: web.Request) -> web.Response:
        """Show the form, and to the owner what was suggested."""
        return self._show(request, "")

    async def suggested_site(self, request: web.Request) -> web.Response:
        """Take an address, or what the owner says about one."""
        if not is_own_page(request):
            return self._pages.problem(request, Problem(403, "This form belongs to another site."))
        values, is_owner = await read_form(request, "suggested_site"), request.get(ROLE) == "owner"
        if is_owner and (dropped := values.text("drop")):
            self._tips.take(dropped)
            return self._show(request, "add.dropped", dropped)
        url = typed_url(values.text("take") or values.text("url"))
        if not url:
            return self._show(request, "add.no_url", status_code=400)
        if is_owner:
            self._tips.take(url)
            crawled = await self._service.crawl([url], depth=OWNERS_DEPTH, scope="host")
            refused = next((plain(each.reason, 300) for each in crawled.refused), "")
            return self._show(request, "add.refused" if refused else "add.taken", url, refused)
        known, why = await self._known(url)
        if known:
            return self._show(request, known, url, why)
        is_noted = self._tips.add(url)
        return self._show(request, "add.noted" if is_noted else "add.full", url, status_code=200 if is_noted else 503)

    async def _known(self, url: str) -> tuple[str, str]:
        """Say why an address need not wait for the owner, as it is known or may not be fetched; else ("", "")."""
        try:
            found = await self._service.explain(url)
        except RemoteError:
            return "", ""
        if found.known or found.answer == "no":
            return "add.known" if found.known else "add.refused", plain(found.why, 300)
        return "", ""

    def _show(
        self, request: web.Request, said: str, url: str = "", why: str = "", status_code: int = 200
    ) -> web.Response:
        is_owner = request.get(ROLE) == "owner"
        return self._pages.render(
            request,
            "suggest_site.html",
            status_code=status_code,
            said=said,
            url=url,
            why=why,
            tips=list(self._tips) if is_owner else [],
        )


def typed_url(text: str) -> str:
    """Return the canonical form of an address, https where it names no scheme; "" where it is none."""
    text = text.strip()
    try:
        return canonical_url(with_scheme(text)) if text and len(text) <= MAX_URL else ""
    except BadUrl:
        return ""
