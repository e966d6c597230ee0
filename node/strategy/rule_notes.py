"""Says which rules of a strategy name a crawler that cannot fetch, before a publisher signs them and after.

Pure: a strategy and what is known of its members in, one sentence a rule out. Such a rule does no harm: the holder of a
URL's slot fetches itself.
"""

from collections.abc import Callable, Iterator, Sequence

from crawl import hashes_cover
from dht import BadStrategy, Rule, Strategy, View, host_matches
from node.delegation.named_crawler import absence

Absence = Callable[[str, str], str]
"""Says why a node (id, hex) cannot fetch a host ("" for any): "is no member of this network"; "" where it can."""


def rule_notes(strategy: Strategy, absence_of: Absence = lambda _node, _host: "") -> Iterator[str]:
    """Yield a sentence for each rule whose named crawler makes no fetch, with the reason."""
    for number, rule in enumerate(strategy.rules, start=1):
        if rule.action != "prefer" or rule.peer is None:
            continue
        if before := _shadowing(strategy.rules[: number - 1], rule):
            yield f"rule {number} names node {rule.peer[:12]}, and rule {before} decides the same URLs before it"
        elif why := _left_out(strategy, rule.peer) or absence_of(rule.peer, rule.host or ""):
            yield f"rule {number} names node {rule.peer[:12]}, which {why}: the holders fetch for themselves"


def check_new_names(strategy: Strategy, new: Sequence[Rule]) -> None:
    """Raise BadStrategy where a new rule names a node that the same strategy keeps out."""
    for rule in new:
        if rule.peer is not None and (why := _left_out(strategy, rule.peer)):
            raise BadStrategy("--prefer", f"names node {rule.peer[:12]}, which {why}", "name another, or add --unblock")


def absence_in(view: View) -> Absence:
    """Return what a node knows of the members by its view of the network."""
    by_id = {peer.hex(): peer for peer in view.members()}

    def absence_of(node: str, host: str) -> str:
        if node not in by_id:
            return "is no member of this network"
        told, name = view.peers.refuses(by_id[node]), host.removeprefix("*.")
        if name and hashes_cover(told, f"http://{name}/"):
            return "belongs to an operator who refuses that host"
        return absence(view, by_id[node])

    return absence_of


def _left_out(strategy: Strategy, node: str) -> str:
    if node in strategy.blocked:
        return "this version blocks"
    return "this version calls gone" if any(gone.id == node for gone in strategy.gone) else ""


def _shadowing(before: Sequence[Rule], rule: Rule) -> int:
    """Return the number of the first rule that matches all URLs of another one, 0 where none does."""
    for number, other in enumerate(before, start=1):
        if other.action == "unknown" or other.pattern is not None or other.slots is not None:
            continue
        if other.host is None or (rule.host is not None and host_matches(other.host, rule.host.removeprefix("*."))):
            is_wider = other.host is None or other.host.startswith("*.") or not (rule.host or "").startswith("*.")
            if is_wider:
                return number
    return 0
