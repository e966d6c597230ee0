"""Does the verbs that tell of the strategy, and hand the next one over: strategy show, log, publish."""

import time
from argparse import Namespace
from pathlib import Path

from dht import decode_signed, parse_document
from node.cli.commands.output import print_facts, print_json
from node.cli.commands.strategy_files import read_file
from node.cli.commands.target_node import client
from node.views.lenient_json import Json
from node.views.safe_text import plain
from node.views.status import size
from node.views.strategy import admission_words, instant, log_lines, rule_words, span
from node.web.rendering.translations import translator


def show(arguments: Namespace) -> int:
    """Print the strategy in force; its JSON is a draft for the next version."""
    body = client(arguments).get("/api/v1/strategy")
    if arguments.json:
        print_json(body, indent=2)
        return 0
    print_facts([*_facts(body), *_rules(body)])
    for warning in body.get("warnings") or []:
        print(f"\nto look at: {plain(warning)}")
    return 0


def log(arguments: Namespace) -> int:
    """Print every version, oldest first, one line each; forks below the version that was kept."""
    body = client(arguments).get("/api/v1/strategy/log")
    if arguments.json:
        print_json(body)
        return 0
    for line in log_lines(body):
        print(line)
    for warning in body.get("warnings") or []:
        print(f"\nto look at: {plain(warning)}")
    return 0


def publish(arguments: Namespace) -> int:
    """Hand a signed document to the node, which checks, adopts and spreads it."""
    signed = read_file(Path(arguments.signed))
    strategy = parse_document(decode_signed(signed).document)
    body = client(arguments, needs_token=True).post("/api/v1/strategy", signed)
    if arguments.json:
        print_json(body)
        return 0
    done = "adopted" if body.get("adopted", True) else "known already"
    wait_s = strategy.effective_at - time.time()
    since = f"in force from {instant(strategy.effective_at)} on" + (f" (in {span(wait_s)})" if wait_s > 0 else "")
    print(f"{done}: version {strategy.version}, {since}; the other nodes take it over within seconds")
    return 0


def _facts(body: Json) -> list[tuple[str, str]]:
    keys = [str(key)[:16] for key in body.get("publishers") or []]
    return [
        ("version", f"{body.get('version', '-')} ({str(body.get('digest', '-'))[:16]})"),
        ("network", str(body.get("network", "-"))),
        ("signed by", ", ".join(str(key)[:16] for key in body.get("signed_by") or []) or "-"),
        ("valid", f"{instant(body.get('effective_at'))} to {instant(body.get('expires_at'))}"),
        (
            "next",
            f"expected by {instant(body.get('next_at'))}, signed by {body.get('threshold', '-')} of: {', '.join(keys)}",
        ),
        ("members", admission_words(body.get("admission"))),
        ("copies", f"{body.get('replicas', '-')}, a write waits for {body.get('min_acks', '-')}"),
        ("slots", str(2 ** body["slot_bits"]) if isinstance(body.get("slot_bits"), int) else "-"),
        (
            "room",
            f"a usual part stands for {size(body['room_unit'])}" if isinstance(body.get("room_unit"), int) else "-",
        ),
        ("politeness", f"{body.get('min_delay_s', '-')} to {body.get('max_delay_s', '-')} s between two requests"),
        *[("room", f"{each.get('id')}: step {each.get('step')} at most") for each in (body.get("rooms") or [])[:50]],
        *[("blocked", str(node)) for node in (body.get("blocked") or [])[:50]],
        *[("gone", f"{each.get('id')} since {instant(each.get('at'))}") for each in (body.get("gone") or [])[:50]],
    ]


def _rules(body: Json) -> list[tuple[str, str]]:
    rules = [rule for rule in body.get("rules") or [] if isinstance(rule, dict)]
    about = f"{len(rules)}; the first that matches a URL decides" if rules else "none: every URL may be crawled"
    numbered = [(f"{number:>5}", rule_words(rule, translator("en"))) for number, rule in enumerate(rules[:50], start=1)]
    return [("rules", about), *numbered, *([("", f"and {len(rules) - 50} more")] if len(rules) > 50 else [])]
