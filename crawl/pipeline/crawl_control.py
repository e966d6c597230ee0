"""Carries what the rest of the node tells a running crawler: to pause, to use clients' help, to fetch URLs again.

It is made before the crawler and before those who tell, so that each of them is whole when it is made.
"""

import asyncio
from collections.abc import Iterable

from crawl.frontier.mirror_alias import MirrorAlias
from crawl.frontier.mirror_detector import MirrorDetector
from crawl.frontier.trap_learning import TrapLearning
from dht import Clock

LONG_PAUSE_S = 60.0  # after so long its slots are better crawled by others; a short pause moves nothing
FAULT_PAUSE_S = 10.0  # the same where the disk takes nothing, which seldom passes by itself


class CrawlControl:
    """Collects what others tell the crawler, and wakes it by `changed`."""

    def __init__(self, mirrors: MirrorDetector, clock: Clock) -> None:
        self.mirrors, self.traps, self._clock = mirrors, TrapLearning(), clock
        self.changed = asyncio.Event()
        self.pause_reason = ""  # why nothing is fetched just now, "" while the crawler may fetch
        self.lent = 0  # requests that others carry besides those of this node
        self._paused_at: float | None = None  # steady
        self._long_s = LONG_PAUSE_S
        self._refetches: list[str] = []
        self._ended_aliases: list[str] = []

    def pause(self, reason: str, *, is_fault: bool = False) -> None:
        """Start no fetch from now on, for this reason; "" ends the pause. Open fetches continue. `is_fault`: whether
        the disk is the reason."""
        self._long_s = FAULT_PAUSE_S if is_fault else LONG_PAUSE_S
        if reason != self.pause_reason:
            began_at = self._clock().steady if self._paused_at is None else self._paused_at
            self._paused_at = began_at if reason else None
            self.pause_reason = reason
            self.changed.set()

    @property
    def is_long_paused(self) -> bool:
        """Tell whether the pause has lasted so long that others should crawl this node's slots meanwhile."""
        return self._paused_at is not None and self._clock().steady - self._paused_at >= self._long_s

    def lend(self, requests: int) -> None:
        """Let so many requests more be open at once, because clients carry them; replaces the number before."""
        if requests != self.lent:
            self.lent = requests
            self.changed.set()

    def refetch(self, url: str) -> None:
        """Have a URL fetched once more, in its host's turn; one in flight when its outcome is recorded."""
        self._refetches.append(url)
        self.changed.set()

    def hear_aliases(self, site: str, aliases: Iterable[MirrorAlias]) -> None:
        """Take over what a site's host record says now; URLs of a host that is no alias any more become due at once."""
        if ended := self.mirrors.set_aliases(site, aliases, self._clock().wall):
            self._ended_aliases += ended
            self.changed.set()

    def take_refetches(self) -> list[str]:
        """Return the URLs to be fetched once more, each once, and forget them."""
        urls, self._refetches = self._refetches, []
        return urls

    def take_ended_aliases(self) -> tuple[str, ...]:
        """Return the origins that have ceased to be aliases, each once, and forget them."""
        origins, self._ended_aliases = tuple(self._ended_aliases), []
        return origins
