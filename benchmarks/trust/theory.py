"""Says what chance alone gives: seats drawn from all members without putting back.

Pure: counts in, probability out. Source: the hypergeometric distribution.
"""

from math import comb


def at_least(least: int, seats: int, attackers: int, members: int) -> float:
    """Return the probability that so many of the seats fall to attackers, of whom there are so many among the
    members."""
    if members < seats:
        return 1.0 if attackers >= least else 0.0
    ways = (comb(attackers, n) * comb(members - attackers, seats - n) for n in range(least, seats + 1))
    return sum(ways) / comb(members, seats)
