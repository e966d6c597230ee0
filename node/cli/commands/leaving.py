"""Does the verb that takes a node out of its network for good: leave."""

import sys
import time
from argparse import Namespace

from node.cli.api_client import ApiClient
from node.cli.commands.output import asked_for_yes
from node.cli.commands.target_node import client
from node.errors import NothingToDo
from node.views.lenient_json import Json
from node.views.safe_text import plain

LOOK_EVERY_S = 1.0


def leave(arguments: Namespace) -> int:
    """Hand everything over and end the node, saying how far it is; or say what it would put at risk to end now."""
    node = client(arguments, needs_token=True)
    if arguments.now:
        body = node.post("/api/v1/leave", {"at_once": True, "sure": arguments.yes})
        print(_risk(body))
        if not arguments.yes:
            print("It is still here: `dse-node leave` hands all of it over first; --now --yes ends it all the same")
            return 1
    else:
        is_leaving = isinstance(node.get("/api/v1/status").get("leaving"), dict)
        if not (is_leaving or arguments.yes or _confirmed()):
            print("It stays.")
            return 1
        _follow(node, node.post("/api/v1/leave", {"at_once": False, "sure": False}))
    print("it has left its network, and the node ends")
    return 0


def _confirmed() -> bool:
    """Ask at a terminal; where there is none, only --yes begins what cannot be undone."""
    if not sys.stdin.isatty():
        raise NothingToDo("--yes", "is missing, and there is no terminal to ask at", "leaving is for good: add --yes")
    print(
        "The node hands everything over, owns nothing from then on, and ends. This cannot be undone.", file=sys.stderr
    )
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
        print("\nThe node goes on leaving: `dse-node leave` shows again how far it is.", file=sys.stderr)
        raise


def _line(body: Json) -> str:
    waits = ", ".join(plain(peer)[:12] for peer in body["silent"])
    line = f"{body['slots']:,} slots with {body['documents']:,} documents to hand over"
    return f"{line}; waits for {waits}, silent owners: `leave --now` says what is at risk" if waits else line


def _risk(body: Json) -> str:
    risk, documents = body["at_risk"], body["documents"]
    if not risk:
        return f"each of its {documents:,} documents has another live copy; copies will be fewer for a while"
    return f"{risk:,} of its {documents:,} documents have no other live copy"
