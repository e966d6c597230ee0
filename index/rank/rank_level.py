"""The level of a rank: one of 64 steps, each √2 times the one below, as it may be used in scores.

Pure: numbers in, integers out. A level changes only when the rank has moved clearly into another step, so that what is
signed and indexed does not change with each computation.
"""

from math import log2

import numpy as np
from numpy.typing import NDArray

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


def levels_of(values: NDArray[np.float64], average: float, before: NDArray[np.int8] | None = None) -> NDArray[np.int8]:
    """Return the levels of many pages by their values, and that of an average page. `before`: as in `level_of`, and -1
    of a page that had none."""
    with np.errstate(divide="ignore"):
        places: NDArray[np.float64] = np.maximum(STEPS * np.log2(values / average), 0.0)
    found: NDArray[np.int8] = np.rint(np.minimum(places, MOST_LEVEL)).astype(np.int8)
    if before is None:
        return found
    stays: NDArray[np.int8] = np.where((before >= 0) & (np.abs(places - before) <= MOVED), before, found)
    return stays
