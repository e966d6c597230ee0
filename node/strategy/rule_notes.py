"""Says which rules of a strategy cannot work, before a publisher signs them and after.

Pure: a strategy and what is known of its members in, one sentence a rule out. A crawler that cannot fetch does no harm:
the holder of a URL's slot fetches itself. Addresses of which none is left stop the crawl of their hosts.
"""

from collections.abc import Callable, Iterator, Sequence

from crawl import hashes_cover, refuse_address
from dht import BY_ADDRESS, BadStrategy, NodeId, Rule, Strategy, View, host_matches, parse_prefix
from node.delegation.named_crawler import absence

Absence = Callable[[str, str], str]
"""Says why a node (id, hex) cannot fetch a host ("" for any): "is no member of this network"; "" where it can."""


def rule_notes(strategy: Strategy, absence_of: Absence = lambda _node, _host: "") -> Iterator[str]:
    """Yield a sentence for each rule whose named crawler makes no fetch, or that leaves no address to fetch from."""
    yield from _shadowed(strategy)
    yield from missing_names(strategy, absence_of)
    yield from _addresses(strategy)


def _addresses(strategy: Strategy) -> Iterator[str]:
    """Yield a sentence for each `only` of whose prefixes nothing is left."""
    rules = [(n, rule) for n, rule in enumerate(strategy.rules, start=1) if rule.action in BY_ADDRESS]
    for number, rule in rules:
        if rule.action != "only":
            continue
        for other, beside in rules:
            if other != number and _covers(beside.host, rule.host) and not _is_left(rule, beside):
                yield f"rules {number} and {other} leave no address for {rule.host or 'any host'}: nothing is fetched"
        if all(refuse_address(str(parse_prefix(each)[0])) for each in rule.prefixes or ()):
            yield f"rule {number} leaves private addresses alone: nodes need crawl.allow_private to fetch from them"


def _is_left(rule: Rule, beside: Rule) -> bool:
    """Tell whether another rule leaves any address of those that an `only` names."""
    others = [parse_prefix(each) for each in beside.prefixes or ()]
    for own in map(parse_prefix, rule.prefixes or ()):
        if beside.action == "only" and any(own.overlaps(each) for each in others):
            return True
        same = [each for each in others if each.version == own.version]
        if beside.action == "never" and not any(own.subnet_of(each) for each in same):  # type: ignore[arg-type]
            return True
    return False


def _covers(wide: str | None, host: str | None) -> bool:
    """Tell whether the condition on hosts of one rule holds for all hosts of another."""
    if wide is None or host is None:
        return wide is None
    return host_matches(wide, host.removeprefix("*.")) and (wide.startswith("*.") or not host.startswith("*."))


def missing_names(strategy: Strategy, absence_of: Absence) -> Iterator[str]:
    """Yield a sentence for each rule that names a crawler which is not there."""
    for number, rule in enumerate(strategy.rules, start=1):
        if rule.peer is None:
            continue
        if why := _left_out(strategy, rule.peer) or absence_of(rule.peer, rule.host or ""):
            yield f"rule {number} names node {rule.peer[:12]}, which {why}: the holders fetch for themselves"


def _shadowed(strategy: Strategy) -> Iterator[str]:
    """Yield a sentence for each rule that denies, spreads or names a node, and never decides."""
    for number, rule in enumerate(strategy.rules, start=1):
        if rule.action not in ("deny", "prefer", "spread"):
            continue
        before, is_denied = _shadowing(strategy.rules[: number - 1], rule), rule.action == "deny"
        if not before or (is_denied and strategy.rules[before - 1].action == "deny"):
            continue
        does = f"{'denies' if is_denied else 'spreads'} {rule.pattern or rule.host or 'all hosts'}"
        does = f"names node {rule.peer[:12]}" if rule.peer else does
        yield f"rule {number} {does}, and rule {before} decides the same URLs before it"


def check_new_names(strategy: Strategy, new: Sequence[Rule]) -> None:
    """Raise BadStrategy where a new rule names a node that the same strategy keeps out."""
    for rule in new:
        if rule.peer is not None and (why := _left_out(strategy, rule.peer)):
            raise BadStrategy("--prefer", f"names node {rule.peer[:12]}, which {why}", "name another, or add --unblock")


def absence_in(view: View) -> Absence:
    """Return what a node knows of the members by its view of the network."""

    def absence_of(node: str, host: str) -> str:
        peer, name = NodeId(bytes.fromhex(node)), host.removeprefix("*.")
        if reason := absence(view, peer):
            return reason
        is_refused = name and hashes_cover(view.peers.refuses(peer), f"http://{name}/")
        return "belongs to an operator who refuses that host" if is_refused else ""

    return absence_of


def _left_out(strategy: Strategy, node: str) -> str:
    if node in strategy.blocked:
        return "this version blocks"
    return "this version calls gone" if any(gone.id == node for gone in strategy.gone) else ""


def _shadowing(before: Sequence[Rule], rule: Rule) -> int:
    """Return the number of the first rule that matches all URLs of another one, 0 where none does."""
    for number, other in enumerate(before, start=1):
        if other.action in (*BY_ADDRESS, "unknown") or other.pattern is not None or other.slots is not None:
            continue
        if _covers(other.host, rule.host):
            return number
    return 0
