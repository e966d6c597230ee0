"""Holds the figures to reach by an attacker with 1 % of the machines of 1,000 honest members."""

MAJORITY = 0.001  # of all slots, at random, with 10,000 identities, after a week
UNREACHABLE = 0.0  # slots of identities without a machine that answers
