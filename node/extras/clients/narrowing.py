"""Writes what clients send beside a query as filters of ours: sites that are wanted or not, and dates.

Pure: texts and days in, a query out. Filters stand first, and the words in parentheses, so that no OR and no quotation
mark of the words reaches a filter.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

FIRST_DAY, LAST_DAY = date(1970, 1, 1), date(2098, 12, 31)  # what the filters before: and after: can say
_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}
_DAYS |= {span[0]: days for span, days in _DAYS.items()}
TIME_RANGES = tuple(_DAYS)


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Holds filters: results are of one of `sites` (any where there are none), of none of `others`, and dated from
    `since` to `until`, both included."""

    sites: Sequence[str] = ()
    others: Sequence[str] = ()
    since: date | None = None
    until: date | None = None


def narrowed(words: str, by: Narrowing) -> str:
    """Return the query that asks for these words within these filters."""
    filters = [f"-site:{host}" for host in by.others]
    if by.since and by.since > FIRST_DAY:
        filters.append(f"after:{min(by.since, LAST_DAY)}")
    if by.until and by.until < LAST_DAY:
        filters.append(f"before:{max(by.until, FIRST_DAY) + timedelta(1)}")
    if by.sites:
        filters.append(f"({' OR '.join(f'site:{host}' for host in by.sites)}) AND")
    return f"{' '.join(filters)} ({words})" if filters else words


def days_before(today: date, days: int) -> date:
    """Return the day so many days earlier, the first one that a filter knows at the earliest."""
    return max(FIRST_DAY, today - timedelta(min(days, (today - FIRST_DAY).days)))


def since_range(time_range: str, today: date) -> date | None:
    """Return the first day of a time range (day, week, month, year, or the first letter of one); None for any other."""
    return days_before(today, _DAYS[time_range]) if time_range in _DAYS else None
