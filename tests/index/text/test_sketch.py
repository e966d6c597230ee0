"""A sketch never denies a term or a pair that is there, and denies most that are not."""

import random
from itertools import pairwise

from dht import document_id, placement_key
from index import Text
from index.text.field_terms import FieldTerms, analyse
from index.text.sketch import COLUMN_BITS, COLUMNS, place_of, place_of_pair, sketch_of


def made_up(chance: random.Random, terms: int) -> FieldTerms:
    return fields_of([f"w{chance.randrange(3000)}" for _ in range(terms)])


def fields_of(words: list[str]) -> FieldTerms:
    title, one, other, body = map(" ".join, (words[:3], words[3:5], words[5:9], words[12:]))
    url = f"http://{'/'.join(words[9:12])}"
    about = document_id(url), placement_key(url), bytes(32), url, title, (one, other), body, "en", 0.0
    return analyse(Text(*about, boilerplate="menu of others"))


def has(sketch: list[int], place: int) -> bool:
    column, bit = divmod(place, COLUMN_BITS)
    return bool(sketch[column] >> bit & 1)


def test_what_is_there_is_never_denied() -> None:
    chance = random.Random(1)
    for size in (0, 1, 2, 3, 40, 900, 20_000):
        fields = made_up(chance, size)
        sketch = sketch_of(fields)
        assert len(sketch) == COLUMNS
        for line in (fields.title, *fields.headings, fields.url, fields.body):
            assert all(has(sketch, place_of(term)) for term in line)
            for one, other in pairwise(line):
                assert has(sketch, place_of_pair(one, other))
                assert has(sketch, place_of_pair(other, one))


def test_most_of_what_is_not_there_is_denied() -> None:
    chance = random.Random(2)
    fields = made_up(chance, 1400)  # a long page's
    sketch, there = sketch_of(fields), {*fields.body}
    absent = [f"w{number}" for number in range(3000, 5000)]
    assert sum(has(sketch, place_of(term)) for term in absent) < 0.5 * len(absent)
    apart = [(chance.choice(fields.body), chance.choice(fields.body)) for _ in range(2000)]
    assert sum(has(sketch, place_of_pair(*pair)) for pair in apart) < 0.5 * len(apart)
    short = sketch_of(made_up(chance, 150))
    assert sum(has(short, place_of(term)) for term in absent) < 0.1 * len(absent)
    assert not there & {*absent}


def test_boilerplate_is_left_out() -> None:
    assert not any(sketch_of(fields_of([])))
