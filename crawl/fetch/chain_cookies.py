"""Cookies of one chain of redirects: each goes back to the host that set it, and all are forgotten with the chain.

Pure. Some sites set a cookie and redirect, to see whether it comes back. Without it they redirect for ever.
Source: RFC 6265, 5.2 and 5.4, but for Domain: a cookie goes to its own host alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from dht import split_url

MAX_COOKIES, MAX_COOKIE_CHARS, MAX_FIELD_CHARS = 50, 4_096, 8_190


@dataclass(frozen=True, slots=True)
class _Place:
    host: str
    path: str
    is_secure: bool

    def holds(self, scheme: str, host: str, path: str) -> bool:
        is_below = path == self.path or path.startswith(self.path if self.path.endswith("/") else f"{self.path}/")
        return host == self.host and is_below and (scheme == "https" or not self.is_secure)


class ChainCookies:
    """The cookies that one chain has been given."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str, str], tuple[_Place, str]] = {}  # (host, path, name): (place, "name=value")

    def take(self, url: str, headers: Iterable[tuple[str, str]], now: float) -> bool:
        """Note the cookies of a response from a URL; tells whether there were any. `now`: Unix seconds."""
        is_any = False
        for name, value in headers:
            if len(name) == 10 and name.lower() == "set-cookie" and len(value) <= MAX_COOKIE_CHARS:
                is_any |= self._set(url, value, now)
        return is_any

    def field(self, url: str) -> str:
        """Return the Cookie field of a request for a URL, "" where it has none."""
        parts = split_url(url)
        path = parts.path.partition("?")[0] or "/"
        sent = [pair for place, pair in self._kept.values() if place.holds(parts.scheme, parts.host, path)]
        text = "; ".join(sent)
        return text if len(text) <= MAX_FIELD_CHARS else ""

    def _set(self, url: str, value: str, now: float) -> bool:
        pair, *attributes = (part.strip() for part in value.split(";"))
        name, equals, content = (part.strip() for part in pair.partition("="))
        if not (name or content) or not pair.isascii() or not pair.isprintable():
            return False
        said = {key.strip().lower(): text.strip() for key, _, text in (each.partition("=") for each in attributes)}
        parts = split_url(url)
        path = said.get("path", "")
        if not path.startswith("/"):
            folder = parts.path.partition("?")[0].rpartition("/")[0]
            path = folder or "/"
        key = (parts.host, path, name if equals else "")
        self._kept.pop(key, None)
        if not _is_over(said, now) and len(self._kept) < MAX_COOKIES:
            written = f"{name}={content}" if equals else name
            self._kept[key] = _Place(parts.host, path, "secure" in said), written
        return True


def _is_over(said: dict[str, str], now: float) -> bool:
    """Tell whether a cookie is set only to be removed."""
    if lasting := said.get("max-age", ""):
        return lasting.startswith("-") or lasting.strip("0") == ""
    try:
        return "expires" in said and parsedate_to_datetime(said["expires"]).timestamp() <= now
    except (ValueError, TypeError, OverflowError):
        return False
