"""The strategy document: what a master used to decide, signed by publishers and in force until the next version.

Pure: values and their codec; `validation.py` says whether one may be accepted, `history.py` keeps them.
Publishers sign the document's bytes as they stand in the file, so two releases or two JSON libraries never disagree
about them. An older node verifies, keeps and passes on fields that it does not understand, goes by the rest, and
reports those fields. Sources: Li Wei 2006 (fields, first-match rules); TUF (thresholds, chain).
"""

from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal, get_args

import msgspec

from dht.errors import BadStrategy
from dht.wire.heartbeat import LAPTOP_GRACE_S, STABLE_GRACE_S

DOMAIN = b"dse strategy"
MAX_DOCUMENT_BYTES = 256 * 1024  # 1,000 rules of ~200 bytes fit
MAX_SIGNED_BYTES = MAX_DOCUMENT_BYTES + 16 * 1024
INDEX_COPIES = 3  # by default
ROOM_UNIT = 40_000_000_000  # by default; a laptop's 10 GB is two steps below it, a server's 160 GB two above
FEATURES = frozenset({"release-1.0.0"})  # what a strategy may need and this program has; each release adds its name

# members are the nodes that enough members have reached, and, where it says so, that were invited besides
ADMISSIONS = ("attested", "invited")

Action = Literal["owners", "prefer", "spread", "deny", "only", "never"]
BY_ADDRESS = ("only", "never")  # actions of rules that judge the addresses of hosts, and decide no URL


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One crawl rule; the first that matches a URL decides. No condition set means it matches everything.

    `host`: exact, or "*.suffix" for a domain and all below it. `pattern`: RE2, searched in the whole URL.
    `slots`: first and last slot, inclusive. `prefer` goes with `peer`: that member fetches for the holder.
    `spread` goes with `depth`: pages of the site lie in 2**depth places of the key space. `only` and `never` go with
    `prefixes`: a host is contacted at addresses that all such rules for it allow, whatever rule decides its URLs.
    A rule with an action or a condition that this release does not know is "unknown". It keeps its number and matches
    nothing, because a rule without one of its conditions would match too much.
    """

    action: Action | Literal["unknown"] = "owners"
    host: str | None = None
    pattern: str | None = None
    slots: tuple[int, int] | None = None
    max_depth: int | None = None
    min_delay_s: float | None = None
    peer: str | None = None  # node id, hex
    depth: int | None = None  # 0 … 8
    prefixes: tuple[str, ...] | None = None  # such as "10.20.0.0/16", "2001:db8::/48"


class Need(msgspec.Struct, frozen=True):
    """Something that nodes must know to follow a document, and the instant from which it binds them."""

    feature: str
    binds_at: int = 0  # Unix seconds; 0: with the document


class Admitter(msgspec.Struct, frozen=True):
    """Somebody who may invite, besides the publishers. The rights of an admitter name nobody further."""

    key: str  # Ed25519 public key, hex
    until: int = 0  # Unix seconds, from which it may not any more; 0: for good


class Revocation(msgspec.Struct, frozen=True):
    """Takes back a voucher, or all that a key signed: nobody new comes in, and members go whose voucher is as young."""

    id: str  # of a voucher, 40 hex digits, or a public key, 64
    from_at: int = 0  # Unix seconds: members whose voucher was made before stay; 0: none do


class Gone(msgspec.Struct, frozen=True):
    """Says that a node will not be back: it is no member by any heartbeat that it sent before."""

    id: str  # hex
    at: int  # Unix seconds


class MemberRoom(msgspec.Struct, frozen=True):
    """Says which step of room counts for a member at most, and lets it be above 0 in a network of attested members."""

    id: str  # hex
    step: int  # -2 … 2


class Strategy(msgspec.Struct, frozen=True, kw_only=True):
    """One version of the document. Instants are Unix seconds. `previous` is the digest of version - 1, hex.

    Fields that a newer release adds are not in it; `unknown_parts` names them."""

    network: str  # the network id, hex
    version: int
    previous: str = ""
    effective_at: int
    expires_at: int
    next_at: int
    replicas: int = 3
    slot_bits: int = 8
    min_acks: int = 2
    analyzer: int = 1
    ranking: int = 1
    rules: tuple[Rule, ...] = ()
    min_delay_s: float = 1.0  # politeness floor between two requests to a site
    max_delay_s: float = 60.0
    balance_queue: int = 200  # Li Wei's N: URLs due at a node from which on its work is worth sharing
    balance_ratio: float = 1.5  # his α: how many times the least busy one's due work; benchmarks.balance shows others
    stable_grace_s: int = int(STABLE_GRACE_S)  # silence after which a server's slots go to others
    laptop_grace_s: int = int(LAPTOP_GRACE_S)  # the same for a machine that sleeps at night and over weekends
    puzzle_bits: int = 0  # work behind an identity: leading zero bits; open networks ask for 16 and more
    min_age_days: int = 0  # younger members do not vote, and their copies do not count, where older ones are
    blocked: tuple[str, ...] = ()  # node ids, hex: nobody speaks with them
    gone: tuple[Gone, ...] = ()
    bootstrap: tuple[str, ...] = ()  # "127.0.0.1:8091", "[::1]:8091"
    declared_prefixes: tuple[str, ...] = ()  # private prefixes whose addresses may appear in contacts
    publishers: tuple[str, ...] = ()  # Ed25519 public keys, hex, that may sign the next version
    threshold: int = 1
    tie_breaker: str = ""  # node id, hex: where two members count, it goes on without the other one
    admission: str = "attested"  # one of ADMISSIONS, or one of a newer version, which counts as "invited" here
    admitters: tuple[Admitter, ...] = ()  # where the admission is "invited"
    revoked: tuple[Revocation, ...] = ()
    second_look_permille: int = 0  # of its own fetches, that a node makes to look at pages of others; 0: nobody does
    importers: tuple[str, ...] = ()  # Ed25519 public keys, hex, of who may import pages where not every member may
    former_last: int = 0  # former versions of a page that are kept in any case, the newest
    former_days: int = 0  # how long former versions are kept, fewer the older they are; 0: none are
    index_copies: int = INDEX_COPIES  # how many holders of a slot index it and answer queries; the others only store it
    room_unit: int = ROOM_UNIT  # bytes of quota for which a member takes the usual part of the records, its step 0
    rooms: tuple[MemberRoom, ...] = ()
    needs: tuple[Need, ...] = ()  # a node that lacks one of them tells its operator to upgrade before it binds


class Signature(msgspec.Struct, frozen=True):
    """One publisher's signature of a document's exact bytes. Both fields are hex."""

    key: str  # Ed25519 public key
    signature: str


@dataclass(frozen=True, slots=True)
class SignedStrategy:
    """A document, byte for byte as it was signed, with its signatures. Nothing here is verified yet."""

    document: bytes
    signatures: tuple[Signature, ...]

    @property
    def digest(self) -> str:
        """The document's digest, 64 hex digits: the next version names it as `previous`, and it decides a fork."""
        return sha256(DOMAIN + b"\0" + self.document).hexdigest()


