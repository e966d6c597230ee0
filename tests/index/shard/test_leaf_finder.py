"""The numbers by which a query scores a record: the compiled leaf measures what Python measures."""

import random
from collections.abc import Iterator
from dataclasses import replace

import index_corpus as corpus
import pytest

from index import Text
from index.query.parser import parse_query
from index.query.scoring import CLOSE_ONE, CLOSE_POSITIONS
from index.shard.top_hits import LeafFinder
from index.text import text_leaf
from index.text.forward_index import forward_of
from index.text.text_leaf import TextLeaf
from tests.compiled_leaf import compiled, module_of

WORDS = ["run", "dog", "dogs", "cat", "utf", "8", "utf-8", "a", "b", "the", "搜索", "引擎", "Вода", "3.11", "12"]
LANGUAGES = ("en", "de", "zh", "ru", "", "fr")


@pytest.fixture(scope="module")
def leaf(tmp_path_factory: pytest.TempPathFactory) -> TextLeaf:
    """The leaf that is installed; else one that is compiled for the tests."""
    return text_leaf.leaf or TextLeaf(module_of(compiled("index/text", tmp_path_factory.mktemp("leaf"))))


def texts(rng: random.Random) -> Iterator[Text]:
    """Documents of few words, so that they come often, beside each other, and in the boilerplate alone."""
    for number in range(60):
        few = rng.sample(WORDS, rng.randint(1, len(WORDS)))
        few += ["other"] * rng.choice((0, 1, 9, 90))  # so that words are near, far and just out of reach
        said = [" ".join(rng.choices(few, k=rng.choice((0, 1, 3, 40, 3_000)))) for _ in range(4)]
        marks = corpus.text(rng, f"http://h{number}.example/{'-'.join(rng.choices(few, k=3))}")
        kept = marks.id, marks.key, marks.version, marks.url, said[0][:200], (said[1][:300], few[0])
        yield Text(*kept, said[2], rng.choice(LANGUAGES), 0.0, said[3])


@pytest.mark.parametrize("seed", range(2))
def test_it_measures_what_python_measures(leaf: TextLeaf, seed: int) -> None:
    rng, near, phrases = random.Random(seed), 0, 0
    for text in texts(rng):
        forward = forward_of(text)
        for _ in range(10):
            words = rng.choices([*WORDS, "nowhere"], k=rng.randint(1, 7))
            query = parse_query(
                " ".join(f'"{word} {rng.choice(WORDS)}"' if rng.random() < 0.3 else word for word in words)
            )
            finder = LeafFinder(query.leaves, leaf)
            places, _ = finder.find(forward)
            found = finder.measure(forward, places)
            assert found == finder.measured(forward, places), query.text
            near += found[1] > 0
            phrases += any(any(tf) for tf, span in zip(found[0], finder.spans, strict=True) if span > 1)
    assert near > 50 and phrases > 50


@pytest.mark.parametrize(("before", "close"), [(CLOSE_POSITIONS - 1, CLOSE_ONE), (CLOSE_POSITIONS, 0)])
def test_of_a_word_so_many_positions_are_looked_at(leaf: TextLeaf, before: int, close: int) -> None:
    body = "dog " * before + "other " * 20 + "dog cat"
    text = replace(corpus.text(random.Random(1), "http://h/"), title="", headings=(), body=body, boilerplate="")
    forward, finder = forward_of(text), LeafFinder(parse_query("dog cat").leaves, leaf)
    places, _ = finder.find(forward)
    assert finder.measure(forward, places) == finder.measured(forward, places)
    assert finder.measured(forward, places)[1] == close


def test_what_is_no_record_is_refused_or_measured_within_its_bytes(leaf: TextLeaf) -> None:
    rng, refused = random.Random(3), 0
    for _ in range(3_000):
        table, rows, low = (rng.randbytes(rng.choice((0, 1, 40, 400))) for _ in range(3))
        places, leaves = [rng.randint(-1, 500) for _ in range(3)], (0, 2, ((1, 2), (0,)))
        try:
            leaf.measure_leaves(table, rows, low, rng.choice((0, 3, 1 << 15)), places, leaves, (1, 1, 2))
        except ValueError:
            refused += 1
    assert 1_000 < refused < 3_000
