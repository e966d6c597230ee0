"""Checks whether a strategy document may be accepted: its bounds, its place in the chain, its signatures.

Pure: values in, a Strategy or BadStrategy out. Every refusal names the field, the value and the remedy.
Source: TUF, sections 5.3 and 6.1 (thresholds; each version is certified by the one before).
"""

import ipaddress

from dht.errors import BadStrategy
from dht.identity.node_key import Identity, verify
from dht.keys import KEY_BYTES, MAX_SLOT_BITS, MAX_SPREAD
from dht.strategy.bounds import check_count, check_hex, check_range, require
from dht.strategy.crawl_rules import Pattern, parse_prefix
from dht.strategy.document import (
    ADMISSIONS,
    BY_ADDRESS,
    DOMAIN,
    Need,
    Publishers,
    Rule,
    Signature,
    SignedStrategy,
    Strategy,
    parse_document,
    unknown_parts,
)
from dht.wire.contact import Endpoint
from dht.wire.room_step import HIGHEST_STEP, LOWEST_STEP

MIN_SLOT_BITS = 4
MAX_REPLICAS = 16  # owners are chosen among the 16 members nearest to a slot
MAX_RULES = 1000
MAX_PATTERN_CHARS = 1000
MAX_HOST_CHARS = 255
MAX_LISTED = 64  # bootstrap addresses, declared prefixes
MAX_PUBLISHERS = 16
MAX_NEEDS = 16
MAX_ADMITTERS = 64
MAX_REVOKED = 1000
MAX_IMPORTERS = 64
MAX_ROOMS = 1000
MIN_ROOM_UNIT = 1_000_000  # bytes
MAX_FEATURE_CHARS = 64
MAX_DELAY_S = 3600.0
MAX_BLOCKED = 1000
MAX_ADMISSION_CHARS = 32
MAX_PUZZLE_BITS = 28  # some minutes of one core
GRACE_S = (60, 30 * 86400)
MAX_AGE_DAYS = 3650  # ten years
MAX_SECOND_LOOK_PERMILLE = 30  # what a site bears that is asked again, and a network in which nobody lies
MAX_FORMER_LAST, MAX_FORMER_DAYS = 100, 3650  # a record is kept for ten years at most
MAX_INSTANT = 1 << 53  # exact in every JSON reader
MAX_NUMBER = 1 << 31
KEY_HEX = 64  # digits of a public key


def sign_strategy(document: bytes, *publishers: Identity) -> SignedStrategy:
    """Sign a document's exact bytes; raises BadStrategy where its bounds are broken, before anybody signs it."""
    check_bounds(parse_document(document))
    return SignedStrategy(document, tuple(_signature(document, publisher) for publisher in publishers))


def add_signature(signed: SignedStrategy, publisher: Identity) -> SignedStrategy:
    """Sign a document once more and return it with all signatures; an older one by the same key is replaced."""
    mine = _signature(signed.document, publisher)
    return SignedStrategy(signed.document, (*(s for s in signed.signatures if s.key != mine.key), mine))


def check(signed: SignedStrategy, network: str, trusted: Publishers, previous: SignedStrategy | None) -> Strategy:
    """Return the strategy if it may follow `previous` in a network; raises BadStrategy.

    `trusted` are the publishers that the previous version names; for version 1, those of the network file.
    """
    strategy = parse_document(signed.document)
    if strategy.network != network:
        raise BadStrategy("network", f"is {strategy.network[:80]!r}, this network is {network}", "sign it for this one")
    _check_place(strategy, previous)
    _check_slots(strategy, previous)
    _check_spread(strategy, previous)
    _check_signatures(signed, trusted)
    check_bounds(strategy)  # compiles up to 1,000 patterns: only for those who may ask for it
    return strategy


