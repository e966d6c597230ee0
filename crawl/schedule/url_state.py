"""URL state as slot data: what became of a URL, or that it waits. Lies in the body of a VISIT record.

Pure: values and their codec. The frontier is a view of these records; whoever holds a slot's lease rebuilds it from
them. A visit's outcome is written only after its document and its links are safe with their owners, so a crash
costs at most a second fetch.
"""

from enum import IntEnum

import msgspec

from crawl.schedule.change_rate import History
from crawl.scope import WHOLE, breadth


class VisitState(IntEnum):
    """What became of a URL; the number is on the wire."""

    WAITING = 0  # found, never fetched
    FETCHED = 1  # a document is stored (200, or 304 for the stored one)
    REDIRECT = 2  # `target` was handed to its owners
    GONE = 3  # 404, 410, noindex: a gone document is stored
    REFUSED = 4  # robots, rules or guards say no; `reason` tells
    FAILED = 5  # gave up for now; `due_at` says when it is tried again


class Visit(msgspec.Struct, frozen=True, array_like=True):
    """The state of one URL. `depth`: how many more links may be followed from it. `hops`: redirects that led to it (≤
    10). `scope`: where they may lead (scope.py). `is_sitemap`: it was handed in as a list of pages, which become seeds.
    """

    url: str
    depth: int
    hops: int = 0
    state: VisitState = VisitState.WAITING
    due_at: float = 0.0  # Unix seconds; 0 = as soon as politeness allows
    visited_at: float = 0.0
    status: int = 0
    fails: int = 0
    etag: str = ""
    last_modified: str = ""
    target: str = ""
    reason: str = ""
    history: History = History()
    scope: str = WHOLE
    is_sitemap: bool = False
    unavailable_at: float = 0.0  # by the page's own word: from then on it is gone; 0.0: never


def reach(visit: Visit) -> int:
    """Return how far a URL that waits leads. Of two finds of one URL the greater counts: a sitemap before a page, then
    the deeper, then the wider scope. It is the `at_ms` of the record, so every node sees it alike."""
    return visit.is_sitemap << 40 | visit.depth << 2 | breadth(visit.scope)


def rank(visit: Visit) -> int:
    """Return the reach of a page in one byte, for the URL-seen test; more than 63 links count as 63, which nobody
    follows."""
    return rank_of(visit.depth, visit.scope)


def rank_of(depth: int, scope: str) -> int:
    """Return the rank of pages that are found with this depth and scope."""
    return min(depth, 63) << 2 | breadth(scope)


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Visit)


def encode_visit(visit: Visit) -> bytes:
    """Encode the body of a VISIT record. Most URLs were only found: what those do not have is left out."""
    found = (visit.url, visit.depth, visit.hops)
    return _encoder.encode(found if visit == Visit(*found) else visit)


def decode_visit(body: bytes) -> Visit:
    """Decode the body of a VISIT record; raises msgspec.ValidationError where it is none."""
    return _decoder.decode(body)
