"""Spreads the copies of a slot over failure domains: who may keep them beside whom.

Pure: only what members say in their signed heartbeats, so that everybody chooses alike. Two nodes are *kin* where they
declare the same operator or are in one /24 (IPv6: /48) outside the prefixes that the strategy declares. A preference,
never a condition: where there are not enough others, kin will do. Model: the failure domains of Weil et al. 2006
(CRUSH), on top of rendezvous weights.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from dht.keys import NodeId
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Endpoint

CROWD = 2  # of one prefix, among the candidates of a slot: so many of one subscriber see it filled, no more


class FailureDomains(NamedTuple):
    """What may fail together with a member: its operator ("" undeclared), its prefixes; and whether it is
    dual-stack."""

    operator: str = ""
    blocks: frozenset[bytes] = frozenset()
    is_dual: bool = False


NO_DOMAINS = FailureDomains()


def domains_of(operator: str, endpoints: Iterable[Endpoint], policy: AddressPolicy) -> FailureDomains:
    """Return the failure domains of one member."""
    found = tuple(endpoints)
    blocks = (policy.subnet(e.host) for e in found)
    return FailureDomains(operator, frozenset(b for b in blocks if b is not None), len({e.family for e in found}) > 1)


def spread(nearest: Sequence[NodeId], domains: Mapping[NodeId, FailureDomains]) -> list[NodeId]:
    """Return those of the nearest members that stay where at most CROWD of one prefix do, in their order."""
    counts: Counter[bytes] = Counter()
    found = []
    for member in nearest:
        blocks = domains.get(member, NO_DOMAINS).blocks
        if all(counts[block] < CROWD for block in blocks):
            counts.update(blocks)
            found.append(member)
    return found


def owners_first(
    ranked: Sequence[NodeId], replicas: int, domains: Mapping[NodeId, FailureDomains]
) -> tuple[NodeId, ...]:
    """Reorder candidates by weight: the owners come first, by weight among them, then the others by weight."""
    owners = _choose(ranked, replicas, domains)
    return (*(m for m in ranked if m in owners), *(m for m in ranked if m not in owners))


def _choose(ranked: Sequence[NodeId], replicas: int, domains: Mapping[NodeId, FailureDomains]) -> list[NodeId]:
    """Greedily by weight, no two of kin while there are others; of several, one dual-stack where there is one."""
    chosen: list[NodeId] = []
    for member in ranked:
        if len(chosen) < replicas and not _is_kin(member, chosen, domains):
            chosen.append(member)
    chosen += [m for m in ranked if m not in chosen][: replicas - len(chosen)]
    if len(chosen) < 2 or any(domains.get(m, NO_DOMAINS).is_dual for m in chosen):
        return chosen
    dual = [m for m in ranked if domains.get(m, NO_DOMAINS).is_dual]
    fit = [m for m in dual if not _is_kin(m, chosen[:-1], domains)] or dual
    return [*chosen[:-1], fit[0]] if fit else chosen


def _is_kin(member: NodeId, others: Iterable[NodeId], domains: Mapping[NodeId, FailureDomains]) -> bool:
    mine = domains.get(member, NO_DOMAINS)
    return any(
        (mine.operator and mine.operator == their.operator) or mine.blocks & their.blocks
        for their in (domains.get(other, NO_DOMAINS) for other in others)
    )
