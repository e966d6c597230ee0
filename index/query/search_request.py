"""One query as it is asked: the words, and what may be said beside them.

Pure: values.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One query with its paging and its filters.

    `text`: as people type it.
    `cursor`: from the page before, "" for the first page.
    `language`, `site`: filters, "" without one.
    `explain`: give the numbers behind each score.
    `facets`: count matches by site, language, year and type.
    `is_by_date`: put the newest first, of those that hold enough of the words.
    `is_verbatim`: look for every word just as it is typed.
    `first_ms`: milliseconds after which the asker shows the results so far; 0: it waits for all. Others are asked for
    the slots of silent peers in time for that.
    `asker_language`: the one that the asker reads most, "" unknown: others stand a little lower.

    The searcher bounds `limit` and `deadline_ms`."""

    text: str
    limit: int = 10
    cursor: str = ""
    language: str = ""
    site: str = ""
    deadline_ms: int = 2000
    explain: bool = False
    facets: bool = False
    is_by_date: bool = False
    first_ms: int = 0
    is_verbatim: bool = False
    asker_language: str = ""
