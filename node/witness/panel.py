"""The panel of a slot: who may speak as a witness against the author of a page there.

Pure: what members say in their signed heartbeats, so everybody names the same panel. It is the first five of the slot's
candidates that are neither the author, nor young, nor kin of one another (`dht/ownership/failure_domains.py`). Whom the
key space puts there nobody chooses, so three friends are on the panels of few slots.
"""

from collections.abc import Callable, Iterable

from dht import FailureDomains, NodeId

PANEL = 5
AGREEING = 3  # of the panel: a majority of a whole one


def panel(
    candidates: Iterable[NodeId], author: NodeId, domains: Callable[[NodeId], FailureDomains]
) -> tuple[NodeId, ...]:
    """Return the panel of a slot, its candidates given by weight; fewer than AGREEING can convict nobody. No kin of
    the author is on it."""
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
