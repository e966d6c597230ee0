"""A machine of the lab: its addresses, the line to the others, and the node that somebody installed on it."""

import asyncio
import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp

from tests.lab.namespace import DEVICE, NetworkNamespace
from tests.lab.switch import Line

if TYPE_CHECKING:
    from tests.lab.internet import Internet
    from tests.lab.router import Router

ROOT = Path(__file__).parents[2]
PEER_PORT, WEB_PORT = 8091, 8090  # the defaults, each host having all ports for itself
ASK_WITHIN_S = 15.0
STOPS_WITHIN_S = 10.0
PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)

Json = dict[str, Any]


class Host:
    """Made by `Internet.host`. `families`: of its addresses; its loopback has both, as everywhere."""

    def __init__(self, net: "Internet", name: str, families: tuple[int, ...], router: "Router | None") -> None:
        self.name, self.families, self.router, self._net = name, families, router, net
        self.space = NetworkNamespace()
        device = self.space.open_tun()
        self.port = net.switch.add_port(device)
        os.close(device)
        self.addresses: tuple[str, ...] = ()
        self.process: subprocess.Popen[bytes] | None = None
        self.is_frozen = self.is_stopping = False
        self.home = net.folder / name
        self.home.mkdir(exist_ok=True)
        self.network_file = net.network_file  # what somebody gave it; a founder has its own
        self._line = Line()
        self._session: aiohttp.ClientSession | None = None
        self.space.set([] if 6 in families else [(f"ipv6/conf/{DEVICE}/disable_ipv6", "1")])
        self.space.ip(f"link set {DEVICE} mtu 1500 up")

    # ---- its network ----

    def take(self, addresses: tuple[str, ...]) -> None:
        """Have these addresses and no others, at once: as after another network's name was clicked."""
        for address in self.addresses:
            self._net.switch.order("unroute", self._realm, address)
            self._net.switch.order("unroute", 0, address)
        self.space.ip(f"address flush dev {DEVICE} scope global")
        for address in addresses:
            length = 128 if ":" in address else 32
            self._net.switch.order("route", self._realm, address, length, self.port)
            if self.router and ":" in address:
                self._net.switch.order("route", 0, address, length, self.port)
            self.space.ip(f"address add {address}/{length} dev {DEVICE}" + (" nodad" if length == 128 else ""))
        self.addresses = addresses
        ways = {"::/0" if ":" in address else "0.0.0.0/0" for address in addresses}
        self.space.ip(*(f"route replace {way} dev {DEVICE}" for way in sorted(ways)))

    @property
    def _realm(self) -> int:
        return self.router.number + 1 if self.router else 0

    def line(self, **changes: Any) -> None:
        """Change what joins it to all others, such as is_up, up_bytes (switch.py)."""
        self._line = replace(self._line, **changes)
        self._net.switch.set_line(self.port, self._line)

    def sleep(self) -> None:
        """Close the lid: everything stands still, nothing is heard."""
        self.line(is_up=False)
        self.signal(signal.SIGSTOP)

    def wake(self) -> None:
        """Open it again."""
        self.signal(signal.SIGCONT)
        self.line(is_up=True)

    # ---- its node ----

    @property
    def log(self) -> str:
        """Return the node's log."""
        file = self.home / "log"
        return file.read_text(errors="replace") if file.exists() else ""

    @property
    def is_running(self) -> bool:
        """Whether its node has been started, has not ended, and was not told to."""
        return self.process is not None and self.process.poll() is None and not self.is_stopping

    async def init(self, *settings: str, profile: str = "server") -> None:
        """`dse-node init` with the network's file; the lab's settings (internet.py) and then these."""
        pairs = [word for pair in (*self._net.settings, *settings) for word in ("--set", pair)]
        network = str(self.network_file)
        await self.do("init", "--yes", "--network", network, "--profile", profile, *pairs)

    async def do(self, *words: str, code: int = 0) -> str:
        """A verb of the command line, typed on this host; what it prints, to standard error where it should fail."""
        done = await asyncio.to_thread(self._run, words)
        assert done.returncode == code, f"{self.name}: {words}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout if code == 0 else done.stderr

    def _run(self, words: tuple[str, ...]) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "node", *words, "--data-dir", "node"]
        with self.space.entered():
            return subprocess.run(
                command, cwd=self.home, env=environment(self.home), capture_output=True, text=True, timeout=60
            )

    def start(self, *words: str, variables: Mapping[str, str] = {}) -> None:
        """`dse-node run`; words before it are a program that starts it, such as strace."""
        self.is_frozen = self.is_stopping = False
        command = [*words, sys.executable, "-m", "node", "run", "--data-dir", "node"]
        self.process = self.spawn(command, variables)

    def spawn(self, command: list[str], variables: Mapping[str, str] = {}) -> "subprocess.Popen[bytes]":
        """Start any program here, its output to `log`; it ends with this process, however that ends."""
        with self.space.entered(), (self.home / "log").open("ab") as log:
            process = subprocess.Popen(
                command,
                cwd=self.home,
                env=environment(self.home) | variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_end_with_parent,
            )
        self._net.processes.append(process)
        return process

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the node and its parsers."""
        assert self.process
        os.killpg(self.process.pid, number)
        self.is_frozen = number == signal.SIGSTOP or (self.is_frozen and number != signal.SIGCONT)

    async def kill(self) -> None:
        """SIGKILL, as a power cut."""
        assert self.process
        await end(self.process)

    async def stop(self) -> None:
        """SIGTERM, as a service manager stops it: clean, and soon."""
        assert self.process
        self.is_stopping = True
        self.process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(self.process.wait, STOPS_WITHIN_S)
        assert self.process.returncode == 0, f"{self.name}: exit {self.process.returncode}\n{self.log[-2000:]}"

    # ---- talking to it ----

    async def ask(
        self, path: str, query: Any = (), body: Json | None = None, within_s: float = ASK_WITHIN_S
    ) -> tuple[int, Json]:
        """One request with its token, from the host itself: status and JSON. Raises aiohttp's errors, TimeoutError."""
        token = (self.home / "node" / "admin.token").read_text().strip()
        headers = {"Authorization": f"Bearer {token}"}
        if self._session is None:
            connector = aiohttp.TCPConnector(socket_factory=self._socket, limit=0)
            self._session = aiohttp.ClientSession(connector=connector)
        url, timeout = f"http://127.0.0.1:{WEB_PORT}{path}", aiohttp.ClientTimeout(total=within_s)
        verb = "GET" if body is None else "POST"
        async with self._session.request(
            verb, url, params=query, json=body, headers=headers, timeout=timeout
        ) as answer:
            return answer.status, await answer.json()

    def _socket(self, address: tuple[Any, ...]) -> socket.socket:
        with self.space.entered():
            return socket.socket(address[0], address[1], address[2])

    async def get(self, path: str, query: Any = (), within_s: float = ASK_WITHIN_S) -> Json:
        """One request that has to succeed: the JSON."""
        code, body = await self.ask(path, query, within_s=within_s)
        assert code == 200, f"{self.name}: {path}: {code} {body}"
        return body

    async def status(self) -> Json | None:
        """/api/v1/status, None while it does not answer."""
        with contextlib.suppress(aiohttp.ClientError, TimeoutError, OSError):
            code, body = await self.ask("/api/v1/status", within_s=4)
            return body if code == 200 else None
        return None

    async def search(self, query: str, limit: int = 10, deadline_ms: int = 5000) -> Json:
        """/api/v1/search."""
        return await self.get("/api/v1/search", {"q": query, "limit": limit, "deadline_ms": deadline_ms})

    async def crawl(self, urls: list[str], depth: int = 30) -> None:
        """Hand in seeds; none may be refused."""
        code, body = await self.ask("/api/v1/crawl", body={"urls": urls, "depth": depth})
        assert code == 200 and not body["refused"], f"{self.name}: crawl: {code} {body}"

    async def documents(self, urls: list[str]) -> dict[str, Json]:
        """Return the documents that the node itself stores of these pages, by URL; gone ones are left out."""
        found: dict[str, Json] = {}
        for at in range(0, len(urls), 20):
            query = [*(("url", url) for url in urls[at : at + 20]), ("local", "true")]
            rows = (await self.get("/api/v1/document", query))["documents"]
            found |= {row["url"]: row for row in rows if row and not row["gone"]}
        return found

    async def close(self) -> None:
        """End what runs here, and the namespace with it."""
        if self._session:
            await self._session.close()
        self.space.close()

    def __repr__(self) -> str:
        return self.name


async def end(process: "subprocess.Popen[bytes]") -> None:
    """SIGKILL for a process and all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await asyncio.to_thread(process.wait, 10)


async def until(what: str, is_so: Callable[[], Any], within_s: float, every_s: float = 0.3) -> float:
    """Await `is_so()` again and again until it is true; the seconds that it took."""
    began = time.monotonic()
    while not (answer := await is_so()):
        assert time.monotonic() - began < within_s, f"not within {within_s:.0f} s: {what}: {answer!r}"
        await asyncio.sleep(every_s)
    return time.monotonic() - began


def environment(home: Path) -> dict[str, str]:
    """Return the environment that a user's shell would give a program there."""
    return os.environ | {"HOME": str(home), "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}


def _end_with_parent() -> None:
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
