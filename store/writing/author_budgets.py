"""Limits what one author may put on this node: versions of one site, room, and found URLs that nobody fetched yet.

No honest crawler meets a limit, so a node says who does. A grant proves that its holder may write in a slot, not that
the web gave it what it writes. Three limits keep one member from filling the disks of all others.

- *Site.* Of one site an author writes no more pages in an hour than a polite crawler fetches. Versions count in the
  hour that they were written in, whichever peer brings them and whenever, so that repair and hand-over are free.
- *Room.* From half of the quota on, an author has at most twice the part that its leases are of all leases here.
  Nobody has more than half.
- *Found URLs.* An author's oldest make room for its newer ones.

The rules are pure: `now` is an argument. `AuthorBudgets` applies them on one node.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from math import inf
from typing import NamedTuple

from dht import NodeId, Now, site_of
from store.record.document import decode_document
from store.record.former_page import page_in
from store.record.package import url_of
from store.record.record import Kind, Record
from store.record.record_check import NOTHING

HOUR_S = 3600.0
SLACK = 50  # pages an hour of a site: with two hours side by side 100, whatever its delay is
HOURS_KEPT = 30  # that versions were written in; those of an hour that is forgotten count anew
MOST_SITES = 65_536  # of one hour; beyond that all of them count anew
ROOM_FROM = 0.5  # of the quota
LEAST_ROOM_BYTES = 64_000_000  # of an author, whatever its leases are
MOST_SHARE = 0.5  # of the quota, for any author
EARLY_SHARE = 0.4  # of the quota, for any author, before
FREE_MEMBERS = 2  # in a network of so many nobody is limited in room
LEASES_KEPT_H = 24
MOST_FOUND = 1_000_000  # found URLs here, of all authors
LEAST_FOUND = 10_000  # that any author, and any site, may have
FOUND_A_PAGE = 10  # more of a site, for each of its pages here

OF_SITE = "its author wrote more of this site in an hour than a polite crawler fetches; send it again later"
OF_ROOM = "its author has as much room here as its leases give it; send it again later"
OF_FOUND = "its author has as many found URLs here as one member may; send it again later"
REASONS = {OF_SITE: "site", OF_ROOM: "room", OF_FOUND: "found"}


def room_limit(quota_bytes: int, used_bytes: int, share: float) -> float:
    """Return the bytes that an author may have here. `share`: the part that its leases are of all leases here. While
    half of the quota is free, a lease of few large sites may fill more than its part."""
    least = 0.0 if used_bytes >= ROOM_FROM * quota_bytes else EARLY_SHARE
    return max(LEAST_ROOM_BYTES, quota_bytes * max(least, min(MOST_SHARE, 2 * share)))


def found_limit(members: int) -> int:
    """Return how many found URLs an author may have here."""
    return max(LEAST_FOUND, 2 * MOST_FOUND // max(1, members))


def site_found_limit(pages: int) -> int:
    """Return how many found URLs a site may have here that has so many pages here."""
    return LEAST_FOUND + FOUND_A_PAGE * pages


def pages_an_hour(delay_s: float) -> float:
    """Return how many pages of a site an author may write in an hour. Any hour lies in two of those that are counted,
    so no hour has more than twice as many."""
    return HOUR_S / delay_s + SLACK if delay_s > 0 else inf


def is_page(record: Record) -> bool:
    """Tell whether an author must have fetched a page to write a record. This holds for former versions, too. It does
    not hold for pages that are gone, since robots.txt takes away many at once."""
    if record.kind not in (Kind.DOCUMENT, Kind.FORMER) or not record.version.epoch:
        return False
    if record.content_digest != NOTHING:
        return True
    page = page_in(record) if record.kind == Kind.FORMER else record
    return not decode_document(page.body).gone


class SiteRates:
    """Counts the pages that each author wrote of each site, by the hour in which it wrote them."""

    def __init__(self, delay_s_of: Callable[[str], float], is_here: Callable[[Record], bool]) -> None:
        """`delay_s_of(url)`: the least rest of a URL's site between two requests. `is_here`: whether a record would
        change nothing here; it may come from several peers."""
        self._delay_s_of, self._is_here = delay_s_of, is_here
        self._hours: dict[int, Counter[tuple[bytes, str, Kind]]] = {}

    def take(self, record: Record, now: Now, *, is_authors: bool) -> bool:
        """Count a page; False, and nothing counted, where it is too much. Old ones count only where their own author
        brings them (`is_authors`): others repair, and hand over."""
        hour = int(record.version.at_ms / 1000 // HOUR_S)
        if not is_authors and hour < int(now.wall // HOUR_S) - 1:
            return True
        url, counts = url_of(record), self._in(hour)
        name = (record.proof.author, site_of(url), record.kind)
        if (count := counts[name]) >= SLACK:  # until then it costs no look at the disk
            if self._is_here(record):
                return True
            if count >= pages_an_hour(self._delay_s_of(url)):
                return False
        counts[name] = count + 1
        return True

    def give_back(self, record: Record) -> None:
        """Count a page no more, since the disk did not take it."""
        counts = self._in(int(record.version.at_ms / 1000 // HOUR_S))
        name = (record.proof.author, site_of(url_of(record)), record.kind)
        counts[name] = max(0, counts[name] - 1)

    def _in(self, hour: int) -> Counter[tuple[bytes, str, Kind]]:
        counts = self._hours.pop(hour, None)
        if counts is None or len(counts) > MOST_SITES:
            counts = Counter()
        self._hours[hour] = counts
        if len(self._hours) > HOURS_KEPT:
            del self._hours[next(iter(self._hours))]
        return counts


class LeaseShares:
    """Remembers who held the leases of this node's slots, as it saw them now and then, for a day."""

    def __init__(self) -> None:
        self._hours: dict[int, Counter[NodeId]] = {}

    def note(self, holders: Iterable[NodeId], now: Now) -> None:
        """Take note of who holds a lease now, once a slot."""
        hour = int(now.steady // HOUR_S)
        self._hours.setdefault(hour, Counter()).update(holders)
        for old in [each for each in self._hours if each <= hour - LEASES_KEPT_H]:
            del self._hours[old]

    def share(self, author: NodeId, now: Now) -> float:
        """Return the part that an author's leases are of all: of a day, or of the last hours where that is more. A
        laptop that returns held none for a while. 1.0 where none is known."""
        hour = int(now.steady // HOUR_S)
        recent = [counts for each, counts in self._hours.items() if each >= hour - 1]
        return max(_share(author, self._hours.values()), _share(author, recent) if recent else 0.0)


def _share(author: NodeId, counted: Iterable[Counter[NodeId]]) -> float:
    pairs = [(counts[author], counts.total()) for counts in counted]
    total = sum(each for _, each in pairs)
    return sum(own for own, _ in pairs) / total if total else 1.0


class Excess(NamedTuple):
    """Counts what an author brought beyond its limits. `at`: Unix seconds of the last time; `held_bytes`: of its
    records here, then."""

    site: int = 0
    room: int = 0
    found: int = 0
    at: float = 0.0
    held_bytes: int = 0
