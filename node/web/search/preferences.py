"""Lets a reader raise, lower and block sites, and choose how pages are, by cookies of the browser.

Works without scripts. A cookie is a reader's own: nothing is kept at the node. The node's owner may have rules for
sites in a file.
"""

import logging
import os
from urllib.parse import urlencode

from aiohttp import web

from dht import InputError
from node.errors import ConfigError
from node.web.rendering.pages import Pages
from node.web.requests.forms import is_own_page, read_form, read_query
from node.web.requests.own_origin import cookie_name, is_https, own_cookie
from node.web.requests.problems import Problem
from node.web.requests.reader_settings import (
    RESULTS,
    SETTINGS_COOKIE,
    THEMES,
    TONGUES,
    read_settings,
    settings_cookie,
    settings_of,
)
from node.web.requests.route_table import route
from node.web.search.site_rules import (
    MAX_COOKIE_CHARS,
    MAX_TEXT_CHARS,
    RULE_NAMED,
    SiteRules,
    cookie_of,
    host_named,
    read_cookie,
    read_rules,
    written,
)

log = logging.getLogger(__name__)


class RulesFile:
    """Holds the rules of a file, none where no path is given."""

    def __init__(self, path: str) -> None:
        """Read the file; raises ConfigError where that cannot be."""
        self._path, self._changed = path, (0, 0)
        self._rules = SiteRules()
        try:
            self._refresh()
        except (OSError, InputError, ValueError) as error:
            raise ConfigError("node.site_rules", f"{path}: {error}", "mend it, or leave the setting empty") from None

    def rules(self) -> SiteRules:
        """Return the rules; of a file that cannot be read any more, those that it had."""
        try:
            self._refresh()
        except (OSError, InputError, ValueError) as error:
            log.warning("site rules stay as they were file=%s: %s", self._path, error)
        return self._rules

    def _refresh(self) -> None:
        if not self._path:
            return
        found = os.stat(self._path)
        changed = found.st_mtime_ns, found.st_size
        if changed != self._changed:
            self._changed = changed  # a broken one is complained of once
            with open(self._path, encoding="utf-8-sig") as file:
                self._rules = read_rules(file.read(MAX_TEXT_CHARS + 1))


YEAR_S = 365 * 86_400
RULES_COOKIE = "dse-sites"
_NOT_OURS = Problem(403, "This form belongs to another site, or the browser does not say where it comes from.")


class Preferences:
    """Holds the handlers of a reader's own settings, named as in the table of routes."""

    def __init__(self, pages: Pages, file: RulesFile) -> None:
        self._pages, self._file = pages, file

    def rules(self, request: web.Request) -> SiteRules:
        """Return what counts for a request: the browser's rules, and the owner's where these say nothing."""
        return _own_rules(request).over(self._file.rules())

    async def site_rules(self, request: web.Request) -> web.Response:
        """Show the rules, to be changed, copied and pasted."""
        return self._show(request, written(_own_rules(request)))

    async def site_rules_text(self, request: web.Request) -> web.Response:
        """Answer with the browser's rules as a file."""
        headers = {"Content-Disposition": 'attachment; filename="site-rules.txt"'}
        return web.Response(text=written(_own_rules(request)), content_type="text/plain", headers=headers)

    async def set_site_rules(self, request: web.Request) -> web.Response:
        """Change one rule, as a button of a result asks, or all of them, and lead back."""
        if not is_own_page(request):
            return self._pages.problem(request, _NOT_OURS)
        values = await read_form(request, "set_site_rules")
        if order := values.text("set"):
            rules = _changed(_own_rules(request), order)
        else:
            try:
                rules = read_rules(values.text("text"))
            except InputError as error:
                return self._show(request, values.text("text"), str(error))
        value = cookie_of(rules)
        if len(value) > MAX_COOKIE_CHARS:
            return self._show(request, written(rules), is_too_long=True)
        if back := read_query("back", values.text("back")):
            where = f"/search?{urlencode(back)}"
        else:
            where = f"/sites?{urlencode({'saved': 1, 'hl': values.text('hl')})}"
        return _kept(request, RULES_COOKIE, value, where)

    async def reader_settings(self, request: web.Request) -> web.Response:
        """Show what the reader has chosen, to be changed."""
        return self._pages.render(
            request,
            "reader_settings.html",
            chose=settings_of(request),
            tongues=TONGUES,
            themes=("", *THEMES),
            counts=RESULTS,
            is_saved="saved" in request.query,
        )

    async def set_reader_settings(self, request: web.Request) -> web.Response:
        """Keep what the reader chooses, and show it in the language chosen."""
        if not is_own_page(request):
            return self._pages.problem(request, _NOT_OURS)
        values = await read_form(request, "set_reader_settings")
        chosen = read_settings(*(values.text(each.name) for each in route("set_reader_settings").form))
        return _kept(request, SETTINGS_COOKIE, settings_cookie(chosen), "/settings?saved=1")

    def _show(self, request: web.Request, text: str, flaw: str = "", is_too_long: bool = False) -> web.Response:
        return self._pages.render(
            request,
            "sites.html",
            status_code=400 if flaw or is_too_long else 200,
            text=text,
            flaw=flaw,
            is_too_long=is_too_long,
            owners=self._file.rules(),
            is_saved="saved" in request.query,
        )


def _changed(rules: SiteRules, order: str) -> SiteRules:
    """Return rules as a button changes them: a rule and a host, or none of raise, lower and block for no rule."""
    name, _, text = order.partition(" ")
    host = host_named(text)
    return rules.set(host, RULE_NAMED.get(name)) if host else rules


def _own_rules(request: web.Request) -> SiteRules:
    return read_cookie(own_cookie(request, RULES_COOKIE))


def _kept(request: web.Request, stem: str, value: str, where: str) -> web.Response:
    """Lead to a page, and have the browser keep a cookie for a year; "" takes it away."""
    answer = web.Response(status=303, headers={"Location": where})
    name, secure = cookie_name(request, stem), is_https(request)
    if value:
        answer.set_cookie(name, value, max_age=YEAR_S, httponly=True, samesite="Lax", secure=secure)
    else:
        answer.del_cookie(name, secure=secure)
    return answer
