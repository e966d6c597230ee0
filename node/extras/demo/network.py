"""Makes the demo's own network, as `dse-node network new` makes one, and its nodes, as `dse-node init` makes them.

The strategy differs from a new network's in the hosts that the demo may crawl: those of its web, at its pace, and none
of the real web.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dht import Rule
from node.config.toml_writer import toml_value
from node.extras.demo.layout import DemoNode
from node.extras.demo.processes import Children
from node.strategy.founding import found_network

FIRST_CONTACTS = 2  # nodes, the founder first


def write_network(
    path: Path,
    nodes: Sequence[DemoNode],
    hosts: Iterable[str],
    delay_s: float,
    differing: Mapping[str, Any] | None = None,
) -> Path:
    """Make a network by invitation for these nodes and hosts; return the path of its file. `delay_s`: its politeness
    rule, `differing`: fields of its strategy that are not the usual ones."""
    bootstrap = [address for node in nodes[:FIRST_CONTACTS] for address in node.bootstrap]
    rules = (*(Rule(host=host) for host in sorted(hosts)), Rule(action="deny"))
    fields: dict[str, Any] = {"rules": rules, "min_delay_s": delay_s}
    found_network(path, "demo", bootstrap, fields=fields | dict(differing or {}))
    return path


async def publish_change(children: Children, node: DemoNode, network: Path, *change: str) -> None:
    """Draft, sign and publish the next strategy with the commands that a publisher types. Raises OSError where one
    fails. `change`: options of `strategy draft`."""
    draft, signed, key = (network.with_name(name) for name in ("draft.json", "signed.json", "network.publisher.key"))
    at = ("--data-dir", str(node.data_dir))
    for words in (
        ("draft", *change, "--force", "--out", str(draft)),
        ("sign", str(draft), "--key", str(key), "--yes", "--out", str(signed)),
        ("publish", str(signed)),
    ):
        await children.finish("strategy", "node", "strategy", *words, *at)


async def install(children: Children, node: DemoNode, network: Path, settings: Mapping[str, Any]) -> None:
    """Make a node, with these settings beside the defaults; the first one of a network's is its founder. Raises OSError
    where that fails."""
    pairs = [word for key, value in settings.items() for word in ("--set", f"{key}={toml_value(value)}")]
    words = ("--yes", "--network", str(network), "--data-dir", str(node.data_dir))
    await children.finish(node.name, "node", "init", *words, *pairs)


async def install_all(children: Children, nodes: Mapping[DemoNode, Mapping[str, Any]], network: Path) -> None:
    """Make nodes, each with its settings: the founder, then all others at once."""
    founder, *others = nodes
    await install(children, founder, network, nodes[founder])
    async with asyncio.TaskGroup() as tasks:
        for node in others:
            tasks.create_task(install(children, node, network, nodes[node]))
