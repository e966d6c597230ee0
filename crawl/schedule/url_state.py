"""URL state as slot data: what became of a URL and how often it changes, or that it waits. Lies in a VISIT record.

Pure: values and their codec. The frontier is a view of these records; whoever holds a slot's lease rebuilds it from
them. A visit's outcome is written only after its document and its links are safe with their owners, so a crash
costs at most a second fetch. It costs none where the document was stored.

The model of changes is a Poisson process, of which a visit sees only whether there was one. With n visits an interval I
apart, x of them unchanged, the rate is ln((n + 0.5) / (x + 0.5)) / I. Source: Cho & Garcia-Molina, Estimating Frequency
of Change, 2003. Here I is the mean interval that ended in a change and the counts are times, which is the same for
regular visits. For irregular ones it is their maximum-likelihood equation with the intervals that ended in a change
taken at their mean. So three numbers are all the history there is.
"""

import re
from enum import IntEnum
from math import isfinite, log
from typing import Annotated

import msgspec

from crawl.scope import MAX_SCOPE_CHARS, WHOLE, breadth

PRIOR_UNCHANGED = 0.5  # intervals added to what was seen unchanged: Cho & Garcia-Molina's correction of the bias
PRIOR_CHANGES = 0.3  # added: a page that never changed may; 0.2 … 1 tried on six kinds of webs, all within a point
MAX_CHANGES = 16  # beyond it the history is halved, so that a page may change its habits
MAX_SPAN_S = 31_536_000  # the same for a history that reaches further back than a year

DAY_S = 86_400
LAST_DAY = (1 << 16) - 1

Seconds = Annotated[int, msgspec.Meta(ge=0, le=2**40)]


class History(msgspec.Struct, frozen=True, array_like=True):
    """The changes of a page that earlier visits saw. Instants are Unix seconds, 0 for never."""

    seen_at: Seconds = 0  # when the content was last known: 200, or 304
    kept_at: Seconds = 0  # when a document was last stored
    changes: Annotated[int, msgspec.Meta(ge=0, le=2 * MAX_CHANGES)] = 0  # visits that found it changed
    changed_s: Seconds = 0  # total of the intervals before those
    unchanged_s: Seconds = 0  # total of the intervals before visits that found it the same
    fingerprint: Annotated[bytes, msgspec.Meta(max_length=64)] = b""  # of the stored text: crawl/content/fingerprint.py
    # The day that the content was known for the first time: 1 is the first of January 1970.
    first_seen: Annotated[int, msgspec.Meta(ge=0, lt=1 << 16)] = 0


def seen(history: History, now: float, *, changed: bool) -> History:
    """Return the history after one more visit; the first one tells nothing about changes."""
    was_at, at = history.seen_at, int(now)
    if not was_at or at <= was_at:
        first_seen = history.first_seen or min(at // DAY_S + 1, LAST_DAY)
        return msgspec.structs.replace(history, seen_at=max(at, was_at), first_seen=first_seen)
    changes, changed_s, unchanged_s = history.changes, history.changed_s, history.unchanged_s
    if changed:
        changes, changed_s = changes + 1, changed_s + at - was_at
    else:
        unchanged_s += at - was_at
    if changes > MAX_CHANGES or changed_s + unchanged_s > MAX_SPAN_S:
        mean_s = changed_s / changes if changes else 0.0
        changes, unchanged_s = (changes + 1) // 2, unchanged_s // 2
        changed_s = int(changes * mean_s)
    return msgspec.structs.replace(history, seen_at=at, changes=changes, changed_s=changed_s, unchanged_s=unchanged_s)


def change_rate(history: History, usual_s: float) -> float:
    """Estimate the changes a second. `usual_s`: the interval of visits imagined before the first real one."""
    changed_s = history.changed_s + PRIOR_CHANGES * usual_s
    unchanged_s = history.unchanged_s + PRIOR_UNCHANGED * usual_s
    mean_s = changed_s / (history.changes + PRIOR_CHANGES)
    return log((unchanged_s + changed_s) / unchanged_s) / mean_s


MAX_DEPTH = 255  # links to follow from a seed; the API takes 100
MAX_HOPS = 255
MAX_FIELD_CHARS = 1024  # of what a site said of itself, or why a URL is not fetched
MAX_AHEAD_S = 3660 * 86_400.0  # from a visit to the next one: no record is kept for longer
DATED_WITHIN_S = 1.0  # versions count milliseconds
_LINK = re.compile(r"(?:https?://[!-~]{1,2040})?")  # canonical URLs are ASCII without white space
_SCOPE = re.compile(r"[!-~]*")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")  # would end a header field, and begin another


class VisitState(IntEnum):
    """The fate of a URL; the number is on the wire."""

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
    barred_at: float = 0.0  # since then robots.txt disallows the stored page; negative: no longer; 0.0: it never did

    @property
    def is_hidden(self) -> bool:
        """Whether the page is stored and must not be shown."""
        return self.barred_at > 0


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


def visit_flaw(visit: Visit, epoch: int, at_ms: int) -> str:
    """Say why a visit is none that a crawler writes under this version, "" where it is one.

    A node that finds a URL has no other facts about it, and dates the record by the URL's reach. A find that claimed
    more would win over all others."""
    if flaw := _bad_times(visit, epoch, at_ms):
        return flaw
    if not (0 <= visit.depth <= MAX_DEPTH and 0 <= visit.hops <= MAX_HOPS):
        return f"depth {visit.depth}, redirects that led to it {visit.hops}"
    if epoch == 0 and (visit != _found(visit) or at_ms != reach(visit)):
        return "a found URL waits, and is dated by how far it leads"
    if not (0 <= visit.status <= 999 and 0 <= visit.fails < 1 << 31):
        return f"status {visit.status}, fails {visit.fails}"
    if len(visit.scope) > MAX_SCOPE_CHARS or not _SCOPE.fullmatch(visit.scope):
        return f"its scope has {len(visit.scope)} characters, or odd ones"
    if not _LINK.fullmatch(visit.target):
        return "it leads to what is no URL"
    if any(len(text) > MAX_FIELD_CHARS for text in (visit.etag, visit.last_modified, visit.reason)):
        return f"a text of more than {MAX_FIELD_CHARS} characters"
    if _CONTROL.search(visit.etag) or _CONTROL.search(visit.last_modified):
        return "a header field with control characters"
    return ""


def _found(visit: Visit) -> Visit:
    """Return the visit as whoever found its URL writes it."""
    return Visit(visit.url, visit.depth, visit.hops, scope=visit.scope, is_sitemap=visit.is_sitemap)


def _bad_times(visit: Visit, epoch: int, at_ms: int) -> str:
    """Say which instant is out of bounds: those of an outcome are measured by when it was written."""
    for name in ("due_at", "visited_at", "unavailable_at", "barred_at"):
        if not isfinite(at := getattr(visit, name)):
            return f"{name} is {at}"
    if epoch and visit.visited_at > at_ms / 1000 + DATED_WITHIN_S:
        return f"visited_at {visit.visited_at} lies after its version"
    if epoch and visit.due_at > at_ms / 1000 + MAX_AHEAD_S:
        return f"due_at {visit.due_at} is too far ahead"
    return ""
