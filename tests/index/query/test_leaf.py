"""A leaf asks each document for terms of the document's stem class."""

import random
from dataclasses import replace

import index_corpus as corpus
import pytest

from index.query.leaf import Leaf, forms_of, leaf_of, phrase_of, term_of, terms_in
from index.query.scoring import occurrences
from index.text.forward_index import forward_of
from index.text.stem_classes import ALL_CLASSES, CLASSES


def _found(leaf: Leaf, body: str, language: str) -> int:
    text = replace(corpus.text(random.Random(1), "http://a.example/"), title="", headings=(), boilerplate="", body=body)
    return len(occurrences(forward_of(replace(text, language=language)), leaf))


def test_a_document_is_asked_for_the_stem_of_its_own_language() -> None:
    datenbank = term_of("datenbank")
    assert _found(datenbank, "zwei Datenbanken", "de")
    assert not _found(datenbank, "two Datenbanken", "en"), "English has no such ending"
    assert _found(term_of("datenbanken"), "zwei Datenbanken", "en"), "the same word meets in every class"


def test_the_stem_of_another_class_is_not_asked_for() -> None:
    assert _found(term_of("indices"), "an index", "en") and not _found(term_of("indices"), "ein Index", "de")


@pytest.mark.parametrize("leaf", [term_of("databases"), phrase_of("datenbank", "index"), term_of("北京"), term_of("3")])
def test_each_class_is_asked_once(leaf: Leaf) -> None:
    forms = forms_of(leaf)
    assert sum(form.classes for form in forms) == ALL_CLASSES
    for form in forms:
        assert all(terms_in(leaf, n) == (form.terms,) for n in range(len(CLASSES)) if form.classes >> n & 1)


def test_what_has_one_stem_everywhere_is_asked_for_at_once() -> None:
    assert [form.is_common for form in forms_of(term_of("北京"))] == [True]
    assert len(forms_of(term_of("running"))) > 1


def test_a_word_written_as_one_or_as_two_is_one_leaf() -> None:
    leaf = leaf_of(("pg", "dump"), [("pgdump",)])
    assert _found(leaf, "run pgdump", "en") and _found(leaf, "run pg dump", "en") and _found(leaf, "run pg_dump", "en")
    assert not _found(leaf, "dump the pg", "en")


def test_words_with_the_same_stems_are_one_leaf() -> None:
    assert term_of("3") == term_of("3") and term_of("größe") != term_of("grosse")
