"""Keeps who may act as the owner in a browser: links that log in once, and the sessions that came of them.

Pure: `now` is steady seconds, and what makes random words is an argument. Nothing is written down: a restart ends all.
"""

import hmac
from collections.abc import Callable

LINK_S = 300.0  # from `dse-node open` to the click
SESSION_S = 12 * 3600.0  # since the last request: a day's work
MAX_LINKS, MAX_SESSIONS = 8, 16  # at once; the oldest make room, since only the owner makes any


class Logins:
    """Holds codes of links and of sessions, each with its end. `new_code` returns a word that nobody guesses."""

    def __init__(self, new_code: Callable[[], str]) -> None:
        self._new_code = new_code
        self._links: dict[str, float] = {}  # code → when it ends
        self._sessions: dict[str, float] = {}

    def new_link(self, now: float) -> str:
        """Return the code of a link that logs in once, within LINK_S."""
        return self._add(self._links, now + LINK_S, MAX_LINKS)

    def log_in(self, code: str, now: float) -> str:
        """Use a link's code up and return that of a new session; "" where it was used, is too old or never was."""
        found = _find(self._links, code)
        if not found or self._links.pop(found) < now:
            return ""
        return self._add(self._sessions, now + SESSION_S, MAX_SESSIONS)

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
