"""Tells a node's owner of an event by a command, a POST to an address, a topic of ntfy, or mail, each within bounds.

The command is started without a shell, with an environment of its own, and all that it started is killed when its time
is over. The POST bears no token and no cookie and follows no redirect, so where it leads nothing of a node obeys it.
"""

import asyncio
import logging
import os
import signal
from asyncio.subprocess import PIPE, STDOUT, Process
from contextlib import suppress
from typing import Any

import aiohttp
import msgspec

from node.config.settings import HookConfig
from node.owner.events import OwnerEvent
from node.owner.mail import send_mail, why
from node.version import VERSION
from node.views.safe_text import plain

log = logging.getLogger(__name__)

PATH = "/usr/local/bin:/usr/bin:/bin"
WAITS_S = (5.0, 30.0)  # between the tries of a POST: a service that is started anew is back by then
MAX_OUTPUT_BYTES = 4096  # of a command, the rest is read and forgotten
SHOWN = 300  # characters of it in the log
REAP_S = 1.0  # the system needs no longer to end what was killed
AGAIN = frozenset({408, 425, 429})  # besides 5xx: what a server says that may take it later


class OwnerHook:
    """Delivers events, one after the other. `about`: what each of them says of this node."""

    def __init__(self, config: HookConfig, about: dict[str, str], waits_s: tuple[float, ...] = WAITS_S) -> None:
        self._config, self._about, self._waits_s = config, about, waits_s

    async def tell(self, event: OwnerEvent) -> dict[str, str]:
        """Tell it by each way that is set; return the flaw of each way, "" for none. A flaw is logged, and given up."""
        config, body, told = self._config, msgspec.json.encode({**event.json(), **self._about}), dict[str, str]()
        title = f"dse-node: {event.topic} {event.state}"
        if config.command:
            told["command"] = await self._run(event, body)
        if config.url:
            told["url"] = await self._post(config.url, body, {"Content-Type": "application/json"})
        if config.ntfy:
            headers = {"Title": title, "Tags": "warning" if event.state == "begins" else "white_check_mark"}
            told["ntfy"] = await self._post(config.ntfy, event.text.encode(), headers)
        if config.mail:
            text = f"{event.text}\n\nnode {self._about['node']}\nnetwork {self._about['network']}\n"
            told["mail"] = await asyncio.to_thread(send_mail, config, title, text)
        for way, flaw in told.items():
            self._log(event, way, flaw)
        return told

    def _log(self, event: OwnerEvent, way: str, flaw: str) -> None:
        if flaw:
            log.warning("owner not told topic=%s state=%s by=hook.%s reason=%s", event.topic, event.state, way, flaw)
        else:
            log.info("owner told topic=%s state=%s by=hook.%s", event.topic, event.state, way)

    async def _run(self, event: OwnerEvent, body: bytes) -> str:
        """Run the command with the event on its input; return why it failed, or ""."""
        words = {"TOPIC": event.topic, "STATE": event.state, "TEXT": event.text, **self._about}
        environment = {f"DSE_{name.upper()}": text for name, text in words.items()}
        try:
            process = await asyncio.create_subprocess_exec(
                *self._config.command,
                stdin=PIPE,
                stdout=PIPE,
                stderr=STDOUT,
                cwd="/",
                env={"PATH": PATH, "LANG": "C.UTF-8", **environment},
                start_new_session=True,  # so that all it started can be killed with it
            )
        except (OSError, ValueError) as error:
            return plain(error, SHOWN)
        is_done = False
        try:
            async with asyncio.timeout(self._config.timeout_s):
                said = await _converse(process, body)
                code = await process.wait()
            is_done = True
        except TimeoutError:
            return f"not done within {self._config.timeout_s:g} s, killed"
        finally:
            if not is_done:
                await kill_session(process)
        return f"exit code {code}: {plain(said.decode(errors='replace'), SHOWN)}" if code else ""

    async def _post(self, url: str, body: bytes, headers: dict[str, str]) -> str:
        """POST to an address, a few times where that may help; return why it failed, or ""."""
        flaw, may_help = await self._post_once(url, body, headers)
        for wait_s in self._waits_s:
            if not may_help:
                break
            await asyncio.sleep(wait_s)
            flaw, may_help = await self._post_once(url, body, headers)
        return flaw

    async def _post_once(self, url: str, body: bytes, headers: dict[str, str]) -> tuple[str, bool]:
        """Return why a try failed, or "", and whether another one may help; nothing of the answer's body is read."""
        headers = {**headers, "User-Agent": f"dse-node/{VERSION}"}
        options: dict[str, Any] = {"data": body, "headers": headers, "allow_redirects": False}
        timeout = aiohttp.ClientTimeout(total=self._config.timeout_s)
        try:
            async with (
                aiohttp.ClientSession(trust_env=False, cookie_jar=aiohttp.DummyCookieJar(), timeout=timeout) as session,
                session.post(url, **options) as answer,
            ):
                status = answer.status
        except TimeoutError:
            return f"no answer within {self._config.timeout_s:g} s", True
        except (aiohttp.ClientError, OSError) as error:
            return why(error), True
        return ("" if 200 <= status < 300 else f"status {status}"), status >= 500 or status in AGAIN


async def kill_session(process: Process) -> None:
    """Kill a process with all that it started in its session, and wait for its end."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(TimeoutError):
        async with asyncio.timeout(REAP_S):
            await process.wait()


async def _converse(process: Process, body: bytes) -> bytes:
    """Give a process its input and return the beginning of its output, once all of that is read."""
    assert process.stdin is not None and process.stdout is not None
    # It need not read what it is told; uvloop raises RuntimeError where it has ended already.
    with suppress(BrokenPipeError, ConnectionResetError, RuntimeError):
        process.stdin.write(body)
        process.stdin.close()
    said = b""
    while part := await process.stdout.read(MAX_OUTPUT_BYTES):
        said = (said + part)[:MAX_OUTPUT_BYTES]
    return said
