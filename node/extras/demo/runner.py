"""Runs `dse-node demo`: a network of real processes on loopback, crawling a web of real pages.

Starts everything, tells what happens, and either stays until Ctrl-C or (`--once`) checks every promise from outside,
reports and ends.
"""

import asyncio
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import aiohttp
import msgspec

from dht import when_told_to_stop
from node.cli.commands.output import print_json
from node.extras.demo.checks import (
    check_documents,
    check_fetches,
    check_kill,
    check_queries,
    check_strategy,
    load_queries,
    read_queries,
    report_teams,
)
from node.extras.demo.judge import SecondLookRequest, second_look_requests
from node.extras.demo.layout import HOST_DELAY_S, DemoNode, forced_settings, plan_nodes
from node.extras.demo.network import install_all, publish_change, write_network
from node.extras.demo.nodes import NodeClient
from node.extras.demo.processes import Children, free_ports, has_ipv6, kill_group, start_web
from node.extras.demo.report import DemoReport, progress_line, strategy_line, summary, team_lines
from node.extras.demo.sample_web import ServedWeb, check_root, start_urls

FORMED_WITHIN_S = 60.0
SETTLED_WITHIN_S = 600.0
ONCE_SETTLED_WITHIN_S = 95.0
CRAWL_DEPTH = 30
PORT_TRIES = 3  # a port can be lost in the seconds between its choice and the node's start
USEFUL_COPIES = 60  # searchable copies after which the search page is worth a visitor's time
Say = Callable[[str], None]


class DemoFailed(Exception):
    """Says that the demo could not go on; the text is the plain reason."""


class PortLost(DemoFailed):
    """Says that another program took a port after it was found free, and before a node of the demo had it."""


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """Holds the demo's command line."""

    nodes: int = 5
    once: bool = False
    json: bool = False
    port: int = 8090
    web: Path | None = None
    queries: Path | None = None
    delay_s: float = HOST_DELAY_S  # the politeness rule


