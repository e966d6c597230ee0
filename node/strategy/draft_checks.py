"""Checks what a draft asks of a network that is there: its slots, its copies, and who would stay a member.

Pure; each raises BadStrategy, which names the field, the value and the remedy.
"""

from dht import MAX_SLOT_BITS, BadStrategy, Strategy

SLOTS_EACH = 16  # slots for each member: fewer leave some without any
FEW_BITS, MANY_MEMBERS = 10, 128  # sets of 2**10 slots fit into every heartbeat; fewer members must not have more
SHARE_MOST = 96  # slots that a member of a larger network keeps on average; the fullest keeps twice as many


def most_bits(members: int, replicas: int) -> int:
    """Return the most slot_bits of a network of which the members' slots fit into their heartbeats."""
    bits = FEW_BITS
    while members >= MANY_MEMBERS and bits < MAX_SLOT_BITS and replicas << (bits + 1) <= SHARE_MOST * members:
        bits += 1
    return bits


def check_slots(strategy: Strategy, before: int, members: int) -> None:
    """Raise BadStrategy where a strategy raises the slot_bits `before` above what so many members may have."""
    most, bits = most_bits(members, strategy.replicas), strategy.slot_bits
    if bits > max(before, most):
        reason = f"is {bits}, and the slots of {members} members would not fit into their heartbeats"
        raise BadStrategy("slot_bits", reason, f"choose {most} at most, or wait for more members")


def check_index_copies(strategy: Strategy, *, is_meant: bool) -> None:
    """Raise BadStrategy where one holder of several indexes a slot, unless its publisher says that this `is_meant`."""
    if strategy.index_copies == 1 < strategy.replicas and not is_meant:
        reason = f"is 1 of {strategy.replicas} replicas: where one node dies, nobody can search its slots for a minute"
        raise BadStrategy("index_copies", reason, "choose 2 or 3, or add --one-index")


def check_members(stay: int, lost: int, agreed: int | None) -> None:
    """Raise BadStrategy where too few present members would stay: fewer than two, or less than half. A publisher that
    means it says how many are lost (`agreed`). A version that leaves nobody could not spread, nor be followed."""
    if not puts_out_many(stay, lost):
        return
    reason = f"puts out {lost} of {stay + lost} present members"
    if not stay:
        raise BadStrategy("this version", f"{reason}: it leaves nobody", "mend what `lost` names above")
    if agreed != lost:
        raise BadStrategy("this version", reason, f"mend what `lost` names above, or add --yes-i-lose {lost}")


def puts_out_many(stay: int, lost: int) -> bool:
    """Tell whether a version puts out so many present members that its publisher must say how many."""
    return lost > 0 and (stay < 2 or stay < lost)


def proposed_bits(now: int, members: int, replicas: int) -> int:
    """Return slot_bits that give each member 16 slots where they may be so many, and never fewer than now."""
    bits = now
    while bits < most_bits(members, replicas) and (1 << bits) < SLOTS_EACH * members:
        bits += 1
    return bits
