"""Asks the owner of a node that was made without a terminal what `dse-node init` asks at one: once, in a browser.

A file of the data directory says that the questions are open. Answers are checked by the functions of `init`. The node
obeys limits and a first site at once. It joins a network while it is stopped: it ends, joins, and runs again.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from aiohttp import web

from bootstrap import is_url
from dht import DseError, write_atomically
from node.config.data_dir import FIRST_DEPTH
from node.config.first_answers import limits_of, network_of, site_named
from node.errors import ConfigError, error_text
from node.joining.given_network import given_network, invitation_for
from node.service.service import Service
from node.views.safe_text import plain
from node.web.owner.owner_pages import REFUSAL_CHARS, OwnerPages, lead_to
from node.web.requests.forms import read_form

LIMITS = {"disk": "store.quota_bytes", "rate": "crawl.max_bytes_s", "hours": "crawl.hours"}  # fields and settings
ANSWERED_S = 1.0  # until the page has reached the browser
FIELDS = ("network", *LIMITS, "site")


class OwnerWelcome:
    """Holds the handlers of the first questions, named as in the table of routes. `file`: is there while they are
    open; `joins`: says which network the node joins before it runs again."""

    def __init__(self, service: Service, pages: OwnerPages, file: Path, joins: Path) -> None:
        self._service, self._pages, self._file, self._joins = service, pages, file, joins

    async def owner_welcome(self, request: web.Request) -> web.Response:
        """Ask the first questions."""
        return self._show(request, dict.fromkeys(FIELDS, ""), {})

    async def owner_answer(self, request: web.Request) -> web.Response:
        """Take the answers where all of them can be used, else ask again and say beside each field what is wrong."""
        values = await read_form(request, "owner_answer")
        typed = {name: "" if values.flag("skip") else values.text(name).strip() for name in FIELDS}
        flaws = dict[str, str]()
        for name in FIELDS:
            try:
                await self._take(name, typed[name], is_last=not flaws)
            except (DseError, OSError) as error:
                flaws[name] = plain(error_text(error), REFUSAL_CHARS)
        if flaws:
            return self._show(request, typed, flaws)
        await asyncio.to_thread(self._file.unlink, missing_ok=True)
        if typed["network"]:
            await asyncio.to_thread(write_atomically, self._joins, _join_note(typed["network"]).encode())
            asyncio.get_running_loop().call_later(ANSWERED_S, self._service.owner.stop)
            return self._pages.render(request, "owner_welcome.html", joins=True)
        if typed["site"]:
            return lead_to(request, "owner_sites", accepted=1)
        return lead_to(request, "owner_overview")

    async def _take(self, name: str, text: str, *, is_last: bool) -> None:
        """Check an answer, and obey it unless it names a network. Raises DseError and OSError. `is_last`: whether the
        site may be crawled, as all other answers were taken."""
        if not text:
            return
        if name == "network":
            await asyncio.to_thread(_join_note, text)
        elif name == "site":
            url = site_named(text)
            told = await self._service.crawl([url], depth=FIRST_DEPTH, scope="host") if is_last else None
            for each in told.refused if told else ():
                raise ConfigError(each.url, each.reason)
        else:
            for pair in limits_of(text):
                key, _, value = pair.partition("=")
                if key != LIMITS[name]:
                    raise ConfigError(text, "belongs into another field")
                await self._service.owner.set(key, value.strip('"'))

    def _show(self, request: web.Request, typed: Mapping[str, str], flaws: Mapping[str, str]) -> web.Response:
        told = {"typed": typed, "flaws": flaws, "joins": False, "status_code": 400 if flaws else 200}
        return self._pages.render(request, "owner_welcome.html", **told)


def _join_note(text: str) -> str:
    """Check a network and its invitation, and return what the file of a data directory says of them: the network in the
    first line, the words in the second."""
    given, words = network_of(text)
    invitation_for(given_network(given), words)
    return f"{given if is_url(given) else Path(given).resolve()}\n{words}"
