"""A document's terms, numbered, are those that its texts have one by one."""

import random
from dataclasses import replace
from itertools import chain

import index_corpus as corpus

from index.text.analyzer import terms
from index.text.analyzer_rules import NEWEST_ANALYZER
from index.text.field_terms import MAX_BODY_CHARS, MAX_LINE_CHARS, URL, analyse
from index.text.stem_classes import class_of


def test_terms_are_those_of_each_text_in_order() -> None:
    for text in corpus.web(random.Random(3), 60):
        fields, stem_class = analyse(text), class_of(text.language)
        title, body, boilerplate, *headings = (
            terms(each, stem_class=stem_class) for each in (text.title, text.body, text.boilerplate, *text.headings)
        )
        assert (fields.title, fields.body, fields.boilerplate) == (title, body, boilerplate)
        assert fields.headings == list(filter(None, headings))
        assert 0 < len(fields.url) <= NEWEST_ANALYZER.limits[URL]


def test_the_vocabulary_holds_each_term_once_as_they_come() -> None:
    for text in corpus.web(random.Random(4), 20):
        fields = analyse(replace(text, body=f"x-ray {text.body} x-ray e-mail " * 3))
        said = chain(fields.title, *fields.headings, fields.url, fields.body, fields.boilerplate)
        assert fields.vocabulary == list(dict.fromkeys(said))


def test_a_title_or_body_of_megabytes_costs_what_a_long_one_costs() -> None:
    text = corpus.text(random.Random(1), "http://a.example/long")
    huge = replace(text, title=" " * MAX_LINE_CHARS + "late", body=" " * MAX_BODY_CHARS + "late")
    assert analyse(huge).title == analyse(huge).body == []
