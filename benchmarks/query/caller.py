"""Asks a node's web listener as cheaply as can be, so that what is measured is the node: HTTP over kept connections."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

WITHIN_S = 20.0
LIKE_THE_PAGE = {"explain": "true", "facets": "true", "deadline_ms": "2500"}  # node/web/search/search_page.py


@dataclass(frozen=True, slots=True)
class Reply:
    """Holds what came, and after how long."""

    status: int
    body: bytes
    ms: float

    @property
    def is_answer(self) -> bool:
        """Tell whether it is an answer, whole or not."""
        return self.status == 200

    def said(self) -> dict[str, Any]:
        """Return the answer's fields."""
        found: dict[str, Any] = json.loads(self.body)
        return found


def search_path(words: str) -> str:
    """Return the path of a search that asks for all that the search page asks for."""
    return "/api/v1/search?" + urlencode({"q": words, **LIKE_THE_PAGE})


class Caller:
    """One connection to a node."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def get(self, path: str) -> Reply:
        """Ask for a path, and wait for all of the answer."""
        began = time.perf_counter()
        self._writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        async with asyncio.timeout(WITHIN_S):
            head = await self._reader.readuntil(b"\r\n\r\n")
            length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
            body = await self._reader.readexactly(int(length))
        return Reply(int(head[9:12]), body, (time.perf_counter() - began) * 1000)


@asynccontextmanager
async def calling(port: int) -> AsyncIterator[Caller]:
    """Open a connection for the block."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
    try:
        yield Caller(reader, writer)
    finally:
        writer.close()
