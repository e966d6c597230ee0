"""The tools of MCP as a client meets them, against a listener: what they ask of a node, and how they refuse."""

import json
from typing import Any

import pytest

from node.captures.capture import Capture
from node.errors import NothingToDo, RefusedByNode
from node.extras.clients.mcp_http import NodeReads
from node.extras.clients.mcp_tools import TOOLS, call_tool
from node.web.requests.route_table import ROUTES

PAGE = "http://docs.python.test/3/tutorial/appetite.html"


@pytest.fixture
def node(site: Any) -> NodeReads:
    return NodeReads(site.service)


async def test_what_search_finds_fetch_gives(node: NodeReads, site: Any) -> None:
    results = await call_tool(
        node, "search", {"query": " task ", "limit": 3, "lang": "en", "site": "a.test", "sort": "date"}
    )
    (result,) = results["results"]
    assert result["url"] == PAGE and "task" in result["text"]
    asked = site.service.asked[-1]
    assert (asked.text, asked.limit, asked.language, asked.site, asked.is_by_date) == ("task", 3, "en", "a.test", True)
    page = await call_tool(node, "fetch", {"id": result["id"]})
    assert page["title"].startswith("1. Whetting") and page["text"].startswith("If you do much work")
    assert page["metadata"] == {"language": "en", "fetched": "2026-11-18"}


@pytest.mark.parametrize(("most", "shown"), [(-1, "no more than this"), (7, "no more"), (0, "")])
async def test_of_a_page_that_limits_its_snippet_no_more_is_given(
    node: NodeReads, site: Any, most: int, shown: str
) -> None:
    url = "http://limits.test/"
    site.service.versions = [Capture(url, 1.8e9, 200, (), b"", b"", text="no more than this", max_snippet=most)]
    assert (await call_tool(node, "fetch", {"id": url}))["text"] == shown


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("search", {}, "query"),
        ("search", {"query": ""}, "length >= 1"),
        ("search", {"query": "  "}, "empty query: give words"),
        ("search", {"query": "x" * 1001}, "length <= 1000"),
        ("search", {"query": "x", "limit": 101}, "<= 100"),
        ("search", {"query": "x", "limit": "ten"}, r"\$.limit"),
        ("search", {"query": "x", "sort": "size"}, r"\$.sort"),
        ("search", {"query": "x", "engine": "y"}, "unknown field `engine`"),
        ("fetch", {"id": 7}, r"\$.id"),
        ("fetch", {"id": "http://a.test/" + "x" * 2048}, "length <= 2048"),
        ("fetch", {"id": "no address"}, "no copy of no address, or none .* the id of a result of `search`"),
        ("fetch", {"id": "http://none.test/"}, "no copy of http://none.test/"),
        ("purge", {}, "purge is not a tool of a node: there are search and fetch"),
    ],
)
async def test_bad_input_is_one_line_with_a_remedy(node: NodeReads, name: str, arguments: Any, told: str) -> None:
    with pytest.raises(NothingToDo, match=told) as caught:
        await call_tool(node, name, arguments)
    assert "\n" not in str(caught.value)


async def test_a_query_that_does_not_parse_is_refused(node: NodeReads) -> None:
    with pytest.raises(RefusedByNode, match="no closing quotation mark"):
        await call_tool(node, "search", {"query": '"open'})


def test_schemas_say_the_bounds_of_the_http_api() -> None:
    search, fetch = (tool.described()["inputSchema"] for tool in TOOLS)
    route = next(entry for entry in ROUTES if entry.path == "/api/v1/search")
    known = {each.name: each for each in route.parameters}
    fields = search["properties"]
    assert (search["required"], fetch["required"]) == (["query"], ["id"])
    assert {fields["query"]["maxLength"]} == {known["q"].most}
    assert (fields["limit"]["minimum"], fields["limit"]["maximum"]) == (known["limit"].least, known["limit"].most)
    assert [fields[name]["maxLength"] for name in ("lang", "site")] == [known[name].most for name in ("lang", "site")]
    assert not any("$ref" in json.dumps(schema) for schema in (search, fetch))
