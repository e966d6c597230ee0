"""Clients get the results of an answer safely, whoever wrote it."""

from typing import Any

import pytest

from node.extras.clients.found import read_found

GOOD: dict[str, Any] = {
    "url": "https://good.test/a/b.html?c=1",
    "title": "Good",
    "snippet": "needle in hay",
    "highlights": [[0, 6]],
    "score": 2.5,
    "date": 1_714_521_600.0,
    "fetched_at": 1_795_000_000.0,
    "id": "ab" * 20,
}


def test_a_result_is_read_with_its_address_snippet_and_days() -> None:
    answer = {"results": [GOOD], "total": 7, "took_ms": 34.6, "partial": True, "suggestions": ["x"]}
    found = read_found(answer, "needle", 20)
    (page,) = found.pages
    assert (page.url, page.address.hostname, page.title, page.text) == (
        GOOD["url"],
        "good.test",
        "Good",
        GOOD["snippet"],
    )
    assert (page.day, page.fetched_day, page.score) == ("2024-05-01", "2026-11-18", 2.5)
    assert page.day_rfc822 == "Wed, 01 May 2024 00:00:00 +0000"
    assert (found.total, found.start, found.took_s, found.is_partial, found.suggestions) == (
        7,
        20,
        0.0346,
        True,
        ("x",),
    )


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "data:text/html,x", "ftp://a.test/", "http://", "http://[x", "//a.test/", None, 7, ""],
)
def test_what_is_no_address_of_a_page_costs_its_own_place_only(url: object) -> None:
    assert [page.title for page in read_found({"results": [{**GOOD, "url": url}, GOOD]}, "q").pages] == ["Good"]


def test_no_address_ends_an_attribute_and_no_text_turns_a_line_round() -> None:
    odd = {
        **GOOD,
        "url": "http://a.test/\"'<b>`\u202e\x00",
        "title": "\u202eevil\x1b[31m\ufffe",
        "snippet": "a\x00b\r\nc",
    }
    (page,) = read_found({"results": [odd]}, "q\x07").pages
    assert page.url == "http://a.test/%22%27%3Cb%3E%60"
    assert (page.title, page.text) == ("evil[31m", "ab  c")


@pytest.mark.parametrize("answer", [{}, {"results": None}, {"results": "text"}, {"results": [None, 3, "x", [], {}]}])
def test_odd_answers_are_empty(answer: dict[str, Any]) -> None:
    found = read_found(answer, "q")
    assert (found.pages, found.total, found.took_s) == ((), 0, 0.0)


def test_odd_fields_are_left_out() -> None:
    odd = {"url": "http://a.test/", "title": None, "score": float("nan"), "date": "now", "highlights": "no"}
    (page,) = read_found({"results": [odd]}, "q").pages
    assert (page.title, page.score, page.day, page.text) == ("http://a.test/", 0.0, "", "")