@dataclass
class Demo:
    """A running demo: its processes, how to ask them, and when it began."""

    folder: Path
    nodes: list[DemoNode]
    web: ServedWeb
    children: Children
    client: NodeClient
    say: Say
    began: float
    first_search_s: float = 0.0

    def seconds(self) -> float:
        """Return the seconds since the demo began."""
        return time.monotonic() - self.began

    async def wait_formed(self) -> None:
        """Wait until every node sees every other one and is ready for its slots; raises DemoFailed.

        Not until all slots are leased: where the nodes started one long after another the last leases take half a
        minute, and until then the others can be crawled.
        """
        while self.seconds() < FORMED_WITHIN_S:
            self.check_processes()
            statuses = await self.client.statuses(self.nodes)
            if all(s and s["members"] == len(self.nodes) and has_its_slots(s["slots"]) for s in statuses):
                return
            await asyncio.sleep(0.3)
        raise DemoFailed(f"the nodes did not form one network within {FORMED_WITHIN_S:.0f} s")

    async def start_crawl(self) -> None:
        """Hand the front page of every host to one node; it passes them to their owners."""
        answer = await self.client.crawl(self.nodes[0], start_urls(self.web), CRAWL_DEPTH)
        if answer["refused"]:
            raise DemoFailed(f"seeds refused: {answer['refused'][:3]}")

    async def wait_settled(self, within_s: float) -> bool:
        """Wait until nothing waits in any slot and all replicas have indexed the same; return False after `within_s`.

        A slot that nobody holds, because its holder has just died, may have URLs that nobody counts."""
        settled, said, useful = 0, 0.0, False
        while self.seconds() < within_s:
            self.check_processes()
            statuses = await self.client.statuses(self.alive())
            useful = useful or self.tell_when_useful(statuses)
            quiet = all(s and s["alike"] and s["crawl"]["frontier"] == 0 and s["crawl"]["open"] == 0 for s in statuses)
            slots = [s["slots"] for s in statuses if s]
            held = sum(s["leased"] for s in slots) >= max((s["all"] for s in slots), default=1)
            settled = settled + 1 if quiet and held and sum(s["documents"] for s in statuses if s) else 0
            if self.seconds() - said >= 2:
                said = self.seconds()
                self.say(progress_line(said, statuses))
            if settled == 3:  # for a second: a found URL takes a moment from its owners to the holder
                return True
            await asyncio.sleep(0.5)
        return False

    async def check_strategy(self, report: DemoReport) -> None:
        """Publish a rule while the network runs, and take it back."""
        self.say("Publishing a strategy that denies one host, then one that allows it again ...")
        node, *others = self.alive()
        publish = partial(publish_change, self.children, node, self.folder / "network.toml")
        await check_strategy(self.client, [node, *others], sorted(self.web.hosts), publish, report)

    def tell_when_useful(self, statuses: list[dict[str, object] | None]) -> bool:
        """Say the address of the search page as soon as a search finds something."""
        copies = sum(int(str(s["documents"])) for s in statuses if s)
        if copies < USEFUL_COPIES:
            return False
        self.first_search_s = self.seconds()
        self.say(f"\n  Search it now:  {self.nodes[0].url}/\n")
        return True

    def alive(self) -> list[DemoNode]:
        """Return the nodes that have not been killed."""
        running = {child.name for child in self.children.running}
        return [node for node in self.nodes if node.name in running]

    def second_look_requests(self) -> list[SecondLookRequest]:
        """Return the requests for second looks that the nodes report in their logs."""
        logs = [self.folder / f"{node.name}.log" for node in self.nodes]
        return [request for log in logs for request in second_look_requests(log.read_text(errors="replace"))]

    def kill(self, node: DemoNode) -> None:
        """Kill a node and its parser processes with SIGKILL."""
        child = next(child for child in self.children.running if child.name == node.name)
        kill_group(child)
        self.children.running.remove(child)

    def check_processes(self) -> None:
        """Raise DemoFailed when a process has died that nobody killed."""
        for child in self.children.running:
            if not child.is_running:
                words = child.last_words()
                kind = PortLost if "the port is in use" in words else DemoFailed
                raise kind(f"{child.name} ended by itself: {words}")

    def start_node(self, node: DemoNode) -> None:
        """Start, or start again, one node's process."""
        self.children.start(node.name, "node", "run", "--data-dir", str(node.data_dir))


def has_its_slots(slots: dict[str, int]) -> bool:
    """Tell whether a node is ready for all that it owns, and has handed over what it does not."""
    return slots["ready"] == slots["owned"] > 0


