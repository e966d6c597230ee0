"""Spreads the copies of a slot over failure domains: who may keep them beside whom.

Pure: only what members say in their signed heartbeats, so that everybody chooses alike. Two nodes are *kin* where they
declare the same operator or are in one /24 (IPv6: /48) outside the prefixes that the strategy declares. One is *young*
where it came lately, as the members that admitted it say. Of a slot's owners no two are kin or young, of its candidates
a few are. Of several owners one is dual-stack, and one is a stable machine. This is a preference, never a condition:
where there are not enough others, the young will do, and then kin. Model: the failure domains of Weil et
al. 2006 (CRUSH), on top of rendezvous weights.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from dht.keys import NodeId
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Endpoint, Family
from dht.wire.room_step import FULL_STEP

CROWD = 2  # of one prefix, among the candidates of a slot: so many of one subscriber see it filled, no more
YOUNG_MOST = 4  # of the 16 candidates of a slot


class FailureDomains(NamedTuple):
    """The domains of failure of a member, and what else its choice as an owner depends on.

    `operator`: "" where undeclared.
    `blocks`: its address prefixes.
    `families`: its families of address; none where unknown.
    `is_dual`, `is_young`: whether it has both families, and joined lately.
    `is_stable`: whether it is a stable machine, in a network that wants one among a slot's owners.
    `step`: how much room it has, as it counts in this network (`room_step.py`); FULL_STEP where it is full."""

    operator: str = ""
    blocks: frozenset[bytes] = frozenset()
    is_dual: bool = False
    is_young: bool = False
    families: frozenset[Family] = frozenset()
    is_stable: bool = False
    step: int = 0


NO_DOMAINS = FailureDomains()


def domains_of(
    operator: str,
    endpoints: Iterable[Endpoint],
    policy: AddressPolicy,
    *,
    is_young: bool = False,
    is_stable: bool = False,
    step: int = 0,
) -> FailureDomains:
    """Return the failure domains of one member."""
    found = tuple(endpoints)
    families, blocks = frozenset(e.family for e in found), policy.subnets(e.host for e in found)
    return FailureDomains(operator, blocks, len(families) > 1, is_young, families, is_stable, step)


def spread(nearest: Sequence[NodeId], domains: Mapping[NodeId, FailureDomains]) -> list[NodeId]:
    """Return those of the nearest members that stay where at most CROWD of one prefix do, and at most YOUNG_MOST that
    are young, in their order."""
    counts: Counter[bytes] = Counter()
    found, young = [], 0
    for member in nearest:
        theirs = domains.get(member, NO_DOMAINS)
        if theirs.is_young and young >= YOUNG_MOST:
            continue
        if all(counts[block] < CROWD for block in theirs.blocks):
            counts.update(theirs.blocks)
            young += theirs.is_young
            found.append(member)
    return found


def owners_first(
    ranked: Sequence[NodeId], replicas: int, domains: Mapping[NodeId, FailureDomains]
) -> tuple[NodeId, ...]:
    """Reorder candidates by weight: the owners come first, by weight among them, then the others by weight.

    Full members come last: they own something only where all others are too few."""
    full = [m for m in ranked if domains.get(m, NO_DOMAINS).step == FULL_STEP]
    able = [m for m in ranked if m not in full] if full else ranked
    owners = _choose(able, replicas, domains)
    return (*(m for m in able if m in owners), *(m for m in able if m not in owners), *full)


def _choose(ranked: Sequence[NodeId], replicas: int, domains: Mapping[NodeId, FailureDomains]) -> list[NodeId]:
    """Greedily by weight, no two of kin or young while there are others; of several, one dual-stack and one stable
    where there are such."""
    chosen: list[NodeId] = []
    for young_bar in (True, False):
        for member in ranked:
            if len(chosen) == replicas:
                break
            if member not in chosen and not _is_barred(member, chosen, domains, young_bar):
                chosen.append(member)
    chosen += [m for m in ranked if m not in chosen][: replicas - len(chosen)]
    if len(chosen) < 2:
        return chosen
    dual = {m for m in ranked if domains.get(m, NO_DOMAINS).is_dual}
    stable = {m for m in ranked if domains.get(m, NO_DOMAINS).is_stable}
    chosen = _with_one_of(dual, chosen, ranked, domains, frozenset())
    return _with_one_of(stable, chosen, ranked, domains, dual)


def _with_one_of(
    wanted: Set[NodeId],
    chosen: list[NodeId],
    ranked: Sequence[NodeId],
    domains: Mapping[NodeId, FailureDomains],
    kept: Set[NodeId],
) -> list[NodeId]:
    """Replace the last owner by the heaviest wanted candidate that fits, if none of several owners is wanted. An owner
    that is the only one of `kept` stays."""
    fitting = [m for m in ranked if m in wanted]
    if not fitting or not wanted.isdisjoint(chosen):
        return chosen
    only = [m for m in chosen if m in kept]
    last = chosen[-2] if only == chosen[-1:] else chosen[-1]
    others = [m for m in chosen if m != last]
    fit = [m for m in fitting if not _is_barred(m, others, domains, True)]
    fit = fit or [m for m in fitting if not _is_barred(m, others, domains, False)] or fitting
    return [*others, fit[0]]


def _is_barred(
    member: NodeId, others: Iterable[NodeId], domains: Mapping[NodeId, FailureDomains], young_bar: bool
) -> bool:
    """Whether a member is kin of one of the others, or as young as one of them where that bars it, too."""
    theirs = domains.get(member, NO_DOMAINS)
    operator, blocks, is_young = theirs.operator, theirs.blocks, theirs.is_young and young_bar
    return any(
        (operator and operator == their.operator) or blocks & their.blocks or (is_young and their.is_young)
        for their in (domains.get(other, NO_DOMAINS) for other in others)
    )
