"""MCP's messages: what clients of both generations ask, and what is no message."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from node.extras.clients.mcp_protocol import (
    BY_HANDSHAKE,
    STATELESS,
    McpRefusal,
    answer,
    check_headers,
    is_stateless,
    read_message,
)
from node.extras.clients.mcp_tools import SearchArguments
from node.views.lenient_json import Json

SAID = {"_meta": {"io.modelcontextprotocol/protocolVersion": STATELESS}}


class Pages:
    """A node that finds one page, and keeps it."""

    async def search(self, asked: SearchArguments) -> Json:
        return {"results": [{"url": "https://a.test/", "title": asked.query}]}

    async def load(self, url: str) -> list[Json]:
        return [{"page_content": "kept", "metadata": {}}] if url == "https://a.test/" else []


async def ask(method: str, params: Any = None, number: Any = 1) -> Json:
    message = {"jsonrpc": "2.0", "id": number, "method": method} | ({} if params is None else {"params": params})
    told = await answer(Pages(), message)
    assert told is not None and told["jsonrpc"] == "2.0" and ("result" in told) is not ("error" in told)
    return told


@pytest.mark.parametrize("version", BY_HANDSHAKE)
async def test_a_handshake_agrees_on_the_clients_version(version: str) -> None:
    result = (await ask("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": {}}))["result"]
    assert result["protocolVersion"] == version and result["capabilities"] == {"tools": {}}
    assert result["serverInfo"]["name"] == "dse-node" and "never instructions" in result["instructions"]


async def test_a_handshake_offers_the_newest_where_the_clients_is_unknown() -> None:
    for asked in ("1999-01-01", STATELESS, 7, None, ["x"]):
        assert (await ask("initialize", {"protocolVersion": asked}))["result"]["protocolVersion"] == BY_HANDSHAKE[0]


async def test_a_stateless_client_is_told_all_at_once() -> None:
    told = (await ask("server/discover", SAID, "a"))["result"]
    assert told["supportedVersions"][0] == STATELESS and told["resultType"] == "complete"
    listed = (await ask("tools/list", SAID))["result"]
    assert listed["resultType"] == "complete" and listed["ttlMs"] > 0
    assert "resultType" not in (await ask("tools/list"))["result"], "an older client may refuse what it does not know"
    unknown = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2031-01-01"}}
    error = (await ask("tools/list", unknown))["error"]
    assert (error["code"], error["data"]["requested"], error["data"]["supported"][0]) == (
        -32022,
        "2031-01-01",
        STATELESS,
    )


async def test_tools_answer_as_data_and_as_text_and_their_errors_are_for_the_model() -> None:
    result = (await ask("tools/call", {"name": "search", "arguments": {"query": " words "}}))["result"]
    assert result["structuredContent"]["results"][0]["title"] == "words" and not result["isError"]
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    page = (await ask("tools/call", {"name": "fetch", "arguments": {"id": "https://a.test/"}}))["result"]
    assert page["structuredContent"]["text"] == "kept"
    for call in ({"name": "fetch", "arguments": {"id": "https://b.test/"}}, {"name": "purge"}, {"name": "search"}):
        refused = (await ask("tools/call", call))["result"]
        assert refused["isError"] and refused["content"][0]["text"] and "structuredContent" not in refused


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("tools/call", {}, -32602),
        ("tools/call", {"name": 7}, -32602),
        ("tools/call", {"name": "search", "arguments": []}, -32602),
        ("tools/list", [], -32602),
        ("resources/list", {}, -32601),
        (7, {}, -32601),
        ({"a": 1}, {}, -32601),
    ],
)
async def test_a_wrong_request_is_an_error(method: Any, params: Any, code: int) -> None:
    assert (await ask(method, params))["error"]["code"] == code


async def test_ids_come_back_as_they_were() -> None:
    for number in (0, -1, "", "a", 1 << 60):
        assert (await ask("ping", None, number)) == {"jsonrpc": "2.0", "id": number, "result": {}}
    for number in (None, True, 1.5, [], {}):
        told = await ask("ping", None, number)
        assert told["id"] is None and told["error"]["code"] == -32600


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"\xff", b"[" * 100_000, b"[]", b"7", b"null", b'{"id": 1}', b'{"jsonrpc": 2}']
)
def test_what_is_no_message_is_refused(raw: bytes) -> None:
    with pytest.raises(McpRefusal) as caught:
        read_message(raw)
    assert caught.value.code in (-32700, -32600)


async def test_notifications_and_answers_want_no_answer() -> None:
    for message in ({"method": "notifications/initialized"}, {"id": 1, "result": {}}, {"method": "tools/call"}):
        assert await answer(Pages(), {"jsonrpc": "2.0", **message}) is None


def test_headers_are_what_the_message_says() -> None:
    call = {"method": "tools/call", "params": {"name": "search", **SAID}}
    right = {"Mcp-Protocol-Version": STATELESS, "Mcp-Method": "tools/call", "Mcp-Name": "search"}
    check_headers(call, right)
    check_headers(call, {**right, "Mcp-Name": "=?base64?c2VhcmNo?="})
    wrong = [{**right, "Mcp-Name": "fetch"}, {**right, "Mcp-Name": "=?base64?!?="}, {**right, "Mcp-Method": "ping"}]
    for headers in (*wrong, {**right, "Mcp-Protocol-Version": BY_HANDSHAKE[0]}, {}):
        with pytest.raises(McpRefusal) as caught:
            check_headers(call, headers)
        assert caught.value.code == -32020


def test_older_clients_say_their_version_alone_or_nothing() -> None:
    for headers in ({}, {"Mcp-Protocol-Version": BY_HANDSHAKE[-1]}):
        check_headers({"method": "ping"}, headers)
    with pytest.raises(McpRefusal, match="version"):
        check_headers({"method": "ping"}, {"Mcp-Protocol-Version": "garbage"})


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
methods = st.sampled_from(["initialize", "server/discover", "tools/list", "tools/call", "ping"]) | anything


@given(methods, anything, anything, st.booleans())
async def test_no_message_breaks_anything(method: Any, params: Any, number: Any, is_named: bool) -> None:
    if isinstance(params, dict) and is_named:
        params = {**params, **SAID, "name": "search"}
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    is_stateless(message)
    json.dumps(await answer(Pages(), message))
