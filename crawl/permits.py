"""Leave to ask a site, for sites that several nodes crawl: who may come in whose turn is decided elsewhere.

Pure: values and a protocol; `node/tickets.py` provides it. Most sites have one crawler, which needs no leave.
"""

from dataclasses import dataclass
from typing import Protocol

from crawl.visits import Visit


@dataclass(frozen=True, slots=True)
class Permit:
    """`wait_s` > 0: not now, ask again then. `known`: the URL was fetched where its records lay before."""

    wait_s: float = 0.0
    known: Visit | None = None


class Permits(Protocol):
    """Asked before each request to a site, and told when it is over."""

    async def ask(self, visit: Visit) -> Permit:
        """Leave for one request to the site of a URL; never raises."""

    async def done(self, url: str, rest_s: float) -> None:
        """That request is over, and the site must be left alone for so many seconds; never raises."""


class Free:
    """Leave for everything."""

    async def ask(self, visit: Visit) -> Permit:
        return Permit()

    async def done(self, url: str, rest_s: float) -> None:
        return
