"""Speaks MCP on standard input and output, a message a line, for an AI client that started this process.

Standard output is the protocol's alone. It answers until its input ends, several questions at once.
"""

import asyncio
import sys
from dataclasses import dataclass
from typing import BinaryIO

import msgspec

from node.cli.http_client import HttpClient
from node.extras.clients.mcp_protocol import MAX_MESSAGE_BYTES, McpRefusal, answer, read_message, refused
from node.extras.clients.mcp_tools import SearchArguments
from node.views.lenient_json import Json

AT_ONCE = 4  # questions; asyncio has few threads, and one reads the input


async def serve_mcp(node: HttpClient) -> None:
    """Answer a client by asking a node, until the client closes standard input and has its answers."""
    reads, turns = HttpReads(node), asyncio.Semaphore(AT_ONCE)

    async def answer_line(line: bytes) -> None:
        try:
            _write(await answer(reads, read_message(line)))
        except McpRefusal as error:
            _write(refused(error))
        finally:
            turns.release()

    async with asyncio.TaskGroup() as tasks:
        while line := await asyncio.to_thread(_read_line, sys.stdin.buffer):
            if line.strip():
                await turns.acquire()
                tasks.create_task(answer_line(line))


@dataclass(frozen=True, slots=True)
class HttpReads:
    """Reads by the node's web listener what the tools need; a request waits in a thread."""

    node: HttpClient

    async def search(self, asked: SearchArguments) -> Json:
        """Search by GET /api/v1/search; raises NotRunning or RefusedByNode, as `load` does."""
        query = {"q": asked.query, "limit": asked.limit, "lang": asked.lang, "site": asked.site, "sort": asked.sort}
        return await asyncio.to_thread(self.node.get, "/api/v1/search", query)

    async def load(self, url: str) -> list[Json]:
        """Read a stored page by POST /clients/open-webui/load."""
        return await asyncio.to_thread(self.node.post_for_list, "/clients/open-webui/load", {"urls": [url]})


def _read_line(lines: BinaryIO) -> bytes:
    """Read a line; what is too long for a message is read to its end and kept as far as that shows."""
    line = rest = lines.readline(MAX_MESSAGE_BYTES + 1)
    while rest and not rest.endswith(b"\n"):
        rest = lines.readline(MAX_MESSAGE_BYTES)
    return line


def _write(told: Json | None) -> None:
    if told is not None:
        sys.stdout.buffer.write(msgspec.json.encode(told) + b"\n")
        sys.stdout.buffer.flush()
