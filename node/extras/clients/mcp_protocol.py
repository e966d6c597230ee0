"""Speaks MCP with a client, one JSON-RPC message at a time: the tools of `mcp_tools.py`, and nothing is remembered.

Pure: messages in, messages out; `mcp_http.py` carries them by HTTP, `mcp_stdio.py` by pipes. Two generations of clients
are served: those that begin with `initialize`, and those that say their version in each request (2026-07-28).
Source: https://modelcontextprotocol.io/specification, of 2025-11-25 and 2026-07-28.
"""

import binascii
import re
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from dht import MALFORMED, DseError
from node.extras.clients.mcp_tools import INSTRUCTIONS, TOOLS, McpReads, call_tool
from node.version import VERSION
from node.views.lenient_json import Json, table
from node.views.safe_text import plain

MAX_MESSAGE_BYTES = 64 << 10  # the longest question has a query of 1,000 characters, or an address of 2 kB
STATELESS = "2026-07-28"  # the version in which each request says what it is
BY_HANDSHAKE = (
    "2025-11-25",
    "2025-06-18",
    "2025-03-26",
    "2024-11-05",
)  # those that `initialize` agrees on, newest first
PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602  # of JSON-RPC 2.0
HEADER_MISMATCH, UNKNOWN_VERSION = -32020, -32022  # of MCP
_META, _VERSION, _SERVER = "_meta", "io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/serverInfo"
_ABOUT: Json = {"name": "dse-node", "version": VERSION}
_OFFER: Json = {"capabilities": {"tools": {}}, "instructions": INSTRUCTIONS}
_KEEP_MS = 3_600_000  # for how long a client may keep the list of tools, which changes with the program alone
_BASE64 = re.compile(r"=\?base64\?(.*)\?=")


@dataclass(eq=False)
class McpRefusal(Exception):
    """Says as JSON-RPC what is wrong with a message."""

    code: int
    message: str
    data: Json | None = None


def read_message(raw: bytes) -> Json:
    """Read the JSON object that a message is; raises McpRefusal."""
    try:
        message = msgspec.json.decode(raw)
    except MALFORMED as error:
        raise McpRefusal(PARSE_ERROR, f"the message is no JSON: {plain(error)}") from None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise McpRefusal(INVALID_REQUEST, 'the message is not an object with "jsonrpc": "2.0"; send them one by one')
    return message


async def answer(node: McpReads, message: Json) -> Json | None:
    """Answer a client's message; None where it wants no answer, as notifications and answers do."""
    if "id" not in message or "method" not in message:
        return None
    number = message["id"]
    if isinstance(number, bool) or not isinstance(number, str | int):
        return refused(McpRefusal(INVALID_REQUEST, "id is neither a string nor a whole number"))
    try:
        result = await _result(node, message)
    except McpRefusal as error:
        return refused(error, number)
    if is_stateless(message):
        result = {"resultType": "complete", **result}
    return {"jsonrpc": "2.0", "id": number, "result": result}


def refused(error: McpRefusal, number: str | int | None = None) -> Json:
    """Write a refusal as an answer of JSON-RPC; `number`: the id of the request, None where it cannot be read."""
    told = {"code": error.code, "message": error.message} | ({"data": error.data} if error.data is not None else {})
    return {"jsonrpc": "2.0", "id": number, "error": told}


def is_stateless(message: Json) -> bool:
    """Tell whether a request says its version in itself."""
    return _VERSION in table(table(message, "params"), _META)


def check_headers(message: Json, headers: Mapping[str, str]) -> None:
    """Compare what a client says of a message in HTTP headers with the message; raises McpRefusal where they differ.

    A proxy may have decided by the headers. Clients of older versions say the version alone, or nothing."""
    version = headers.get("Mcp-Protocol-Version")
    params = table(message, "params")
    if not is_stateless(message):
        if version is not None and version not in (*BY_HANDSHAKE, STATELESS):
            raise _unknown(version)
        return
    said = {"Mcp-Protocol-Version": table(params, _META)[_VERSION], "Mcp-Method": message.get("method")}
    if message.get("method") == "tools/call":
        said["Mcp-Name"] = params.get("name")
    for name, value in said.items():
        if _decoded(headers.get(name)) != value:
            raise McpRefusal(HEADER_MISMATCH, f"the header {name} is not what the message says; send it as it is there")


async def _result(node: McpReads, message: Json) -> Json:
    params = message.get("params", {})
    if not isinstance(params, dict):
        raise McpRefusal(INVALID_PARAMS, "params is not an object")
    if is_stateless(message) and (version := params[_META][_VERSION]) != STATELESS:
        raise _unknown(version)
    match message["method"]:
        case "initialize":
            asked = params.get("protocolVersion")
            return {
                "protocolVersion": asked if asked in BY_HANDSHAKE else BY_HANDSHAKE[0],
                "serverInfo": _ABOUT,
                **_OFFER,
            }
        case "server/discover":
            kept = {"ttlMs": _KEEP_MS, "cacheScope": "public", _META: {_SERVER: _ABOUT}}
            return {"supportedVersions": [STATELESS, *BY_HANDSHAKE], **_OFFER, **kept}
        case "ping":
            return {}
        case "tools/list":
            kept = {"ttlMs": _KEEP_MS, "cacheScope": "public"} if is_stateless(message) else {}
            return {"tools": [tool.described() for tool in TOOLS], **kept}
        case "tools/call":
            return await _called(node, params)
        case other:
            raise McpRefusal(NO_METHOD, f"{plain(other, 80)} is not a method of this server, which has tools alone")


async def _called(node: McpReads, params: Json) -> Json:
    name, arguments = params.get("name"), params.get("arguments", {})
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise McpRefusal(INVALID_PARAMS, "a call has a name, a string, and arguments, an object")
    try:
        found = await call_tool(node, name, arguments)
    except DseError as error:  # for the model to read, which may ask again
        return {"content": [{"type": "text", "text": str(error)}], "isError": True}
    text = msgspec.json.encode(found).decode()
    return {"content": [{"type": "text", "text": text}], "structuredContent": found, "isError": False}


def _unknown(version: Any) -> McpRefusal:
    known = {"supported": [STATELESS, *BY_HANDSHAKE], "requested": plain(version, 40)}
    return McpRefusal(UNKNOWN_VERSION, "this server does not speak that version of MCP", known)


def _decoded(value: str | None) -> str | None:
    """Return what a header says, which may stand there as Base64; None where that is none."""
    found = _BASE64.fullmatch(value or "")
    if found is None:
        return value
    try:
        return b64decode(found[1], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
