"""Drafts the next version of a strategy from the newest and what its publisher wants to change.

Pure: values in, a checked document out; raises BadStrategy naming field, value and remedy.
"""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import ip_network
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from crawl import BadUrl, canonical_url
from dht import (
    BY_ADDRESS,
    MOST_GRACE_S,
    Admitter,
    BadStrategy,
    Gone,
    MemberRoom,
    Revocation,
    Rule,
    Strategy,
    check_bounds,
    parse_prefix,
    revoked_id,
    split_url,
)
from node.strategy.rule_notes import check_new_names

DAY_S = 86_400
NEXT_S = 180 * DAY_S  # when operators may expect the next version
VALID_S = 366 * DAY_S  # an expired one stays in force, with a warning
# What `strategy show` adds to the fields of the document.
ABOUT = frozenset({"digest", "signed_by", "not_understood", "warnings"})
NOT_SET = {
    "network": "it is the network's id and never changes",
    "version": "it is the newest version's, plus one",
    "previous": "it is the newest version's digest",
    "rules": "use --deny, --prefer, --delay, --spread, --only, --never, --rule and --drop-rule",
}
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": DAY_S}
_SECONDS = re.compile(r"[0-9]{1,6}(\.[0-9]{1,6})?")
_DURATION = re.compile(r"(\d{1,9})([smhd])")


@dataclass(frozen=True, slots=True)
class DraftRequest:
    """Lists the changes of the next version. Instants are seconds from now; None leaves the usual."""

    fields: Mapping[str, Any]  # by name, parsed values
    rules: Sequence[Rule] = ()  # put before the others, in this order
    drop_rules: Sequence[int] = ()  # by number of the newest version, from 1
    block: Sequence[str] = ()  # node ids, hex
    unblock: Sequence[str] = ()
    gone: Sequence[str] = ()  # node ids, hex, from now on
    admit: Sequence[Admitter] = ()
    revoke: Sequence[Revocation] = ()
    rooms: Sequence[MemberRoom] = ()  # the last word of each member counts
    importers: Sequence[str] = ()  # public keys, hex
    no_importers: Sequence[str] = ()
    publishers: Sequence[str] = ()  # keys, hex; empty: as they are
    slot_bits: int | None = None
    effective_in_s: int = 0
    next_in_s: int | None = None
    expires_in_s: int | None = None


def draft(newest: Strategy, digest: str, wishes: DraftRequest, now: int) -> Strategy:
    """Return the document that follows `newest`, whose digest is `digest`, within its bounds."""
    effective_at = now + wishes.effective_in_s
    expires_in_s = VALID_S if wishes.expires_in_s is None else wishes.expires_in_s
    next_in_s = min(NEXT_S, expires_in_s) if wishes.next_in_s is None else wishes.next_in_s
    fields = msgspec.to_builtins(newest) | {
        "version": newest.version + 1,
        "previous": digest,
        "effective_at": effective_at,
        "next_at": effective_at + next_in_s,
        "expires_at": effective_at + expires_in_s,
        "rules": msgspec.to_builtins(_rules(newest.rules, wishes)),
        "blocked": _blocked(newest.blocked, wishes),
        "gone": _builtins(
            {each.id: each for each in (*_still_gone(newest, now), *(Gone(id, now) for id in wishes.gone))}
        ),
        "admitters": _builtins({each.key: each for each in (*newest.admitters, *wishes.admit)}),
        "revoked": _builtins({each.id: each for each in (*newest.revoked, *wishes.revoke)}),
        "importers": _importers(newest.importers, wishes),
        "rooms": _builtins({each.id: each for each in (*newest.rooms, *wishes.rooms)}),
        **wishes.fields,
    }
    if wishes.publishers:
        fields["publishers"] = list(dict.fromkeys(wishes.publishers))
    if wishes.slot_bits is not None:
        fields["slot_bits"] = wishes.slot_bits
    try:
        strategy = msgspec.convert(fields, Strategy)
    except msgspec.ValidationError as error:
        raise BadStrategy("draft", str(error), "mend that --set") from None
    check_bounds(strategy)
    check_new_names(strategy, wishes.rules)
    return strategy


def _still_gone(newest: Strategy, now: int) -> list[Gone]:
    """Those of whom a heartbeat from before may still be about."""
    return [each for each in newest.gone if each.at > now - MOST_GRACE_S]


def check_understood(parts: Sequence[str]) -> None:
    """Raise BadStrategy where the newest version has parts that this program would leave out of the next one."""
    if parts:
        names = ", ".join(str(part)[:40] for part in parts[:8])
        raise BadStrategy("newest version", f"says what this dse-node does not know: {names}", "draft with a newer one")


