"""The language of the asker: what a query takes from it, and where pages in others stand."""

from dataclasses import replace

import pytest

from index.change_feed import Text
from index.query.foreign import for_asker
from index.query.parser import parse_query
from index.query.scoring import explain, score
from index.results.oracle import SearchOracle
from index.text.forward_index import forward_of
from tests.index.query.test_scoring import page

FILLER = " ".join(f"word{n}" for n in range(60))


@pytest.mark.parametrize(
    ("typed", "asker", "kept"),
    [
        ("rust async", "en-US", "en"),
        ("rust async", "de-AT", "de"),
        ("rust async", "", ""),
        ("rust async", "*", ""),
        ("der baum im wald", "en", "de"),  # what is typed tells more than a browser
        ("history of the linux kernel", "de", "en"),
        ("history in linux", "de", "de"),  # "in" is a word of both
        ("history in linux", "zh", ""),  # of one of several others
        ("kaffee OR tee", "de", "de"),  # an operator is no English
        ("die hard", "en", "en"),
        ("喝茶", "en", ""),
        ("喝茶 python", "zh-CN", "zh"),
        ("baum lang:de", "en", ""),  # it asks for a language itself
        ("baum -lang:de", "en", "en"),
    ],
)
def test_a_query_goes_by_what_was_typed_before_it_goes_by_its_asker(typed: str, asker: str, kept: str) -> None:
    query = for_asker(parse_query(typed), asker)
    assert query.asker_language == kept
    assert for_asker(parse_query(typed), kept) == query, "a peer that is told so reads the same"
    assert for_asker(parse_query(typed, language="fr"), asker).asker_language == ""


def order(texts: list[Text], words: str, asker: str) -> list[str]:
    return [hit.text.language for hit in SearchOracle(texts).search(words, asker_language=asker).hits]


def test_pages_in_the_askers_language_stand_first_among_those_that_are_nearly_as_good() -> None:
    pages = [
        replace(page("Kernel", f"{said} {FILLER} {code}", f"http://{code or 'un'}.example/a"), language=code)
        for code, said in (("de", "kernel kernel"), ("zh", "kernel kernel"), ("en", "kernel"), ("", "kernel"))
    ]
    others = [page(f"t{n}", FILLER, f"http://d.example/{n}") for n in range(9)]
    web = [*pages, *others]
    assert order(web, "kernel", "") == ["de", "", "en", "zh"]
    assert order(web, "kernel", "en") == ["", "en", "de", "zh"], "an unknown language is nobody's other"
    assert order(web, "kernel", "de")[0] == "de" and order(web, "kernel", "fr")[0] == ""
    assert order(web, "kernel der und", "en")[0] == "de", "the question is German"


def test_a_page_has_the_smaller_factor_alone_and_a_front_page_none() -> None:
    query = for_asker(parse_query("kernel"), "en")
    german = replace(page("Kernel", "kernel", "http://a.example/a"), language="de")
    texts = [german, replace(german, language="zh"), replace(german, url="http://kernel.example/")]
    sums = SearchOracle(texts).search("kernel").statistics
    told = [explain(query, score(forward_of(text), query, sums), sums) for text in texts]
    assert [(each["script"], each["language"]) for each in told] == [(1.0, 0.88), (0.85, 1.0), (1.0, 1.0)]
    assert {each["asker_language"] for each in told} == {"en"}
