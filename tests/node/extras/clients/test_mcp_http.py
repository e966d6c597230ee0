"""/mcp as AI clients meet it over HTTP, the SDK's own among them, where it is installed."""

import json
from typing import Any

import pytest

from tests.node.extras.clients.printed import settings
from tests.parameters import proved

PAGE = "http://docs.python.test/3/tutorial/appetite.html"
JSON = {"Content_Type": "application/json", "Accept": "application/json, text/event-stream"}


def post(site: Any, message: Any, **headers: str) -> Any:
    body = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode()
    return site.send("POST", "/mcp", body, **{**JSON, **headers})


@pytest.mark.parametrize("mode", ["legacy", *proved("auto")])
async def test_the_sdks_client_finds_two_tools_that_read_and_calls_them(site: Any, mode: str) -> None:
    sdk = pytest.importorskip("mcp", reason="the package mcp is not installed")
    (printed,) = settings("ChatGPT and other AI clients that reach MCP servers by HTTP", site.port)
    async with sdk.Client(printed, mode=mode, read_timeout_seconds=60) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["search", "fetch"]
        assert all(tool.annotations.read_only_hint and tool.output_schema for tool in tools)
        found = await client.call_tool("search", {"query": "task"})
        assert found.structured_content["results"][0]["id"] == PAGE and not found.is_error
        page = await client.call_tool("fetch", {"id": PAGE})
        assert page.structured_content["text"].startswith("If you do much work")
        refused = await client.call_tool("fetch", {"id": "http://none.test/"})
        assert refused.is_error and "no copy of http://none.test/" in refused.content[0].text
        assert (await client.call_tool("search", {"query": "初学者"})).structured_content["results"]


def test_a_client_is_answered_without_a_session(site: Any) -> None:
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    reply = post(site, {"id": 1, "method": "initialize", "params": params})
    assert reply.json["result"]["protocolVersion"] == "2025-11-25" and "mcp-session-id" not in reply.headers
    noted = post(site, {"method": "notifications/initialized"}, Mcp_Protocol_Version="2025-11-25")
    assert (noted.status, noted.body) == (202, b"")
    call = {"id": "b", "method": "tools/call", "params": {"name": "search", "arguments": {"query": "task", "limit": 3}}}
    told = post(site, call, Mcp_Protocol_Version="2025-11-25").json
    assert told["id"] == "b" and told["result"]["structuredContent"]["results"][0]["url"] == PAGE
    assert (site.service.asked[-1].text, site.service.asked[-1].limit) == ("task", 3)
    for method in ("GET", "DELETE"):
        reply = site.send(method, "/mcp", Accept="text/event-stream")
        assert (reply.status, reply.headers["allow"]) == (405, "OPTIONS,POST")


def test_errors_of_the_stateless_version_have_a_status(site: Any) -> None:
    said = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}
    headers = {"Mcp_Protocol_Version": "2026-07-28", "Mcp_Method": "prompts/list"}
    assert post(site, {"id": 1, "method": "prompts/list", "params": said}, **headers).status == 404
    mixed = post(site, {"id": 1, "method": "tools/list", "params": said}, **headers)
    assert (mixed.status, mixed.json["error"]["code"]) == (400, -32020)
    older = post(site, {"id": 1, "method": "prompts/list"})
    assert (older.status, older.json["error"]["code"]) == (200, -32601)


def test_a_page_of_another_site_may_not_ask(start: Any) -> None:
    site, ping = start(web_origins=("https://app.test",)), {"id": 1, "method": "ping"}
    for origin in ("https://evil.test", "null", "http://127.0.0.1:1", ""):
        refused = post(site, ping, Origin=origin)
        assert (refused.status, refused.headers["content-type"]) == (403, "application/problem+json")
    for origin in ("https://app.test", f"http://127.0.0.1:{site.port}"):
        assert post(site, ping, Origin=origin).json == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert post(site, ping, Host="evil.test").status == 421


def test_bodies_are_bounded_and_json(site: Any) -> None:
    assert post(site, b" " * (65 << 10)).status == 413
    assert post(site, b"{}", Content_Type="text/plain").status == 400
    for body in (b"", b"{", b"[]", b"[" * 60_000, b"\xff"):
        reply = post(site, body)
        assert reply.status == 400 and reply.json["error"]["code"] in (-32700, -32600) and reply.json["id"] is None


def test_a_node_in_trouble_tells_a_client_no_internals(site: Any) -> None:
    call = {"id": 1, "method": "tools/call", "params": {"name": "search", "arguments": {"query": "!bug"}}}
    reply = post(site, call)
    assert (reply.status, reply.headers["content-type"]) == (500, "application/problem+json")
    assert "secret" not in reply.text and "Unforeseen" not in reply.text
    site.service.fails_at = 1
    call["params"] = {"name": "fetch", "arguments": {"id": PAGE}}
    late = post(site, call).json["result"]
    assert late["isError"] and late["content"][0]["text"] == "The network did not answer in time; ask again."