def next_version(draft: bytes, now: int, source: str = "draft") -> Strategy:
    """Return the document that a draft means; raises BadStrategy.

    A draft that `strategy show --json` gave carries the digest of the version in force: it becomes the next version, in
    force from `now` on unless it names a later instant.
    """
    try:
        fields = msgspec.json.decode(draft, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise BadStrategy(source, str(error), "begin with `dse-node strategy show --json`") from None
    known = Strategy.__struct_fields__
    for name in fields:
        if name not in known and name not in ABOUT:
            near = difflib.get_close_matches(name, known, n=1)
            raise BadStrategy(name, "is not a field of a strategy", f"did you mean {near[0]}?" if near else "remove it")
    check_understood(fields.get("not_understood") or ())
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
    """Return instants for the next version: those of the draft where they lie ahead, else the usual spans from now."""
    spans = {"effective_at": 0, "next_at": NEXT_S, "expires_at": VALID_S}
    return {
        name: now + span for name, span in spans.items() if not (isinstance(body.get(name), int) and body[name] > now)
    }


def read_version(body: Mapping[str, Any]) -> Strategy:
    """Read a version as the web API gives it, what it adds left aside; raises msgspec.ValidationError."""
    return msgspec.convert({name: value for name, value in body.items() if name not in ABOUT}, Strategy)


def parse_setting(text: str) -> tuple[str, Any]:
    """Read FIELD=VALUE; the value is JSON, or else a plain text."""
    name, equals, value = text.partition("=")
    if not equals:
        raise BadStrategy("--set", f"{text!r} has no =", "write FIELD=VALUE, such as replicas=4")
    known = [field for field in Strategy.__struct_fields__ if field not in NOT_SET]
    if name in NOT_SET:
        raise BadStrategy(name, "is not for --set", NOT_SET[name])
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        remedy = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(known)}"
        raise BadStrategy(name, "is not a field of a strategy", remedy)
    try:
        return name, msgspec.json.decode(value.encode())
    except msgspec.DecodeError:
        return name, value


def parse_rule(text: str) -> Rule:
    """Read a rule as JSON."""
    try:
        return msgspec.json.decode(text.encode(), type=Rule)
    except msgspec.DecodeError as error:
        example = '{"action": "owners", "host": "*.example.org", "min_delay_s": 5}'
        raise BadStrategy("--rule", f"{text[:200]!r}: {error}", f"write JSON such as {example}") from None


def host_rule(action: str, text: str) -> Rule:
    """Read HOST or URL-PREFIX (deny), HOST=NODEID (prefer), HOST=SECONDS (delay), HOST=DEPTH (spread), or PREFIXES or
    HOST=PREFIXES (only, never)."""
    if action in BY_ADDRESS:
        return _address_rule("only" if action == "only" else "never", text)
    if action == "deny":
        return _prefix_rule(text) if "://" in text else Rule(action="deny", host=_host("--deny", text))
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        what = {"prefer": "NODEID", "delay": "SECONDS"}.get(action, "D")
        raise BadStrategy(f"--{action}", f"{text!r} has no =", f"write HOST={what}")
    host = _host(f"--{action}", name)
    if action == "prefer":
        return Rule(action="prefer", host=host, peer=value.lower())
    if action == "delay":
        return Rule(host=host, min_delay_s=_seconds(value))
    if not value.isascii() or not value.isdecimal():
        raise BadStrategy("--spread", f"{value!r} is not a whole number", "write HOST=D, D from 0 to 8")
    return Rule(action="spread", host=host, depth=int(value[:9]))


def _seconds(text: str) -> float:
    if not _SECONDS.fullmatch(text):
        raise BadStrategy("--delay", f"{text[:40]!r} is not a number of seconds", "write one such as 5 or 0.5")
    return float(text)


def parse_admitter(text: str) -> Admitter:
    """Read KEY or KEY=DAY (--admit)."""
    key, until = _with_day("--admit", text)
    return Admitter(key, until)


def parse_room(text: str) -> MemberRoom:
    """Read NODE=STEP (--room)."""
    node, equals, step = text.partition("=")
    if not equals or step.strip() not in ("-2", "-1", "0", "1", "2"):
        raise BadStrategy("--room", f"{text[:80]!r} names no step", "write NODEID=STEP, a step from -2 to 2")
    return MemberRoom(node.strip().lower(), int(step))


def parse_revocation(text: str) -> Revocation:
    """Read ID or ID=DAY (--revoke)."""
    identifier, since = _with_day("--revoke", text)
    return Revocation(revoked_id(identifier), since)


def _with_day(option: str, text: str) -> tuple[str, int]:
    name, equals, written = text.partition("=")
    try:
        at = datetime.fromisoformat(written).replace(tzinfo=UTC).timestamp() if equals else 0
    except ValueError:
        raise BadStrategy(option, f"{written[:40]!r} is not a day", "write one such as 2027-01-31, UTC") from None
    return name.strip().lower(), int(at)


