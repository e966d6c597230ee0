"""Does the verbs that make the next strategy: strategy draft, diff, sign."""

import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

import msgspec

from dht import (
    BadIdentity,
    BadStrategy,
    DseError,
    Identity,
    SignedStrategy,
    Strategy,
    add_signature,
    decode_signed,
    encode_document,
    parse_document,
    sign_strategy,
    unknown_parts,
)
from node.cli.commands.output import asked_for_yes, print_facts, print_json
from node.cli.commands.strategy_files import read_any, read_file, write_signed
from node.cli.commands.target_node import client
from node.errors import NotRunning
from node.strategy.draft import (
    DraftRequest,
    check_understood,
    draft,
    host_rule,
    join_only,
    next_version,
    parse_admitter,
    parse_duration,
    parse_revocation,
    parse_room,
    parse_rule,
    parse_setting,
    read_version,
)
from node.strategy.draft_checks import FEW_BITS, check_index_copies, check_members, check_slots, proposed_bits
from node.strategy.impact import changes_json
from node.strategy.rule_notes import rule_notes
from node.strategy.signing import document_to_sign
from node.views.lenient_json import Json, listed, tables
from node.views.safe_text import plain, plain_json
from node.views.strategy import change_lines, effect_lines, instant
from node.web.rendering.translations import translator

_WORDS = {True: "", False: "does not answer at present", None: "is not a member of this network"}


def make(arguments: Namespace) -> int:
    """Write the next version of the strategy, from the newest known one and the changes asked for (strategy draft)."""
    newest, digest, not_understood = newest_version(arguments, arguments.source)
    check_understood(not_understood)
    if arguments.out and Path(arguments.out).exists() and not arguments.force:
        raise BadStrategy("--out", f"{arguments.out} is there already", "choose another file, or add --force")
    strategy = draft(newest, digest, _draft_request(arguments, newest), int(time.time()))
    check_slot_bits(arguments, newest.slot_bits, strategy)
    check_index_copies(strategy, is_meant=arguments.one_index)
    text, notes = encode_document(strategy).decode(), notes_on(strategy, None if arguments.source else arguments)
    if not arguments.out:
        print(plain_json(text))
        print_notes(notes, sys.stderr)
        return 0
    Path(arguments.out).write_text(text + "\n")
    print(f"{arguments.out}: version {strategy.version}, in force from {instant(strategy.effective_at)}; it changes")
    print_facts(
        [(f"  {name}", value) for name, value in change_lines(changes_json(newest, strategy), translator("en"))]
    )
    print_notes(notes)
    print(f"\nLook at it, then: dse-node strategy sign {arguments.out} --key PUBLISHER.key --out signed.json")
    return 0


def diff(arguments: Namespace) -> int:
    """Compare a draft or signed file with the strategy in force, or two files with each other (strategy diff A [B])."""
    if arguments.other:
        before, after = read_any(arguments.file), read_any(arguments.other)
    else:
        after = read_any(arguments.file)
        before, _ = _ask_version(arguments, "")
    body: Json = {
        "from": {"version": before.version},
        "to": {"version": after.version, "effective_at": after.effective_at},
        "changes": changes_json(before, after),
    }
    if arguments.effect:
        body["effect"] = _preview(arguments, after)
    else:
        body["notes"] = notes_on(after, None if arguments.other else arguments)
    if arguments.json:
        print_json(body)
        return 0
    print(f"version {before.version} → {after.version}, in force from {instant(after.effective_at)}")
    print_facts([(f"  {name}", value) for name, value in change_lines(body["changes"], translator("en"))])
    if arguments.effect:
        _print_effect(body["effect"], sys.stdout)
    print_notes(body.get("notes", []))
    return 0


