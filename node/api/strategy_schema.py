"""Writes the JSON Schema of strategy documents: the fields of the program's own types, with words and bounds.

Pure: values only. Names, types, defaults and what must be there come from the types themselves. The table below adds
what these do not say; `tests/node/api/test_strategy_schema.py` holds its bounds against those that nodes check.
"""

from collections.abc import Mapping

import msgspec

from dht import Strategy
from node.api.body import Json

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_INSTANT = {"minimum": 0, "maximum": 1 << 53}
_GRACE = {"minimum": 60, "maximum": 30 * 86_400}
_NUMBER = {"minimum": 1, "maximum": 1 << 31}
_NODE_OR_NONE = "^([0-9a-f]{40})?$"


def _hex(digits: int) -> Json:
    return {"pattern": f"^[0-9a-f]{{{digits}}}$"}


def _many(most: int, **items: object) -> Json:
    return {"maxItems": most, **({"items": items} if items else {})}


_ABOUT: Mapping[str, Mapping[str, tuple[str, Json]]] = {
    "Strategy": {
        "network": ("the id of the network", _hex(40)),
        "version": ("the number of this version: that of the previous one, plus one", _NUMBER),
        "previous": ('the digest of the previous version, hex; "" for version 1', {"pattern": "^([0-9a-f]{64})?$"}),
        "effective_at": ("when it comes into force, Unix seconds", _INSTANT),
        "expires_at": ("when it expires, Unix seconds: it stays in force, with a warning", _INSTANT),
        "next_at": ("when operators may expect the next version, Unix seconds", _INSTANT),
        "replicas": ("copies of each record", {"minimum": 1, "maximum": 16}),
        "slot_bits": ("the key space has 2^slot_bits slots", {"minimum": 4, "maximum": 16}),
        "min_acks": ("durable copies for which a write waits; at most `replicas`", {"minimum": 1, "maximum": 16}),
        "analyzer": ("the rules by which text becomes terms", _NUMBER),
        "ranking": ("the rules by which results are ordered", _NUMBER),
        "rules": ("the crawl's rules: the first that matches a URL decides", _many(1000)),
        "min_delay_s": ("seconds between two requests to a site, at least", {"minimum": 0, "maximum": 3600}),
        "max_delay_s": ("seconds up to which slowness alone raises that", {"minimum": 0, "maximum": 3600}),
        "balance_queue": ("URLs due at a node from which on its work is shared", _NUMBER),
        "balance_ratio": (
            "how many times the least busy node's due work it must be",
            {"minimum": 1.1, "maximum": 1000},
        ),
        "stable_grace_s": ("seconds of silence after which a server's slots go to others", _GRACE),
        "laptop_grace_s": ("the same for a machine that sleeps", _GRACE),
        "puzzle_bits": ("work behind an identity: leading zero bits", {"minimum": 0, "maximum": 28}),
        "min_age_days": ("younger members do not vote where older ones are", {"minimum": 0, "maximum": 3650}),
        "blocked": ("ids of nodes with which nobody speaks", _many(1000, **_hex(40))),
        "gone": ("nodes that will not be back", _many(1000)),
        "bootstrap": ('first contacts: "IP:port" or "[IPv6]:port"', _many(64)),
        "declared_prefixes": ("private prefixes whose addresses members may have", _many(64)),
        "publishers": ("public keys that may sign the next version", {"minItems": 1, **_many(16, **_hex(64))}),
        "threshold": ("how many of them must", {"minimum": 1, "maximum": 16}),
        "admission": ("which nodes are members: `attested`, or `invited` besides", {"minLength": 1, "maxLength": 32}),
        "admitters": ("public keys that may invite, besides the publishers", _many(64)),
        "revoked": ("invitations that are taken back", _many(1000)),
        "second_look_permille": ("of its fetches, that a node makes to check others", {"minimum": 0, "maximum": 30}),
        "importers": ("public keys of nodes that may import pages", _many(64, **_hex(64))),
        "former_last": ("former versions of a page that are kept in any case", {"minimum": 0, "maximum": 100}),
        "former_days": ("days for which former versions are kept", {"minimum": 0, "maximum": 3650}),
        "index_copies": ("holders of a slot that index it and answer queries", {"minimum": 1, "maximum": 16}),
        "tie_breaker": ('the id of the node that goes on without the other of two; ""', {"pattern": _NODE_OR_NONE}),
        "needs": ("what a node must know to follow this version", _many(16)),
        "room_unit": ("bytes of quota of a member that keeps a usual part", {"minimum": 1_000_000}),
        "rooms": ("steps of room that count for members at most", _many(1000)),
    },
    "Rule": {
        "action": ("`unknown`: one of a newer release, which matches nothing here", {}),
        "host": ('an exact host, or "*.suffix" for a domain and all below it; null: every host', {"maxLength": 255}),
        "pattern": ("RE2, searched in the whole URL; null: every URL", {"maxLength": 1000}),
        "slots": ("the first and the last slot; null: every slot", {}),
        "max_depth": ("links that may be followed from a URL; null: no bound", {"minimum": 0, "maximum": 1 << 31}),
        "min_delay_s": ("seconds between two requests to a site, at least", {"minimum": 0, "maximum": 3600}),
        "peer": ("with `prefer`: the id of the member that fetches", _hex(40)),
        "depth": ("with `spread`: the site lies in 2^depth places", {"minimum": 0, "maximum": 8}),
        "prefixes": ('with `only` and `never`: such as "10.20.0.0/16"', {"minItems": 1, "maxItems": 64}),
    },
    "Need": {
        "feature": ("the name of what a node must know", {"minLength": 1, "maxLength": 64}),
        "binds_at": ("from when on, Unix seconds; 0: with the version", _INSTANT),
    },
    "Admitter": {
        "key": ("Ed25519 public key, hex", _hex(64)),
        "until": ("Unix seconds, from which it may not any more; 0: for good", _INSTANT),
    },
    "Revocation": {
        "id": ("an invitation, 40 hex digits, or a public key, 64", {"pattern": "^([0-9a-f]{40}|[0-9a-f]{64})$"}),
        "from_at": ("members whose invitation was made before stay; 0: none do", _INSTANT),
    },
    "MemberRoom": {
        "id": ("the member", _hex(40)),
        "step": ("its step: the part is 2^step times the usual one", {"minimum": -2, "maximum": 2}),
    },
    "Gone": {
        "id": ("the id of a node, hex", _hex(40)),
        "at": ("Unix seconds: what it sent before counts no more", {"minimum": 1, "maximum": 1 << 53}),
    },
    "Signature": {
        "key": ("a publisher's Ed25519 public key, hex", {}),
        "signature": ("of the document's exact bytes, hex", {}),
    },
}


