"""Lets the owner act in a browser: makes links that log in once, takes them and passwords, and tells who has come in.

A cookie is sent along by any page's request to this node, so it counts only for requests of this node's own pages.
"""

import asyncio
import hmac
from collections.abc import Callable, Container, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from aiohttp import web

from node.api.operation import LoginLink, NoFields
from node.owner.passwords import PasswordFile, Role, role_of
from node.web.owner.owner_pages import lead_to
from node.web.owner.password_tries import PasswordTries
from node.web.rendering.pages import ROLE, Pages
from node.web.requests.api import json_response, parameters, read_body
from node.web.requests.caller_limit import caller_of as limited_caller
from node.web.requests.forms import is_own_page, read_form
from node.web.requests.own_origin import caller_of, cookie_name, is_https
from node.web.requests.problems import Problem
from node.web.requests.proxied_caller import ProxyLogins, is_public
from node.web.requests.route_table import route

LINK_S = 300.0  # from `dse-node open` to the click
SESSION_S = 12 * 3600.0  # since the last request: a day's work
FRESH_S = 300.0  # since the link was followed or the password typed: so long the publisher's key may be used
MAX_LINKS, MAX_SESSIONS = 8, 16  # at once, of each role; the oldest make room
MAX_CHECKS = 5  # passwords that are being checked, one, or wait for that


@dataclass(frozen=True, slots=True)
class _Session:
    """Says what a browser may do, and when that ends. `by`: the hash of the password that was typed, "" for a link."""

    role: Role
    by: str
    ends_at: float
    fresh_until: float


class Logins:
    """Holds codes of links and of sessions, each with its end. `new_code` returns a word that nobody guesses; `hashes`
    those of the passwords that count by now. Nothing is written down: a restart ends all."""

    def __init__(self, new_code: Callable[[], str], hashes: Callable[[], Container[str]] = tuple) -> None:
        self._new_code, self._hashes = new_code, hashes
        self._links: dict[str, float] = {}  # code → when it ends
        self._sessions: dict[str, _Session] = {}

    def new_link(self, now: float) -> str:
        """Return the code of a link that logs in once, within LINK_S."""
        _make_room(self._links, list(self._links), MAX_LINKS)
        code = self._new_code()
        self._links[code] = now + LINK_S
        return code

    def log_in(self, code: str, now: float) -> str:
        """Use a link's code up and return that of a new session; "" where it was used, is too old or never was."""
        found = _find(self._links, code)
        return "" if not found or self._links.pop(found) < now else self.begin("owner", "", now)

    def begin(self, role: Role, by: str, now: float) -> str:
        """Return the code of a new session. `by`: the hash of the password that was typed for it, "" for a link."""
        _make_room(self._sessions, [code for code, each in self._sessions.items() if each.role == role], MAX_SESSIONS)
        code = self._new_code()
        self._sessions[code] = _Session(role, by, now + SESSION_S, now + FRESH_S)
        return code

    def is_fresh(self, session: str, now: float) -> bool:
        """Tell whether an owner's session began a moment ago, whatever was asked in it since."""
        return self.role(session, now) == "owner" and self._sessions[_find(self._sessions, session)].fresh_until > now

    def role(self, session: str, now: float) -> Role | None:
        """Return what a session under way may do, and have it go on from now; None where it is none, or its password
        counts no more."""
        found = _find(self._sessions, session)
        if not found:
            return None
        known = self._sessions.pop(found)
        if known.ends_at < now or (known.by and known.by not in self._hashes()):
            return None
        self._sessions[found] = replace(known, ends_at=now + SESSION_S)
        return known.role

    def log_out(self, session: str) -> None:
        """End a session."""
        self._sessions.pop(_find(self._sessions, session), None)


def _make_room(codes: dict[str, Any], alike: Sequence[str], most: int) -> None:
    """Drop the oldest of some codes, so that one more has room."""
    for code in alike[: max(0, len(alike) - most + 1)]:
        del codes[code]


def _find(codes: Iterable[str], given: str) -> str:
    """Return the code that is given, "" where there is none, in a time that does not tell how much of one is right."""
    found = ""
    for code in codes:
        if hmac.compare_digest(code.encode(), given.encode("utf-8", "replace")):
            found = code
    return found


