"""Prints which rules of a draft cannot work, by what a running node knows of its members."""

from argparse import Namespace
from typing import TextIO

from dht import DseError, Strategy
from node.cli.commands.output import print_facts
from node.cli.commands.target_node import client
from node.strategy.rule_notes import rule_notes
from node.views.lenient_json import tables

_WORDS = {True: "", False: "does not answer at present", None: "is not a member of this network"}


def notes_on(strategy: Strategy, asked: Namespace | None) -> list[str]:
    """Say which rules cannot work; the node that a command line names is `asked` for its members, where it answers."""
    if asked and any(rule.peer for rule in strategy.rules):
        try:
            peers = tables(client(asked).get("/api/v1/peers"), "peers")
        except DseError:
            peers = []
        live = {each.get("node_id"): bool(each.get("live")) for each in peers}
        if live:
            return list(rule_notes(strategy, lambda node, _host: _WORDS[live.get(node)]))
    return list(rule_notes(strategy))


def print_notes(notes: list[str], file: TextIO | None = None) -> None:
    """Print each note on a line of its own, on standard output unless `file` says otherwise."""
    print_facts([("  note", note) for note in notes], file=file)
