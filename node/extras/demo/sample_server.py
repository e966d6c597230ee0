"""Serves the hosts of a sample web by the Host header, logs every request, and counts what each host sees.

The log (JSON lines: t, host, path, ua, ip, status, bytes, ms) judges a crawl from outside: duplicates, gaps,
politeness.  The admin port tells /__stats, /__truth?host=H (each page's changes) and does /__reset.
"""

import asyncio
import json
import math
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO
from urllib.parse import parse_qs
from zlib import compress

from aiohttp import web
from multidict import CIMultiDict

from node.extras.demo.sample_reply import HTML, CacheBudget, SampleReply
from node.extras.demo.sample_site import SampleSite, Times

HUGE_BYTES = 80 << 20  # of the trap "huge": the site's own text again and again
DRIP_COUNT, DRIP_EVERY_S = 3600, 0.5  # of the trap "drip": a byte each time
SMALL_BYTES = 500  # bodies up to this are not compressed
LONGEST_WAIT_S = 30.0

CODERS = {"gzip": lambda body: compress(body, 6, 31)}
try:  # br is offered only where the package is installed
    import brotli
except ImportError:
    pass
else:
    CODERS["br"] = lambda body: brotli.compress(body, quality=5)


@dataclass(slots=True)
class HostRequests:
    """Counts what one host has seen; gaps between requests in seconds."""

    requests: int = 0
    bytes: int = 0
    open: int = 0
    max_open: int = 0
    first: str = ""
    last_at: float = -math.inf
    min_gap: float = 1e10
    statuses: Counter[int] = field(default_factory=Counter)
    paths: Counter[str] = field(default_factory=Counter)
    agents: Counter[str] = field(default_factory=Counter)

    def begin(self, path: str, at: float) -> None:
        """Note that a request came in."""
        self.open += 1
        self.max_open, self.first = max(self.max_open, self.open), self.first or path
        self.min_gap, self.last_at = min(at - self.last_at, self.min_gap), at

    def end(self, path: str, agent: str, status: int, size: int) -> None:
        """Note how it was answered."""
        self.open, self.requests, self.bytes = self.open - 1, self.requests + 1, self.bytes + size
        self.statuses[status] += 1
        self.paths[path] += 1
        self.agents[agent] += 1

    def report(self) -> dict[str, object]:
        """Return the numbers as /__stats shows them."""
        return {
            "requests": self.requests,
            "bytes": self.bytes,
            "statuses": self.statuses,
            "agents": self.agents,
            "max_open": self.max_open,
            "min_gap": self.min_gap,
            "first": self.first,
            "urls": len(self.paths),
            "repeats": self.requests - len(self.paths),
        }


def host_folders(root: Path) -> list[str]:
    """Return the names of the hosts in a folder, sorted; files and hidden folders beside them are no hosts."""
    if not root.is_dir():
        return []
    return sorted(p.name for p in root.iterdir() if p.is_dir() and not p.name.startswith("."))


