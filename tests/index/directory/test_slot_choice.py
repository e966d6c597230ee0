"""The best five by the directory are the best five whenever it says that they are proven, in any corpus."""

import random
from collections import defaultdict
from dataclasses import replace
from functools import cache

import index_corpus as corpus
import pytest

from dht import Slot
from index.change_feed import Text
from index.directory.impact import MOST_LEVEL, STEPS, DirectoryEpoch, impacts_of
from index.directory.slot_bounds import SlotBounds
from index.directory.slot_choice import PART, SlotChoice, WaveSizes
from index.directory.term_row import SlotSummary, SlotTerm, TermRow, merge_row, statistics_of, terms_of
from index.engine.matcher import matches
from index.query.collection_statistics import Statistics, add
from index.query.parser import Query, parse_query
from index.query.ranking_rules import NEWEST_RANKING, RANKINGS
from index.query.rewards import MANY, most_share
from index.query.scoring import occurrences, score
from index.query.search_rules import rules_of
from index.text.field_terms import analyse
from index.text.forward_index import ForwardRecord, forward_of
from index.text.site_host import front_name
from index.text.stem_classes import class_of

BITS, K = 5, 5
WAVES = WaveSizes(each=4, few=1 << BITS)
RIVERS = [
    "tigris",
    "volga",
    "amur",
    "congo",
    "niger",
    "oder",
    "mekong",
    "yukon",
    "loire",
    "ganges",
]  # the later, the rarer
LONGER = "running dogs search engine peer python index 3.11 datenbank überweg naïve"
RARE = [
    "yukon",
    "ganges",
    "niger tigris",
    "dogs mekong engine",
    "ganges loire",
    "+congo run",
    "oder peer",
    "ganges the",
]
QUERIES = [*corpus.QUERIES[::2], *RARE, "python-search", "+python dogs", "run dogs", "index engine", LONGER]


class Network:
    """All documents of a web, by slot, and the directory of their terms; a row names few slots."""

    def __init__(self, seed: int, ranking: int, most: int) -> None:
        rng = random.Random(seed)
        texts = [replace(text, body=f"{text.body} rare{n % 40}") for n, text in enumerate(corpus.web(rng, 120))]
        self.rules = rules_of(1, ranking) or pytest.fail("no such rules")
        self.documents: list[tuple[Slot, Text, ForwardRecord]] = []
        lengths = (0, 0, 0, 0)
        for text in texts:
            slot = Slot(int.from_bytes(text.id[:2], "big") >> 16 - BITS)
            self.documents.append((slot, text, forward_of(text, self.rules.analyzer)))
            lengths = add(lengths, self.documents[-1][2].lengths)
        numbers = self.rules.numbers
        self.epoch = DirectoryEpoch(1, *numbers, BITS, len(texts), lengths)
        summaries = {slot: SlotSummary(slot) for slot, _, _ in self.documents}
        for slot, text, _ in self.documents:
            fields = analyse(text, self.rules.analyzer)
            found = impacts_of(fields, bool(front_name(text.url)), self.rules.ranking, self.epoch.average)
            summaries[slot].add(fields, class_of(text.language), found)
        said = defaultdict[str, list[SlotTerm]](list)
        for summary in summaries.values():
            for term, each in summary.terms().items():
                said[term].append(each)
        self.rows = {term: merge_row(each, most) for term, each in said.items()}

    def asked(self, words: str) -> tuple[Query, dict[str, TermRow]]:
        query = parse_query(words, rules=self.rules)
        return query, {term: self.rows.get(term, TermRow()) for term in terms_of(query)}

    def statistics(self, query: Query) -> Statistics:
        df = [sum(bool(occurrences(each, leaf)) for _, _, each in self.documents) for leaf in query.leaves]
        return Statistics(self.epoch.documents, self.epoch.lengths, tuple(df))

    def found(self, query: Query, statistics: Statistics) -> list[tuple[float, bytes, Slot]]:
        """All that match, the best first."""
        return sorted(
            (-score(forward, query, statistics).score, text.id, slot)
            for slot, text, forward in self.documents
            if matches(query.root, text, forward)
        )


def _rivers(rng: random.Random) -> str:
    return " ".join(rng.choice(RIVERS[: rng.randint(1, len(RIVERS))]) for _ in range(rng.randint(1, 4)))


@cache
def network(seed: int, ranking: int = NEWEST_RANKING.number, most: int = 10) -> Network:
    return Network(seed, ranking, most)


