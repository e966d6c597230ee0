"""Runs a network of five nodes, each a process of its own, that has crawled made-up pages of many hosts and is at rest.

Each node counts and samples itself where it is told to (observed.py). Some pages that nothing leads to are left over,
so that they can come in while queries are asked.
"""

import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp

from benchmarks.cpu import tree, used_s
from benchmarks.crawl.web import Tier, served
from benchmarks.ports import free_ports
from index import Text
from node.extras.demo.layout import DemoNode, forced_settings
from node.extras.demo.network import install_all, write_network
from node.extras.demo.nodes import NodeClient
from node.extras.demo.processes import Children
from node.extras.demo.runner import Demo

NODES = 5
DELAY_S = 0.1
A_REQUEST = 500  # seeds
SETTLED_WITHIN_S = 900.0


class FiveNodes(Demo):
    """A demo's network whose nodes watch themselves."""

    def start_node(self, node: DemoNode) -> None:
        """Start one node's process."""
        watched = ("benchmarks.query.observed", str(self.report(node)), "run", "--data-dir", str(node.data_dir))
        self.children.start(node.name, *watched)

    def report(self, node: DemoNode) -> Path:
        """Return the file that a node writes what it has seen of itself to."""
        return self.folder / f"{node.name}.json"

    def pids(self) -> list[int]:
        """Return the processes of all nodes, their parsers included."""
        names = {node.name for node in self.nodes}
        return [pid for child in self.children.running if child.name in names for pid in tree(child.process.pid)]

    def used_s(self, pids: Sequence[int] = ()) -> float:
        """Return the seconds of processor time that all nodes have used. `pids`: their processes, where known."""
        return sum(map(used_s, pids or self.pids()))

    async def seed(self, texts: Sequence[Text]) -> None:
        """Hand pages to the first node, which passes them to their owners."""
        urls = [f"http://{(url := urlsplit(text.url)).hostname}:{self.web.port}{url.path}" for text in texts]
        for start in range(0, len(urls), A_REQUEST):
            await self.client.crawl(self.nodes[0], urls[start : start + A_REQUEST], depth=0)


@asynccontextmanager
async def crawled(texts: Sequence[Text], later: Sequence[Text]) -> AsyncIterator[FiveNodes]:
    """Run a network that has crawled `texts` and is at rest; the web has `later`, too."""
    async with _formed([*texts, *later]) as network:
        await network.seed(texts)
        if not await network.wait_settled(SETTLED_WITHIN_S):
            raise TimeoutError(f"the network had not settled after {SETTLED_WITHIN_S:.0f} s")
        yield network


@asynccontextmanager
async def _formed(texts: Sequence[Text]) -> AsyncIterator[FiveNodes]:
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="dse-query-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        write_sites(folder / "sites", texts)
        children, ports = Children(folder), free_ports(2 * NODES)
        nodes = [
            DemoNode(f"node-{n + 1}", (4,), ports[2 * n], ports[2 * n + 1], folder / f"node-{n + 1}")
            for n in range(NODES)
        ]
        try:
            async with aiohttp.ClientSession() as session, served(Tier(folder / "sites", ""), folder) as web:
                network = FiveNodes(folder, nodes, web, children, NodeClient(session), lambda _: None, began)
                strategy = write_network(folder / "network.toml", nodes, web.hosts, DELAY_S)
                settings = {node: forced_settings(node, folder / "hosts", DELAY_S) for node in nodes}
                await install_all(children, settings, strategy)
                for node in nodes:
                    network.start_node(node)
                await network.wait_formed()
                yield network
        finally:
            await children.stop()


def write_sites(root: Path, texts: Sequence[Text]) -> None:
    """Write documents as pages of their hosts."""
    for text in texts:
        url = urlsplit(text.url)
        folder = root / str(url.hostname)
        folder.mkdir(parents=True, exist_ok=True)
        body = "".join(f"<p>{escape(line)}</p>\n" for line in text.body.split("\n"))
        head = f'<meta charset="utf-8"><title>{escape(text.title)}</title>'
        html = f'<!doctype html><html lang="{text.language}"><head>{head}</head><body><main>{body}</main></body></html>'
        (folder / url.path[1:]).write_text(html, "utf-8")