def sign(arguments: Namespace) -> int:
    """Show what a change moves, ask, then sign the draft or add signatures to a signed document (strategy sign)."""
    data = read_file(Path(arguments.draft))
    keys = [publisher_key(path) for path in arguments.key]
    if b'"signatures"' in data:
        signed = decode_signed(data)
        strategy = parse_document(signed.document)
    else:
        strategy = next_version(data, int(time.time()), arguments.draft)
        signed = sign_strategy(document_to_sign(strategy))  # checks its bounds
        check_slot_bits(arguments, _bits_in_force(arguments), strategy)
        check_index_copies(strategy, is_meant=arguments.one_index)
    if not agreed(arguments, strategy):
        return 1
    for key in keys:
        signed = add_signature(signed, key)
    write_signed(signed, arguments.out)
    _say_what_lacks(arguments, signed, strategy)
    return 0


def _draft_request(arguments: Namespace, newest: Strategy) -> DraftRequest:
    rules = [
        parse_rule(text) if option == "rule" else host_rule(option, text) for option, text in arguments.rules or []
    ]
    return DraftRequest(
        fields=dict(parse_setting(text) for text in arguments.set),
        rules=join_only(rules),
        drop_rules=arguments.drop_rule,
        block=[node.lower() for node in arguments.block],
        unblock=[node.lower() for node in arguments.unblock],
        gone=[node.lower() for node in arguments.gone],
        admit=[parse_admitter(text) for text in arguments.admit],
        revoke=[parse_revocation(text) for text in arguments.revoke],
        rooms=[parse_room(text) for text in arguments.room],
        importers=[key.lower() for key in arguments.importer],
        no_importers=[key.lower() for key in arguments.no_importer],
        publishers=[_publisher(text) for text in arguments.publisher],
        slot_bits=_slot_bits(arguments, newest),
        effective_in_s=_seconds("--effective-in", arguments.effective_in) or 0,
        next_in_s=_seconds("--next-in", arguments.next_in),
        expires_in_s=_seconds("--expires-in", arguments.expires_in),
    )


def _seconds(option: str, text: str | None) -> int | None:
    return None if text is None else parse_duration(option, text)


def _slot_bits(arguments: Namespace, newest: Strategy) -> int | None:
    """Read --slot-bits N, or auto: 16 slots and more for each member that the node sees (or that --members says)."""
    wanted: str | None = arguments.slot_bits
    if wanted != "auto":
        if wanted is not None and not (wanted.isascii() and wanted.isdecimal()):
            raise BadStrategy("--slot-bits", f"{wanted!r} is not a whole number", "write 4 to 16, or auto")
        return int(wanted[:9]) if wanted is not None else None
    members = _members(arguments)
    bits = proposed_bits(newest.slot_bits, members, newest.replicas)
    each = 2**bits / members
    print(f"slot_bits {bits}: {2**bits:,} slots for {members:,} members, {each:.0f} for each", file=sys.stderr)
    return bits


def _members(arguments: Namespace) -> int:
    """Return how many members there are, by --members or else by the node."""
    if arguments.members is not None:
        return int(arguments.members)
    try:
        return max(1, int(client(arguments).get("/api/v1/status").get("members") or 1))
    except NotRunning as error:
        raise BadStrategy("slot_bits", f"goes by the number of members, and {error}", "add --members N") from None


def _bits_in_force(arguments: Namespace) -> int:
    """Return the slot_bits in force, 0 where no node tells them."""
    try:
        return _ask_version(arguments, "")[0].slot_bits
    except DseError:
        return 0


def check_slot_bits(arguments: Namespace, before: int, strategy: Strategy) -> None:
    """Raise BadStrategy where a strategy has more slots than its network may have; few slots need no count."""
    if strategy.slot_bits > max(before, FEW_BITS):
        check_slots(strategy, before, _members(arguments))


def _publisher(text: str) -> str:
    """Return a public key as it stands, or that of a key file."""
    return text.lower() if len(text) == 64 else publisher_key(text).public_key.hex()


def publisher_key(path: str) -> Identity:
    """Read a publisher's key; raises BadStrategy."""
    try:
        return Identity.load(Path(path))
    except BadIdentity as error:
        raise BadStrategy(path, error.reason, "give a publisher's key file, as `network new` writes them") from None


# Versions: from the node, from files


