"""The panels of a slot: who may speak as a witness against the author of a page there.

Pure: what members say in their signed heartbeats, so everybody names the same panels. One is of those that reach IPv4
sites, one of those that reach IPv6 sites; most often they are one and the same. Each is the first five such of the
slot's candidates that are neither the author, nor young, nor kin of one another
(`dht/ownership/failure_domains.py`). Whom the key space puts there nobody chooses, so three friends are on the panels
of few slots. Where fewer than three reach a family, nobody can speak about sites that have it alone.
"""

from collections.abc import Callable, Iterable, Sequence

from dht import FailureDomains, Family, NodeId

PANEL = 5
AGREEING = 3  # of the panel: a majority of a whole one
FAMILIES: tuple[Family, ...] = (4, 6)


def panels(
    candidates: Sequence[NodeId], author: NodeId, domains: Callable[[NodeId], FailureDomains]
) -> tuple[tuple[NodeId, ...], ...]:
    """Return the panels of a slot, its candidates given by weight, without such as could convict nobody. No kin of the
    author is on any. Whose families are not known passes for one that reaches both."""
    found = list[tuple[NodeId, ...]]()
    for family in FAMILIES:
        chosen = _panel((c for c in candidates if reaches(domains(c), family)), author, domains)
        if len(chosen) >= AGREEING and chosen not in found:
            found.append(chosen)
    return tuple(found)


def reaches(theirs: FailureDomains, family: int) -> bool:
    """Tell whether a member can look at sites of a family, as far as it says."""
    return not theirs.families or family in theirs.families


def _panel(
    candidates: Iterable[NodeId], author: NodeId, domains: Callable[[NodeId], FailureDomains]
) -> tuple[NodeId, ...]:
    chosen: list[NodeId] = []
    for peer in candidates:
        theirs = domains(peer)
        others = [domains(other) for other in (author, *chosen)]
        if peer != author and not theirs.is_young and not any(are_kin(theirs, other) for other in others):
            chosen.append(peer)
        if len(chosen) == PANEL:
            break
    return tuple(chosen)


def are_kin(one: FailureDomains, other: FailureDomains) -> bool:
    """Tell whether two members have one operator, or an address in one block."""
    return bool((one.operator and one.operator == other.operator) or one.blocks & other.blocks)
