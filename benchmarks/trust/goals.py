"""Holds the figures to reach: by an attacker with 1 % of the machines of 1,000 honest members, by a flood, in normal
work."""

UNREACHABLE = 0.0  # slots of identities without a machine that answers
FLOOD_CPU = 25.0  # % of a core, for 5,000 hostile datagrams a second
FLOOD_WAIT = 2.0  # times the quiet p95 of a search, meanwhile
GRANTS_CPU = 3.0  # % of a page's processor time
GUEST_JOINS_S = 10.0  # until whoever was invited is a member to all
