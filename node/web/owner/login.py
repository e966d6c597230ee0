"""Lets the owner act in a browser: makes links that log in once, takes them, and tells who has come in by one.

A cookie is sent along by any page's request to this node, so it counts only for requests of this node's own pages.
"""

import asyncio

from aiohttp import web

from node.api.operation import LoginLink, NoFields
from node.web.owner.logins import LINK_S, SESSION_S, Logins
from node.web.rendering.pages import Pages
from node.web.requests.api import json_response, parameters, read_body
from node.web.requests.forms import is_own_page
from node.web.requests.own_origin import cookie_name, is_https
from node.web.requests.problems import Problem
from node.web.requests.route_table import route

STALE_LINK = "This link was used before, or is too old: `dse-node open` prints another."


class Owner:
    """Holds the handlers of logging in and out, named as in the table of routes."""

    def __init__(self, logins: Logins, pages: Pages) -> None:
        self._logins, self._pages = logins, pages

    async def make_login_link(self, request: web.Request) -> web.Response:
        """Answer POST /api/v1/login: the path of a link that logs in once."""
        await read_body(request, NoFields)
        code = self._logins.new_link(_now())
        return json_response(LoginLink(path=f"{route('login').path}?code={code}", expires_in_s=LINK_S))

    async def login(self, request: web.Request) -> web.Response:
        """Use a link up and lead to the owner's page, logged in; what only looks ahead uses nothing up."""
        code = parameters(request, "login").text("code")
        looks_ahead = request.method == "HEAD" or "prefetch" in request.headers.get("Sec-Purpose", "")
        session = "" if looks_ahead else self._logins.log_in(code, _now())
        if not session:
            return self._pages.problem(request, Problem(403, STALE_LINK))
        answer = web.Response(status=303, headers={"Location": route("owner_overview").path})
        name, secure = _cookie(request), is_https(request)
        answer.set_cookie(name, session, max_age=int(SESSION_S), httponly=True, samesite="Strict", secure=secure)
        return answer

    async def logout(self, request: web.Request) -> web.Response:
        """End this browser's session and lead to the front page."""
        self._logins.log_out(request.cookies.get(_cookie(request), ""))
        answer = web.Response(status=303, headers={"Location": "/"})
        answer.del_cookie(_cookie(request), secure=is_https(request))
        return answer


def has_session(request: web.Request, logins: Logins) -> bool:
    """Tell whether a request comes from a page of this node in a browser that its owner logged in."""
    session = request.cookies.get(_cookie(request), "") if "Cookie" in request.headers else ""
    return bool(session) and _is_own(request) and logins.is_owner(session, _now())


def _is_own(request: web.Request) -> bool:
    """Tell whether a request changes nothing or was made by a page of this very node."""
    return request.method in ("GET", "HEAD") or is_own_page(request)


def _cookie(request: web.Request) -> str:
    return cookie_name(request, "dse")


def _now() -> float:
    return asyncio.get_running_loop().time()
