"""An internet in one machine: hosts with networks of their own, a web, and a network of nodes installed as anybody
would. Everything is gone when the `async with` ends, or the process does, however it ends.

A scenario in ten lines (root; needs `ip` and gcc; scenarios are skipped by name where that is missing):

    pytestmark = [pytest.mark.prove, needs_lab]

    async def test_a_cut_heals(tmp_path: Path) -> None:
        async with Internet(tmp_path, seed=1) as net:
            a, b, c = net.host("a", (4,)), net.host("b", (6,)), net.host("c")     # v4-only, v6-only, both
            net.link([a], [c], delay_s=0.08, loss=0.1)     # both ways; one_way=True: from a to c alone
            await net.serve_web()
            await net.found([a, b])                        # `dse-node network new` on a; the first contacts
            await net.install(a, b, c)                     # `dse-node init` and `dse-node run` on each
            await judge.one_view([a, b, c], within_s=60)
            await a.crawl(net.start_urls)
            net.cut([a], [b, c]); await judge.rested([a, b, c], within_s=90); net.heal()
            assert judge.fetches(net).duplicates == 0

Host: `start`, `stop`, `kill`, `signal`, `sleep`, `wake`, `line(up_bytes=…)`, `do("status")` (a verb), `ask`, `status`,
`search`, `crawl`, `documents`, `log`, `spawn` (any program there); `net.move(host, families)` gives it other addresses.
Behind a router: `net.host("home", router=net.router(router.SYMMETRIC))`. Several hosts of one LAN: the same router, or
`lan=1`. By hand: `flock /tmp/lab.lock .venv/bin/python -m pytest tests/lab/test_…py`, one at a time.
"""

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

from dht import Rule
from node.extras.demo.sample_web import unpack_sample
from node.strategy.founding import found_network
from tests.lab.host import PEER_PORT, Host, end, until
from tests.lab.namespace import why_no_namespaces
from tests.lab.router import Kind, Router
from tests.lab.sites import PORT, PREFIX4, PREFIX6, READY, site_addresses
from tests.lab.switch import Link, Switch

PREFIXES = ("198.18.0.0/15", f"{PREFIX4}.0/24", "2001:db8::/32")  # for benchmarks and documentation: nobody has them
DELAY_S = 0.1  # between two requests to one site; the web of the lab allows it


_WHY_NOT = why_no_namespaces()
needs_lab = pytest.mark.skipif(bool(_WHY_NOT), reason=_WHY_NOT)


