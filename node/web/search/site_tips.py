"""Keeps the sites that readers suggest until the node's owner has looked at them.

Pure: values. Nothing is written down: a restart forgets them, and who suggested what is never known.
"""

from collections.abc import Iterator
from urllib.parse import urlsplit

MAX_TIPS = 200
MAX_OF_SITE = 3  # so that nobody fills the list with one


class SiteTips:
    """Holds addresses that wait for the owner, oldest first."""

    def __init__(self) -> None:
        self._waiting: dict[str, None] = {}

    def add(self, url: str) -> bool:
        """Note a canonical URL; return False where there is no room for it."""
        if url in self._waiting:
            return True
        of_site = sum(urlsplit(each).hostname == urlsplit(url).hostname for each in self._waiting)
        if len(self._waiting) >= MAX_TIPS or of_site >= MAX_OF_SITE:
            return False
        self._waiting[url] = None
        return True

    def take(self, url: str) -> bool:
        """Forget a URL; return whether it was here."""
        return self._waiting.pop(url, False) is None

    def __iter__(self) -> Iterator[str]:
        return iter(self._waiting)
