"""Tells a collector the traces of queries, by OTLP over HTTP as JSON; what it does not take is forgotten."""

import asyncio
import logging

import aiohttp
import msgspec

from node.extras.traces.query_tracer import QueryTracer, otlp_request
from node.views.safe_text import plain

log = logging.getLogger(__name__)

EVERY_S = 2.0
TIMEOUT_S = 10.0
MOST_AT_ONCE = 2_000  # spans in one POST: 1 MB
SHOWN = 200  # characters of a failure in the log


class TraceExport:
    """Sends what a tracer has, until cancelled. `about`: what is said of this node, by OpenTelemetry's names."""

    def __init__(self, url: str, tracer: QueryTracer, about: dict[str, str], every_s: float = EVERY_S) -> None:
        self._url, self._tracer, self._about, self._every_s = url, tracer, about, every_s
        self._flaw = ""

    async def run(self) -> None:
        """Send all few seconds, and say in the log when that begins to fail and when it works again."""
        timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
        jar = aiohttp.DummyCookieJar()
        async with aiohttp.ClientSession(trust_env=False, cookie_jar=jar, timeout=timeout) as session:
            while True:
                await asyncio.sleep(self._every_s)
                spans = self._tracer.take()
                for first in range(0, len(spans), MOST_AT_ONCE):
                    body = msgspec.json.encode(otlp_request(spans[first : first + MOST_AT_ONCE], self._about))
                    self._note(await self._post(session, body))

    async def _post(self, session: aiohttp.ClientSession, body: bytes) -> str:
        """Return why the collector did not take it, or ""."""
        headers = {"Content-Type": "application/json"}
        try:
            async with session.post(self._url, data=body, headers=headers, allow_redirects=False) as answer:
                return "" if 200 <= answer.status < 300 else f"status {answer.status}"
        except TimeoutError:
            return f"no answer within {TIMEOUT_S:g} s"
        except (aiohttp.ClientError, OSError) as error:
            return plain(error, SHOWN) or type(error).__name__

    def _note(self, flaw: str) -> None:
        if flaw and not self._flaw:
            log.warning("traces are not taken by=traces.url reason=%s", flaw)
        elif self._flaw and not flaw:
            log.info("traces are taken again by=traces.url")
        self._flaw = flaw
