"""The level of a rank: one of 64 steps, each √2 times the one below, as it may be used in scores.

Pure: numbers in, integers out. A level changes only when the rank has moved clearly into another step, so that what is
signed and indexed does not change with each computation.
"""

from math import log2

MOST_LEVEL = 63
STEPS = 2  # for each doubling
MOVED = 0.6  # of a step, from the middle of a page's level: beyond .5, where a rank between two would go to and fro


def level_of(rank: float, pages: int, before: int | None = None) -> int:
    """Return the level of a page's rank among so many pages, whose ranks add up to 1: 0 for an average page and all
    below it. `before`: its level so far, which is kept unless the rank moved by more than .6 of a step from it."""
    place = STEPS * log2(rank * pages) if rank * pages > 1 else 0.0
    if before is not None and abs(place - before) <= MOVED:
        return before
    return max(round(min(place, MOST_LEVEL)), 0)