def newest_version(arguments: Namespace, source: str | None = None) -> tuple[Strategy, str, Sequence[str]]:
    """Return the newest version, its digest, and what of it is not understood here or at the running node."""
    if source:
        signed = decode_signed(read_file(Path(source)))
        return parse_document(signed.document), signed.digest, unknown_parts(signed.document)
    body = _ask(arguments, "newest")
    return *_version_in(body), [str(part) for part in body.get("not_understood") or ()]


def _ask_version(arguments: Namespace, which: str) -> tuple[Strategy, str]:
    """Return a version that the running node knows, and its digest."""
    return _version_in(_ask(arguments, which))


def _ask(arguments: Namespace, which: str) -> Json:
    try:
        return client(arguments).get("/api/v1/strategy", {"version": which} if which else ())
    except NotRunning as error:
        remedy = "start it, name one with --url, or work from a signed file: `draft --from FILE`, `diff A B`"
        raise replace(error, remedy=remedy) from None


def _version_in(body: Json) -> tuple[Strategy, str]:
    try:
        return read_version(body), str(body.get("digest"))
    except msgspec.ValidationError as error:
        raise NotRunning("the node", f"its strategy cannot be read ({error})", "use a node of this version") from None


# What it moves


def _preview(arguments: Namespace, strategy: Strategy) -> Json:
    return client(arguments, needs_token=True).post("/api/v1/strategy/preview", encode_document(strategy))


def _show_preview(arguments: Namespace, strategy: Strategy) -> None:
    """Print on standard error what a draft changes; raises BadStrategy where too few members would stay."""
    print(f"version {strategy.version}, in force from {instant(strategy.effective_at)}", file=sys.stderr)
    try:
        before, _ = _ask_version(arguments, "")
        print(f"what differs from version {before.version}, which is in force", file=sys.stderr)
        changes = change_lines(changes_json(before, strategy), translator("en"))
        print_facts([(f"  {name}", value) for name, value in changes], file=sys.stderr)
        effect = _preview(arguments, strategy)
    except BadStrategy:
        raise
    except DseError as error:
        print(f"  no preview: {plain(error)}", file=sys.stderr)
        print("  so it is not known who would stay, nor which slots, pages and hosts this moves", file=sys.stderr)
        print_notes(notes_on(strategy, None), sys.stderr)
        return
    _print_effect(effect, sys.stderr)
    stay, lost = len(listed(effect.get("stay"))), len(tables(effect, "lost"))
    check_members(stay, lost, getattr(arguments, "yes_i_lose", None))


def _print_effect(effect: Json, file: Any) -> None:
    print(f"what it moves, as this node knows it ({effect.get('members', '?')} members)", file=file)
    print_facts([(f"  {name}", value) for name, value in effect_lines(effect, translator("en"))], file=file)


def agreed(arguments: Namespace, strategy: Strategy) -> bool:
    """Show what a draft changes, and ask at a terminal; where there is none, only --yes signs."""
    _show_preview(arguments, strategy)
    if not arguments.yes and not sys.stdin.isatty():
        raise BadStrategy("--yes", "is missing, and there is no terminal to ask at", "read the preview, then add --yes")
    if not (is_agreed := arguments.yes or asked_for_yes(f"Sign version {strategy.version}?")):
        print("not signed", file=sys.stderr)
    return is_agreed


def _say_what_lacks(arguments: Namespace, signed: SignedStrategy, strategy: Strategy) -> None:
    """Say how many signatures there are, and how many more the version before asks for, where that is known."""
    if not arguments.out:
        return
    count = len({signature.key for signature in signed.signatures})
    try:
        before, _ = _ask_version(arguments, str(strategy.version - 1))
    except DseError:
        lacking = ""
    else:
        valid = sum(signature.key in before.publishers for signature in signed.signatures)
        lacking = f"{before.threshold - valid} more needed of its publishers: " if valid < before.threshold else ""
    print(f"{arguments.out}: signed by {count}; ", end="")
    if lacking:
        print(f"{lacking}give it to them for `dse-node strategy sign {arguments.out} --key … --out {arguments.out}`")
    else:
        print(f"publish it with `dse-node strategy publish {arguments.out}`")


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
