"""Does the verbs join and leave: take a private node into a network, and a node out of its network for good."""

import sys
import time
from argparse import Namespace
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from bootstrap import is_url, is_words, load_network, split_invitation
from dht import Identity, Network, counted, has_met_peers, system_clock
from node.cli.api_client import ApiClient
from node.cli.commands.invitations import accept, invitation_facts
from node.cli.commands.output import asked_for_yes, confirm, print_facts, write_whole
from node.cli.commands.process import end_process
from node.cli.commands.setup import UNINVITED, asks_invitations, solve_puzzle
from node.cli.commands.target_node import client, configuration, data_dir
from node.config.data_dir import DataDir
from node.config.settings import Config
from node.errors import BadDataDir, ConfigError, NothingToDo
from node.extras import ARCHIVE_WRITER, added
from node.jobs.moving_in import kept_pages
from node.joining.given_network import given_network, invitation_for
from node.strategy.founding import adopt_founder, founder_note
from node.views.lenient_json import Json
from node.views.safe_text import plain
from store import RecordStore


def join(arguments: Namespace) -> int:
    """Join a network. The node's private one ends; its pages and URLs come along when the node runs again."""
    data, config = data_dir(arguments), configuration(arguments)
    data.check()
    given, words = arguments.network[0], " ".join(arguments.network[1:])
    if is_words(" ".join(arguments.network)) and not Path(given).exists():
        arguments.invitation = arguments.network
        return accept(arguments)
    return 0 if _move(data, config, given, words, confirm) else 1


def join_as_asked(data: DataDir, config: Config) -> None:
    """Join the network that the owner chose in a browser; the node has stopped for that."""
    given, _, words = data.joins.read_text().partition("\n")
    data.joins.unlink()  # first, so that a network which cannot be joined is tried once
    _move(data, config, given, words, lambda _question: True)


def _move(data: DataDir, config: Config, given: str, words: str, is_wanted: Callable[[str], bool]) -> bool:
    """Take a private node into a network; return whether that was done. `is_wanted`: asks before anything changes."""
    if Path(config.node.network) != data.network:
        raise ConfigError("node.network", "names a file elsewhere", "put the network file there, and start the node")
    text = given_network(given)
    network, former = load_network(text), load_network(data.network)
    invitation = invitation_for(text, words)
    if network.id == former.id:
        raise BadDataDir(str(data.root), f"this node is in {former.name} already", "give it an invitation: accept FILE")
    identity = Identity.load(data.identity)
    if has_met_peers(data.dht) or not data.is_founded_by(identity.node_id.hex()):
        remedy = "`dse-node leave` hands its part over; then make another node with `dse-node init --network FILE`"
        raise BadDataDir(str(data.root), f"this node is a member of {former.name} beside others", remedy)
    if not is_wanted(f"Move this node from {former.name} to {network.name} ({network.id[:12]}…), with its pages?"):
        return False
    end_process(data)
    with data.lock():
        folder = data.root / f"before-{former.id[:8]}"
        archive = _put_aside(data, folder, config)
        data.network.write_text(split_invitation(text)[0])
        if invitation is not None:
            data.invite(str(invitation))
        if not is_url(given) and founder_note(Path(given)).exists():
            adopt_founder(data, identity.node_id.hex(), Path(given))
        solve_puzzle(data, identity)
    _print_joined(network, folder, archive)
    print_facts(invitation_facts(invitation))
    if invitation is None and asks_invitations(text):
        print(UNINVITED)
    return True


def _put_aside(data: DataDir, folder: Path, config: Config) -> str:
    """Move what belongs to the former network into a folder, with a WARC of its pages where the archive extra is
    there; return what that holds."""
    folder.mkdir(mode=0o700, exist_ok=True)
    parts = (data.store, data.index, data.seen, data.dht, data.evidence, data.room, data.founder, data.vouchers)
    for path in (*parts, data.invitation, data.owner_told, data.network):
        if path.exists() and not (folder / path.name).exists():
            path.rename(folder / path.name)
    data.create()
    with suppress(ImportError):
        write = added(ARCHIVE_WRITER)
        store = RecordStore.open(folder / "store", config.store, system_clock)
        try:
            made = write_whole(folder / "pages.warc.gz", lambda file: write(kept_pages(store), file, time.time()))
        finally:
            store.close()
        return f"{counted(made.captures, 'page')} in {folder / 'pages.warc.gz'}"
    return ""


def _print_joined(network: Network, folder: Path, archive: str) -> None:
    facts = [("network", f"{network.name}, id {network.id}"), ("former data", str(folder))]
    print_facts([*facts, *([("archive", archive)] if archive else [])])
    print("Start the node: dse-node run. It brings its pages and addresses into the network as soon as it is a member.")


LOOK_EVERY_S = 1.0


def leave(arguments: Namespace) -> int:
    """Hand everything over and end the node, saying how far it is; or say what it would put at risk to end now."""
    node = client(arguments, needs_token=True)
    if arguments.now:
        body = node.post("/api/v1/leave", {"at_once": True, "sure": arguments.yes})
        print(_risk(body))
        if not arguments.yes:
            print("The node still runs: `dse-node leave` hands everything over first; --now --yes ends it at once")
            return 1
    else:
        is_leaving = isinstance(node.get("/api/v1/status").get("leaving"), dict)
        if not (is_leaving or arguments.yes or _confirmed()):
            print("The node stays.")
            return 1
        _follow(node, node.post("/api/v1/leave", {"at_once": False, "sure": False}))
    print("The node has left its network and ends.")
    return 0


def _confirmed() -> bool:
    """Ask at a terminal; where there is none, only --yes begins what cannot be undone."""
    if not sys.stdin.isatty():
        raise NothingToDo("--yes", "is missing, and there is no terminal to ask at", "leaving is for good: add --yes")
    print("The node hands over all its records, then ends. This cannot be undone.", file=sys.stderr)
    return asked_for_yes("Leave the network for good?")


def _follow(node: ApiClient, body: Json) -> None:
    """Say how far the leaving is until it is over; whoever interrupts that hears that the leaving goes on."""
    before = ""
    try:
        while body["state"] != "gone":
            if (line := _line(body)) != before:
                print(line, flush=True)
                before = line
            time.sleep(LOOK_EVERY_S)
            body = node.post("/api/v1/leave", {})
    except KeyboardInterrupt:
        print("\nThe node continues to leave: `dse-node leave` shows the progress.", file=sys.stderr)
        raise


def _line(body: Json) -> str:
    waits = ", ".join(plain(peer)[:12] for peer in body["silent"])
    line = f"{counted(body['slots'], 'slot')} with {counted(body['documents'], 'document')} to hand over"
    return f"{line}; waiting for nodes that do not answer: {waits} (risk: `leave --now`)" if waits else line


def _risk(body: Json) -> str:
    risk, documents = body["at_risk"], body["documents"]
    if not risk:
        return f"each of its {counted(documents, 'document')} has another live copy"
    return f"{risk:,} of its {counted(documents, 'document')} without another live copy"
