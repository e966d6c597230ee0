"""With how many of a slot's owners a copy has to agree, so that it has everything that was acknowledged.

Pure: counts in, a claim out.
"""

from collections.abc import Sequence, Set

from dht import NodeId

YOUNG_S = 15.0  # what was written later than so long ago may be on its way to an owner or an index, and is set aside


def needed_owners(owners: int, min_acks: int) -> int:
    """Return with how many of a slot's sticky owners that count an answerer must agree: a majority, so that there is no
    second one across a cut, and at least one of any `min_acks` that acknowledged a write."""
    return max(owners // 2 + 1, owners - min_acks + 1)


def places_of(owners: Sequence[NodeId], away: Set[NodeId]) -> int:
    """Return a mask of those owners that are away."""
    return sum(1 << place for place, owner in enumerate(owners) if owner in away) if away else 0


def is_enough(mask: int, owners: int, min_acks: int, away: int = 0) -> bool:
    """Tell whether those are enough whom a mask names, a bit for each owner; `away`: those that do not count."""
    counted = (1 << owners) - 1 & ~away
    return (mask & counted).bit_count() >= needed_owners(counted.bit_count(), min_acks)
