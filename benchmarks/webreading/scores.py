"""Scores what was found against the truth.

Pure. Words of a page are counted as a bag. Precision and recall are the means of all pages, and F1 is of these means.
scrapinghub/article-extraction-benchmark does so with runs of four words.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from statistics import fmean

_WORD = re.compile(r"\w+")
_ZONES = (timedelta(hours=-12), timedelta(hours=14))  # the days that an instant may be in


@dataclass(frozen=True, slots=True)
class WordScore:
    """Means over pages."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def score_words(truth: Sequence[str], found: Sequence[str]) -> WordScore:
    """Compare texts by their words."""
    pairs = [_pair(right, text) for right, text in zip(truth, found, strict=True)]
    return WordScore(fmean(precision for precision, _ in pairs), fmean(recall for _, recall in pairs))


def _pair(right: str, text: str) -> tuple[float, float]:
    wanted, got = Counter(_WORD.findall(right)), Counter(_WORD.findall(text))
    common = (wanted & got).total()
    return common / got.total() if got else float(not wanted), common / wanted.total() if wanted else 1.0


def is_title_right(right: str, found: str) -> bool:
    """Tell whether a title has all words of the right one, in order: the site's name or more may stand between."""
    got = iter(_WORD.findall(found.lower()))
    return all(word in got for word in _WORD.findall(right.lower()))


def is_day_right(right: date, instant: float) -> bool:
    """Tell whether an instant is on that day in any zone; 0.0 is none."""
    if not instant:
        return False
    at = datetime.fromtimestamp(instant, UTC)
    return (at + _ZONES[0]).date() <= right <= (at + _ZONES[1]).date()
