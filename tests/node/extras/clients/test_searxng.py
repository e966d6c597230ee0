"""SearXNG's JSON of an answer: positions go on from page to page, and a day is an instant as its clients parse it."""

from datetime import datetime

from node.extras.clients.found import read_found
from node.extras.clients.searxng import searxng_json


def test_results_are_numbered_through_all_pages_and_dated() -> None:
    pages = [{"url": "https://a.test/p;v=1?q=2#f", "title": "A", "snippet": "s", "date": 1_714_521_600.0, "score": 3.5}]
    body = searxng_json(read_found({"results": [*pages, {"url": "https://b.test/"}], "total": 50}, "q", 20))
    first, second = body["results"]
    assert (first["positions"], second["positions"], body["number_of_results"]) == ([21], [22], 50)
    assert datetime.fromisoformat(first["publishedDate"]) == datetime(2024, 5, 1)
    assert second["publishedDate"] is None
    assert first["parsed_url"] == ["https", "a.test", "/p", "v=1", "q=2", "f"]
    assert body["unresponsive_engines"] == []
