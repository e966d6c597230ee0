"""The redirects that one task follows itself: those that lead back to its own URL, by another spelling or by a cookie.

Pure. A redirect or a refresh leads to a literal URL, which may be another spelling of the canonical one: a session id,
a parameter that counts clicks. Such a target is no URL of its own, so the task asks for it, after the site's rest. All
other targets are URLs with turns of their own. Only a literal URL that is asked for again with the same cookies is a
circle.
A page that refreshes itself without an end is still a page, so a chain follows one refresh.
"""

from collections.abc import Callable

from msgspec.structs import replace

from crawl.canonical_url import canonical_url, find_url, literal_url
from crawl.fetch.chain_cookies import ChainCookies
from crawl.fetch.response import Fetched

REDIRECTS = frozenset((301, 302, 303, 307, 308))
MAX_WAIT_S = 60.0  # of one chain for its site's rests: other URLs wait for its place


class RedirectChain:
    """Follows one chain from a canonical URL on. `is_followed`: judges a literal target; other targets are
    followed where the chain has cookies, and lead elsewhere on the same origin."""

    def __init__(self, url: str, is_followed: Callable[[str], bool]) -> None:
        self._is_followed = is_followed
        self._cookies, self._has_cookies = ChainCookies(), False
        self._has_refreshed = False
        self._asked: set[tuple[str, str]] = {(url, "")}
        self.began_at = url
        self.url = url  # to be asked for next
        self.hops = 0

    @property
    def fields(self) -> dict[str, str]:
        """The header fields of the next request, besides its validators."""
        cookie = self._cookies.field(self.url)
        return {"Cookie": cookie} if cookie else {}

    def leads_on(self, fetched: Fetched, now: float, refresh: str = "") -> bool:
        """Take the response to the last request; tells whether `url` is to be asked for, too. `now`: Unix seconds;
        `refresh`: the reference to where the page moves its readers at once."""
        is_redirect = fetched.status in REDIRECTS
        reference = fetched.header("Location").strip() if is_redirect else refresh
        target = literal_url(reference, self.url) if is_redirect or reference else None
        if target is None or (self._has_refreshed and not is_redirect):
            return False
        self._has_cookies |= self._cookies.take(self.url, fetched.headers, now)
        is_near = is_redirect and self._has_cookies and origin_of(target) == origin_of(self.url)
        request = target, self._cookies.field(target)
        if request in self._asked or not (is_near or self._is_followed(target)):
            return False
        self._asked.add(request)
        self._has_refreshed |= not is_redirect
        self.url, self.hops = target, self.hops + 1
        return True

    def settled(self, fetched: Fetched) -> Fetched:
        """Return the last response with the canonical form of the URL that it came from."""
        if self.url == self.began_at:
            return fetched
        return replace(fetched, url=canonical_url(self.url), sent=None)  # a note of a request can tell canonical ones


def origin_of(url: str) -> str:
    """Return the scheme and the authority of a URL."""
    return "/".join(url.split("/", 3)[:3])


def is_spelling_of(url: str) -> Callable[[str], bool]:
    """Return what tells whether a literal URL is another spelling of a canonical one."""
    return lambda target: find_url(target, target) == url
