"""A known peer is its newest heartbeat, with when that was sent; this file also says what a newer one changes.

Pure: heartbeats and `now` in, values out. This node's steady clock decides when a heartbeat was sent, against the
quickest delivery of its author so far. So clocks may differ by any amount, and a late copy of a dead peer's last
heartbeat does not revive it.

An address is verified when the peer answered there: until then it is only a claim of a heartbeat.

Pure: `now` is steady seconds. A question carries eight random bytes and goes to one address, so whoever answers it
under the peer's key receives there. Bounded: one address a family and peer, those not verified for longest are
forgotten.
"""

from enum import IntEnum

import msgspec

from dht.clock import Now
from dht.keys import NodeId
from dht.rate_limit import remember
from dht.wire.contact import Address, Family
from dht.wire.heartbeat import Heartbeat, VerifiedHeartbeat

DRIFT_S = 0.02  # by which an author's clock may fall behind ours in ten seconds: four times what NTP's slewing does
SET_BACK_S = 20.0  # two heartbeats in a row so late say that their author's clock was set back; gossip is quicker
INTERVAL_S = 10.0  # a heartbeat that arrives straight from its author may be as old as this


class News(IntEnum):
    """Says what a heartbeat told."""

    OLD = 0  # nothing: this sequence or a newer one is known
    SAME = 1  # still there
    CHANGED = 2  # endpoints, readiness or strategy differ, or it was silent before
    NEW = 3  # a peer that was not known


class KnownPeer(msgspec.Struct, frozen=True, gc=False):
    """Holds a peer's newest heartbeat; `sent_steady`: when it was sent, on this node's steady clock, at the latest."""

    opened: VerifiedHeartbeat
    sent_steady: float
    base: float  # least (steady receipt - sent_at) seen of this author
    late_s: float  # by how much this heartbeat came later than that
    turned: int  # sequence of the first heartbeat heard since its standing changed; 0 where we never saw it change


def date_heartbeat(
    opened: VerifiedHeartbeat, old: KnownPeer | None, now: Now, direct: bool
) -> tuple[float, float, float]:
    """Return when a heartbeat was sent, the author's base and how late it came, as `KnownPeer` has them. `old`: what is
    known of its author. `direct`: the author itself sent it just now."""
    sent_at = opened.heartbeat.sent_at
    delay = now.steady - sent_at
    if old is None and not direct:  # no measure but the wall clocks: believe them for this once
        age = max(0.0, now.wall - sent_at)
        return now.steady - age, delay - min(age, INTERVAL_S), age
    if old is None:
        return now.steady, delay, 0.0
    base = old.base + DRIFT_S
    if delay < base:
        base = delay
    late_s = delay - base
    if late_s > INTERVAL_S and (direct or min(late_s, old.late_s) > SET_BACK_S):  # the author's clock was set back
        base = delay
    return now.steady - (delay - base), base, late_s


def is_news(old: VerifiedHeartbeat, new: VerifiedHeartbeat) -> bool:
    """Tell whether peers should hear what changed between two heartbeats of one author. Leases are left out: they move
    often, and nobody acts on a peer's word about its leases."""
    a, b = old.heartbeat, new.heartbeat
    if (a.endpoints, a.ready, a.leaving, a.farewell) != (b.endpoints, b.ready, b.leaving, b.farewell):
        return True
    if (a.attests, a.attested_days, a.invited_by) != (b.attests, b.attested_days, b.invited_by):
        return True
    if (a.member, a.for_good, a.operator, a.stable) != (b.member, b.for_good, b.operator, b.stable):
        return True
    if (a.steps, a.steps_hour) != (b.steps, b.steps_hour):
        return True
    return (a.strategy_version, a.slot_bits) != (b.strategy_version, b.slot_bits)


def changed_domains(a: Heartbeat, b: Heartbeat) -> bool:
    """Tell whether two heartbeats of a member differ in what decides what it owns (failure_domains.py)."""
    if (a.operator, a.stable, a.steps, a.steps_hour) != (b.operator, b.stable, b.steps, b.steps_hour):
        return True
    return a.endpoints != b.endpoints and _prefixes(a) != _prefixes(b)


def _prefixes(beat: Heartbeat) -> list[bytes]:
    """The /24 or /48 of each address: a machine's address may change within it."""
    return [host[:3] if len(host) == 4 else host[:6] for host, _, _ in beat.endpoints]


ADDRESS_LIMIT = 8192
VALID_S = 3600.0  # an address may be somebody else's by then; in a large network two peers meet this seldom


class VerifiedAddresses:
    """Remembers at which addresses peers have answered."""

    def __init__(self) -> None:
        self._at: dict[tuple[NodeId, Family], tuple[str, float]] = {}

    def note(self, peer: NodeId, address: Address, now: float) -> None:
        """Note that a peer answered what was sent to this address."""
        remember(self._at, (peer, address.family), (address.host, now), ADDRESS_LIMIT)

    def knows(self, peer: NodeId, family: Family, now: float) -> bool:
        """Tell whether a peer answered at any address of a family within the last hour."""
        return now - self._at.get((peer, family), ("", -VALID_S - now))[1] <= VALID_S

    def has(self, peer: NodeId, address: Address, now: float) -> bool:
        """Tell whether a peer answered at this host within the last hour."""
        host, at = self._at.get((peer, address.family), ("", 0.0))
        return host == address.host and now - at <= VALID_S
