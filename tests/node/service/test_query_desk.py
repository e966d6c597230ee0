"""Answers are remembered for a limited time."""

from typing import Any

from index import SearchRequest
from node.service.query_desk import EMPTY_KEPT_S, KEPT_S, AnswerCache


def answer(**changes: Any) -> dict[str, Any]:
    return {"exact": True, "partial": False, "took_ms": 9.0, "results": [{"url": "http://a.test/"}], **changes}


ASKED = SearchRequest("run")


def test_an_exact_answer_is_given_again_for_a_while_whatever_the_deadline() -> None:
    cache = AnswerCache()
    cache.put(ASKED, answer(), 100.0, 1)
    again = cache.get(SearchRequest("run", deadline_ms=50), 100.0 + KEPT_S - 1, 1)
    assert again == {**answer(), "took_ms": 0.0, "age_s": KEPT_S - 1}
    assert cache.get(ASKED, 100.0 + KEPT_S, 1) is None
    others = SearchRequest("runs"), SearchRequest("run", limit=11), SearchRequest("run", asker_language="de")
    for other in (*others, SearchRequest("run", site="a.test")):
        assert cache.get(other, 100.0, 1) is None
    assert cache.get(ASKED, 100.0, 2) is None, "another strategy may bring another order"


def test_nothing_found_is_remembered_for_a_moment_and_what_is_partial_or_doubtful_never() -> None:
    cache = AnswerCache()
    cache.put(ASKED, answer(results=[]), 100.0, 1)
    assert cache.get(ASKED, 100.0 + EMPTY_KEPT_S - 0.1, 1) is not None
    assert cache.get(ASKED, 100.0 + EMPTY_KEPT_S, 1) is None
    for doubtful in (answer(exact=False), answer(exact=False, partial=True)):
        cache.put(SearchRequest("walk"), doubtful, 100.0, 1)
        assert cache.get(SearchRequest("walk"), 100.0, 1) is None


def test_the_oldest_leaves_when_there_are_too_many() -> None:
    cache = AnswerCache(most=3)
    for number in range(5):
        cache.put(SearchRequest(str(number)), answer(), float(number), 1)
    kept = [number for number in range(5) if cache.get(SearchRequest(str(number)), 5.0, 1)]
    assert kept == [2, 3, 4]


def test_answers_that_are_too_old_to_be_given_take_no_memory() -> None:
    cache = AnswerCache()
    for number in range(100):
        cache.put(SearchRequest(str(number)), answer(), number / 100, 1)
    cache.put(ASKED, answer(), 2 + KEPT_S, 1)
    assert len(cache) == 1
