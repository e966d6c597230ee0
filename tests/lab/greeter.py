"""An overlay and nothing else, on one host: it greets all members every few seconds and writes whom it reached.

`python -m tests.lab.greeter NETWORK REPORT`: the network file, and the file for the report in JSON. The report holds
the node's id, its role, and the members that answered, those among them that answered through a relay, and those that
did not answer.
"""

import asyncio
import json
import random
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bootstrap import first_contacts, load_network, split_invitation
from dht import Endpoint, Identity, NodeId, OverlayService, OverlaySettings, RemoteError, open_overlay, system_clock
from dht.config import DhtConfig
from dht.messages import Message
from node.config.data_dir import write_secret
from node.strategy.founding import founder_note
from tests.lab.host import PEER_PORT

READY = "greeter runs"
EVERY_S, WITHIN_S = 5.0, 9.0


class Greeting(Message, frozen=True, array_like=True):
    """Greets a node of the lab."""

    text: str


class GreetingBack(Message, frozen=True, array_like=True):
    """Greets back."""

    text: str


async def _greet_all(overlay: OverlayService, report: Path) -> None:
    """Greet every member, again and again; who answered once counts as reached."""
    reached, relayed = set[NodeId](), set[NodeId]()

    async def greet(peer: NodeId) -> None:
        try:
            await overlay.ask(peer, Greeting("x" * 20_000), GreetingBack, timeout_s=WITHIN_S)
            reached.add(peer)
            if overlay._messenger._broken.is_broken(peer, system_clock().steady):
                relayed.add(peer)
        except RemoteError as error:
            print(peer.hex()[:8], error, flush=True)

    while True:
        members = [peer for peer in overlay.view.members() if peer != overlay.view.node_id]
        async with asyncio.TaskGroup() as tasks:
            for peer in members:
                if peer not in reached:
                    tasks.create_task(greet(peer))
        said = {"id": overlay.view.node_id.hex(), "is_member": overlay.takes_part}
        said |= {
            "reached": sorted(p.hex() for p in reached),
            "relayed": sorted(p.hex() for p in relayed),
            "missed": sorted(p.hex() for p in members if p not in reached),
        }
        await asyncio.to_thread(report.write_text, json.dumps(said))
        await asyncio.sleep(EVERY_S)


def _invitation(network_file: Path, report: Path) -> Path:
    """Take the invitation out of the network file, as `dse-node init` does; return the path of its file."""
    file = report.with_name("invitation")
    write_secret(file, f"{split_invitation(network_file.read_text())[1]}\n")
    return file


async def _run(network_file: Path, report: Path) -> None:
    network, identity = load_network(network_file), Identity.generate()
    listening = (Endpoint("0.0.0.0", PEER_PORT, PEER_PORT),)
    settings = OverlaySettings(listening, mode="auto", invitation=_invitation(network_file, report))
    with ThreadPoolExecutor(1) as files:
        overlay = open_overlay(identity, network, DhtConfig(), settings, system_clock, random.Random(), files)
        if founder_note(network_file).exists():
            overlay.begin_network()
        overlay.join(first_contacts(network, overlay.view.strategy))

        async def answer(asker: NodeId, message: Greeting) -> GreetingBack:
            return GreetingBack(message.text)

        overlay.serve(Greeting, answer)
        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(overlay.run()), tasks.create_task(_greet_all(overlay, report))]
            print(READY, flush=True)
            stopped = asyncio.Event()
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
            await stopped.wait()
            for task in running:
                task.cancel()


if __name__ == "__main__":
    asyncio.run(_run(*map(Path, sys.argv[1:3])))
