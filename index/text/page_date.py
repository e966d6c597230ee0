"""The date of a page: by its own word, as far as that can be.

Pure: values in, a number out.
"""

from index.change_feed import Text

LAST_DAY = 47_482  # the last of 2099; later dates are nobody's
DAY_S = 86_400.0  # clocks and time zones differ; what is dated later than its fetch by more is not believed


def date_of(text: Text) -> float:
    """Return when a page was last modified, or else published, by its own word: Unix seconds, 0.0 unknown."""
    said = (text.modified_at, text.published_at)
    return next((at for at in said if 0.0 < at <= text.fetched_at + DAY_S), 0.0)


def day_of(text: Text) -> int:
    """Return the number of the day that a page is dated: 1 is the first of January 1970, 0 unknown."""
    day = int(date_of(text) // DAY_S) + 1 if date_of(text) else 0
    return day if day <= LAST_DAY else 0
