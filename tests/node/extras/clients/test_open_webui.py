"""Open WebUI's lists: nothing but what it reads, and nothing of a stranger's that is no text."""

from node.captures.capture import Capture
from node.extras.clients.found import read_found
from node.extras.clients.open_webui import open_webui_pages, open_webui_results

PAGE = Capture(
    "https://a.test/", 1_795_000_000.0, 200, (), b"", b"", title="A\x1b[1m", language="en", text="one\x00\ntwo\u202e"
)


def test_results_are_a_bare_list() -> None:
    answer = {"results": [{"url": "https://a.test/", "title": "A", "snippet": "s"}, {"url": "data:x"}]}
    assert open_webui_results(read_found(answer, "q")) == [{"link": "https://a.test/", "title": "A", "snippet": "s"}]


def test_pages_are_named_as_they_were_asked_for() -> None:
    about = {"source": "HTTPS://A.test", "title": "A[1m", "language": "en", "fetched": "2026-11-18"}
    assert open_webui_pages({"HTTPS://A.test": PAGE}) == [{"page_content": "one\ntwo", "metadata": about}]
