"""Lets the owner act in a browser: makes links that log in once, takes them, and tells who has come in by one.

A cookie is sent along by any page's request to this node, so it counts only for requests of this node's own pages.
"""

import asyncio
import hmac
from collections.abc import Callable

from aiohttp import web

from node.api.operation import LoginLink, NoFields
from node.web.rendering.pages import Pages
from node.web.requests.api import json_response, parameters, read_body
from node.web.requests.forms import is_own_page
from node.web.requests.own_origin import cookie_name, is_https
from node.web.requests.route_table import route

LINK_S = 300.0  # from `dse-node open` to the click
SESSION_S = 12 * 3600.0  # since the last request: a day's work
FRESH_S = 300.0  # since the login: so long the owner's browser may use the publisher's key
MAX_LINKS, MAX_SESSIONS = 8, 16  # at once; the oldest make room, since only the owner makes any


class Logins:
    """Holds codes of links and of sessions, each with its end. `new_code` returns a word that nobody guesses. Nothing
    is written down: a restart ends all."""

    def __init__(self, new_code: Callable[[], str]) -> None:
        self._new_code = new_code
        self._links: dict[str, float] = {}  # code → when it ends
        self._sessions: dict[str, float] = {}
        self._fresh: dict[str, float] = {}  # sessions whose login was a moment ago → until when that counts

    def new_link(self, now: float) -> str:
        """Return the code of a link that logs in once, within LINK_S."""
        return self._add(self._links, now + LINK_S, MAX_LINKS)

    def log_in(self, code: str, now: float) -> str:
        """Use a link's code up and return that of a new session; "" where it was used, is too old or never was."""
        found = _find(self._links, code)
        if not found or self._links.pop(found) < now:
            return ""
        session = self._add(self._sessions, now + SESSION_S, MAX_SESSIONS)
        self._fresh = {code: ends_at for code, ends_at in self._fresh.items() if code in self._sessions}
        self._fresh[session] = now + FRESH_S
        return session

    def is_fresh(self, session: str, now: float) -> bool:
        """Tell whether a session under way began a moment ago, whatever was asked in it since."""
        return self.is_owner(session, now) and self._fresh.get(_find(self._fresh, session), now) > now

    def is_owner(self, session: str, now: float) -> bool:
        """Tell whether a session is under way, and have it go on from now."""
        found = _find(self._sessions, session)
        if not found or self._sessions.pop(found) < now:
            return False
        self._sessions[found] = now + SESSION_S
        return True

    def log_out(self, session: str) -> None:
        """End a session."""
        self._sessions.pop(_find(self._sessions, session), None)

    def _add(self, codes: dict[str, float], ends_at: float, most: int) -> str:
        while len(codes) >= most:
            del codes[next(iter(codes))]
        code = self._new_code()
        codes[code] = ends_at
        return code


def _find(codes: dict[str, float], given: str) -> str:
    """Return the code that is given, "" where there is none, in a time that does not tell how much of one is right."""
    found = ""
    for code in codes:
        if hmac.compare_digest(code.encode(), given.encode("utf-8", "replace")):
            found = code
    return found


class Owner:
    """Holds the handlers of logging in and out, named as in the table of routes."""

    def __init__(self, logins: Logins, pages: Pages) -> None:
        self._logins, self._pages = logins, pages

    async def make_login_link(self, request: web.Request) -> web.Response:
        """Answer POST /api/v1/login: the path of a link that logs in once."""
        await read_body(request, NoFields)
        return json_response(LoginLink(path=login_path(self._logins), expires_in_s=LINK_S))

    async def login(self, request: web.Request) -> web.Response:
        """Use a link up and lead to the owner's page, logged in; what only looks ahead uses nothing up. Without a link,
        show how to get one; a whole link may be pasted there."""
        code = parameters(request, "login").text("code").strip().rpartition("code=")[2]
        if not code:
            return self._pages.login(request)
        looks_ahead = request.method == "HEAD" or "prefetch" in request.headers.get("Sec-Purpose", "")
        session = "" if looks_ahead else self._logins.log_in(code, _now())
        if not session:
            return self._pages.login(request, 403, is_stale=True)
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


def login_path(logins: Logins) -> str:
    """Return the path of a new link that logs the owner in once, within LINK_S."""
    return f"{route('login').path}?code={logins.new_link(_now())}"


def has_session(request: web.Request, logins: Logins) -> bool:
    """Tell whether a request comes from a page of this node in a browser that its owner logged in."""
    session = request.cookies.get(_cookie(request), "") if "Cookie" in request.headers else ""
    return bool(session) and _is_own(request) and logins.is_owner(session, _now())


def has_logged_in_now(request: web.Request, logins: Logins) -> bool:
    """Tell whether a request comes from a page of this node in a browser that its owner logged in a moment ago."""
    return has_session(request, logins) and logins.is_fresh(request.cookies.get(_cookie(request), ""), _now())


def _is_own(request: web.Request) -> bool:
    """Tell whether a request changes nothing or was made by a page of this very node."""
    return request.method in ("GET", "HEAD") or is_own_page(request)


def _cookie(request: web.Request) -> str:
    return cookie_name(request, "dse")


def _now() -> float:
    return asyncio.get_running_loop().time()
