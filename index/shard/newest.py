"""Which documents are the newest: a query cut into stretches of time, the newest first.

Pure: trees and counts. No engine sorts by date; but each counts by the tags of dates, so a decade, year or month that
holds much is cut into its parts, and one that holds little is looked at as a whole.
"""

from calendar import monthrange
from collections.abc import Callable, Iterator

from index.query.query_tree import QueryGroup, QueryNode, TagFilter, all_of
from index.text.tags import FIRST_YEAR, LAST_YEAR

MANY = 256  # documents of a stretch of time that are not read all at once

Stretch = tuple[QueryNode, int]  # what matches in it, and how many documents do


def stretches(root: QueryNode, count: Callable[[QueryNode], int]) -> Iterator[Stretch]:
    """Yield what matches a tree as stretches of time, the newest first: of up to `MANY` documents, or of one day. Those
    without a date come last."""
    decades = [str(decade) for decade in range(LAST_YEAR // 10, FIRST_YEAR // 10 - 1, -1)]
    left = count(root)
    for decade in decades:
        for stretch in _parts(root, decade, count, left):
            left -= stretch[1]
            yield stretch
    if left:
        yield QueryGroup(1, (root,), tuple(TagFilter(f"date:{decade}") for decade in decades)), left


def _parts(root: QueryNode, period: str, count: Callable[[QueryNode], int], most: int) -> Iterator[Stretch]:
    """The stretches of a period, of which no more than `most` documents can be."""
    here = all_of([root, TagFilter(f"date:{period}")])
    found = count(here) if most else 0
    inner = _within(period) if found > MANY else []
    if found and not inner:
        yield here, found
    left = found
    for part in inner:
        for stretch in _parts(root, part, count, left):
            left -= stretch[1]
            yield stretch


def _within(period: str) -> list[str]:
    """The parts of a decade (three digits), year or month, the last first; none of a day."""
    if len(period) == 3:
        return [f"{period}{year}" for year in range(9, -1, -1)]
    if len(period) == 4:
        return [f"{period}-{month:02}" for month in range(12, 0, -1)]
    if len(period) == 7:
        days = monthrange(int(period[:4]), int(period[5:]))[1]
        return [f"{period}-{day:02}" for day in range(days, 0, -1)]
    return []
