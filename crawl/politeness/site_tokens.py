"""A site that several nodes crawl has one token, and only the node that holds it may send the site a request.

Pure: `now` is steady time in seconds. The holder of the site's first slot issues the token, and is a crawler like the
others. A token is for one request; whoever had it says on its return how long the site must rest. One that is not
returned expires. A node that has just become the issuer knows nothing of the tokens before, so it issues none until
those have been used. Most sites have one crawler, which needs no token.
"""

from dataclasses import dataclass

from crawl.schedule.url_state import Visit

GUARD_S = 30.0  # a new issuer grants its first token after this; a lease changes hands within as long
TOKEN_S = 90.0  # longer than any fetch with its robots.txt
POLL_S = 1.0  # until whoever finds the token taken asks again
MAX_SITES = 4096  # tokens kept; one that was dropped begins anew, with its guard


@dataclass(slots=True)
class _Token:
    epoch: int
    free_at: float
    holder: bytes = b""
    expires_at: float = 0.0


class TokenIssuer:
    """Grants the tokens of the sites that are at home on this node, each to one peer at a time."""

    def __init__(self) -> None:
        self._tokens: dict[str, _Token] = {}

    def acquire(self, now: float, site: str, epoch: int, peer: bytes) -> float:
        """Grant a peer the site's token and return 0.0, or return the seconds after which it should ask again.

        `epoch` is that of this node's lease: a token that was begun under another one is begun anew.
        """
        token = self._tokens.pop(site, None)
        if token is None or token.epoch != epoch:
            token = _Token(epoch, now + GUARD_S)
        self._tokens[site] = token  # the one asked for last is last
        if len(self._tokens) > MAX_SITES:
            del self._tokens[next(iter(self._tokens))]
        if token.holder not in (b"", peer) and now < token.expires_at:
            return POLL_S
        if now < token.free_at:
            return token.free_at - now
        token.holder, token.expires_at = peer, now + TOKEN_S
        return 0.0

    def release(self, now: float, site: str, peer: bytes, rest_s: float) -> None:
        """Take a token back and let the site rest; a peer that does not hold the token is not believed."""
        token = self._tokens.get(site)
        if token is not None and token.holder == peer:
            token.holder, token.free_at = b"", max(token.free_at, now + rest_s)


@dataclass(frozen=True, slots=True)
class TokenAnswer:
    """Tells what came of asking for a site's token: it is granted where both fields have their defaults.

    `wait_s` > 0: it is not granted, ask again after so many seconds. `known`: none is needed, because the URL was
    fetched where its records lay before, with this outcome."""

    wait_s: float = 0.0
    known: Visit | None = None
