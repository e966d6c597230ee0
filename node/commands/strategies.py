"""Verbs about the strategy document: strategy show, sign, publish."""

import difflib
import sys
import time
from argparse import Namespace
from pathlib import Path
from typing import Any

import msgspec

from dht import (
    BadStrategy,
    Identity,
    SignedStrategy,
    Strategy,
    add_signature,
    decode_signed,
    encode_document,
    encode_signed,
    parse_document,
    sign_strategy,
)
from node.commands.networks import NEXT_S, VALID_S
from node.commands.output import print_facts, print_json
from node.commands.place import client
from node.plaintext import day, plain

MAX_DRAFT_BYTES = 1 << 20
ABOUT = frozenset({"digest", "signed_by", "warnings"})  # what `show` adds to the document's own fields


def show(arguments: Namespace) -> int:
    """The strategy in force; its JSON is a draft for the next version."""
    body = client(arguments).get("/api/v1/strategy")
    if arguments.json:
        print(msgspec.json.format(msgspec.json.encode(body), indent=2).decode())
        return 0
    rules = body.get("rules") or []
    print_facts(
        [
            ("version", str(body.get("version", "-"))),
            ("network", str(body.get("network", "-"))),
            ("signed by", ", ".join(str(key)[:16] for key in body.get("signed_by") or []) or "-"),
            ("valid", f"{day(body.get('effective_at')) or '-'} to {day(body.get('expires_at')) or '-'}"),
            ("copies", f"{body.get('replicas', '-')}, a write waits for {body.get('min_acks', '-')}"),
            ("slots", str(2 ** body["slot_bits"]) if isinstance(body.get("slot_bits"), int) else "-"),
            ("politeness", f"{body.get('min_delay_s', '-')} to {body.get('max_delay_s', '-')} s between two requests"),
            (
                "rules",
                f"{len(rules)}; the first that matches a URL decides" if rules else "none: every URL may be crawled",
            ),
            *[("", msgspec.json.encode(rule).decode()) for rule in rules[:50]],
        ]
    )
    for warning in body.get("warnings") or []:
        print(f"\nto look at: {plain(warning)}")
    return 0


def sign(arguments: Namespace) -> int:
    """Sign a draft, or add signatures to a signed document."""
    draft = _read(Path(arguments.draft))
    keys = [Identity.load(Path(key)) for key in arguments.key]
    if b'"signatures"' in draft:
        signed = decode_signed(draft)
        for key in keys:
            signed = add_signature(signed, key)
    else:
        signed = sign_strategy(encode_document(next_version(draft, int(time.time()), arguments.draft)), *keys)
    _write(signed, arguments.out)
    return 0


def publish(arguments: Namespace) -> int:
    """Hand a signed document to the node, which checks, adopts and spreads it."""
    signed = _read(Path(arguments.signed))
    strategy = parse_document(decode_signed(signed).document)
    body = client(arguments, needs_token=True).post("/api/v1/strategy", signed)
    if arguments.json:
        print_json(body)
    else:
        done = "adopted" if body.get("adopted", True) else "known already"
        since = f"in force from {day(strategy.effective_at)} on"
        print(f"{done}: version {strategy.version}, {since}; the other nodes take it over within seconds")
    return 0


def next_version(draft: bytes, now: int, source: str = "draft") -> Strategy:
    """The document that a draft means; raises BadStrategy.

    A draft that `strategy show --json` gave carries the digest of the version in force: it becomes the next version,
    in force from `now` on unless it names a later instant.
    """
    try:
        fields = msgspec.json.decode(draft, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise BadStrategy(source, str(error), "begin with `dse-node strategy show --json`") from None
    known = Strategy.__struct_fields__
    for name in fields:
        if name not in known and name not in ABOUT:
            near = difflib.get_close_matches(name, known, n=1)
            raise BadStrategy(name, "is no field of a strategy", f"did you mean {near[0]}?" if near else "remove it")
    body = {name: value for name, value in fields.items() if name in known}
    if isinstance(fields.get("digest"), str):
        body["previous"] = fields["digest"]
        body["version"] = body["version"] + 1 if isinstance(body.get("version"), int) else body.get("version")
        body.update(_renewed(body, now))
    try:
        return msgspec.convert(body, Strategy)
    except msgspec.ValidationError as error:
        raise BadStrategy(source, str(error), "mend that field") from None


def _renewed(body: dict[str, Any], now: int) -> dict[str, int]:
    """Instants for the next version: those of the draft where they lie ahead, else the usual spans from now."""
    spans = {"effective_at": 0, "next_at": NEXT_S, "expires_at": VALID_S}
    return {
        name: now + span for name, span in spans.items() if not (isinstance(body.get(name), int) and body[name] > now)
    }


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_DRAFT_BYTES)
    except OSError as error:
        raise BadStrategy(str(path), error.strerror or str(error), "give the path of a strategy document") from None


def _write(signed: SignedStrategy, out: str | None) -> None:
    data = encode_signed(signed)
    if out is None:
        sys.stdout.write(data.decode() + "\n")
        return
    Path(out).write_bytes(data + b"\n")
    print(f"{out}: signed by {len(signed.signatures)}; publish it with `dse-node strategy publish {out}`")
