"""The record that is remembered of a page is what analysing this very version gives, and memory stays within bounds."""

from dataclasses import replace
from random import Random

import index_corpus as corpus

from index.engine.analysed_pages import AnalysedPages
from index.query.search_rules import NEWEST_RULES
from index.text.forward_index import forward_of

ANALYZER = NEWEST_RULES.analyzer
TEXTS = corpus.web(Random(5), 40)


def test_a_page_is_analysed_once_and_a_new_version_again() -> None:
    pages, text = AnalysedPages(), TEXTS[0]
    first = pages.forward_of(text, ANALYZER)
    assert first == forward_of(text, ANALYZER) and pages.forward_of(text, ANALYZER) is first
    changed = replace(text, version=bytes(32), body=text.body + " and more")
    assert pages.forward_of(changed, ANALYZER) == forward_of(changed, ANALYZER) != first


def test_pages_wanted_last_stay_within_the_bound_and_none_stays_at_rest() -> None:
    pages = AnalysedPages(most_bytes=8_000)
    often = pages.forward_of(TEXTS[0], ANALYZER)
    early = pages.forward_of(TEXTS[1], ANALYZER)
    for text in TEXTS[2:]:
        pages.forward_of(text, ANALYZER)
        assert pages.forward_of(TEXTS[0], ANALYZER) is often
    assert pages.forward_of(TEXTS[1], ANALYZER) is not early
    pages.spare()
    assert pages.forward_of(TEXTS[0], ANALYZER) is not often
