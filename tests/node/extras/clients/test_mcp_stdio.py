"""`dse-node mcp` as an AI client meets it: the SDK's own client starts the command and talks to it over its pipes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.node.extras.clients.printed import blocks
from tests.parameters import proved

PAGE = "http://docs.python.test/3/tutorial/appetite.html"
CLIENT_S = 120  # for one answer, the start of the process included, on a machine that is busy
PATH = os.pathsep.join(path for path in (str(Path(__file__).parents[4]), *sys.path) if path)


def _client(port: int, tmp_path: Path, mode: str) -> Any:
    """The client, set up by the JSON that docs/clients.md prints, and the words that it prints for another node."""
    sdk = pytest.importorskip("mcp", reason="the package mcp is not installed")
    told, others = blocks("MCP", port)[1:]
    server = json.loads(told)["mcpServers"]["dse"]
    elsewhere = others.replace("127.0.0.1:8190", f"127.0.0.1:{port}").splitlines()[0].split()
    assert elsewhere[:2] == [server["command"], *server["args"]]
    command = tmp_path / server["command"]
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m node "$@"\n')
    command.chmod(0o755)
    around = {"PYTHONPATH": PATH, "HOME": str(tmp_path), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    transport = sdk.StdioServerParameters(command=server["command"], args=elsewhere[1:], env=around)
    return sdk.Client(transport, mode=mode, read_timeout_seconds=CLIENT_S)


@pytest.mark.parametrize("mode", ["legacy", *proved("auto")])
async def test_a_client_finds_two_tools_that_read_and_calls_them(site: Any, tmp_path: Path, mode: str) -> None:
    async with _client(site.port, tmp_path, mode) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["search", "fetch"]
        assert all(tool.annotations.read_only_hint and tool.output_schema for tool in tools)
        found = await client.call_tool("search", {"query": "task"})
        result = found.structured_content["results"][0]
        assert result["id"] == result["url"] == PAGE and result["title"].startswith("1. Whetting")
        page = await client.call_tool("fetch", {"id": result["id"]})
        assert set(page.structured_content) == {"id", "title", "text", "url", "metadata"}
        for answer in (found, page):
            assert not answer.is_error
            assert [json.loads(part.text) for part in answer.content] == [answer.structured_content]
        refused = await client.call_tool("fetch", {"id": "http://none.test/"})
        assert refused.is_error and "no copy of http://none.test/" in refused.content[0].text
        assert (await client.call_tool("search", {"query": "初学者"})).structured_content["results"]


def test_a_node_that_is_away_is_a_tools_error_and_nothing_but_the_protocol_is_printed(tmp_path: Path) -> None:
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    call = {"name": "search", "arguments": {"query": "task"}}
    with subprocess.Popen(
        [sys.executable, "-m", "node", "mcp", "--url", "http://127.0.0.1:1", "--data-dir", str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"PYTHONPATH": PATH},
    ) as process:
        assert process.stdin and process.stdout
        process.stdin.write(b"no JSON\n")
        process.stdin.write(_message(id=1, method="initialize", params=about))
        process.stdin.write(_message(method="notifications/initialized"))
        process.stdin.write(_message(id=2, method="tools/call", params=call))
        process.stdin.flush()
        process.stdin.write(b"x" * 70_000 + b"\n" + _message(id=3, method="ping"))
        process.stdin.flush()
        told = [json.loads(process.stdout.readline()) for _ in range(5)]
        rest, errors = process.communicate(timeout=CLIENT_S)
    assert [each["error"]["code"] for each in told if each["id"] is None] == [-32700, -32700]
    first, second, third = sorted((each for each in told if each["id"] is not None), key=lambda each: each["id"])
    assert third["result"] == {}
    assert first["result"]["serverInfo"]["name"] == "dse-node"
    assert second["result"]["isError"] and "structuredContent" not in second["result"]
    assert "start it with `dse-node run`" in second["result"]["content"][0]["text"]
    assert (process.returncode, rest) == (0, b"") and b"Traceback" not in errors


def _message(**fields: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **fields}).encode() + b"\n"