@pytest.mark.parametrize(("seed", "ranking"), [(1, 1), (3, 1), (4, 1)])
def test_what_is_proven_is_the_exact_answer(seed: int, ranking: int) -> None:
    net = network(seed, ranking)
    proven, early = 0, 0
    for words in QUERIES:
        query, rows = net.asked(words)
        statistics = net.statistics(query)
        exact, choice = net.found(query, statistics), SlotChoice(SlotBounds(query, statistics, net.epoch, rows), WAVES)
        asked, wave = set[Slot](), choice.first()
        while True:
            asked.update(wave)
            best = [hit for hit in exact if hit[2] in asked][:K]
            last = -best[-1][0] if len(best) == K else None
            verdict = choice.verdict(last, asked)
            if verdict.proven:
                assert best == exact[:K], words
                proven, early = proven + 1, early + (len(asked) < len({slot for slot, _, _ in net.documents}))
                break
            wave = choice.next(last, asked)
            assert wave and not asked.intersection(wave), "each wave asks for what was not asked"
            assert verdict.not_asked >= len(wave)
    assert proven == len(QUERIES), "as all are asked in the end"
    assert early > len(QUERIES) // 4, "and for many queries not all"


def test_the_last_wave_asks_all_that_are_left_or_none() -> None:
    net = network(3, most=1 << BITS)
    query, rows = net.asked("python dogs")
    bounds = SlotBounds(query, net.statistics(query), net.epoch, rows)
    asked = SlotChoice(bounds, WaveSizes(each=4, few=4)).first()
    left = SlotChoice(bounds).verdict(None, asked).not_asked
    count = len(asked) + left
    assert left > 4 and count > (1 << BITS) // PART
    assert SlotChoice(bounds, WaveSizes(4, 4, count)).next(None, asked) == [], "a network so small is asked as a whole"
    last = sorted(bounds.most)[-8]  # so that four are left that may hold something better
    assert len(SlotChoice(bounds, WaveSizes(4, 4, 8)).next(last, asked)) == 4
    assert SlotChoice(bounds, WaveSizes(4, 4, 7)).next(last, asked) == [], "that would prove nothing"
    assert len(SlotChoice(bounds, WaveSizes(4, 6, 7)).next(last, asked)) == 2, "but few are asked in any case"


@pytest.mark.parametrize("ranking", RANKINGS)
def test_no_document_scores_above_the_bound_of_its_slot(ranking: int) -> None:
    net = network(1, ranking)
    shares = []
    for words in QUERIES:
        query, rows = net.asked(words)
        statistics = net.statistics(query)
        bounds, best = SlotBounds(query, statistics, net.epoch, rows), defaultdict[Slot, float](float)
        for negative, _, slot in net.found(query, statistics):
            assert -negative <= bounds.most[slot] and bounds.may_match[slot], words
            best[slot] = max(best[slot], -negative)
        shares += [most / bounds.most[slot] for slot, most in best.items() if most]
    assert sum(shares) / len(shares) > 0.5, "bounds are close enough to be of use"


def test_bounds_hold_by_another_mean_length_without_a_row_and_by_rows_of_other_rules() -> None:
    net = network(3)
    for words in ("python dogs", "search engine peer", "datenbank"):
        query, rows = net.asked(words)
        title, headings, url, body = net.epoch.lengths
        grown = Statistics(net.epoch.documents, (2 * title, 3 * headings, url, 2 * body), net.statistics(query).df)
        without = {term: row for term, row in rows.items() if term != terms_of(query)[0]}
        others = replace(net.epoch, analyzer=2, ranking=2)
        for known, epoch in ((rows, net.epoch), (without, net.epoch), (rows, others)):
            bounds = SlotBounds(query, grown, epoch, known)
            assert all(-hit[0] <= bounds.most[hit[2]] for hit in net.found(query, grown)), words
        assert statistics_of(query, net.epoch, without) is statistics_of(query, others, rows) is None


def test_the_rows_tell_the_statistics_of_the_first_round() -> None:
    net = network(3)
    told = 0
    for words in QUERIES:
        query, rows = net.asked(words)
        statistics = statistics_of(query, net.epoch, rows)
        assert statistics is None or statistics == net.statistics(query), words
        told += statistics is not None
    assert told > len(QUERIES) // 2 and statistics_of(*_phrase(net)) is None


def _phrase(net: Network) -> tuple[Query, DirectoryEpoch, dict[str, TermRow]]:
    query, rows = net.asked('"search engine" peer')
    return query, net.epoch, rows


@pytest.mark.parametrize("number", RANKINGS)
def test_the_greatest_impact_of_each_ranking_has_a_level(number: int) -> None:
    rules = RANKINGS[number]
    assert (1 + most_share(rules, MANY) - rules.front_share) * STEPS <= MOST_LEVEL
