"""Analyzers and rankings stay what they were under their numbers, to the last bit: networks go by them.

Where one of these digests differs, something changed that all nodes must share: give it a number of its own, in
`analyzer_rules.py` or `ranking_rules.py`, and a line here.
"""

import random
from collections.abc import Iterator
from hashlib import sha256

import pytest

from dht import document_id, placement_key
from index.change_feed import Text
from index.query.collection_statistics import Statistics
from index.query.leaf import terms_in
from index.query.parser import parse_query
from index.query.patterns import find_patterns
from index.query.ranking_rules import RANKINGS
from index.query.scoring import score, upper_bound
from index.query.search_rules import SearchRules, closest_to, rules_of
from index.text.analyzer_rules import ANALYZERS
from index.text.field_terms import analyse
from index.text.forward_index import forward_of
from index.text.tags import tags_of

SAID = (
    "running dogs the Überweg naïve x-ray python 3.11 don't search engine Datenbanken databases indices "
    "papers concerning 北京大学 搜索引擎 的 软件 網絡 utf-8 pg_dump C++ .NET ipv6 colours maisons libros"
)
WORDS = SAID.split()
LANGUAGES = ["en", "de", "fr", "zh", "", "sv"]
PATHS = ["", "/", "/index.html", "/docs/running-dogs.html", "/python", "/a/b/c/search_engine.pdf", "/?page=2"]
HOSTS = ["python.test", "docs.running.example:8080", "dogs.search.engine.of.all.long.names.test"]
QUERIES = [
    "running dogs",
    "papers concerning python",
    '"search engine" databases',
    "+python the -dogs",
    "北京大学 软件",
    "how do I run the search engine for utf-8 in C++ with indices and colours",
    "python OR naive x-ray",
    "pg_dump ipv6",
    "docs running example",
    "茶 软件 -茶",
    "茶* 北",
    "runn* serch~ NOT (engine OR dogs)",
]
ANALYSES = {1: "cf72e74c3f2b32083dfd19b1d77f8a51"}
SCORES = {(1, 1): "27c846b1349e1e3f03e3d584002186e5"}  # of a ranking, with an analyzer


def page(number: int) -> Text:
    rng = random.Random(number)

    def words(most: int) -> str:
        return " ".join(rng.choice(WORDS) for _ in range(rng.randint(0, most)))

    url = f"http://{rng.choice(HOSTS)}{rng.choice(PATHS)}"
    title, headings, body = words(rng.choice([3, 8, 20])), tuple(words(5) for _ in range(3)), words(80)
    about = url, title, headings, body, rng.choice(LANGUAGES), 1.7e9
    return Text(
        document_id(url), placement_key(url), bytes(32), *about, boilerplate=words(9), site_links=number % 3 - 1
    )


PAGES = [page(number) for number in range(120)]


def digest_of(lines: Iterator[str]) -> str:
    return sha256("\n".join(lines).encode()).hexdigest()[:32]


def analyses(number: int) -> Iterator[str]:
    rules = closest_to(number, max(RANKINGS)).analyzer
    for text in PAGES:
        found = analyse(text, rules)
        terms = found.title, found.headings, found.url, found.body, found.boilerplate
        yield repr((terms, sorted(tags_of(text))))
    for asked in QUERIES:
        query = parse_query(asked, rules=closest_to(number, max(RANKINGS)))
        yield repr((query.root, query.counted, query.readings))
        yield repr([(str(each.pattern), each.start, each.end) for each in find_patterns(asked)[0]])
        leaves = [[terms_in(leaf, stem_class) for stem_class in (0, 1, 2)] for leaf in query.leaves]
        yield repr((leaves, query.repeats))


def scores(rules: SearchRules) -> Iterator[str]:
    for asked in QUERIES:
        query = parse_query(asked, rules=rules)
        sums = Statistics(120, (900, 700, 500, 9000), tuple(range(2, 2 + 3 * len(query.leaves), 3)))
        yield upper_bound(query, sums).hex()
        for text in PAGES:
            yield score(forward_of(text, rules.analyzer), query, sums).score.hex()


@pytest.mark.parametrize("number", ANALYSES)
def test_an_analyzer_stays_what_it_was(number: int) -> None:
    assert digest_of(analyses(number)) == ANALYSES[number]


@pytest.mark.parametrize("numbers", SCORES)
def test_a_ranking_stays_what_it_was(numbers: tuple[int, int]) -> None:
    rules = rules_of(*numbers)
    assert rules is not None
    assert digest_of(scores(rules)) == SCORES[numbers]


def test_every_number_is_watched_and_no_two_are_alike() -> None:
    assert set(ANALYSES) == set(ANALYZERS) and {ranking for _, ranking in SCORES} == set(RANKINGS)
    assert len(set(ANALYSES.values())) == len(ANALYSES) and len(set(SCORES.values())) == len(SCORES)
