"""One query as it is asked: the words, and what may be said beside them.

Pure: values.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One query with its paging and its filters.

    `text` is as people type it, `cursor` from the page before, `language` and `site` are filters, "" without one;
    `explain` gives the numbers behind each score, `facets` counts matches by site, language, year and type,
    `is_by_date` puts the newest first, of those that hold enough of the words.
    `first_ms` is when the asker wants to show what was found by then, 0 where all is waited for: what silent peers have
    is then asked of others in time for that. The searcher bounds `limit` and `deadline_ms`."""

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