@dataclass(frozen=True, slots=True)
class Publishers:
    """The publishers whose signatures the next version needs: `threshold` distinct ones of `keys` (hex)."""

    keys: tuple[str, ...]
    threshold: int


class _File(msgspec.Struct):
    document: msgspec.Raw
    signatures: tuple[Signature, ...]


_documents = msgspec.json.Decoder(dict[str, Any])
_files = msgspec.json.Decoder(_File)


def encode_document(strategy: Strategy) -> bytes:
    """Return the bytes to sign: JSON, indented, fields in the order of `Strategy`, so that versions can be compared.

    Rules are written without the conditions that they do not have."""
    fields = msgspec.to_builtins(strategy)
    fields["rules"] = [{k: v for k, v in rule.items() if v is not None} for rule in fields["rules"]]
    for name in ("admitters", "revoked", "needs", "gone", "importers", "rooms"):
        if not fields[name]:
            del fields[name]
    if fields["admission"] == "attested":  # as it is without the field
        del fields["admission"]
    left_out = "second_look_permille", "former_last", "former_days"
    for name in left_out:  # where they say nothing
        if not fields[name]:
            del fields[name]
    for name, usual in (("index_copies", INDEX_COPIES), ("room_unit", ROOM_UNIT)):
        if fields[name] == usual:
            del fields[name]
    return msgspec.json.format(msgspec.json.encode(fields), indent=2)


def parse_document(document: bytes) -> Strategy:
    """Read a document, without checking its bounds; raises BadStrategy."""
    fields = _fields(document)
    if isinstance(rules := fields.get("rules"), list):
        fields["rules"] = [{"action": "unknown"} if _is_unknown(rule) else rule for rule in rules]
    try:
        return msgspec.convert(fields, Strategy)
    except (msgspec.ValidationError, RecursionError) as error:
        raise BadStrategy("document", str(error), "mend the JSON; PROTOCOL.md lists the fields") from None


def unknown_parts(document: bytes) -> tuple[str, ...]:
    """Name the fields and rules of a document that this program does not understand; raises BadStrategy."""
    fields = _fields(document)
    rules = fields.get("rules")
    found = [name for name in fields if name not in Strategy.__struct_fields__]
    found += ["admission"] if fields.get("admission", "attested") not in ADMISSIONS else []
    numbered = enumerate(rules if isinstance(rules, list) else [], start=1)
    return (*found, *(f"rules[{number}]" for number, rule in numbered if _is_unknown(rule)))


def _fields(document: bytes) -> dict[str, Any]:
    if len(document) > MAX_DOCUMENT_BYTES:
        raise BadStrategy("document", f"{len(document)} bytes long", f"keep it below {MAX_DOCUMENT_BYTES} bytes")
    try:
        return _documents.decode(document)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadStrategy("document", str(error), "mend the JSON; PROTOCOL.md lists the fields") from None


def _is_unknown(rule: object) -> bool:
    """Whether a rule has an action or a condition of a newer version."""
    if not isinstance(rule, dict):
        return False
    action = rule.get("action", "owners")
    return not rule.keys() <= set(Rule.__struct_fields__) or (
        isinstance(action, str) and action not in get_args(Action)
    )


def encode_signed(signed: SignedStrategy) -> bytes:
    """Return the file and wire form of a signed document: one JSON object in which the document stands unchanged."""
    return msgspec.json.encode(_File(msgspec.Raw(signed.document), signed.signatures))


def decode_signed(data: bytes) -> SignedStrategy:
    """Read the file and wire form, keeping the document's bytes exactly; raises BadStrategy."""
    if len(data) > MAX_SIGNED_BYTES:
        raise BadStrategy("strategy", f"{len(data)} bytes long", f"keep it below {MAX_SIGNED_BYTES} bytes")
    try:
        file = _files.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadStrategy(
            "strategy", str(error), "expected {document, signatures}, as `strategy sign` writes"
        ) from None
    return SignedStrategy(bytes(file.document), file.signatures)
