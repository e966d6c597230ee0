"""Takes requests of site owners to have pages removed, for this node's operator to decide on.

It asks no site and removes nothing. Callers and all of them together are limited, since each request takes a person's
time.
"""

import asyncio
import time
from urllib.parse import urlsplit

from aiohttp import web

from dht import RateLimiter
from node.service.service import Service
from node.sites.asked_removals import MAX_CONTACT, MAX_PREFIX, MAX_WHY, AskedRemoval
from node.views.safe_text import plain
from node.web.rendering.pages import Pages
from node.web.requests.caller_limit import CallerLimit
from node.web.requests.forms import is_own_page, read_form
from node.web.requests.own_origin import caller_of
from node.web.requests.problems import Problem
from node.web.search.suggest_site import typed_url

CALLER_PER_S, CALLER_AT_ONCE = 1 / 3600, 3
ALL_PER_S, ALL_AT_ONCE = 1 / 600, 20.0  # 144 a day


class AskRemoval:
    """Holds the handler of such a request, named as in the table of routes."""

    def __init__(self, service: Service, pages: Pages) -> None:
        self._service, self._pages = service, pages
        self._of_caller, self._of_all = CallerLimit(CALLER_PER_S, CALLER_AT_ONCE), RateLimiter(ALL_PER_S, ALL_AT_ONCE)

    async def ask_removal(self, request: web.Request) -> web.Response:
        """Keep a request for the operator, and say what will become of it."""
        if not is_own_page(request):
            return self._pages.problem(request, Problem(403, "This form belongs to another site."))
        values = await read_form(request, "ask_removal")
        asked = {name: values.text(name).strip() for name in ("pages", "why", "contact")}
        prefix, now = pages_named(asked["pages"]), asyncio.get_running_loop().time()
        if not prefix:
            return self._pages.show_bot(request, "add.no_url", status_code=400, asked=asked)
        if self._of_caller.wait_s(caller_of(request), now) or not self._of_all.take("", now):
            return self._pages.show_bot(request, "bot.ask.often", status_code=429, asked=asked)
        why, contact = plain(asked["why"], MAX_WHY), plain(asked["contact"], MAX_CONTACT)
        await self._service.owner.asked_removals.add(AskedRemoval(prefix, why, contact, time.time()))
        return self._pages.show_bot(request, "bot.ask.noted", asked={}, pages=prefix)


def pages_named(text: str) -> str:
    """Return the host, or the beginning of addresses, that a rule of the strategy names these pages by; "" for none."""
    parts = urlsplit(url := typed_url(text))
    name = url if parts.path.strip("/") or parts.query else parts.hostname or ""
    return name if len(name) <= MAX_PREFIX else ""
