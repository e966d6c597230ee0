"""Plans the demo's network: which node speaks which family, on which ports, with which settings.

Pure: takes values, returns values.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

FAMILIES = ((4, 6), (4,), (6,), (4, 6), (4,))  # repeated; five nodes: two dual-stack, two v4-only, one v6-only
HOST_DELAY_S = 0.1  # the demo's politeness rule; the sample web runs on this machine and allows it


@dataclass(frozen=True, slots=True)
class DemoNode:
    """One node of the demo, as it is planned."""

    name: str
    families: tuple[int, ...]
    web_port: int
    peer_port: int
    data_dir: Path

    @property
    def url(self) -> str:
        """Return the address of its web listener."""
        return f"http://127.0.0.1:{self.web_port}"

    @property
    def family_words(self) -> str:
        """Say which families it speaks."""
        return "IPv4 and IPv6" if len(self.families) == 2 else f"IPv{self.families[0]} only"

    @property
    def bootstrap(self) -> list[str]:
        """Return its addresses as a network file lists first contacts."""
        hosts = {4: "127.0.0.1", 6: "[::1]"}
        return [f"{hosts[family]}:{self.peer_port}" for family in self.families]


def plan_nodes(count: int, web_ports: list[int], peer_ports: list[int], folder: Path, ipv6: bool) -> list[DemoNode]:
    """Plan the demo's nodes, named node-1 … node-N; all speak IPv4 where the machine has no IPv6 loopback."""
    families = [FAMILIES[n % len(FAMILIES)] if ipv6 else (4,) for n in range(count)]
    return [
        DemoNode(f"node-{n + 1}", families[n], web_ports[n], peer_ports[n], folder / f"node-{n + 1}")
        for n in range(count)
    ]


def forced_settings(node: DemoNode, hosts_file: Path, delay_s: float) -> dict[str, Any]:
    """Return the settings that many nodes on one machine, and a web on it, force upon a node; all others are left as
    `dse-node init` writes them."""
    return {
        "node.families": list(node.families),
        "node.listen_v4": "127.0.0.1",
        "node.listen_v6": "::1",
        "node.peer_port": node.peer_port,
        "node.web_port": node.web_port,
        "crawl.allow_private": True,
        "crawl.hosts_file": str(hosts_file),
        "crawl.dns": False,
        "crawl.min_delay_s": delay_s,
    }
