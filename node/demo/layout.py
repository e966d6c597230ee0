"""Plans the demo's network: which node speaks which family, on which ports, with which configuration.

Pure: takes values, returns text.
"""

from dataclasses import dataclass
from pathlib import Path

FAMILIES = ((4, 6), (4,), (6,), (4, 6), (4,))  # repeated; five nodes: two dual-stack, two v4-only, one v6-only
SLOT_BITS = 6  # 64 slots: about 38 a node with five nodes and three replicas
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


def config_text(node: DemoNode, network_file: Path, hosts_file: Path, delay_s: float) -> str:
    """Write the config.toml of one demo node."""
    return f"""# {node.name} of the demo network: {node.family_words}
[node]
network = "{network_file}"
families = {list(node.families)}
listen_v4 = "127.0.0.1"
listen_v6 = "::1"
peer_port = {node.peer_port}
web_port = {node.web_port}

[dht]
allow_private = true

[crawl]
allow_private = true
hosts_file = "{hosts_file}"
dns = false
min_delay_s = {delay_s}
retry_base_s = 1.0
parser_processes = 1

[store]
reconcile_every_s = 20.0
"""
