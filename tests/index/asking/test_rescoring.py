"""By other statistics no document that was left out scores more than the bound says."""

import random

import pytest

from index.asking.rescoring import Rescoring, shift
from index.query.collection_statistics import Statistics
from index.query.parser import Query, parse_query
from index.query.scoring import ScoreInputs, Scorer
from index.query.search_rules import NEWEST_RULES
from index.shard.messages import BestAnswer, HitRow

QUERIES = [
    "tea",
    "green tea",
    "green tea house rules",
    "information about tea",
    '"green tea" cup',
    "what is a b c d e f g h i",
]


def numbers_of(query: Query, chance: random.Random) -> ScoreInputs:
    def few(most: int) -> int:
        return chance.choice([0, 0, 1, 2, most])

    tfs = tuple((few(2), few(3), few(2), few(40)) for _ in query.leaves)
    most = [max((counts[field] for counts in tfs), default=0) for field in range(4)]
    title, headings, url, body = (least + chance.choice([0, 1, 5, 300]) for least in most)
    marks = chance.random() < 0.3, chance.random() < 0.2
    return ScoreInputs(tfs, (title, headings, url, body), chance.choice([0, 300, 1024]), *marks)


def drifted(some: Statistics, chance: random.Random, by: float) -> Statistics:
    def near(number: int, most: int) -> int:
        return max(1, min(most, round(number * chance.uniform(1 - by, 1 + by))))

    documents = near(some.documents, 10**9)
    title, headings, url, body = (near(length, 10**12) for length in some.lengths)
    return Statistics(documents, (title, headings, url, body), tuple(near(df, documents) for df in some.df))


@pytest.mark.parametrize("text", QUERIES)
@pytest.mark.parametrize("by", [0.001, 0.05, 0.6])
def test_no_score_grows_more_than_the_shift_says(text: str, by: float) -> None:
    query, chance, closest = parse_query(text, "", "", False, NEWEST_RULES), random.Random(1), float("inf")
    for _ in range(300):
        documents = chance.choice([3, 500, 10**6])
        df = tuple(chance.randint(1, documents) for _ in query.leaves)
        before = Statistics(documents, (5 * documents, 9 * documents, 7 * documents, 400 * documents), df)
        former, now = Scorer(query, before), Scorer(query, drifted(before, chance, by))
        found = shift(query, former, now)
        if found is None:
            assert not all(former.weights + now.weights)
            continue
        for _ in range(10):
            numbers = numbers_of(query, chance)
            most, score = found.of(former.score(numbers)), now.score(numbers)
            assert score <= most
            closest = min(closest, most / score if score else closest)
    assert closest < 1.1 + 9 * by, "the bound is of use"


def test_a_word_that_weighed_nothing_says_nothing_of_what_was_left_out() -> None:
    query = parse_query("green tea", "", "", False, NEWEST_RULES)
    known, new = (Scorer(query, Statistics(100, (1, 1, 1, 100), df)) for df in ((5, 0), (5, 1)))
    assert shift(query, known, new) is None
    assert shift(query, new, known) is None
    assert shift(query, known, known) is not None


def test_an_answer_by_words_that_weighed_nothing_says_nothing_of_the_rest_where_it_is_cut() -> None:
    query = parse_query("tea", "", "", False, NEWEST_RULES)
    numbers = ((0, 0, 0, 3),), (1, 0, 1, 90), 0
    hit = HitRow(bytes(20), bytes(20), bytes(32), bytes(16), 0.0, *numbers)
    answer = BestAnswer((0,), (90,), (hit,), complete=True, bound=0.0)
    none, some = (Statistics(100, (1, 1, 1, 900), (df,)) for df in (0, 90))
    cut, whole = (Rescoring(query, none, some, k).answer(answer) for k in (1, 2))
    assert not cut.complete and cut.bound > cut.hits[0].score > 0
    assert whole.complete and whole.bound == 0
