"""A node's best hits of a query: few rows are read for them, and none that is left out is better."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

import index_corpus as corpus
import pytest

from dht import Slot
from index import IndexConfig
from index.change_feed import DocumentChange, Text
from index.engine.forward_table import ForwardRow
from index.engine.index_files import IndexFiles
from index.query.parser import Query, parse_query
from index.results.oracle import OracleAnswer, SearchOracle
from index.shard.shard_search import ShardHits, ShardSearch

BITS, DEPTH = 4, 10_000
QUESTIONS = (  # words, hits that are wanted, and how many rows of 3,000 may be read for them
    ("river quartz", 20, 100),
    ("river quartz", 15, 100),
    ("river quartz absent", 19, 100),
    ("river stone quartz", 12, 100),
    ("quartz river stone", 30, 300),
    ("river stone", 19, 300),
)
SLOTS = [Slot(number) for number in range(1 << BITS)]


@pytest.fixture(params=["tantivy", "memory"])
def files(request: pytest.FixtureRequest) -> IndexFiles:
    return IndexFiles(IndexConfig(engine=request.param), None)


def many_with_one_common_word(rng: random.Random, count: int) -> list[Text]:
    """Documents of which half hold a common word, a third another, and one in two hundred a rare one, each on a host of
    its own."""
    out = []
    for number in range(count):
        rare, common, other = (
            ["quartz"] * (number % 200 == 0),
            ["river"] * (number % 2),
            ["stone"] * (number % 3 == 0),
        )
        words = [*rare, *common, *other, *(f"w{rng.randrange(500)}" for _ in range(rng.randint(20, 60)))]
        body = " ".join(rng.sample(words, len(words)))
        url = f"http://h{number}.example/{number}"
        out.append(replace(corpus.text(rng, url), title="", headings=(), body=body, language="en", boilerplate=""))
    return out


@cache  # for both engines: brute force takes seconds
def made() -> tuple[list[Text], Mapping[str, OracleAnswer]]:
    texts = many_with_one_common_word(random.Random(1), 3000)
    oracle = SearchOracle(texts)
    return texts, {words: oracle.search(words, wanted=k) for words, k, _ in QUESTIONS}


def count_reads(files: IndexFiles, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which the number of each record that is read from now on is added."""
    read, rows = list[int](), files.table.rows

    def counted(numbers: Sequence[int]) -> Iterator[ForwardRow]:
        for row in rows(numbers):
            read.append(row.number)
            yield row

    monkeypatch.setattr(files.table, "rows", counted)
    return read


def best(files: IndexFiles, query: Query, sought: OracleAnswer, k: int, per_host: int = 6) -> ShardHits:
    """Return a node's best hits, which are those that looking at every document finds."""
    found = ShardSearch(files, query, sought.statistics, SLOTS, BITS, DEPTH).best(query, k, 0.0, per_host)
    wanted = [(hit.text.id, hit.scored.score) for hit in sought.hits[:k]]
    assert [(hit.id, hit.score) for hit in found.hits] == wanted, query.text
    return found


def test_documents_with_the_common_word_alone_are_not_read_one_by_one(
    files: IndexFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, sought = made()
    files.apply([DocumentChange(text.id, text) for text in texts], b"")
    read = count_reads(files, monkeypatch)
    for words, k, most in QUESTIONS:
        read.clear()
        query = parse_query(words)
        found = best(files, query, sought[words], k)
        assert found.complete or found.bound < found.hits[-1].score
        if files.engine.__class__.__name__ == "TantivyEngine":  # others give candidates in no order
            assert len(read) <= most, words


def test_a_phrase_is_found_where_its_words_stand_together_and_nowhere_else(files: IndexFiles) -> None:
    chance, texts = random.Random(2), []
    for number in range(600):
        said = ["red fox"] * (number % 9 == 0) + ["fox red"] * (number % 13 == 0) + ["quartz"] * (number % 7 == 0)
        words = [*said, *(f"w{chance.randrange(300)}" for _ in range(chance.randint(5, 40)))]
        chance.shuffle(words)
        made = corpus.text(chance, f"http://h{number}.example/{number}")
        title = " ".join(words[:3]) if number % 5 == 0 else ""
        menu = "red fox" if number % 50 == 1 else ""
        plain = replace(made, title=title, headings=(), body=" ".join(words), language="en", boilerplate=menu)
        texts.append(plain)
    files.apply([DocumentChange(text.id, text) for text in texts], b"")
    oracle = SearchOracle(texts)
    for words, k in (('"red fox"', 19), ('"red fox"', 500), ('"red fox" quartz', 30), ('"fox red" w7 w8', 12)):
        query, sought = parse_query(words), oracle.search(words)
        for leaf in query.leaves:  # as the first round does
            files.engine.counts(leaf, BITS)
        best(files, query, sought, k, per_host=0)


APART = "river {} quartz {} stone"  # of three words, with others between them
HELD = (  # words, what stands in nearly all documents, and in every fifth, by which it is better
    ("river quartz stone", APART, "river quartz stone {} {}"),
    ("quartz river stone", APART, "river quartz stone {} {}"),
    ("rivers stones", "river {} {} {} stone", "river stone {} {} {}"),
)


@pytest.mark.parametrize(("words", "nearly_all", "better"), HELD)
def test_what_lacks_words_or_has_them_apart_is_passed_over_unread(
    words: str, nearly_all: str, better: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, chance, texts = IndexFiles(IndexConfig(), None), random.Random(3), list[Text]()
    for number in range(800):
        said = (better if number % 5 == 2 else nearly_all).format(*(f"w{chance.randrange(99)}" for _ in range(3)))
        rest = " ".join(f"w{chance.randrange(99)}" for _ in range(20))
        made = corpus.text(chance, f"http://h{number}.example/{number}")
        texts.append(replace(made, title="", headings=(), body=f"{said} {rest}", language="en", boilerplate=""))
    files.apply([DocumentChange(text.id, text) for text in texts], b"")
    query, sought, read = parse_query(words), SearchOracle(texts).search(words), count_reads(files, monkeypatch)
    best(files, query, sought, 10)
    assert len(read) <= 200
