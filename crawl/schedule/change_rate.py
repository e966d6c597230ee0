"""How often a page changes, learned from visits at irregular times.

Pure: a history in, a rate out. Changes are taken as a Poisson process, of which a visit sees only whether there was
one. Source: Cho & Garcia-Molina, Estimating Frequency of Change, 2003: with n visits an interval I apart, x of them
unchanged, the rate is ln((n + 0.5) / (x + 0.5)) / I. Here I is the mean interval that ended in a change and the counts
are times, which is the same for regular visits; for irregular ones it is their maximum-likelihood equation with the
intervals that ended in a change taken at their mean, so that three numbers are all the history there is.
"""

from math import log
from typing import Annotated

import msgspec

PRIOR_UNCHANGED = 0.5  # intervals added to what was seen unchanged: Cho & Garcia-Molina's correction of the bias
PRIOR_CHANGES = 0.3  # added: a page that never changed may; 0.2 … 1 tried on six kinds of webs, all within a point
MAX_CHANGES = 16  # beyond it the history is halved, so that a page may change its habits
MAX_SPAN_S = 31_536_000  # the same for a history that reaches further back than a year

Seconds = Annotated[int, msgspec.Meta(ge=0, le=2**40)]


class History(msgspec.Struct, frozen=True, array_like=True):
    """The changes of a page that earlier visits saw. Instants are Unix seconds, 0 for never."""

    seen_at: Seconds = 0  # when the content was last known: 200, or 304
    kept_at: Seconds = 0  # when a document was last stored
    changes: Annotated[int, msgspec.Meta(ge=0, le=2 * MAX_CHANGES)] = 0  # visits that found it changed
    changed_s: Seconds = 0  # total of the intervals before those
    unchanged_s: Seconds = 0  # total of the intervals before visits that found it the same
    fingerprint: Annotated[bytes, msgspec.Meta(max_length=64)] = b""  # of the stored text: crawl/content/fingerprint.py


def seen(history: History, now: float, *, changed: bool) -> History:
    """Return the history after one more visit; the first one tells nothing about changes."""
    was_at, at = history.seen_at, int(now)
    if not was_at or at <= was_at:
        return msgspec.structs.replace(history, seen_at=max(at, was_at))
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
