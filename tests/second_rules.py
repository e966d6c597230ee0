"""A second analyzer and ranking, for tests of how a network changes the rules of search. No release has them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

from index.query.ranking_rules import NEWEST_RANKING, RANKINGS
from index.text.analyzer_rules import ANALYZERS, NEWEST_ANALYZER

FIRST, SECOND = (1, 1), (2, 2)  # numbers of analyzer and ranking
_ANALYZER = replace(NEWEST_ANALYZER, number=SECOND[0], limits=(64, 512, 64, 12))  # of main text hardly anything
_RANKING = replace(
    NEWEST_RANKING, number=SECOND[1], proximity=(1.05,), cover_fade=16, classes=NEWEST_RANKING.classes[:2]
)


@contextmanager
def second_rules() -> Iterator[None]:
    """Have this program know the second analyzer and the second ranking within the block."""
    analyzer, ranking = {SECOND[0]: _ANALYZER}, {SECOND[1]: _RANKING}
    with patch.dict(ANALYZERS, analyzer), patch.dict(RANKINGS, ranking):
        yield
