"""Does the verb that takes a node out of its network for good: leave."""

import time
from argparse import Namespace
from typing import Any

from node.cli.commands.target_node import client
from node.errors import NothingToDo
from node.views.safe_text import plain

Json = dict[str, Any]
LOOK_EVERY_S = 1.0


def leave(arguments: Namespace) -> int:
    """Hand everything over and end the node, saying how far it is; or say what it would put at risk to end now."""
    if arguments.yes and not arguments.now:
        raise NothingToDo("--yes", "goes with --now", "leave it out to hand everything over first")
    node = client(arguments, needs_token=True)
    body = node.post("/api/v1/leave", {"at_once": arguments.now, "sure": arguments.yes})
    if arguments.now:
        print(_risk(body))
        if not arguments.yes:
            print("It is still here: `dse-node leave` hands all of it over first; --now --yes ends it all the same")
            return 1
    before = ""
    while body["state"] != "gone" and not arguments.now:
        if (line := _line(body)) != before:
            print(line, flush=True)
            before = line
        time.sleep(LOOK_EVERY_S)
        body = node.post("/api/v1/leave", {})
    print("it has left its network, and the node ends")
    return 0


def _line(body: Json) -> str:
    waits = ", ".join(plain(peer)[:12] for peer in body["silent"])
    line = f"{body['slots']:,} slots with {body['documents']:,} documents to hand over"
    return f"{line}; waits for {waits}, silent owners: `leave --now` says what is at risk" if waits else line


def _risk(body: Json) -> str:
    risk, documents = body["at_risk"], body["documents"]
    if not risk:
        return f"each of its {documents:,} documents has another live copy; copies will be fewer for a while"
    return f"{risk:,} of its {documents:,} documents have no other live copy"