def check_bounds(strategy: Strategy) -> None:
    """Raise BadStrategy for the first field that is out of its bounds."""
    check_hex("network", strategy.network, KEY_BYTES)
    check_range("version", strategy.version, 1, MAX_NUMBER)
    if strategy.version == 1:
        require(strategy.previous == "", "previous", f"is {strategy.previous!r}", 'version 1 has none: leave it ""')
    else:
        check_hex("previous", strategy.previous, 32)
    _check_instants(strategy)
    check_range("replicas", strategy.replicas, 1, MAX_REPLICAS)
    check_range("min_acks", strategy.min_acks, 1, strategy.replicas)
    check_range("slot_bits", strategy.slot_bits, MIN_SLOT_BITS, MAX_SLOT_BITS)
    check_range("analyzer", strategy.analyzer, 1, MAX_NUMBER)
    check_range("ranking", strategy.ranking, 1, MAX_NUMBER)
    check_range("min_delay_s", strategy.min_delay_s, 0, MAX_DELAY_S)
    check_range("max_delay_s", strategy.max_delay_s, strategy.min_delay_s, MAX_DELAY_S)
    check_range("balance_queue", strategy.balance_queue, 1, MAX_NUMBER)
    check_range("balance_ratio", strategy.balance_ratio, 1.1, 1000)
    check_range("stable_grace_s", strategy.stable_grace_s, *GRACE_S)
    check_range("laptop_grace_s", strategy.laptop_grace_s, *GRACE_S)
    check_range("puzzle_bits", strategy.puzzle_bits, 0, MAX_PUZZLE_BITS)
    check_range("min_age_days", strategy.min_age_days, 0, MAX_AGE_DAYS)
    fits = 0 < len(strategy.admission) <= MAX_ADMISSION_CHARS
    require(fits, "admission", f"{len(strategy.admission)} characters long", f"choose one of {', '.join(ADMISSIONS)}")
    check_range("second_look_permille", strategy.second_look_permille, 0, MAX_SECOND_LOOK_PERMILLE)
    check_range("former_last", strategy.former_last, 0, MAX_FORMER_LAST)
    check_range("former_days", strategy.former_days, 0, MAX_FORMER_DAYS)
    is_told = strategy.former_days > 0 or not strategy.former_last
    require(is_told, "former_last", f"is {strategy.former_last} for 0 days", "set former_days, too: 365 for a year")
    check_range("index_copies", strategy.index_copies, 1, MAX_REPLICAS)
    if strategy.tie_breaker:
        check_hex("tie_breaker", strategy.tie_breaker, KEY_BYTES)
    check_count("blocked", strategy.blocked, MAX_BLOCKED)
    for node in strategy.blocked:
        check_hex("blocked", node, KEY_BYTES)
    check_count("gone", strategy.gone, MAX_BLOCKED)
    for gone in strategy.gone:
        check_hex("gone", gone.id, KEY_BYTES)
        check_range("gone", gone.at, 1, MAX_INSTANT)
    check_range("room_unit", strategy.room_unit, MIN_ROOM_UNIT, MAX_INSTANT)
    _check_rooms(strategy)
    check_count("rules", strategy.rules, MAX_RULES)
    for number, rule in enumerate(strategy.rules, start=1):
        _check_rule(f"rules[{number}]", rule, strategy)
    _check_addresses(strategy)
    _check_inviting(strategy)
    check_count("importers", strategy.importers, MAX_IMPORTERS)
    for key in strategy.importers:
        check_hex("importers", key, KEY_HEX // 2)
    _check_needs(strategy.needs)
    check_publishers(Publishers(strategy.publishers, strategy.threshold))


def check_publishers(publishers: Publishers) -> None:
    """Raise BadStrategy unless there are 1 … 16 distinct keys and the threshold can be met."""
    keys = publishers.keys
    require(len(keys) > 0, "publishers", "is empty", "name the keys that may sign the next version")
    check_count("publishers", keys, MAX_PUBLISHERS)
    for key in keys:
        check_hex("publishers", key, 32)
    require(len(set(keys)) == len(keys), "publishers", "names a key twice", "name each key once")
    check_range("threshold", publishers.threshold, 1, len(keys))


def signers(signed: SignedStrategy, trusted: Publishers, domain: bytes = DOMAIN) -> tuple[str, ...]:
    """Return the distinct trusted keys with a valid signature; others' are ignored, and at most 16 are read."""
    valid: list[str] = []
    for signature in signed.signatures[:MAX_PUBLISHERS]:
        is_new = signature.key in trusted.keys and signature.key not in valid
        if is_new and _verifies(domain, signed.document, signature):
            valid.append(signature.key)
    return tuple(valid)


def parse_address(text: str) -> Endpoint:
    """Read "127.0.0.1:8091" or "[::1]:8091" (the UDP and TCP port); raises BadStrategy."""
    host, colon, port = text.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    try:
        if not colon or not port.isascii() or not port.isdigit():
            raise ValueError("no port")
        endpoint = Endpoint(host[1:-1] if bracketed else host, int(port), int(port))
    except ValueError as error:
        raise BadStrategy(
            "bootstrap", f"{text!r} is not an address ({error})", 'write "IP:port" or "[IPv6]:port"'
        ) from None
    require(bracketed == (endpoint.family == 6), "bootstrap", f"{text!r}", 'write IPv6 as "[IPv6]:port"')
    return endpoint


def _signature(document: bytes, publisher: Identity) -> Signature:
    """Sign what this program understands: whoever signs answers for all of it."""
    for name in unknown_parts(document):
        raise BadStrategy(name[:80], "is unknown to this version of dse-node", "remove it, or sign with a newer one")
    return Signature(publisher.public_key.hex(), publisher.sign(DOMAIN, document).hex())


def _check_rooms(strategy: Strategy) -> None:
    check_count("rooms", strategy.rooms, MAX_ROOMS)
    for room in strategy.rooms:
        check_hex("rooms", room.id, KEY_BYTES)
        check_range("rooms", room.step, LOWEST_STEP, HIGHEST_STEP)
    named = {room.id for room in strategy.rooms}
    require(len(named) == len(strategy.rooms), "rooms", "names a member twice", "name each member once")


def _check_slots(strategy: Strategy, previous: SignedStrategy | None) -> None:
    """Slots are split, one doubling a version: nobody has the whole of two that would be joined."""
    if previous is not None:
        bits = parse_document(previous.document).slot_bits
        remedy = f"keep {bits} or choose {bits + 1}: slots may be doubled once a version, and never halved"
        require(strategy.slot_bits in (bits, bits + 1), "slot_bits", f"is {strategy.slot_bits} after {bits}", remedy)


def _check_spread(strategy: Strategy, previous: SignedStrategy | None) -> None:
    """A site that was spread is never put together again: readers know deeper places as the later ones."""
    if previous is None:
        return
    depths = {_condition(rule): rule.depth or 0 for rule in strategy.rules if rule.action == "spread"}
    for rule in parse_document(previous.document).rules:
        if rule.action == "spread" and depths.get(_condition(rule), -1) < (rule.depth or 0):
            reason = f"spreads {rule.host or rule.pattern or 'all'!r} less than the version before, by {rule.depth}"
            raise BadStrategy("rules", reason, "keep that rule, or raise its depth: what is spread stays spread")


def _condition(rule: Rule) -> tuple[object, ...]:
    return rule.host, rule.pattern, rule.slots


def _check_place(strategy: Strategy, previous: SignedStrategy | None) -> None:
    if previous is None:
        require(strategy.version == 1, "version", f"is {strategy.version}, but nothing precedes it", "begin with 1")
        return
    wanted = parse_document(previous.document).version + 1
    if strategy.version != wanted:
        raise BadStrategy("version", f"is {strategy.version}, the next one is {wanted}", "draft from the newest")
    if strategy.previous != previous.digest:
        raise BadStrategy("previous", f"is {strategy.previous[:80]!r}, not {previous.digest}", "draft from the newest")


def _check_signatures(signed: SignedStrategy, trusted: Publishers) -> None:
    valid = signers(signed, trusted)
    if len(valid) < trusted.threshold:
        reason = f"{len(valid)} valid of {trusted.threshold} needed from {', '.join(k[:16] for k in trusted.keys)}"
        raise BadStrategy("signatures", reason, "have more of these publishers sign the same document")


def _verifies(domain: bytes, document: bytes, signature: Signature) -> bool:
    try:
        return verify(domain, bytes.fromhex(signature.key), document, bytes.fromhex(signature.signature))
    except ValueError:
        return False


def _check_instants(strategy: Strategy) -> None:
    check_range("effective_at", strategy.effective_at, 0, MAX_INSTANT)
    check_range("expires_at", strategy.expires_at, strategy.effective_at + 1, MAX_INSTANT)
    check_range("next_at", strategy.next_at, strategy.effective_at, strategy.expires_at)


def _check_inviting(strategy: Strategy) -> None:
    check_count("admitters", strategy.admitters, MAX_ADMITTERS)
    for admitter in strategy.admitters:
        check_hex("admitters", admitter.key, KEY_HEX // 2)
        check_range("admitters", admitter.until, 0, MAX_INSTANT)
    check_count("revoked", strategy.revoked, MAX_REVOKED)
    for revocation in strategy.revoked:
        check_hex("revoked", revocation.id, KEY_HEX // 2 if len(revocation.id) == KEY_HEX else KEY_BYTES)
        check_range("revoked", revocation.from_at, 0, MAX_INSTANT)


def _check_needs(needs: tuple[Need, ...]) -> None:
    check_count("needs", needs, MAX_NEEDS)
    for need in needs:
        name = need.feature
        is_name = name.isascii() and name.isprintable() and 0 < len(name) <= MAX_FEATURE_CHARS
        require(is_name, "needs", f"names {name[:80]!r}", f"write 1 … {MAX_FEATURE_CHARS} printable ASCII characters")
        check_range("needs", need.binds_at, 0, MAX_INSTANT)


def _check_rule(name: str, rule: Rule, strategy: Strategy) -> None:
    if rule.action == "unknown":
        return
    _check_action(name, rule)
    if rule.host is not None:
        sane = 0 < len(rule.host) <= MAX_HOST_CHARS and rule.host == rule.host.lower().strip()
        require(
            sane and rule.host != "*.", f"{name}.host", f"is {rule.host!r}", 'write "host" or "*.suffix", lower case'
        )
    if rule.pattern is not None:
        require(len(rule.pattern) <= MAX_PATTERN_CHARS, f"{name}.pattern", "is too long", "at most 1,000 characters")
        try:
            Pattern(rule.pattern)
        except BadStrategy as error:
            raise BadStrategy(f"{name}.pattern", error.reason, error.remedy) from None
    if rule.slots is not None:
        first, last = rule.slots
        check_range(f"{name}.slots", first, 0, last)
        check_range(f"{name}.slots", last, first, 2**strategy.slot_bits - 1)
    if rule.max_depth is not None:
        check_range(f"{name}.max_depth", rule.max_depth, 0, MAX_NUMBER)
    if rule.min_delay_s is not None:
        check_range(f"{name}.min_delay_s", rule.min_delay_s, 0, MAX_DELAY_S)


def _check_action(name: str, rule: Rule) -> None:
    """`peer` goes with prefer, `depth` with spread, `prefixes` with only or never, and with nothing else."""
    by_address = rule.action if rule.action in BY_ADDRESS else "only"
    fields = (("peer", rule.peer, "prefer"), ("depth", rule.depth, "spread"), ("prefixes", rule.prefixes, by_address))
    for field, value, action in fields:
        require(
            (value is not None) == (rule.action == action),
            f"{name}.{field}",
            f"is {value!r} in a rule that says {rule.action!r}",
            f'give it with "action": "{action}" and only there',
        )
    if rule.peer is not None:
        check_hex(f"{name}.peer", rule.peer, KEY_BYTES)
    if rule.depth is not None:
        check_range(f"{name}.depth", rule.depth, 0, MAX_SPREAD)
    if rule.prefixes is not None:
        _check_prefixes(name, rule, rule.prefixes)


def _check_prefixes(name: str, rule: Rule, prefixes: tuple[str, ...]) -> None:
    """A rule by address holds for whole hosts: an address is known before a path is asked for."""
    for field in ("pattern", "slots", "max_depth", "min_delay_s"):
        is_free = getattr(rule, field) is None
        require(is_free, f"{name}.{field}", f"stands in a rule that says {rule.action!r}", "leave it out: host alone")
    require(bool(prefixes), f"{name}.prefixes", "is empty", 'name some, such as "10.20.0.0/16"')
    check_count(f"{name}.prefixes", prefixes, MAX_LISTED)
    for prefix in prefixes:
        try:
            parse_prefix(prefix)
        except ValueError as error:
            remedy = 'write "10.20.0.0/16" or "2001:db8::/48", no bits set behind the prefix'
            raise BadStrategy(f"{name}.prefixes", f"{prefix[:80]!r}: {error}", remedy) from None


def _check_addresses(strategy: Strategy) -> None:
    check_count("bootstrap", strategy.bootstrap, MAX_LISTED)
    for address in strategy.bootstrap:
        parse_address(address)
    check_count("declared_prefixes", strategy.declared_prefixes, MAX_LISTED)
    for prefix in strategy.declared_prefixes:
        try:
            ipaddress.ip_network(prefix)
        except ValueError as error:
            raise BadStrategy("declared_prefixes", f"{prefix!r}: {error}", 'write "10.0.0.0/8" or "fd00::/8"') from None
