"""Results of brute force over every document, remembered: several engines and rankings are asked about the same
documents."""

from functools import cache, lru_cache

from index.change_feed import Text
from index.query.search_rules import NEWEST_RULES, SearchRules
from index.results.near_copies import Sign, no_signature
from index.results.oracle import SearchOracle
from index.text.analyzer_rules import NEWEST_ANALYZER, AnalyzerRules
from index.text.forward_index import ForwardRecord, forward_of


@lru_cache(4096)
def forward(text: Text, rules: AnalyzerRules = NEWEST_ANALYZER) -> ForwardRecord:
    return forward_of(text, rules)


class BruteForce(SearchOracle):
    """An oracle that looks once for each question, and reads a document once for all that hold it."""

    def __init__(self, texts: tuple[Text, ...], sign: Sign = no_signature, rules: SearchRules = NEWEST_RULES) -> None:
        super().__init__((), sign, rules)
        self._texts = [(text, forward(text, rules.analyzer)) for text in texts]
        self.search = cache(super().search)  # type: ignore[method-assign]


brute_force = lru_cache(8)(BruteForce)  # for the same documents in the same order
