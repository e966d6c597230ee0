"""Starts and ends the demo's processes: a sample web and some nodes, each with its own folder.

Every child is in this module's list from the moment it exists, so whatever happens, `stop` leaves nothing behind.
"""

import asyncio
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from node.extras.demo.sample_web import ServedWeb, unpack_sample

STOP_WITHIN_S = 8.0
FINISHED_WITHIN_S = 60.0


@dataclass
class Child:
    """One process and the file that its output goes to."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def is_running(self) -> bool:
        """Tell whether the process has not ended."""
        return self.process.poll() is None

    def last_words(self) -> str:
        """Return the last line that it wrote, for an error text."""
        lines = self.log.read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it wrote nothing"


@dataclass
class Children:
    """Starts and ends all processes of one demo."""

    folder: Path
    running: list[Child] = field(default_factory=list)

    def start(self, name: str, *arguments: str) -> Child:
        """Start `python -m ARGUMENTS` in a process group of its own, so that Ctrl-C reaches only the demo.

        It ends by itself where this process is killed (child_process.py).
        """
        log = self.folder / f"{name}.log"
        with log.open("ab") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "node.extras.demo.child_process", str(os.getpid()), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                env=os.environ | {"PYTHONUNBUFFERED": "1"},
            )
        child = Child(name, process, log)
        self.running.append(child)
        return child

    async def finish(self, name: str, *arguments: str) -> None:
        """Run `python -m ARGUMENTS` to its end; raises OSError with its last words where it fails."""
        child = self.start(name, *arguments)
        with contextlib.suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(child.process.wait, FINISHED_WITHIN_S)
        if child.is_running:
            kill_group(child)
        self.running.remove(child)
        if child.process.returncode:
            raise OSError(f"{name} failed: {child.last_words()}")

    async def stop(self) -> None:
        """End all of them: SIGTERM, a grace, then SIGKILL for the whole group."""
        for child in self.running:
            if child.is_running:
                child.process.send_signal(signal.SIGTERM)
        waited = 0.0
        while any(c.is_running for c in self.running) and waited < STOP_WITHIN_S:
            await asyncio.sleep(0.05)
            waited += 0.05
        for child in self.running:
            kill_group(child)
        self.running.clear()


def kill_group(child: Child) -> None:
    """Kill a child and what it started (parser processes) with SIGKILL, without warning."""
    try:
        os.killpg(child.process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    finally:
        child.process.wait()


def free_ports(count: int, first: int) -> list[int]:
    """Find `count` ports from `first` on that are free on both loopback addresses, for TCP and UDP.

    A later bind can still lose a race; the child then says which port and what to do.
    """
    found: list[int] = []
    for port in range(first, 65000):
        if all(_is_free(port, kind) for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM)):
            found.append(port)
            if len(found) == count:
                return found
    raise OSError(f"no {count} free ports from {first} on; try --port with another number")


def has_ipv6() -> bool:
    """Tell whether this machine has IPv6 on its loopback, where demos run."""
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


def _is_free(port: int, kind: socket.SocketKind) -> bool:
    addresses = [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")][: 1 + has_ipv6()]
    for family, address in addresses:
        with socket.socket(family, kind) as probe:
            if kind == socket.SOCK_STREAM:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers bind: past TIME_WAIT
            try:
                probe.bind((address, port))
            except OSError:
                return False
    return True


READY = re.compile(r"\d+ hosts on port (\d+); admin port (\d+)")
READY_WITHIN_S = 20.0


async def start_web(children: Children, root: Path | None, folder: Path, ipv6: bool, port: int = 0) -> ServedWeb:
    """Serve a folder of sites, or the bundled web; return when it answers. Its log is FOLDER/web.jsonl. Port 0 takes a
    free one."""
    if root is None:
        root = folder / "web"
        unpack_sample(root)
    hosts = folder / "hosts"
    family = [] if ipv6 else ["--no-ipv6"]
    child = children.start(
        *("web", "node.extras.demo.sample_web", "--root", str(root), "--port", str(port), "--admin-port", "0"),
        *("--log", str(folder / "web.jsonl"), "--hosts-file", str(hosts), *family),
    )
    port, admin_port = await ready_ports(child)
    return ServedWeb(root, port, admin_port, read_hosts(hosts))


async def ready_ports(child: Child) -> tuple[int, int]:
    """Return the ports that the web names in its ready line; raises OSError with its last words where it fails."""
    until = time.monotonic() + READY_WITHIN_S
    while time.monotonic() < until and child.is_running:
        if found := READY.search(child.log.read_text()):
            return int(found[1]), int(found[2])
        await asyncio.sleep(0.05)
    raise OSError(f"the sample web did not start: {child.last_words()}")


def read_hosts(path: Path) -> dict[str, tuple[str, ...]]:
    """Read 'host address' lines as a table of addresses by host."""
    hosts: dict[str, tuple[str, ...]] = {}
    for host, address in (line.split() for line in path.read_text().splitlines()):
        hosts[host] = (*hosts.get(host, ()), address)
    return hosts
