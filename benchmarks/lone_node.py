"""Runs `dse-node` on loopback as its owner does: a network of one, in a folder of its own."""

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.ports import free_ports

_PROGRAM = (sys.executable, "-m", "node")
_COMPILED = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}  # an install has its modules compiled; that takes .5 s


@dataclass(frozen=True, slots=True)
class LoneNode:
    """A node of which nothing else knows: its directory, the port of its pages."""

    home: Path
    port: int

    @contextmanager
    def running(self, ends_within_s: float = 20.0) -> Iterator[int]:
        """Run it; gives its process id. Its log is in its folder."""
        with (self.home / "log").open("ab") as log:
            process = subprocess.Popen([*_PROGRAM, "run", "--data-dir", str(self.home)], stderr=log, env=_COMPILED)
        try:
            yield process.pid
        finally:
            process.terminate()
            try:
                process.wait(ends_within_s)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def shows_page(self) -> bool:
        """Tell whether its front page is there."""
        try:
            return self._get("/").status == 200
        except (OSError, http.client.HTTPException):
            return False

    def status(self) -> dict[str, Any]:
        """Return what it says of itself."""
        found: dict[str, Any] = json.loads(self._get("/api/v1/status").read())
        return found

    def _get(self, path: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        connection.request("GET", path)
        return connection.getresponse()


def new_node(folder: Path, **more: str) -> LoneNode:
    """Make a node in a folder, and a network for it. `more`: settings of its store."""
    (port, peer_port), home = free_ports(2), folder / "node"
    settings = {"node.web_port": port, "node.peer_port": peer_port, "node.listen_v4": "127.0.0.1"}
    settings |= {"node.listen_v6": "::1", "node.lan_discovery": "false", "node.map_ports": "false"}
    dse_node("network", "new", "bench", "--out", str(folder / "bench.toml"), "--bootstrap", "127.0.0.1:1")
    settings |= {f"store.{name}": value for name, value in more.items()}
    pairs = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    dse_node("init", "--yes", "--network", str(folder / "bench.toml"), "--data-dir", str(home), *pairs)
    return LoneNode(home, port)


def dse_node(*words: str) -> None:
    """Do one verb."""
    subprocess.run([*_PROGRAM, *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
