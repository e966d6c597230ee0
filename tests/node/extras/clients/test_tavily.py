"""Tavily's answers: scores are shares of the best one, dates and whole texts stand where they are known."""

from node.captures.capture import Capture
from node.extras.clients.found import read_found
from node.extras.clients.tavily import tavily_pages, tavily_results

A, B = "https://a.test/", "https://b.test/"
PAGE = Capture(A, 0.0, 200, (), b"", b"", title="A", text="one\ntwo\x07")


def test_scores_are_shares_and_what_is_unknown_is_left_out() -> None:
    results = [{"url": A, "score": 8.0, "date": 1_714_521_600.0, "snippet": "s"}, {"url": B, "score": 2.0}]
    body = tavily_results(read_found({"results": results, "took_ms": 34.6}, "q"), {A: PAGE})
    first, second = body["results"]
    assert (first["score"], second["score"], body["response_time"]) == (1.0, 0.25, 0.0346)
    assert (first["raw_content"], second["raw_content"]) == ("one\ntwo", None)
    assert first["published_date"].startswith("Wed, 01 May 2024") and "published_date" not in second
    assert (body["answer"], body["images"]) == (None, [])
    scoreless = tavily_results(read_found({"results": [{"url": A}]}, "q"), {})
    assert scoreless["results"][0]["score"] == 0.0


def test_what_is_not_stored_has_failed() -> None:
    body = tavily_pages([A, B], {A: PAGE}, 0.5)
    assert [each["url"] for each in body["results"]] == [A]
    assert [each["url"] for each in body["failed_results"]] == [B]
