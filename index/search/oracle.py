"""The slow, obvious search over a list of documents: the oracle that every real answer is compared with.

Pure: values only. It shares the analyzer, the parser and the formula with the real path, and nothing else: every
document is looked at, df is counted by looking, and copies are folded by comparing all that came before.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from index.change_feed import Text
from index.engine.matcher import matches
from index.query.collection_statistics import Statistics, add
from index.query.parser import Query, parse_query
from index.query.scoring import Scored, occurrences, score
from index.text.forward_index import content_digest, forward_of


@dataclass(frozen=True, slots=True)
class OracleHit:
    """One document of the answer; `similar`: later ones with equal title and body, in order."""

    text: Text
    scored: Scored
    similar: tuple[Text, ...] = ()


@dataclass(frozen=True, slots=True)
class OracleAnswer:
    """The whole answer: all matches in final order, copies folded; `total` counts before folding."""

    hits: tuple[OracleHit, ...]
    total: int
    statistics: Statistics


class SearchOracle:
    """Searches a fixed list of documents, one id each."""

    def __init__(self, texts: Sequence[Text]) -> None:
        self._texts = [(text, forward_of(text)) for text in texts]

    def search(self, text: str, language: str = "", site: str = "") -> OracleAnswer:
        """Return the whole answer. Raises QueryError."""
        query = parse_query(text, language, site)
        statistics = self._count(query)
        found = [
            (score(forward, query, statistics), each)
            for each, forward in self._texts
            if matches(query.root, each, forward)
        ]
        found.sort(key=lambda pair: (-pair[0].score, pair[1].id))
        return OracleAnswer(_fold(found), len(found), statistics)

    def _count(self, query: Query) -> Statistics:
        lengths, df = (0, 0, 0, 0), [0] * len(query.leaves)
        for _, forward in self._texts:
            lengths = add(lengths, forward.lengths)
            for number, leaf in enumerate(query.leaves):
                df[number] += bool(occurrences(forward, leaf))
        return Statistics(len(self._texts), lengths, tuple(df))


def _fold(found: Sequence[tuple[Scored, Text]]) -> tuple[OracleHit, ...]:
    hits: list[OracleHit] = []
    for scored, text in found:
        for place, hit in enumerate(hits):
            if content_digest(hit.text) == content_digest(text):
                hits[place] = OracleHit(hit.text, hit.scored, (*hit.similar, text))
                break
        else:
            hits.append(OracleHit(text, scored))
    return tuple(hits)