def strategy_schema() -> Json:
    """Return the JSON Schema of a strategy document, as publishers sign it."""
    schema = msgspec.json.schema(Strategy)
    describe(schema["$defs"])
    return {"$schema": DIALECT, "title": "dse-node strategy", **schema}


def _goes_with(field: str, *actions: str) -> Json:
    """Say that a field of a rule has a value with these actions, and with no other."""
    has = {"required": [field], "properties": {field: {"not": {"type": "null"}}}}
    return {
        "if": {"required": ["action"], "properties": {"action": {"enum": list(actions)}}},
        "then": has,
        "else": {"not": has},
    }


_RULE = [_goes_with("peer", "prefer"), _goes_with("depth", "spread"), _goes_with("prefixes", "only", "never")]


def describe(types: Json) -> None:
    """Add words and bounds to the schemas of the types of a strategy, by name; a type that has its fields, too, is
    described alike. The fields of a rule that go with one action are said, too."""
    for schema in types.values():
        if schema.get("title") == "Rule":
            schema["allOf"] = _RULE
        name = "Strategy" if "effective_at" in schema.get("properties", ()) and "rules" in schema["properties"] else ""
        for field, (about, bounds) in _ABOUT.get(name or schema.get("title", ""), {}).items():
            if field in schema.get("properties", {}):
                _bound(schema["properties"][field], bounds)
                schema["properties"][field]["description"] = about


def _bound(field: Json, bounds: Json) -> None:
    """Bound a field: of one that may be null, the other kind."""
    kind = next((each for each in field.get("anyOf", ()) if each.get("type") != "null"), field)
    kind.update({name: value for name, value in bounds.items() if name != "items"})
    if "items" in bounds:
        kind["items"] = {**kind["items"], **bounds["items"]}
