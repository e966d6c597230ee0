"""Says which present members a strategy would put out, and why, before anybody signs it.

Pure: heartbeats and a document in, reasons out. The reasons are those for which nodes refuse each other
(network_rules.py). A member that only lacks work for its identity stays where it can do that work in time.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from dht.identity.puzzle import work_of
from dht.keys import NodeId
from dht.overlay.strategy_upkeep import inviters_by
from dht.strategy.document import Strategy
from dht.wire.address_policy import AddressPolicy
from dht.wire.heartbeat import VerifiedHeartbeat

SLOW_HASHES_S = 100_000.0  # that one core of a small board computes
IN_TIME = 10.0  # times as many hashes as are usually enough: 1 of 20,000 identities needs more
WORK_MOST_S = 3600.0  # that a machine may be busy so


class MembersLeft(NamedTuple):
    """Lists the present members that stay under a strategy, and those that it puts out, with the reasons."""

    stay: tuple[NodeId, ...]
    lost: Mapping[NodeId, str]


def members_left(
    strategy: Strategy, present: Iterable[VerifiedHeartbeat], wall: float, *, allow_private: bool
) -> MembersLeft:
    """Judge each present member by its last heartbeat."""
    reasons = {opened.contact.node_id: why_out(strategy, opened, wall, allow_private) for opened in present}
    lost = {peer: reason for peer, reason in reasons.items() if reason}
    return MembersLeft(tuple(sorted(reasons.keys() - lost.keys())), dict(sorted(lost.items())))


def why_out(strategy: Strategy, opened: VerifiedHeartbeat, wall: float, allow_private: bool) -> str:
    """Say why a strategy puts a member out; "" where it stays."""
    beat, name = opened.heartbeat, opened.contact.node_id.hex()
    if name in strategy.blocked:
        return "it is blocked"
    if any(gone.id == name and beat.sent_at <= gone.at for gone in strategy.gone):
        return "it is said to be gone"
    if inviters_by(strategy).has_revoked(beat.invited_by):
        return "its invitation is revoked"
    policy = AddressPolicy(strategy.declared_prefixes, allow_private)
    outside = [endpoint.host for endpoint in opened.contact.endpoints if not policy.allows(endpoint.host)]
    if outside:
        return f"its address {outside[0]} is in none of the declared_prefixes"
    if work_of(beat.public_key, beat.nonce) < strategy.puzzle_bits and not _can_work(strategy, wall):
        return f"its identity has less than {strategy.puzzle_bits} bits of work behind it, and no time to do that work"
    return ""


def _can_work(strategy: Strategy, wall: float) -> bool:
    """Tell whether a small machine solves the puzzle before it counts: when it has been in force for the longest
    grace."""
    needed_s = IN_TIME * (1 << strategy.puzzle_bits) / SLOW_HASHES_S
    return needed_s <= min(WORK_MOST_S, strategy.effective_at + strategy.laptop_grace_s - wall)