class SampleServer:
    """Answers for all hosts of one folder, logs requests and counts them."""

    def __init__(
        self, root: Path, log: TextIO | None, times: Times, seed: str, cache_bytes: int, *, is_calm: bool = False
    ) -> None:
        self._times, self._log, self._budget = times, log, CacheBudget(cache_bytes)
        self.sites = {
            name.lower(): SampleSite(name, root, times, seed, self._budget, is_calm=is_calm)
            for name in host_folders(root)
        }
        self._seen: dict[str, HostRequests] = {}

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Serve one request; count and log it."""
        began_at, host = time.time(), request.host.rsplit(":", 1)[0].lower()
        path, agent = request.rel_url.raw_path_qs, request.headers.get("User-Agent", "")
        seen, status, size = self._seen.setdefault(host, HostRequests()), 0, 0
        seen.begin(path, began_at)
        try:
            response, size = await self._respond(request, self.sites.get(host))
            status = response.status
            return response
        finally:
            seen.end(path, agent, status, size)
            if self._log and not self._log.closed:
                took_ms = round((time.time() - began_at) * 1000, 1)
                line = {"t": round(began_at, 4), "host": host, "path": path, "ua": agent, "ip": request.remote}
                self._log.write(json.dumps(line | {"status": status, "bytes": size, "ms": took_ms}) + "\n")

    async def _respond(self, request: web.BaseRequest, site: SampleSite | None) -> tuple[web.StreamResponse, int]:
        """Return the response to one request and its body's size in bytes."""
        if site is None:
            return web.Response(status=421, text="No such host here\n"), 0
        if site.settings.latency_ms:
            median, sigma = site.settings.latency_ms
            await asyncio.sleep(min(LONGEST_WAIT_S, median / 1000 * math.exp(site.random.gauss(0, sigma))))
        hit = self._find_reply(request, site)
        if hit.stream:
            return await self._stream(request, site, is_huge=hit.stream == "huge")
        headers = CIMultiDict(hit.headers)
        if hit.status == 200 and _is_unchanged(request, hit):
            return web.Response(status=304, headers=headers), 0
        body = hit.bodies[""]
        is_text = headers["Content-Type"].startswith(("text/", "application/x"))
        if len(body) > SMALL_BYTES and is_text and "Content-Encoding" not in headers:
            accepted = request.headers.get("Accept-Encoding", "")
            for code in [c for c in site.settings.compress if c in CODERS and c in accepted][:1]:
                body = hit.bodies[code] = hit.bodies.get(code) or CODERS[code](body)
                headers["Content-Encoding"], headers["Vary"] = code, "Accept-Encoding"
        return web.Response(status=hit.status, headers=headers, body=body), len(body)

    def _find_reply(self, request: web.BaseRequest, site: SampleSite) -> SampleReply:
        url = request.rel_url
        if site.settings.is_steady and not url.raw_query_string and (hit := site.cache.kept.get((url.path, 0))):
            return hit
        client = (request.remote or "", request.headers.get("User-Agent", ""))
        return site.answer(url.path, parse_qs(url.raw_query_string), client, self._times.now(time.time()))

    async def _stream(
        self, request: web.BaseRequest, site: SampleSite, *, is_huge: bool
    ) -> tuple[web.StreamResponse, int]:
        """Send the huge page or the slow one, until it ends or the client has had enough."""
        front, size = site.find("/"), 0
        text = front.read_bytes() if front else site.name.encode()
        response = web.StreamResponse(headers={"Content-Type": HTML})
        await response.prepare(request)
        for at in range(HUGE_BYTES // len(text) if is_huge else DRIP_COUNT):
            if request.transport is None:
                break
            part = text if is_huge else text[at % len(text) :][:1]
            try:
                await response.write(part)
            except ConnectionResetError:  # the client has had enough
                break
            size += len(part)
            await asyncio.sleep(0 if is_huge else DRIP_EVERY_S)
        return response, size

    async def admin(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer /__stats, /__truth?host=H and /__reset."""
        if request.path == "/__truth":
            return self._truth(request.query.get("host", ""))
        if request.path == "/__reset":
            self._seen.clear()
        elif request.path != "/__stats":
            return web.Response(status=404, text="/__stats, /__truth?host=H or /__reset\n")
        counts = {
            "uptime": time.time() - self._times.started_at,
            "cache_left": self._budget.left_bytes,
            "requests": sum(seen.requests for seen in self._seen.values()),
            "hosts": {host: seen.report() for host, seen in self._seen.items()},
        }
        return web.json_response(counts)

    def _truth(self, host: str) -> web.Response:
        """Tell when each page of a host has changed, in seconds since the start."""
        site, now = self.sites.get(host), self._times.now(time.time())
        if site is None:
            return web.Response(status=404, text="no such host\n")
        clocks = {path: site.clock(path) for path in site.pages}
        pages = {
            path: {"changes": clock.changes(now), "gone": clock.gone_at, "per_second": clock.per_second}
            for path, clock in clocks.items()
        }
        return web.json_response({"now": now, "pages": pages})


def _is_unchanged(request: web.BaseRequest, hit: SampleReply) -> bool:
    """Tell whether the client's copy is the one that we would send (RFC 9110, section 13)."""
    tag = request.headers.get("If-None-Match")
    if tag:
        return tag == hit.headers.get("ETag")
    since = request.if_modified_since if "Last-Modified" in hit.headers else None
    return since is not None and hit.mtime <= since.timestamp()
