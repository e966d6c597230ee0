"""MCP's two answers: what AI clients read, and nothing of a stranger's that is no text."""

from node.extras.clients.found import read_found
from node.extras.clients.mcp import PAGE_SCHEMA, RESULTS_SCHEMA, mcp_page, mcp_results


def test_results_have_an_id_that_is_an_address() -> None:
    about = {"url": "https://a.test/", "title": "A\x1b[1m\ud800", "snippet": "s\ud800", "date": 1_795_000_000}
    answer = {"results": [about, {"url": "https://b.test/"}, {"url": "data:x"}]}
    first, second = mcp_results(read_found(answer, "q"))["results"]
    url = "https://a.test/"
    assert first == {"id": url, "title": "A[1m", "url": url, "text": "s", "date": "2026-11-18"}
    assert second == {"id": "https://b.test/", "title": "https://b.test/", "url": "https://b.test/", "text": ""}
    assert set(first) == set(RESULTS_SCHEMA["properties"]["results"]["items"]["properties"])


def test_a_page_is_named_as_it_was_asked_for() -> None:
    about = {"source": "http://other.test/", "title": "A\x1b[1m", "language": "en", "fetched": "2026-11-18"}
    page = mcp_page("https://a.test/", [{"page_content": "one\x00\ntwo\u202e\ud800", "metadata": about}])
    assert page == {
        "id": "https://a.test/",
        "title": "A[1m",
        "text": "one\ntwo",
        "url": "https://a.test/",
        "metadata": {"language": "en", "fetched": "2026-11-18"},
    }
    assert set(page) == set(PAGE_SCHEMA["properties"])


def test_nothing_loaded_is_no_page_and_a_bare_one_is_named_by_its_address() -> None:
    assert mcp_page("https://a.test/", []) is None
    bare = mcp_page("https://a.test/", [{}])
    assert bare is not None and (bare["title"], bare["text"], bare["metadata"]) == ("https://a.test/", "", {})