def parse_duration(option: str, text: str) -> int:
    """Read 90s, 30m, 12h or 7d as seconds."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise BadStrategy(option, f"{text!r} is not a duration", "write 90s, 30m, 12h or 7d")
    return int(match[1]) * _UNITS[match[2]]


def _prefix_rule(text: str) -> Rule:
    """Read a rule that denies all URLs that begin alike, or one URL where $ stands at its end, by either scheme."""
    address = text.removesuffix("$")
    try:
        parts = split_url(canonical_url(address))
        if "*" in parts.host:
            raise BadUrl(text[:200], "its host is none")
    except BadUrl as error:
        raise BadStrategy("--deny", f"{text[:200]!r}: {error}", "write HOST or https://HOST/BEGINNING") from None
    beginning = re.escape(f"{parts.site}{parts.path}{'?' if parts.query else ''}{parts.query}")
    end = "$" if address != text else ""
    return Rule(action="deny", host=parts.host, pattern=f"^https?://{beginning}{end}")


def _address_rule(action: Literal["only", "never"], text: str) -> Rule:
    host, equals, listed = text.rpartition("=")
    prefixes = []
    for word in listed.replace(",", " ").split():
        try:
            prefixes.append(str(parse_prefix(word)))
        except ValueError as error:
            remedy = _without_host_bits(word) or "write one such as 10.20.0.0/16 or 2001:db8::/48"
            raise BadStrategy(f"--{action}", f"{word[:80]!r}: {error}", remedy) from None
    if not prefixes:
        raise BadStrategy(f"--{action}", "names no prefix", "write one such as 10.20.0.0/16 or 2001:db8::/48")
    return Rule(action=action, host=_host(f"--{action}", host) if equals else None, prefixes=tuple(prefixes))


def _without_host_bits(text: str) -> str:
    try:
        return f"did you mean {ip_network(text, strict=False)}?"
    except ValueError:
        return ""


def join_only(rules: Sequence[Rule]) -> list[Rule]:
    """Make one rule of all `only` rules for the same host: each alone would exclude what the others leave."""
    joined: dict[object, Rule] = {}
    for number, rule in enumerate(rules):
        key = ("only", rule.host) if rule.action == "only" else number
        before = joined[key].prefixes or () if key in joined else ()
        joined[key] = (
            replace(rule, prefixes=tuple(dict.fromkeys((*before, *(rule.prefixes or ()))))) if before else rule
        )
    return list(joined.values())


def _host(option: str, text: str) -> str:
    host = text.strip().lower().rstrip(".")
    if not host or set(host.removeprefix("*.")) & set("/:?#@*"):
        raise BadStrategy(option, f"{text!r} is not a host", 'write a host such as www.example.org, or "*.example.org"')
    wildcard, name = ("*.", host[2:]) if host.startswith("*.") else ("", host)
    return wildcard + _in_ascii(option, name)


def _in_ascii(option: str, host: str) -> str:
    """Write a host as canonical URLs have it, which is how rules meet it: xn--mnchen-3ya.example."""
    try:
        return split_url(canonical_url(f"http://{host}/")).host
    except BadUrl as error:
        raise BadStrategy(
            option, f"{host[:80]!r} is not a host: {error}", "write a host such as www.example.org"
        ) from None


def _rules(old: Sequence[Rule], wishes: DraftRequest) -> list[Rule]:
    """New rules come first, because the first match decides; one that was there already moves up."""
    for number in wishes.drop_rules:
        if not 1 <= number <= len(old):
            reason = f"{number} is not a rule's number"
            raise BadStrategy("--drop-rule", reason, f"the newest version has {len(old)}; `strategy show` numbers them")
    new = list(dict.fromkeys(wishes.rules))
    kept = [rule for n, rule in enumerate(old, start=1) if n not in wishes.drop_rules and rule not in new]
    return [*new, *kept]


def _builtins(latest: Mapping[str, Admitter | Revocation | Gone | MemberRoom]) -> list[Any]:
    """Entries by name, the last of each name."""
    return [msgspec.to_builtins(each) for each in latest.values()]


def _importers(old: Sequence[str], wishes: DraftRequest) -> list[str]:
    for key in wishes.no_importers:
        if key not in old:
            raise BadStrategy("--no-importer", f"{key} is none", "`strategy show` lists who is")
    return [key for key in dict.fromkeys([*old, *wishes.importers]) if key not in wishes.no_importers]


def _blocked(old: Sequence[str], wishes: DraftRequest) -> list[str]:
    for node in wishes.unblock:
        if node not in old:
            raise BadStrategy("--unblock", f"{node} is not blocked", "`strategy show` lists who is")
    return [node for node in dict.fromkeys([*old, *wishes.block]) if node not in wishes.unblock]
