"""Connections to sites: kept for the next request, given up where they cannot be, and nothing smuggled into one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
import pytest

from crawl import CrawlConfig
from crawl.fetch.connections import Connections

CONFIG = CrawlConfig(connect_timeout_s=2.0, read_timeout_s=0.5)
BODY = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


@dataclass
class Site:
    """Answers what it is told to, request by request; an answer of b"" closes the connection instead."""

    answers: list[bytes]
    url: str = ""
    connections: int = 0
    heads: list[bytes] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                self.heads.append(await reader.readuntil(b"\r\n\r\n"))
                if not (answer := self.answers.pop(0)):
                    return
                writer.write(answer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def at(*answers: bytes) -> AsyncIterator[tuple[Site, Connections]]:
    site = Site(list(answers))
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0)
    site.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    connector = aiohttp.TCPConnector()
    try:
        yield site, Connections(CONFIG, connector, {"User-Agent": "us/1"})
    finally:
        await connector.close()
        server.close()


async def body(connections: Connections, url: str, fields: dict[str, str] | None = None) -> bytes:
    response = await connections.get(url, fields or {})
    read = await response.body.read()
    response.keep()
    return read


async def test_a_connection_serves_one_request_after_the_other() -> None:
    async with at(BODY, BODY) as (site, connections):
        assert await body(connections, f"{site.url}/a?b=%20c", {"If-None-Match": '"x"'}) == b"hello"
        assert await body(connections, f"{site.url}/") == b"hello"
    host = site.url.removeprefix("http://").encode()
    first = b'GET /a?b=%%20c HTTP/1.1\r\nHost: %s\r\nUser-Agent: us/1\r\nIf-None-Match: "x"\r\n\r\n' % host
    assert site.heads == [first, b"GET / HTTP/1.1\r\nHost: %s\r\nUser-Agent: us/1\r\n\r\n" % host]
    assert site.connections == 1


async def test_a_request_that_an_idle_connection_swallows_is_made_once_more() -> None:
    async with at(BODY, b"", BODY) as (site, connections):
        assert await body(connections, f"{site.url}/") == b"hello"
        assert await body(connections, f"{site.url}/again") == b"hello"
        assert (site.connections, len(site.heads)) == (2, 3)


async def test_a_site_that_closes_a_new_connection_has_seen_the_request() -> None:
    """Another at once would be a request that no turn was taken for."""
    async with at(b"", BODY) as (site, connections):
        with pytest.raises(aiohttp.ServerDisconnectedError):
            await connections.get(f"{site.url}/", {})
        assert len(site.heads) == 1
    async with at(BODY, b"", b"", BODY) as (site, connections):
        assert await body(connections, f"{site.url}/") == b"hello"
        with pytest.raises(aiohttp.ServerDisconnectedError):
            await connections.get(f"{site.url}/", {})
        assert len(site.heads) == 3, "the second of them over a new connection"


async def test_a_connection_with_something_left_on_it_is_not_used_again() -> None:
    closing = BODY.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    async with at(BODY, closing, BODY) as (site, connections):
        response = await connections.get(f"{site.url}/", {})
        response.drop()
        for _ in range(2):
            assert await body(connections, f"{site.url}/") == b"hello"
        assert site.connections == 3


async def test_what_a_site_says_before_its_answer_is_passed_over() -> None:
    early = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"
    async with at(early + BODY) as (site, connections):
        response = await connections.get(f"{site.url}/", {})
        assert (response.status, response.address) == (200, "127.0.0.1")
        response.drop()
    async with at(early * 1000 + BODY) as (site, connections):
        with pytest.raises(ValueError, match="heads before the answer"):
            await connections.get(f"{site.url}/", {})


@pytest.mark.parametrize(
    ("target", "fields"),
    [("/a b", {}), ("/a\r\nX: y", {}), ("/", {"If-None-Match": "x\r\nCookie: y"}), ("/", {"X\n": "y"}), ("/\xe9", {})],
)
async def test_nobody_writes_more_than_a_target_or_a_field(target: str, fields: dict[str, str]) -> None:
    async with at(BODY) as (site, connections):
        with pytest.raises(ValueError, match="cannot be"):
            await connections.get(site.url + target, fields)
        assert not site.heads
