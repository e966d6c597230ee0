"""Does the verbs that change the strategy in one go, draft to publication: strategy edit, network gone."""

import os
import shlex
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

import msgspec

from dht import BadStrategy, Identity, Strategy, encode_document, encode_signed, sign_strategy
from node.cli.commands.drafts import agreed, check_slot_bits, newest_version, publisher_key
from node.cli.commands.output import ask
from node.cli.commands.strategy_files import read_file
from node.cli.commands.target_node import client, data_dir
from node.strategy.draft import DraftRequest, check_understood, draft, next_version
from node.strategy.draft_checks import check_index_copies
from node.strategy.signing import document_to_sign, own_keys
from node.strategy.typed_change import FIELDS, open_fields, typed_change
from node.views.safe_text import plain
from node.views.strategy import rule_words
from node.web.rendering.translations import translator

QUESTIONS = {
    "deny": "deny a host, *.HOST, or addresses that begin so",
    "delay": "HOST=SECONDS, at least, between two requests",
    "spread": "HOST=D, a large site in 2^D places",
    "only": "prefixes to fetch from alone, or HOST=PREFIXES",
    "never": "prefixes never to fetch from, or HOST=PREFIXES",
    "drop": "leave out the rule of this number",
    "crawled": "a host that one node shall fetch",
    "crawler": "that node: its name, or 40 digits",
    "block": "block a node: its name, or 40 digits",
    "unblock": "unblock a node: its 40 digits",
    "gone": "a node that will not be back: its name, or 40 digits",
    "field": "one field",
    "value": "its new value",
}
_ONLY_AFTER = {"crawler": "crawled", "value": "field"}  # questions that make sense after an answer to another


def edit(arguments: Namespace) -> int:
    """Change the strategy in an editor or by questions; show what that moves; sign and publish it (strategy edit)."""
    newest, digest, not_understood = newest_version(arguments)
    check_understood(not_understood)
    given = [publisher_key(path) for path in arguments.key]
    keys = given or own_keys(data_dir(arguments).keys, newest.publishers)
    check_keys(keys, newest, "dse-node strategy draft --out draft.json")
    now, editor = int(time.time()), os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    unchanged = draft(newest, digest, DraftRequest({}), now)
    if editor and not arguments.ask:
        strategy = _in_editor(editor, unchanged, now)
    else:
        strategy = draft(newest, digest, _asked(arguments, newest), now)
    if strategy == unchanged:
        print("nothing changed")
        return 0
    check_slot_bits(arguments, newest.slot_bits, strategy)
    check_index_copies(strategy, is_meant=arguments.one_index)
    if not agreed(arguments, strategy):
        return 1
    publish_signed(arguments, strategy, keys)
    print(f"version {strategy.version} is published; the other nodes take it over within seconds")
    return 0


def gone(arguments: Namespace) -> int:
    """Sign and publish a next version that says that a node is gone for good (network gone)."""
    newest, digest, not_understood = newest_version(arguments)
    check_understood(not_understood)
    keys, node = [publisher_key(path) for path in arguments.key], arguments.node.lower()
    check_keys(keys, newest, f"dse-node strategy draft --gone {node[:40]} --out draft.json")
    strategy = draft(newest, digest, DraftRequest({}, gone=[node]), int(time.time()))
    if not agreed(arguments, strategy):
        return 1
    publish_signed(arguments, strategy, keys)
    print(f"version {strategy.version}: {node} is gone; the other nodes take over what was its part")
    return 0


def check_keys(keys: Sequence[Identity], newest: Strategy, command: str) -> None:
    """Raise BadStrategy where too few keys are at hand to publish at once. `command`: how to draft for all to sign."""
    if len(keys) < newest.threshold:
        reason = f"{newest.threshold} publishers must sign, {len(keys)} did"
        raise BadStrategy("--key", reason, f"draft it for all to sign: {command}")


def publish_signed(arguments: Namespace, strategy: Strategy, keys: Sequence[Identity]) -> None:
    """Sign a strategy, and hand it to the node."""
    signed = sign_strategy(document_to_sign(strategy), *keys)
    client(arguments, needs_token=True).post("/api/v1/strategy", encode_signed(signed))


def _in_editor(editor: str, unchanged: Strategy, now: int) -> Strategy:
    """Return what somebody makes of a draft in an editor, who may mend what cannot be; a refused draft stays in its
    file."""
    handle, name = tempfile.mkstemp(prefix=f"strategy-{unchanged.version}-", suffix=".json")
    with os.fdopen(handle, "wb") as file:
        file.write(msgspec.json.format(encode_document(unchanged), indent=2) + b"\n")
    while True:
        try:
            done = subprocess.run([*shlex.split(editor), name], check=False)
        except (OSError, ValueError) as error:
            raise BadStrategy("EDITOR", f"{editor[:80]!r}: {error}", "set EDITOR, or add --ask") from None
        if done.returncode:
            raise BadStrategy("EDITOR", f"ended with {done.returncode}, so nothing is drafted", f"the draft: {name}")
        try:
            strategy = next_version(read_file(Path(name)), now, name)
            sign_strategy(encode_document(strategy))  # checks its bounds
        except BadStrategy as error:
            if not sys.stdin.isatty():
                raise
            print(plain(error), file=sys.stderr)
            if ask("Edit it again? [Y/n] ").strip().lower() not in ("", "y", "yes"):
                raise
            continue
        Path(name).unlink()
        return strategy


def _asked(arguments: Namespace, newest: Strategy) -> DraftRequest:
    """Ask for each change; an empty answer is none."""
    print(f"version {newest.version} is the newest; its rules, of which the first that matches decides:")
    for number, rule in enumerate(msgspec.to_builtins(newest.rules), start=1):
        print(f"{number:>5}  {rule_words(rule, translator('en'))}")
    print(f"fields: {', '.join(f'{name}={value}' for name, value in open_fields(newest))}")
    print("Enter leaves a thing as it is.")
    answers: dict[str, str] = {}
    for name in FIELDS:
        if answers.get(_ONLY_AFTER.get(name, ""), "asked"):
            answers[name] = ask(f"{QUESTIONS[name]}: ").strip()
    peers = client(arguments).get("/api/v1/peers").get("peers") or []
    return typed_change(answers, newest, {str(each["node_id"]): str(each.get("name", "")) for each in peers})