class Internet:
    """Hosts, their links, one web and one network of nodes; see the module."""

    def __init__(self, folder: Path, seed: int = 1) -> None:
        self.folder, self.seed = folder, seed
        self.network_file, self.hosts_file = folder / "network.toml", folder / "hosts"
        self.web_log, self.web_root = folder / "web.jsonl", folder / "web"
        self.sites: dict[str, tuple[str, ...]] = {}
        self.hosts: dict[str, Host] = {}
        self.routers: list[Router] = []
        self.processes: list[subprocess.Popen[bytes]] = []
        self.delay_s = DELAY_S
        self._links: dict[tuple[int, int], Link] = {}
        self._moves = 0

    async def __aenter__(self) -> Self:
        self.switch = Switch(self.seed)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        for process in self.processes:
            await end(process)
        for host in self.hosts.values():
            await host.close()
        self.switch.close()

    @property
    def settings(self) -> list[str]:
        """Return the settings that the artificial internet requires of a node, and no others."""
        return [
            "crawl.allow_private=true",  # the addresses of the web are of blocks that no real site may have
            f"crawl.hosts_file={self.hosts_file}",  # where its names are,
            "crawl.dns=false",  # since there is no name server
            f"crawl.min_delay_s={self.delay_s}",  # a web of 300 pages should not take five minutes
        ]

    # ---- machines and what joins them ----

    def host(
        self, name: str, families: tuple[int, ...] = (4, 6), *, router: Router | None = None, lan: int = 0
    ) -> Host:
        """Add a machine with an address of each family, behind a router where one is given."""
        host = self.hosts[name] = Host(self, name, families, router)
        if router:
            self.switch.order("inside", host.port, router.number)
        if router or lan:
            self.switch.order("lan", host.port, 1000 + router.number if router else lan)
        host.take(self._addresses(host))
        return host

    def router(self, kind: Kind) -> Router:
        """Add a home's router."""
        router = Router(len(self.routers), f"198.19.{len(self.routers)}.1", kind)
        self.routers.append(router)
        words = (router.address, kind.is_symmetric, kind.filtering.value, kind.udp_idle_s)
        self.switch.order("nat", router.number, *words)
        self.switch.order("route", 0, router.address, 32, -router.number - 1)
        return router

    def move(self, host: Host, families: tuple[int, ...] | None = None) -> None:
        """Give a host addresses in another network, as a laptop has at work."""
        self._moves += 1
        host.families = families or host.families
        host.take(self._addresses(host))

    def _addresses(self, host: Host) -> tuple[str, ...]:
        n, move = host.port + 1, self._moves
        addresses = {4: f"198.18.{n}.{move + 1}", 6: f"2001:db8:{n:x}:{move:x}::1"}
        if host.router:
            addresses = {
                4: f"10.{move}.{host.router.number}.{n}",
                6: f"2001:db8:8{host.router.number:03x}:{move:x}::{n:x}",
            }
        return tuple(str(ip_address(addresses[family])) for family in host.families)

    def link(
        self, sources: Iterable[Host] = (), to: Iterable[Host] = (), *, one_way: bool = False, **changes: Any
    ) -> None:
        """Change how packets go between hosts (Link's fields), of all pairs where none are named."""
        everybody = list(self.hosts.values())
        for source in list(sources) or everybody:
            for far in list(to) or everybody:
                for pair in {(source.port, far.port), (source.port, far.port) if one_way else (far.port, source.port)}:
                    self._links[pair] = replace(self._links.get(pair, Link()), **changes)
                    self.switch.set_link(*pair, self._links[pair])

    def cut(self, some: Sequence[Host], others: Sequence[Host], *, one_way: bool = False) -> None:
        """Let nothing through between them; the web is reached by all."""
        self.link(some, others, one_way=one_way, is_cut4=True, is_cut6=True)

    def heal(self) -> None:
        """End all cuts."""
        self.link(is_cut4=False, is_cut6=False)

    # ---- the web ----

    async def serve_web(self, root: Path | None = None) -> None:
        """Serve a folder of sites, or the sample web, from a host called `web`."""
        self.web_root = root or self.web_root
        if root is None:
            await asyncio.to_thread(unpack_sample, self.web_root)
        self.sites = site_addresses(self.web_root, self.seed)
        lines = (f"{site} {address}\n" for site, addresses in self.sites.items() for address in addresses)
        self.hosts_file.write_text("".join(lines))
        web = self.host("web")
        for prefix, length in ((f"{PREFIX4}.0", 24), (f"{PREFIX6}:", 64)):
            self.switch.order("route", 0, prefix, length, web.port)
            web.space.ip(f"route add local {prefix}/{length} dev lo")
        await self.run_beside(web, "tests.lab.sites", str(self.web_root), str(self.web_log), ready=READY)

    async def run_beside(self, host: Host, module: str, *arguments: str, ready: str, within_s: float = 20) -> None:
        """Run one of our modules on a host until it says that it is ready."""
        command = [sys.executable, "-m", module, *arguments]
        process = host.spawn(command)

        async def is_ready() -> bool:
            assert process.poll() is None, host.log
            return ready in host.log

        await until(f"{module} is ready", is_ready, within_s, every_s=0.05)

    @property
    def start_urls(self) -> list[str]:
        """The front page of every site."""
        return [f"http://{site}:{PORT}/" for site in self.sites]

    # ---- the network of nodes ----

    async def found(self, first_contacts: Sequence[Host], **fields: Any) -> None:
        """Make a network on the first of these hosts, as `dse-node network new` does, and give everybody else a copy of
        the file. `fields` of its strategy are what a scenario is about; those beside them are what this internet forces
        upon it."""
        bootstrap = [
            f"[{a}]:{PEER_PORT}" if ":" in a else f"{a}:{PEER_PORT}" for h in first_contacts for a in h.addresses
        ]
        forced = {"min_delay_s": self.delay_s, "rules": (Rule(host="*.test"), Rule(action="deny"))}
        founder = first_contacts[0]
        founder.network_file = founder.home / "lab.toml"
        found_network(founder.network_file, "lab", bootstrap, PREFIXES, forced | fields)
        shutil.copy(founder.network_file, self.network_file)

    async def install(self, *hosts: Host, settings: Sequence[str] = ()) -> None:
        """`dse-node init` and `dse-node run` on each, all at once."""
        async with asyncio.TaskGroup() as tasks:
            for host in hosts:
                tasks.create_task(host.init(*settings))
        for host in hosts:
            host.start()
