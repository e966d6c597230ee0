"""A node behind a real NAT: Linux's own, between network namespaces. It finds out, stays a client, and is of use.

    street (members, web) 198.51.100.0/24 ── router, masquerade ── 10.9.0.0/24 home (a new node, told nothing)

The addresses are of the block for documentation, which no machine has; nothing leaves the namespaces.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shutil import which

import pytest
from machines import ROOT, dse_node, linked, wait_until

pytestmark = pytest.mark.e2e
STREET, HOME = "198.51.100", "10.9.0"
MEMBERS = [f"{STREET}.{n}" for n in (11, 12, 13)]
WEB, OUTSIDE = f"{STREET}.20", f"{STREET}.2"
ROOMS = ["library", "pool", "museum", "canteen", "workshop", "garden", "archive", "cinema", "theatre", "station"] * 3
PREFIX = f"dse{os.getpid()}"


def sh(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)


def may_make_namespaces() -> bool:
    """Whether this is root on a machine with namespaces and a NAT."""
    if os.geteuid() != 0 or not which("ip") or not which("nft"):
        return False
    try:
        with street():
            return True
    except subprocess.CalledProcessError:
        return False


@contextmanager
def street() -> Iterator[None]:
    """Three namespaces, joined as above; gone afterwards."""
    out, router, home = (f"{PREFIX}-{name}" for name in ("out", "nat", "home"))
    with ExitStack() as stack:
        for space in (out, router, home):
            sh("ip", "netns", "add", space)
            stack.callback(sh, "ip", "netns", "del", space)
            sh("ip", "-n", space, "link", "set", "lo", "up")
        for far, address, near, gate in ((out, MEMBERS[0], "wan", OUTSIDE), (home, f"{HOME}.2", "lan", f"{HOME}.1")):
            sh("ip", "-n", far, "link", "add", "eth", "type", "veth", "peer", "name", near, "netns", router)
            for space, link, host in ((far, "eth", address), (router, near, gate)):
                sh("ip", "-n", space, "address", "add", f"{host}/24", "dev", link)
                sh("ip", "-n", space, "link", "set", link, "up")
        for host in [*MEMBERS[1:], WEB]:
            sh("ip", "-n", out, "address", "add", f"{host}/24", "dev", "eth")
        sh("ip", "-n", home, "route", "add", "default", "via", f"{HOME}.1")
        sh("ip", "netns", "exec", router, "sysctl", "-q", "-w", "net.ipv4.ip_forward=1")
        rules = "table ip n { chain p { type nat hook postrouting priority 100; oifname wan masquerade; }; }"
        sh("ip", "netns", "exec", router, "nft", rules)
        yield


class Resident:
    """One node in a namespace."""

    def __init__(self, folder: Path, space: str, name: str, *settings: str) -> None:
        self.home, self.space = folder / name, ("ip", "netns", "exec", f"{PREFIX}-{space}")
        self.home.mkdir()
        pairs = ["node.families=[4]", "crawl.allow_private=true", "crawl.dns=false", "node.lan_discovery=false"]
        pairs += [f"crawl.hosts_file={folder / 'hosts'}", "crawl.min_delay_s=0.05", "node.map_ports=false", *settings]
        words = [word for pair in pairs for word in ("--set", pair)]
        done = dse_node("init", "--network", "../n.toml", "--yes", "--data-dir", "node", *words, home=self.home)
        assert done.returncode == 0, done.stderr

    def start(self, stack: ExitStack) -> None:
        """`dse-node run`, ended with the stack."""
        run(stack, self.space, self.home, "-m", "node", "run", "--data-dir", "node")

    def is_up(self) -> bool:
        return self.try_do("status", "--json").returncode == 0

    def do(self, *words: str) -> str:
        done = self.try_do(*words)
        assert done.returncode == 0, f"{words} {done.stderr} {(self.home / 'log').read_text()}"
        return done.stdout

    def try_do(self, *words: str) -> "subprocess.CompletedProcess[str]":
        command = [*self.space, sys.executable, "-m", "node", *words, "--data-dir", "node"]
        return subprocess.run(command, cwd=self.home, env=environment(), capture_output=True, text=True, timeout=40)

    def status(self) -> dict[str, object]:
        found: dict[str, object] = json.loads(self.do("status", "--json"))
        return found


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}


def run(stack: ExitStack, space: Sequence[str], folder: Path, *words: str) -> None:
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            [*space, sys.executable, *words], cwd=folder, env=environment(), stdout=log, stderr=log
        )
    stack.callback(process.wait, 20)
    stack.callback(process.terminate)


@pytest.mark.prove
@pytest.mark.skipif(not may_make_namespaces(), reason="needs root, network namespaces and nft")
def test_a_node_behind_a_nat_finds_out_joins_searches_and_crawls_by_order(tmp_path: Path) -> None:
    site = tmp_path / "web"
    site.mkdir()
    for path, text in linked(ROOMS[:10], "town.test", "town.test").items():
        (site / path).write_text(text.replace(":PORT", ":8000"))
    for n in range(40):
        (site / f"room{n}.html").write_text(f"<title>Room {n}</title><p>Opening hours of room {n}.</p>")
    rooms = "".join(f'<a href="/room{n}.html">{n}</a>' for n in range(40))
    (site / "rooms.html").write_text(f"<title>Rooms</title><p>All rooms</p>{rooms}")
    (tmp_path / "hosts").write_text(f"{WEB} town.test\n")
    bootstrap = [word for host in MEMBERS[:1] for word in ("--bootstrap", f"{host}:8091")]
    made = dse_node("network", "new", "n", "--out", "n.toml", "--prefix", f"{STREET}.0/24", *bootstrap, home=tmp_path)
    assert made.returncode == 0, made.stderr
    with street(), ExitStack() as stack:
        out = ("ip", "netns", "exec", f"{PREFIX}-out")
        run(stack, out, site, "-m", "http.server", "8000", "--bind", WEB)
        members = [
            Resident(
                tmp_path,
                "out",
                f"m{n}",
                f"node.listen_v4={host}",
                f"node.web_port={8100 + n}",
                "crawl.max_open_fetches=1",
            )
            for n, host in enumerate(MEMBERS)
        ]
        for member in members:
            member.start(stack)
        for member in members:
            wait_until("a member answers", member.is_up)
        wait_until("three members", lambda: all(m.status()["peers"]["live"] == 2 for m in members))  # type: ignore[index]
        home = Resident(tmp_path, "home", "home")
        home.start(stack)
        wait_until("the node at home answers", home.is_up)
        found = lambda: home.status()["reachable"]["ipv4"]  # type: ignore[index]  # noqa: E731
        wait_until("it finds out", lambda: found()["state"] == "behind a firewall")
        assert home.status()["role"] == "client"
        assert "client: owns nothing" in home.do("status")
        assert "1 address handed over" in home.do("crawl", "http://town.test:8000/rooms.html", "--depth", "3")
        wait_until("all pages are there", lambda: "of 41" in home.do("search", "room OR rooms", "--limit", "5"), 60)
        fetched = (site / "log").read_text()
        assert f"{OUTSIDE} - - " in fetched, "the client fetched nothing"
        assert home.status()["clients"]["carried_here"] == fetched.count(f"{OUTSIDE} - - ")  # type: ignore[index]
        for member in members:
            assert len(json.loads(member.do("peers", "--json"))) == len(MEMBERS)
        for path in [f"/room{n}.html" for n in range(40)]:
            assert fetched.count(f'"GET {path} ') == 1, path
