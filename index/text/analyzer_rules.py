"""The analyzers that this release knows, by number: how documents become terms, as far as it ever changed.

Pure: values only. The strategy names the analyzer in force. Two analyzers are two indexes, built side by side. What
stands here is frozen: whoever changes what documents or queries become gives it a number of its own, and the one
before stays for as long as networks may go by it.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class AnalyzerRules:
    """One analyzer. `fronts_by_host`: the address of a site's front page is the name of its host alone. `characters`:
    one character of Chinese or Korean by itself asks for all that holds it (`characters.py`)."""

    number: int
    fronts_by_host: bool
    characters: bool


ANALYZERS: Mapping[int, AnalyzerRules] = {
    each.number: each
    for each in (
        AnalyzerRules(3, fronts_by_host=False, characters=False),
        AnalyzerRules(4, fronts_by_host=True, characters=False),
        AnalyzerRules(5, fronts_by_host=True, characters=True),
    )
}
NEWEST_ANALYZER = ANALYZERS[max(ANALYZERS)]
