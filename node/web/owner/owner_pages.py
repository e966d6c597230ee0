"""Serves the pages of a node's owner: its state over time, the network, the sites that wait, its work; and takes what
the owner decides there, by forms.

Every route here needs the token or a login. The pages are complete without their script, which asks for the same page
again.
"""

import time
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlencode

from aiohttp import web

from crawl import SCOPE_KINDS, SiteGroup
from node.api.crawl import Pace
from node.crawling.typed_address import with_scheme
from node.errors import ConfigError
from node.owner.figure_history import Span
from node.owner.member_page import ORDERS
from node.owner.setting_change import setting_about
from node.service.service import Service
from node.sites.host_wishes import Wish
from node.views.owner_state import owner_state
from node.views.safe_text import plain
from node.views.status import view_of
from node.web.owner.member_rows import member_rows
from node.web.owner.owner_plots import figure_plots, network_ring
from node.web.owner.setting_controls import shown_controls, typed_value
from node.web.rendering.pages import CACHED, Pages
from node.web.rendering.translations import Translate, choose, translator
from node.web.requests.api import parameters, slot_wish
from node.web.requests.forms import read_form
from node.web.requests.parameters import Values
from node.web.requests.problems import BadParameter
from node.web.requests.reader_settings import languages_of
from node.web.requests.route_table import route

SITES = 40  # on a page; with the longest names of hosts it stays below 100 kB
SLOTS = 20  # on the page of the network, beside its members
LOG_LINES = 60
ASKED = 5  # requests to remove pages
REFUSAL_CHARS = 300


