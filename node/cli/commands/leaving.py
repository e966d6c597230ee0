"""Does the verb that takes a node out of its network for good: leave."""

import sys
import time
from argparse import Namespace

from node.cli.api_client import ApiClient
from node.cli.commands.output import asked_for_yes
from node.cli.commands.target_node import client
from node.errors import NothingToDo
from node.views.lenient_json import Json
from node.views.safe_text import counted, plain

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
