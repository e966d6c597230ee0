"""With how many of a slot's owners a copy has to agree, so that it has everything that was acknowledged.

Pure: counts in, a claim out.
"""

YOUNG_S = 15.0  # what was written later than so long ago may be on its way to an owner or an index, and is set aside


def needed_owners(owners: int, min_acks: int) -> int:
    """Return with how many of a slot's sticky owners an answerer must agree: a majority, so that there is no second one
    across a cut, and at least one of any `min_acks` that acknowledged a write."""
    return max(owners // 2 + 1, owners - min_acks + 1)


def is_enough(mask: int, owners: int, min_acks: int) -> bool:
    """Tell whether those are enough whom a mask names, a bit for each owner."""
    return (mask & ((1 << owners) - 1)).bit_count() >= needed_owners(owners, min_acks)