class OwnerPages:
    """Holds the handlers of the owner's pages, named as in the table of routes."""

    def __init__(self, service: Service, pages: Pages, welcome: Path) -> None:
        """`welcome`: a file that is there while the owner has to be asked the first questions."""
        self._service, self._pages, self._welcome = service, pages, welcome
        static = files("node.web") / "static"
        self._style, self._script = ((static / name).read_text() for name in ("owner.css", "owner.js"))
        self._version = sha256((self._style + self._script).encode()).hexdigest()[:10]

    async def owner_overview(self, request: web.Request) -> web.Response:
        """Show how the node is, in a sentence, and its figures over time; the first questions while they are open."""
        if self._welcome.exists():
            return lead_to(request, "owner_welcome")
        wanted = parameters(request, "owner_overview").text("span")
        span: Span = next(each for each in get_args(Span) if each == wanted)
        status = (await self._service.status()).plain()
        view = view_of(status)
        now, state = time.time(), owner_state(status, view)
        plots = figure_plots(await self._service.owner.history.lines(span, now), span, now, words_of(request))
        return self.render(
            request,
            "owner.html",
            status=view,
            state=state,
            plots=plots,
            span=span,
            spans=get_args(Span),
            asked=self._service.owner.asked_removals.waiting,
            shown=ASKED,
        )

    async def owner_network(self, request: web.Request) -> web.Response:
        """Show the members of the network, what they need, and the key space."""
        t, found, values = words_of(request), self._service.owner.network(), parameters(request, "owner_network")
        order = next(each for each in ORDERS if each == values.text("order"))
        find = plain(values.text("find").strip())
        seen = await self._service.members.members(find, order, values.count("from"))
        about = slot_wish(values, "slots_from")
        return self.render(
            request,
            "owner_network.html",
            map=found,
            ring=network_ring(found, t),
            families=[(t(f"network.family.{name}"), count) for name, count in found.families],
            seen=seen,
            rows=member_rows(seen),
            find=find,
            start=values.count("from"),
            order=order,
            orders=ORDERS,
            full_in_days=(await self._service.status()).disk.full_in_days,
            teams=await self._service.slots.slots(*about, SLOTS),
            asked=dict(zip(("member", "few", "slot", "slots_from"), about, strict=True)),
        )

    async def owner_sites(self, request: web.Request) -> web.Response:
        """Show the sites whose addresses wait here, and why."""
        values = parameters(request, "owner_sites")
        begins = plain(values.text("begins").strip().lower())
        show = next((each for each in get_args(SiteGroup) if each == values.text("show")), None)
        if show is None:
            raise BadParameter("show", "is none of failing, paused and due")
        seen = self._service.owner.sites(begins, show, values.text("after"), SITES)
        return self.render(
            request,
            "owner_sites.html",
            seen=seen,
            begins=begins,
            show=show,
            shows=get_args(SiteGroup),
            after=values.text("after"),
            accepted=values.count("accepted"),
            refused=plain(values.text("refused")),
        )

    async def owner_work(self, request: web.Request) -> web.Response:
        """Show jobs, durability and the newest log lines."""
        owner = self._service.owner
        view = view_of((await self._service.status()).plain())
        return self.render(
            request,
            "owner_work.html",
            status=view,
            jobs=await owner.jobs(),
            report=owner.report.state() if owner.report else None,
            lines=owner.log()[:LOG_LINES],
            flaw=plain(parameters(request, "owner_work").text("report_flaw")),
        )

    async def owner_settings(self, request: web.Request) -> web.Response:
        """Show the settings that most volunteers want, and all others."""
        values, rows = parameters(request, "owner_settings"), self._service.owner.settings()
        wanted, accepted = values.text("setting"), values.text("accepted")
        return self.render(
            request,
            "owner_settings.html",
            controls=shown_controls(rows),
            settings=rows,
            wanted=wanted,
            about=None if accepted else setting_about(wanted),
            chosen=next((row for row in rows if row.key == wanted), None),
            accepted=accepted,
            refused=plain(values.text("refused")),
        )

    async def owner_pause(self, request: web.Request) -> web.Response:
        """Stop or resume fetching, and lead back."""
        self._service.pause((await read_form(request, "owner_pause")).flag("paused"))
        return lead_to(request, "owner_overview")

    async def owner_crawl(self, request: web.Request) -> web.Response:
        """Hand a URL in, and lead back with what became of that."""
        values = await read_form(request, "owner_crawl")
        scope = next((kind for kind in SCOPE_KINDS if kind == values.text("scope")), None)
        if scope is None:
            raise BadParameter("scope", f"is none of {', '.join(SCOPE_KINDS)}")
        every = next((pace for pace in get_args(Pace) if pace == values.text("every")), None)
        if every is None:
            raise BadParameter("every", "is neither daily nor weekly")
        url = with_scheme(values.text("url").strip())
        exclude = values.text("exclude").split()
        told = await self._service.crawl([url], depth=values.count("depth"), scope=scope, every=every, exclude=exclude)
        refused = next((each.reason for each in told.refused), "")
        return lead_to(request, "owner_sites", accepted=told.accepted or "", refused=plain(refused, REFUSAL_CHARS))

    async def owner_set(self, request: web.Request) -> web.Response:
        """Change a setting, and lead back to it with what became of that."""
        values = await read_form(request, "owner_set")
        key, typed, told = values.text("setting"), values.text("value"), {"accepted": "", "refused": ""}
        typed = typed_value(key, typed) if values.flag("simple") else typed
        try:
            told["accepted"] = "now" if await self._service.owner.set(key, typed) else "later"
        except ConfigError as error:
            told["refused"] = plain(error, REFUSAL_CHARS)
        return lead_to(request, "owner_settings", setting=key, **told)

    async def owner_cancel(self, request: web.Request) -> web.Response:
        """End a crawl job, and lead back to the jobs."""
        await self._service.owner.cancel((await read_form(request, "owner_cancel")).count("number"))
        return lead_to(request, "owner_work")

    async def owner_wish(self, request: web.Request) -> web.Response:
        """Pause a host, refuse it or allow it again, and lead back to where it stands."""
        values = await read_form(request, "owner_wish")
        await self._service.owner.wish(*_wished(values))
        kept = {name: values.text(name) for name in ("begins", "show", "after")}
        return lead_to(request, "owner_sites", **kept)

    async def owner_dismiss(self, request: web.Request) -> web.Response:
        """Forget a request to remove pages, and lead back to the others."""
        await self._service.owner.asked_removals.dismiss((await read_form(request, "owner_dismiss")).text("pages"))
        return lead_to(request, "owner_overview", "asked")

    async def owner_style(self, request: web.Request) -> web.Response:
        """Answer with the style sheet of the owner's pages."""
        return web.Response(text=self._style, content_type="text/css", headers=CACHED)

    async def owner_script(self, request: web.Request) -> web.Response:
        """Answer with the script of the owner's pages."""
        return web.Response(text=self._script, content_type="text/javascript", headers=CACHED)

    def render(self, request: web.Request, template: str, **values: Any) -> web.Response:
        """Fill in a template of the owner's pages."""
        about: dict[str, Any] = {"owner_version": self._version, "here_path": request.path}
        return self._pages.render(request, template, **about, **values)


def words_of(request: web.Request) -> Translate:
    """Return the words of the pages in the language of who asks."""
    return translator(choose(request.query.get("hl", ""), languages_of(request)))


def _wished(values: Values) -> tuple[str, Wish]:
    """Return the host and what is wished of it, by the button that sent the form or by its fields."""
    wishes: tuple[tuple[str, Wish], ...] = (("held", "held"), ("refused", "refused"), ("free", ""))
    for name, wish in wishes:
        if host := values.text(name):
            return host, wish
    wished = next((wish for name, wish in wishes if name == values.text("wish")), None)
    if wished is None:
        raise BadParameter("wish", "is none of held, refused and free")
    return values.text("host"), wished


def lead_to(request: web.Request, name: str, part: str = "", /, **query: object) -> web.Response:
    """Lead to a page, where `part` names one to a part of it."""
    query["hl"] = request.query.get("hl", "")[:16]
    given = {key: value for key, value in query.items() if value not in ("", None)}
    address = route(name).path + (f"?{urlencode(given)}" if given else "") + (f"#{part}" if part else "")
    return web.Response(status=303, headers={"Location": address})
