"""Sites that send given bytes, whether HTTP or not, and the cases of tests/data/web: what servers do send."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from dht import split_url

CASES = Path(__file__).parents[2] / "data" / "web"
PAGE = b"<!doctype html><title>page</title><p>words of the page"
_LENGTH = re.compile(rb"(?<=\r\nContent-Length: )\d+", re.IGNORECASE)


def case(name: str) -> dict[str, bytes]:
    """The responses of one case, by URL."""
    found = {}
    for part in (CASES / name / "input").read_bytes().removeprefix(b"### ").split(b"\n### "):
        url, _, raw = part.partition(b"\n")
        head = raw.index(b"\r\n\r\n") + 4
        found[url.decode()] = raw[: head + int(_LENGTH.search(raw)[0])]  # type: ignore[index]
    return found


def ok(*lines: bytes, body: bytes = PAGE, status: bytes = b"200 OK") -> bytes:
    """A response with these lines in its head; without a Content-Length it ends with the connection."""
    return b"\r\n".join((b"HTTP/1.1 " + status, *lines, b"", body))


def html(body: bytes) -> bytes:
    return ok(b"Content-Type: text/html; charset=utf-8", body=body)


def moved(to: str, *lines: bytes, status: bytes = b"302 Found") -> bytes:
    return ok(b"Location: " + to.encode(), b"Content-Length: 0", *lines, body=b"", status=status)


class RawSites:
    """Answers by URL, without ports; a request with a cookie may have another answer, keyed "URL cookie"."""

    def __init__(self) -> None:
        self.answers: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.port = 0
        self.silent_s = 0.0  # after an answer, before its connection is closed

    def url(self, url: str) -> str:
        """The URL as it is asked for here."""
        site = split_url(url).site
        return url.replace(f"//{site}", f"//{site}:{self.port}", 1)

    def paths(self, host: str) -> list[str]:
        """Return the requests to a host, in order, but for robots.txt."""
        begin = f"http://{host}"
        return [
            url.removeprefix(begin) for url in self.asked if url.startswith(begin) and not url.endswith("/robots.txt")
        ]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            fields = dict(line.split(": ", 1) for line in lines if line)
            url = f"http://{fields['Host'].partition(':')[0]}{first.split()[1]}"
            cookie = fields.get("Cookie", "")
            self.asked.append(f"{url} {cookie}".strip())
            answer = self.answers.get(f"{url} {cookie}".strip(), self.answers.get(url, ok(status=b"404 No", body=b"")))
            writer.write(self._with_ports(answer))
            await writer.drain()
            await asyncio.sleep(self.silent_s)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def _with_ports(self, answer: bytes) -> bytes:
        """Put this server's port after the names of sites, and mend the length where it was right."""
        head, end, body = answer.partition(b"\r\n\r\n")
        length = _LENGTH.search(answer)
        was_right = length is not None and int(length[0]) == len(body)
        head, body = (
            re.sub(rb"(?<=://)([a-z0-9]+\.test)(?=[/\"<]|\s|$)", rb"\1:%d" % self.port, text) for text in (head, body)
        )
        answer = head + end + body
        return _LENGTH.sub(b"%d" % len(body), answer, count=1) if was_right else answer


@asynccontextmanager
async def open_sites() -> AsyncIterator[RawSites]:
    sites = RawSites()
    server = await asyncio.start_server(sites.serve, "127.0.0.1", 0)
    sites.port = server.sockets[0].getsockname()[1]
    try:
        yield sites
    finally:
        server.close()