@asynccontextmanager
async def running_demo(options: DemoOptions, say: Say) -> AsyncIterator[Demo]:
    """Start a web and a network; stop all of it, and remove its files, on the way out."""
    began = time.monotonic()
    ipv6 = has_ipv6()
    if not ipv6:
        say("This machine has no IPv6 loopback address: the demo goes on with IPv4 alone.")
    with tempfile.TemporaryDirectory(prefix="dse-demo-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        children = Children(folder)
        try:
            async with aiohttp.ClientSession() as session:
                web = await start_web(children, options.web, folder, ipv6)
                ports = free_ports(options.nodes, options.port), free_ports(options.nodes, options.port + 1000)
                nodes = plan_nodes(options.nodes, *ports, folder, ipv6)
                demo = Demo(folder, nodes, web, children, NodeClient(session), say, began)
                await start_nodes(demo, options.delay_s)
                yield demo
        finally:
            await children.stop()


async def start_nodes(demo: Demo, delay_s: float) -> None:
    """Make the network and its nodes as anybody would, then start the processes."""
    network = write_network(demo.folder / "network.toml", demo.nodes, demo.web.hosts, delay_s)
    settings = {node: forced_settings(node, demo.folder / "hosts", delay_s) for node in demo.nodes}
    await install_all(demo.children, settings, network)
    for node in demo.nodes:
        demo.start_node(node)
        demo.say(f"  {node.name}  {node.url}  {node.family_words}")


async def run(options: DemoOptions, say: Say) -> DemoReport:
    """Run the whole demo; return the report, whose `failures` are empty where every promise was kept."""
    if options.web is not None:  # what cannot be used is better refused now than after the crawl
        check_root(options.web)
    if options.queries is not None:
        read_queries(options.queries)
    say(f"Starting {options.nodes} nodes and a web of real pages on this machine ...")
    for _ in range(PORT_TRIES - 1):
        try:
            return await show(options, say)
        except PortLost as taken:
            say(f"{taken}. Beginning again with other ports ...")
    return await show(options, say)


async def show(options: DemoOptions, say: Say) -> DemoReport:
    """Run the demo once from its beginning. Raises PortLost where a node did not get its port."""
    async with running_demo(options, say) as demo:
        await demo.wait_formed()
        say(f"One network after {demo.seconds():.0f} s. Crawling {len(demo.web.hosts)} hosts ...")
        await demo.start_crawl()
        settled = await demo.wait_settled(ONCE_SETTLED_WITHIN_S if options.once else SETTLED_WITHIN_S)
        report = DemoReport(
            nodes=len(demo.nodes), hosts=len(demo.web.hosts), first_search_s=round(demo.first_search_s, 1)
        )
        if not settled:
            report.failures.append(f"the network had not settled after {demo.seconds():.0f} s")
        await report_teams(demo.client, demo.nodes, report)
        say(team_lines(report))
        if options.once:
            await check_all(demo, options, report)
        await demo.check_strategy(report)
        if not options.once:
            await stay(demo, report)
        report.seconds = round(demo.seconds(), 1)
        return report


async def check_all(demo: Demo, options: DemoOptions, report: DemoReport) -> None:
    """Fill the report and its failures from outside."""
    demo.say("Settled. Checking every promise from outside ...")
    fetches = check_fetches(demo.folder / "web.jsonl", options.delay_s, demo.second_look_requests(), report)
    texts = await check_documents(demo.client, demo.nodes, demo.web, fetches, report)
    queries = load_queries(options.queries, options.web, demo.web, texts)
    await check_queries(demo.client, demo.nodes, queries, texts, report)
    if len(demo.nodes) > 1:
        victim = demo.nodes[1]
        demo.say(f"Killing {victim.name} without warning ...")
        await check_kill(demo.client, demo.nodes[0], victim.name, lambda: demo.kill(victim), queries, report)


async def stay(demo: Demo, report: DemoReport) -> None:
    """Keep the network up until Ctrl-C."""
    node = demo.nodes[0]
    if report.after_strategy:
        demo.say(strategy_line(report.after_strategy))
    demo.say(f"\nCrawled. Search at {node.url}/ or at any other node. Ctrl-C ends the demo.")
    demo.say(f"The owner's page of {node.name}: dse-node open --data-dir {node.data_dir}")
    demo.say(f"Its network, as its owner sees it: dse-node peers --data-dir {node.data_dir}")
    while not report.failures:
        demo.check_processes()
        await asyncio.sleep(1)


def run_demo(arguments: Namespace) -> int:
    """Run the verb demo: return 0 when every promise was kept, 1 with a plain reason when not, 130 after Ctrl-C."""
    options = DemoOptions(
        arguments.nodes, arguments.once, arguments.json, arguments.port, arguments.web, arguments.queries
    )
    say: Say = lambda text: print(text, file=sys.stderr if options.json else sys.stdout, flush=True)  # noqa: E731
    try:
        report = asyncio.run(_until_signalled(options, say))
    except (DemoFailed, OSError) as error:
        print(f"dse-node demo: {error}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, asyncio.CancelledError):
        say("\nStopped; nothing is left running.")
        return 130 if options.once else 0
    if options.json:
        print_json(msgspec.to_builtins(report))
    else:
        say(summary(report))
    for failure in report.failures:
        print(f"dse-node demo: {failure}", file=sys.stderr)
    return 1 if report.failures else 0


async def _until_signalled(options: DemoOptions, say: Say) -> DemoReport:
    """Run the demo; SIGTERM ends it like Ctrl-C, and neither does anything a second time."""
    task = asyncio.current_task()
    assert task is not None
    when_told_to_stop(task.cancel)
    return await run(options, say)