class Owner:
    """Holds the handlers of logging in and out, named as in the table of routes."""

    def __init__(self, logins: Logins, pages: Pages, passwords: PasswordFile) -> None:
        self._logins, self._pages, self._passwords = logins, pages, passwords
        self._tries = PasswordTries()
        self._checks, self._checker = 0, ThreadPoolExecutor(1, "password")  # one at a time: each fills 64 MiB

    async def make_login_link(self, request: web.Request) -> web.Response:
        """Answer POST /api/v1/login: the path of a link that logs in once. A browser gets none, since a session by a
        link outlasts the password, and is fresh."""
        if request.get(ROLE):
            raise web.HTTPForbidden(reason="Only the token makes such links: run dse-node open.")
        await read_body(request, NoFields)
        return json_response(LoginLink(path=login_path(self._logins), expires_in_s=LINK_S))

    async def login(self, request: web.Request) -> web.Response:
        """Use a link up and lead to the owner's page, logged in; what only looks ahead uses nothing up. Without a link,
        show how to get one; a whole link may be pasted there."""
        code = parameters(request, "login").text("code").strip().rpartition("code=")[2]
        if not code:
            return self._pages.login(request, said="login.plain" if _is_overheard(request) else "")
        looks_ahead = request.method == "HEAD" or "prefetch" in request.headers.get("Sec-Purpose", "")
        session = "" if looks_ahead else self._logins.log_in(code, _now())
        return self._enter(request, session) if session else self._pages.login(request, 403, "login.stale")

    async def log_in(self, request: web.Request) -> web.Response:
        """Take a password and lead to the owner's page, logged in anew; say nothing of why one is not taken. None is
        taken that others on its way could read."""
        if not is_own_page(request):
            return self._pages.problem(request, Problem(403, "This form belongs to another site."))
        if _is_overheard(request):
            return self._pages.login(request, 403, "login.plain")
        password = (await read_form(request, "log_in")).text("password")
        caller = limited_caller(caller_of(request)) or caller_of(request)  # this machine's programs are limited, too
        wait_s = 1 if self._checks >= MAX_CHECKS else self._tries.begin(caller, _now())
        if wait_s:
            return self._refuse(request, 429, "login.slow", wait_s)
        hashes = self._passwords.hashes()
        self._checks += 1
        try:
            role = await asyncio.get_running_loop().run_in_executor(self._checker, role_of, password, hashes)
        finally:
            self._checks -= 1
        if role is None:
            return self._refuse(request, 403, "login.wrong", self._tries.wait_s(caller, _now()))
        self._tries.was_right(caller)
        self._logins.log_out(_given(request))
        return self._enter(request, self._logins.begin(role, hashes[role], _now()))

    async def logout(self, request: web.Request) -> web.Response:
        """End this browser's session and lead to the front page."""
        self._logins.log_out(_given(request))
        answer = web.Response(status=303, headers={"Location": "/"})
        answer.del_cookie(_cookie(request), secure=is_https(request))
        return answer

    def _enter(self, request: web.Request, session: str) -> web.Response:
        draft = request.query.get("draft", "")[:64]
        answer = lead_to(request, "owner_strategy_draft" if draft else "owner_overview", draft=draft)
        name, secure = _cookie(request), is_https(request)
        answer.set_cookie(name, session, max_age=int(SESSION_S), httponly=True, samesite="Strict", secure=secure)
        return answer

    def _refuse(self, request: web.Request, status: int, said: str, wait_s: int) -> web.Response:
        answer = self._pages.login(request, status, said, wait_s)
        answer.headers["Retry-After"] = str(wait_s)
        return answer


def login_path(logins: Logins) -> str:
    """Return the path of a new link that logs the owner in once, within LINK_S."""
    return f"{route('login').path}?code={logins.new_link(_now())}"


def role_in(request: web.Request, logins: Logins, proxy: ProxyLogins) -> Role | None:
    """Return what a request from a page of this node may do in this browser: by its session, or as a proxy says."""
    roles = logins.role(_given(request), _now()), proxy.role(request.remote or "", partial(_lines, request))
    role = "owner" if "owner" in roles else roles[0] or roles[1]
    return role if role and _is_own(request) else None


def has_logged_in_now(request: web.Request, logins: Logins) -> bool:
    """Tell whether a request comes from a page of this node in a browser that its owner logged in a moment ago."""
    return _is_own(request) and logins.is_fresh(_given(request), _now())


def _is_overheard(request: web.Request) -> bool:
    """Tell whether a password would cross the Internet in the clear."""
    return not is_https(request) and is_public(caller_of(request))


def _lines(request: web.Request, header: str) -> Sequence[str]:
    return request.headers.getall(header, ())


def _given(request: web.Request) -> str:
    """Return the code of a session that a request names, "" where it names none."""
    return request.cookies.get(_cookie(request), "") if "Cookie" in request.headers else ""


def _is_own(request: web.Request) -> bool:
    """Tell whether a request changes nothing or was made by a page of this very node."""
    return request.method in ("GET", "HEAD") or is_own_page(request)


def _cookie(request: web.Request) -> str:
    return cookie_name(request, "dse")


def _now() -> float:
    return asyncio.get_running_loop().time()
