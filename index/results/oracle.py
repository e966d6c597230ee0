"""The slow, obvious search over a list of documents: the oracle that every real answer is compared with.

Pure: values only. It shares the analyzer, the parser and the formula with the real path, and nothing else. It looks at
every document, counts df so, and folds copies by comparison with all results shown before.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from dht import DocumentId
from index.change_feed import Text
from index.engine.matcher import matches
from index.query.alternatives import Counted, adopt, bent_by, bent_statistics, unsure_words
from index.query.collection_statistics import Statistics, add
from index.query.foreign import for_asker
from index.query.leaf import phrase_of
from index.query.parser import Query, parse_query
from index.query.patterns import MAX_ALTERNATIVES, alternatives, find_patterns, write_out
from index.query.scoring import Scored, occurrences, score
from index.query.search_rules import NEWEST_RULES, SearchRules
from index.results.near_copies import Likeness, Sign, are_near, likeness, no_signature, say_the_same
from index.results.result_picker import MAX_ELSEWHERE, OF_ONE_HOST, SIMILAR, TEN, names_site, place_among_copies
from index.shard.corrections import proposals
from index.text.analyzer import is_unspaced
from index.text.field_terms import analyse
from index.text.forward_index import ForwardRecord, forward_of
from index.text.site_host import host_of, is_plainer
from index.text.surfaces import words_of
from index.text.tags import day_of

_Found = tuple[Scored, Text, ForwardRecord]


@dataclass(frozen=True, slots=True)
class OracleHit:
    """One document of the answer. `similar`: its copies."""

    text: Text
    scored: Scored
    similar: tuple[Text, ...] = ()


@dataclass(frozen=True, slots=True)
class OracleAnswer:
    """The whole answer: all that can be paged through, in final order. `counted`: those that hold enough of the words,
    in no order."""

    hits: tuple[OracleHit, ...]
    counted: tuple[Text, ...]
    statistics: Statistics

    @property
    def total(self) -> int:
        """How many hold enough of the words."""
        return len(self.counted)

    @property
    def matches(self) -> tuple[Text, ...]:
        """All documents that match, those included that are folded."""
        return tuple(text for hit in self.hits for text in (hit.text, *hit.similar))


class SearchOracle:
    """Searches a fixed list of documents, one id each."""

    def __init__(self, texts: Sequence[Text], sign: Sign = no_signature, rules: SearchRules = NEWEST_RULES) -> None:
        """`sign` makes the signature of a main text, as the crawler does; without it fewer pages of different hosts are
        copies of each other. `rules`: by which it searches."""
        self._sign, self._rules = sign, rules
        self._texts = [(text, forward_of(text, rules.analyzer)) for text in texts]

    def search(
        self,
        text: str,
        language: str = "",
        site: str = "",
        is_by_date: bool = False,
        wanted: int | None = None,
        is_verbatim: bool = False,
        asker_language: str = "",
    ) -> OracleAnswer:
        """Return the whole answer, or at least so many hits as are `wanted`; each is compared with all before."""
        asked = self._written_out(text), language, site, is_by_date, self._rules
        query = parse_query(*asked, (), is_verbatim)
        counts, statistics = self._counts(query)
        alternatives = adopt(
            query, counts, {word: proposals(word, self, len(self._texts)) for word in unsure_words(query)}
        )
        spoken = for_asker(parse_query(text, language, site), asker_language).asker_language
        query = for_asker(parse_query(*asked, bent_by(alternatives), is_verbatim), spoken)
        statistics = bent_statistics(query, alternatives, counts, statistics)
        found = [
            (score(forward, query, statistics), each, forward)
            for each, forward in self._texts
            if matches(query.root, each, forward)
        ]
        found.sort(key=lambda triple: (-day_of(triple[1]) if is_by_date else 0, -triple[0].score, triple[1].id))
        counted = tuple(each for each, forward in self._texts if matches(query.counted, each, forward))
        is_crowded = not names_site(query) and not is_by_date
        return OracleAnswer(
            self._pick(found, is_crowded, len(found) if wanted is None else wanted), counted, statistics
        )

    def _written_out(self, text: str) -> str:
        """The query with the commonest words that its patterns stand for."""
        places, _ = find_patterns(parse_query(text).text)
        patterns = {each.pattern for each in places}
        counts = self._written if patterns else Counter[str]()
        meant = {each: {word: n for word, n in counts.items() if each.stands_for(word)} for each in patterns}
        most = MAX_ALTERNATIVES // max(len(patterns), 1)
        return write_out(text, places, {each: alternatives(found, most) for each, found in meant.items()})

    @cached_property
    def _written(self) -> Counter[str]:
        """In how many documents each word is written so."""
        return Counter(word for words in self._words for word in words)

    @cached_property
    def _words(self) -> Sequence[set[str]]:
        return [_written_in(each) for each, _ in self._texts]

    def word_count(self, word: str) -> int:
        """Return in how many documents a word is written so."""
        return self._written[word]

    def words_from(self, prefix: str, limit: int) -> Sequence[tuple[str, int]]:
        """Return the commonest words that begin so, each with its `word_count`."""
        return [each for each in self._written.most_common() if each[0].startswith(prefix)][:limit]

    def words_together(self, words: Sequence[str]) -> int:
        """Return how many documents hold all of some words, each written so."""
        return sum(set(words) <= each for each in self._words)

    def _counts(self, query: Query) -> tuple[Mapping[Counted, int], Statistics]:
        """Count documents that hold each leaf, or any word that may be looked for instead."""
        lengths, df = (0, 0, 0, 0), Counter[Counted](self._written)
        pairs = [
            pair for word in unsure_words(query) for pair in proposals(word, self, len(self._texts)) if " " in pair
        ]
        leaves = (*query.leaves, *(phrase_of(*pair.split()) for pair in pairs))
        for _, forward in self._texts:
            lengths = add(lengths, forward.lengths)
            df.update(leaf for leaf in set(leaves) if occurrences(forward, leaf))
        return df, Statistics(len(self._texts), lengths, tuple(df[leaf] for leaf in query.leaves))

    def _pick(self, found: Sequence[_Found], is_crowded: bool, wanted: int) -> tuple[OracleHit, ...]:
        """Return at least `wanted` hits, where there are so many, from the sorted matches, in tens. Near copies are
        folded into the hit that they copy. `is_crowded`: each ten takes at most three hits of a host, and more of them
        only where that leaves room."""
        hits: list[OracleHit] = []
        pages: list[Likeness] = []
        rest = list(found)
        while rest and len(hits) < wanted:
            begin, shown = len(hits), Counter[str]()
            for most in (OF_ONE_HOST, TEN) if is_crowded else (TEN,):
                left: list[_Found] = []
                for number, (scored, text, forward) in enumerate(rest):
                    if len(hits) - begin == TEN:
                        left += rest[number:]
                        break
                    page = likeness(forward, scored.numbers.tfs)
                    if shown[host_of(text.url)] >= most:
                        left.append((scored, text, forward))
                    elif (place := self._first_near(hits, pages, text, page)) is not None:
                        hits[place] = replace(hits[place], similar=(*hits[place].similar, text))
                    else:
                        hits.append(OracleHit(text, scored))
                        pages.append(page)
                        shown[host_of(text.url)] += 1
                rest = left
        first = _first(found) if is_crowded else {}
        return tuple(_with_original(hit, first) for hit in hits)

    def _first_near(
        self, hits: Sequence[OracleHit], pages: Sequence[Likeness], text: Text, page: Likeness
    ) -> int | None:
        near = (place for place, each in enumerate(pages) if are_near(each, page))
        return next((place for place in near if self._folds(hits[place], text)), None)

    def _folds(self, hit: OracleHit, text: Text) -> bool:
        """Tell whether a page that is near to a shown one is folded under it."""
        hosts = [host_of(each.url) for each in (text, *hit.similar)]
        home = host_of(hit.text.url)
        if hosts[0] == home:
            return True
        elsewhere = sum(host != home for host in hosts[1:])
        return elsewhere < MAX_ELSEWHERE and say_the_same(hit.text, text, self._sign)


def _first(found: Sequence[_Found]) -> dict[DocumentId, Scored]:
    """The scores of the first ten hits, at most three of a host."""
    out, shown = dict[DocumentId, Scored](), Counter[str]()
    for scored, text, _ in found:
        if len(out) == TEN:
            break
        shown[host_of(text.url)] += 1
        if shown[host_of(text.url)] <= OF_ONE_HOST:
            out[text.id] = scored
    return out


def _with_original(hit: OracleHit, scores: Mapping[DocumentId, Scored]) -> OracleHit:
    """Show the copy in the asker's language that was seen first in the place of the best one, where it is one of the
    first hits. Of several such, show the plainest address."""
    every, all_scores = (hit.text, *hit.similar), {**scores, hit.text.id: hit.scored}

    def place(text: Text) -> tuple[int, int]:
        return place_among_copies(all_scores[text.id].numbers.foreign, text.first_seen)

    shown = min((each for each in every if each.id in all_scores), key=place)
    for each in [each for each in every if each is not shown][:SIMILAR]:
        if each.id in scores and place(each) == place(shown) and is_plainer(each.url, shown.url):
            shown = each
    return OracleHit(shown, all_scores[shown.id], tuple(each for each in every if each is not shown))


def _written_in(text: Text) -> set[str]:
    """Words as they are written, and pairs of characters."""
    return {*words_of(text), *filter(is_unspaced, analyse(text).vocabulary)}
