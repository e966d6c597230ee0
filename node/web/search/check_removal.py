"""Lets the owner of a site see whether its removal file counts, as `dse-node remove` would find it.

It asks a site only for the file that a removal needs, by the crawler's own fetcher, and removes nothing. A site is
asked once in half a minute at most; only this node's owner may name a port.
"""

import asyncio
from urllib.parse import urlsplit

from aiohttp import web

from dht import RateLimiter
from node.errors import NotProved
from node.service.service import Service
from node.views.safe_text import plain
from node.web.rendering.pages import ROLE, Pages
from node.web.requests.forms import is_own_page, read_form
from node.web.requests.problems import Problem
from node.web.search.suggest_site import typed_url

SITE_EVERY_S = 30.0  # at most one check of a site in this time
ALL_PER_S, ALL_AT_ONCE = 1.0, 10.0  # checks of all sites together


class CheckRemoval:
    """Holds the handler of the check, named as in the table of routes."""

    def __init__(self, service: Service, pages: Pages) -> None:
        self._service, self._pages = service, pages
        self._of_site, self._of_all = RateLimiter(1 / SITE_EVERY_S, 1.0), RateLimiter(ALL_PER_S, ALL_AT_ONCE)

    async def check_removal(self, request: web.Request) -> web.Response:
        """Say whether a removal file counts, and why not."""
        if not is_own_page(request):
            return self._pages.problem(request, Problem(403, "This form belongs to another site."))
        typed = (await read_form(request, "check_removal")).text("url").strip()
        url = typed_url(typed)
        if not url:
            return self._pages.show_bot(request, "add.no_url", typed, 400)
        if urlsplit(url).port is not None and request.get(ROLE) != "owner":
            return self._pages.show_bot(request, "bot.check.port", typed, 400)
        now = asyncio.get_running_loop().time()
        if not (self._of_all.take("", now) and self._of_site.take(urlsplit(url).hostname, now)):
            return self._pages.show_bot(request, "bot.check.often", typed, 429)
        try:
            found = await self._service.remove(url, is_check=True)
        except NotProved as error:  # how a connection fails is nobody's business: it tells of this node's own network
            why = f"{error.problem.partition(': ')[0]}; {error.remedy}"
            return self._pages.show_bot(request, "bot.check.bad", typed, why=plain(why, 600))
        return self._pages.show_bot(request, "bot.check.good", typed, site=found.site, prefix=found.prefix)
