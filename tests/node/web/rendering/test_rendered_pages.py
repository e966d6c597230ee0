"""A page whose answer is given again is not written again; it is never another reader's, and never an old one."""

from dataclasses import replace
from typing import Any

import pytest

from index import SearchRequest
from node.service.query_desk import AnswerCache


@pytest.fixture
def cached(site: Any) -> Any:
    """A site whose node remembers answers for five seconds of a clock that stands at `site.now`."""
    answers, search = AnswerCache(), site.service.search
    site.now, site.writings = 0.0, []

    async def remembered(question: SearchRequest, caller: str) -> dict[str, Any]:
        if (answer := answers.get(question, site.now, 1)) is not None:
            return answer
        answer = {**await search(replace(question)), "exact": True, "partial": False, "total": 1000 + int(site.now)}
        answers.put(question, answer, site.now, 1)
        return answer

    site.service.search = remembered
    return site


def test_it_shows_the_answer_in_force_and_is_in_the_language_that_is_asked_for(cached: Any) -> None:
    path = "/search?q=task"
    first, again, third = (cached.get(path) for _ in range(3))
    assert "1,000 results" in first.text and again.text == third.text and third.status == 200
    assert third.headers["content-language"] == "en" and third.headers["content-type"] == "text/html; charset=utf-8"
    assert 'lang="zh-Hans"' in cached.get(path, Accept_Language="zh").text
    assert cached.get(path).text == again.text
    cached.now = 6.0
    assert ["1,006 results" in cached.get(path).text for _ in range(3)] == [True, True, True]


def test_what_it_warns_of_is_said_at_once_and_no_longer_than_it_holds(cached: Any) -> None:
    path, before = "/search?q=task", cached.service.warnings
    for _ in range(3):
        assert "the disk is full" not in cached.get(path).text
    cached.service.warnings = lambda: ["the disk is full"]
    assert "the disk is full" in cached.get(path).text
    cached.service.warnings = before
    assert "the disk is full" not in cached.get(path).text


def test_a_readers_settings_change_nobody_elses_page_and_its_own_is_kept_too(cached: Any) -> None:
    path, cookie = "/search?q=task", f"dse-settings-{cached.port}=.dark.10."
    plain = [cached.get(path).text for _ in range(3)][-1]
    chosen = [cached.get(path, Cookie=cookie).text for _ in range(3)][-1]
    assert 'content="dark"' in chosen and 'content="light dark"' in plain and cached.get(path).text == plain
    cached.now = 6.0
    assert "1,006" in cached.get(path, Cookie=cookie).text


def test_a_readers_own_rules_change_nobody_elses_page(cached: Any) -> None:
    path = "/search?q=task"
    plain = [cached.get(path).text for _ in range(3)][-1]
    ruled = cached.get(path, Cookie=f"dse-sites-{cached.port}=-docs.python.test").text
    assert "docs.python.test/3" in plain and ruled != plain and cached.get(path).text == plain
