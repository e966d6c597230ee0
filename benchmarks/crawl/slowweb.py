"""Serves a made-up web whose every answer takes a while: `python -m benchmarks.crawl.slowweb ORDER.json`.

An order: {hosts, pages, latency_s, words, log, ready}. Host n lies at an address of its own in 127/8, or
shares it; each has `pages` pages that link to one another, and an empty robots.txt. The log has the lines of the demo's
web. `ready` is written once it answers: the port.
"""

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import TextIO

import msgspec
from aiohttp import web

WORDS = ("river", "paper", "garden", "winter", "letter", "harbour", "market", "season", "village", "bridge")
FOREIGN = 8  # links of a page to other hosts


class WebOrder(msgspec.Struct, frozen=True):
    """The order to the program, from ORDER.json."""

    hosts: int
    pages: int
    latency_s: float
    words: int
    log: str
    ready: str


def host_name(number: int) -> str:
    """Return the name of the n-th host."""
    return f"h{number}.example"


def address_of(number: int, addresses: int) -> str:
    """Return the address of the n-th host, one of so many on loopback; Linux binds all of 127/8."""
    place = number % addresses
    return f"127.0.{1 + place // 250}.{1 + place % 250}"


def page(host: str, number: int, hosts: int, pages: int, words: int, port: str) -> str:
    """Write a page that links to all others of its host, and to a few of others."""
    rng = Random(f"{host}/{number}")
    there = [f"http://{host_name(rng.randrange(hosts))}{port}/p{rng.randrange(pages)}" for _ in range(FOREIGN)]
    targets = [f"/p{n}" for n in range(pages) if n != number] + there
    links = "".join(f'<a href="{target}">page</a> ' for target in targets)
    text = " ".join(rng.choice(WORDS) + str(rng.randrange(500)) for _ in range(words))
    return f"<html lang=en><head><title>{host} page {number}</title></head><body><p>{text}</p>{links}</body></html>"


class SlowWeb:
    """Answers for all hosts and writes a line about each answer."""

    def __init__(self, order: WebOrder, log: TextIO) -> None:
        self._order, self._log = order, log

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request, late."""
        began_at, path = time.time(), request.path
        host, _, port = request.host.partition(":")
        await asyncio.sleep(self._order.latency_s)
        number = int(path[2:]) if path[:2] == "/p" and path[2:].isdigit() else -1
        if path == "/robots.txt":
            answer = web.Response(text="")
        elif 0 <= number < self._order.pages:
            text = page(host, number, self._order.hosts, self._order.pages, self._order.words, port and f":{port}")
            answer = web.Response(text=text, content_type="text/html")
        else:
            answer = web.Response(status=404, text="no such page")
        sock = request.transport.get_extra_info("sockname") if request.transport else None
        line = {"t": began_at, "host": host, "path": path, "ua": request.headers.get("User-Agent", "")}
        line |= {"address": sock[0] if sock else "", "status": answer.status, "bytes": len(answer.text or "")}
        self._log.write(json.dumps(line | {"ms": (time.time() - began_at) * 1000}) + "\n")
        return answer


async def serve(order: WebOrder, log: TextIO) -> None:
    """Serve until the process is ended."""
    slow = SlowWeb(order, log)
    runner = web.ServerRunner(web.Server(slow.handle, keepalive_timeout=300.0), handle_signals=True)
    await runner.setup()
    site = web.TCPSite(runner, "0.0.0.0", 0, backlog=4096)
    await site.start()
    port = runner.addresses[0][1]
    Path(order.ready).write_text(str(port))  # noqa: ASYNC240
    await asyncio.Event().wait()


def lines_of(hosts: Sequence[str], addresses: int) -> str:
    """Write the hosts file of these hosts."""
    return "".join(f"{address_of(n, addresses)} {host}\n" for n, host in enumerate(hosts))


def main() -> None:
    """Serve the web that an order asks for."""
    order = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=WebOrder)
    with open(order.log, "w", buffering=1) as log:
        asyncio.run(serve(order, log))


if __name__ == "__main__":
    main()
