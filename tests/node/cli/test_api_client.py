"""A command gets typed answers of a node, page after page, and errors that name a remedy."""

from typing import Any

import pytest

from node.cli.api_client import ApiClient
from node.errors import NotRunning, RefusedByNode

PAGE = "http://docs.python.test/3/tutorial/appetite.html"


@pytest.fixture
def node(site: Any) -> ApiClient:
    return ApiClient(f"http://127.0.0.1:{site.port}")


def test_an_answer_has_types(node: ApiClient, site: Any) -> None:
    answer = node.search("task", limit=1, lang="en", site="python.test", sort="date")
    (result,) = answer.results
    assert (result.url, result.language, result.fetched_at, result.date) == (PAGE, "en", 1_795_000_000.0, 0.0)
    assert (answer.total, answer.total_is, answer.exact, answer.partial) == (1234, "exact", True, False)
    asked = site.service.asked[-1]
    assert (asked.limit, asked.language, asked.site, asked.is_by_date) == (1, "en", "python.test", True)


def test_answers_go_on_to_the_last_page(node: ApiClient, site: Any) -> None:
    assert len(list(node.answers("task", limit=1))) == 2
    assert [asked.cursor for asked in site.service.asked] == ["", "bmV4dA"]
    assert {asked.limit for asked in site.service.asked} == {1}


def test_what_a_node_refuses_or_another_program_answers_is_an_error(node: ApiClient, site: Any) -> None:
    with pytest.raises(RefusedByNode, match=r"limit: is .+; it takes a whole number from 1 to 100"):
        node.search("task", limit=101)
    site.service.total = "many"
    with pytest.raises(NotRunning, match="another kind"):
        node.search("e")
