"""Forward records give back exactly what a plain reading of the document gives."""

import gc
import random
from contextlib import suppress
from dataclasses import replace
from itertools import chain

import index_corpus as corpus
import pytest

from index.errors import IndexCorrupt
from index.query.leaf import phrase_of, term_of
from index.query.scoring import occurrences
from index.text.analyzer import terms
from index.text.analyzer_rules import NEWEST_ANALYZER
from index.text.field_terms import (
    BODY,
    BOILERPLATE_LIMIT,
    TITLE,
    analyse,
)
from index.text.forward_index import (
    BASES,
    BOILERPLATE_BASE,
    by_field,
    content_digest,
    decode_forward,
    encode_forward,
    forward_of,
    within_fields,
)


@pytest.mark.parametrize("seed", range(5))
def test_positions_and_lengths_are_those_of_a_plain_reading(seed: int) -> None:
    for text in corpus.web(random.Random(seed), 20):
        fields = analyse(text)
        forward = decode_forward(encode_forward(text, fields))
        assert forward == forward_of(text)
        assert forward.lengths == (
            len(terms(text.title)),
            sum(len(terms(heading)) for heading in text.headings),
            len(fields.url),
            len(terms(text.body)),
        )
        lists = (fields.title, *fields.headings, fields.url, fields.body, fields.boilerplate)
        for term in {*chain(*lists), "absent", "ru"}:
            found = list(forward.positions(term))
            assert found == sorted(found)
            body = [p - BASES[BODY] for p in found if BASES[BODY] <= p < BOILERPLATE_BASE]
            assert body == [place for place, other in enumerate(fields.body) if other == term]
            rest = [p - BOILERPLATE_BASE for p in found if p >= BOILERPLATE_BASE]
            assert rest == [place for place, other in enumerate(fields.boilerplate) if other == term]
            counts = [fields.title.count(term), sum(h.count(term) for h in fields.headings)]
            counts += [fields.url.count(term), fields.body.count(term)]
            assert by_field(within_fields(forward.positions(term))) == tuple(counts)


def test_phrases_do_not_cross_borders() -> None:
    text = corpus.text(random.Random(1), "http://a.example/tail")
    text = replace(
        text, title="alpha", headings=("beta", "gamma delta"), body="epsilon zeta alpha", boilerplate="eta theta"
    )
    forward = forward_of(text)
    assert len(occurrences(forward, phrase_of("gamma", "delta"))) == 1
    assert len(occurrences(forward, phrase_of("epsilon", "zeta"))) == 1
    for first, second in [
        ("alpha", "beta"),
        ("beta", "gamma"),
        ("delta", "epsilon"),
        ("tail", "epsilon"),
        ("alpha", "eta"),
    ]:
        assert not occurrences(forward, phrase_of(first, second))
    assert by_field(occurrences(forward, term_of("alpha"))) == (1, 0, 0, 1)


def test_a_huge_document_is_cut_and_an_empty_one_is_none() -> None:
    text = corpus.text(random.Random(1), "http://a.example/")
    huge = replace(text, title="t " * 9999, headings=("h " * 999,) * 999, body="b " * 99_999)
    assert forward_of(huge).lengths[:2] == NEWEST_ANALYZER.limits[:2]
    assert forward_of(huge).lengths[3] == NEWEST_ANALYZER.limits[BODY]
    menu = forward_of(replace(huge, boilerplate="b " * 99_999)).positions("b")
    assert len(menu) == NEWEST_ANALYZER.limits[BODY] + BOILERPLATE_LIMIT and menu[-1] < 1 << 16
    empty = forward_of(replace(text, title="", headings=(), body="", url="", boilerplate=""))
    assert empty.lengths == (0, 0, 0, 0)
    assert not empty.positions("a")


@pytest.mark.parametrize("seed", range(3))
def test_a_long_document_of_many_rare_words_gives_back_each_position(seed: int) -> None:
    rng = random.Random(seed)
    words = [f"w{int(rng.paretovariate(0.3)) % 4000}" for _ in range(rng.choice((900, 3000)))]
    words[300:300] = ["again"] * 600
    text = replace(corpus.text(rng, "http://a.example/long"), language="", title="", headings=(), body=" ".join(words))
    fields = analyse(text)
    forward = decode_forward(encode_forward(text, fields))
    assert forward == forward_of(text)
    places: dict[str, list[int]] = {}
    for place, term in enumerate(fields.body, BASES[BODY]):
        places.setdefault(term, []).append(place)
    assert {term: list(forward.positions(term))[-len(found) :] for term, found in places.items()} == places


def test_a_record_that_was_cut_off_or_changed_is_found_damaged() -> None:
    """But for its head and the low bytes of positions, which nothing sums up; zstd has a bit that says nothing."""
    text = corpus.web(random.Random(1), 1)[0]
    record, forward = encode_forward(text, analyse(text)), forward_of(text)
    begin = record.index(bytes.fromhex("28b52ffd"))  # of the first frame of zstd
    for place in range(begin, len(record)):
        with pytest.raises(IndexCorrupt):
            decode_forward(record[:place])
        for bit in range(8):
            with suppress(IndexCorrupt):
                assert (
                    decode_forward(record[:place] + bytes((record[place] ^ 1 << bit,)) + record[place + 1 :]) == forward
                )


def test_a_record_is_smaller_than_twice_its_text() -> None:
    rng = random.Random(2)
    words = [f"word{number}" for number in range(3000)]
    text = replace(
        corpus.text(rng, "http://a.example/"),
        body=" ".join(words[int(rng.paretovariate(0.8)) % 3000] for _ in range(600)),
    )
    assert len(encode_forward(text, analyse(text))) < 2 * len(text.body)


def test_the_digest_tells_mirrors() -> None:
    text = corpus.text(random.Random(1), "http://a.example/")
    assert content_digest(text) == content_digest(replace(text, url="http://b.example/", headings=("x",)))
    assert content_digest(replace(text, title="ab", body="c")) != content_digest(replace(text, title="a", body="bc"))
    assert NEWEST_ANALYZER.limits[TITLE] < BASES[1]


def test_an_encoded_document_leaves_nothing_to_the_garbage_collector() -> None:
    """A node encodes ten documents a query, and collections are rare: what they left grew by 40 MB a minute."""
    texts = corpus.web(random.Random(1), 20)
    gc.collect()
    gc.disable()
    try:
        for text in texts:
            encode_forward(text, analyse(text))
        assert gc.collect() == 0
    finally:
        gc.enable()
