"""Who is in the network as far as this node has heard: the newest heartbeat of each peer, and when it was sent.

Pure: heartbeats and `now` in, answers out. Ages go by this node's steady clock. How long ago a heartbeat was sent
is judged against the quickest delivery of its author seen so far, so clocks may differ by any amount and a late copy
of a dead peer's last heartbeat does not revive it.
"""

from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from dht.clock import Now
from dht.keys import NodeId, distance
from dht.puzzle import work_of
from dht.records import Opened

LIVE_S = 30.0  # three heartbeats: two may be lost
MEMBER_LIMIT = 4096  # 1 MB of heartbeats; networks beyond that know their neighbourhood
DRIFT_S = 0.2  # by which an author's clock may fall behind ours in ten seconds
INTERVAL_S = 10.0  # a heartbeat that arrives straight from its author may be as old as this


class News(IntEnum):
    """What a heartbeat told."""

    OLD = 0  # nothing: this sequence or a newer one is known
    SAME = 1  # still there
    CHANGED = 2  # endpoints, readiness or strategy differ, or it was silent before
    NEW = 3  # a peer that was not known


class Known(NamedTuple):
    """A peer's newest heartbeat; `sent_steady`: when it was sent, on this node's steady clock, at the latest."""

    opened: Opened
    sent_steady: float
    base: float  # least (steady receipt - sent_at) seen of this author
    late_s: float  # by how much this heartbeat came later than that
    turned: int  # sequence of the first heartbeat heard that says what this one says


class Members:
    """The newest valid heartbeat per node, this node's own excepted; bounded."""

    def __init__(self, own: NodeId, *, own_member: bool = True, limit: int = MEMBER_LIMIT) -> None:
        self._own = own
        self._own_member = own_member
        self._limit = limit
        self._known: dict[NodeId, Known] = {}
        self._suspected: dict[NodeId, int] = {}
        self.blocked: frozenset[NodeId] = frozenset()  # by the strategy: not taken, whoever brings them
        self._cached: tuple[NodeId, ...] | None = None
        self._next_expiry = float("inf")
        self.epoch = 0  # counts changes of `members`; owners are cached by it
        self.told = 0  # counts changes of `version`, and of what peers say that they lease
        self.version = 0  # counts changes of any peer's being there, or of what News.CHANGED means

    def add(self, opened: Opened, now: Now, *, direct: bool = False) -> News:
        """Take a verified heartbeat. `direct`: its author sent it just now."""
        peer = opened.contact.node_id
        old = self._known.get(peer)
        if peer == self._own or peer in self.blocked or (old and opened.sequence <= old.opened.sequence):
            return News.OLD
        if old is None and not self._make_room(peer, now):
            return News.OLD
        news = News.NEW if old is None else News.SAME
        if old and (_differs(old.opened, opened) or not self.is_live(peer, now)):
            news = News.CHANGED
        turned = old.turned if old and news is News.SAME else opened.sequence
        self._known.pop(peer, None)  # the newest heard of is last
        self._known[peer] = known = Known(opened, *_dated(opened, old, now, direct), turned)
        self._suspected.pop(peer, None)
        self._next_expiry = min(self._next_expiry, known.sent_steady + opened.heartbeat.grace_s)
        moved = old is not None and old.opened.heartbeat.member and _stands(old.opened) != _stands(opened)
        if moved or opened.heartbeat.member != (old is not None and old.opened.heartbeat.member):
            self._changed()
        self.version += news is not News.SAME
        self.told += news is not News.SAME or old is None or old.opened.heartbeat.leased != opened.heartbeat.leased
        return news

    def take_part(self, own_member: bool) -> None:
        """Whether this node is a member itself."""
        if own_member != self._own_member:
            self._own_member = own_member
            self._changed()

    def find(self, peer: NodeId) -> Known | None:
        return self._known.get(peer)

    def known(self) -> Iterator[tuple[NodeId, Known]]:
        """Every peer, the one heard of last first; bare bootstrap nodes too."""
        return reversed(self._known.items())

    def __len__(self) -> int:
        return len(self._known)

    def members(self, now: Now) -> tuple[NodeId, ...]:
        """Nodes that may own slots: heartbeat within its grace; this node among them if it is one; sorted."""
        self.expire(now)
        if self._cached is None:
            found = [peer for peer, known in self._known.items() if known.opened.heartbeat.member]
            self._cached = tuple(sorted([*found, self._own] if self._own_member else found))
        return self._cached

    def forget_idle(self, puzzle_bits: int) -> None:
        """These are no members any more: their identities have less work behind them than the strategy asks for."""
        beats = [(peer, known.opened.heartbeat) for peer, known in self._known.items()]
        for peer in [peer for peer, beat in beats if work_of(beat.public_key, beat.nonce) < puzzle_bits]:
            self._drop(peer)

    def expire(self, now: Now) -> None:
        """Forget who has been silent for longer than the grace."""
        if now.steady < self._next_expiry:
            return
        for peer in [p for p, k in self._known.items() if now.steady - k.sent_steady > k.opened.heartbeat.grace_s]:
            self._drop(peer)
        self._next_expiry = min(
            (k.sent_steady + k.opened.heartbeat.grace_s for k in self._known.values()), default=float("inf")
        )

    def is_live(self, peer: NodeId, now: Now) -> bool:
        """Sent a heartbeat within 30 s and is not suspected since; this node always is."""
        known = self._known.get(peer)
        if known is None:
            return peer == self._own
        return now.steady - known.sent_steady <= LIVE_S and peer not in self._suspected

    def live(self, now: Now) -> tuple[list[tuple[NodeId, Opened]], float]:
        """All peers that are live, with what they said last; this node is not among them. And until when (steady
        time) all of them stay so at least, whatever is heard; nobody joins them before `version` changes."""
        since, silent = now.steady - LIVE_S, self._suspected
        heard = [(peer, k) for peer, k in self._known.items() if k.sent_steady >= since and peer not in silent]
        until = min((k.sent_steady for _, k in heard), default=float("inf")) + LIVE_S
        return [(peer, k.opened) for peer, k in heard], until

    def block(self, peers: frozenset[NodeId]) -> None:
        """These are no members from now on, and nobody else is kept out."""
        self.blocked = peers
        for peer in peers & self._known.keys():
            self._drop(peer)

    def suspect(self, peer: NodeId) -> None:
        """A connection was refused or cut: not live until a newer heartbeat says otherwise."""
        known = self._known.get(peer)
        if known:
            self._suspected[peer] = known.opened.heartbeat.sequence
            self.version += 1
            self.told += 1

    def _make_room(self, peer: NodeId, now: Now) -> bool:
        """Drop the longest silent peer, or the furthest one if all are live; False if that is the new one."""
        if len(self._known) < self._limit:
            return True
        oldest = min(self._known, key=lambda p: (self._known[p].sent_steady, p))
        if self.is_live(oldest, now):
            oldest = max(self._known, key=lambda p: distance(p, self._own))
            if distance(oldest, self._own) <= distance(peer, self._own):
                return False
        self._drop(oldest)
        return True

    def _drop(self, peer: NodeId) -> None:
        self.version += 1
        self.told += 1
        if self._known.pop(peer).opened.heartbeat.member:
            self._changed()
        self._suspected.pop(peer, None)

    def _changed(self) -> None:
        self._cached = None
        self.epoch += 1


def _dated(opened: Opened, old: Known | None, now: Now, direct: bool) -> tuple[float, float, float]:
    """When a heartbeat was sent, the author's base, how late it came; see the module docstring."""
    sent_at = opened.heartbeat.sent_at
    delay = now.steady - sent_at
    if old is None and not direct:  # no measure but the wall clocks: believe them for this once
        age = max(0.0, now.wall - sent_at)
        return now.steady - age, delay - min(age, INTERVAL_S), age
    base = delay if old is None else min(delay, old.base + DRIFT_S)
    late_s = delay - base
    if late_s > INTERVAL_S and old and (direct or old.late_s > INTERVAL_S):  # the author's clock was set back
        base = delay
    return now.steady - (delay - base), base, late_s


def _stands(opened: Opened) -> tuple[object, ...]:
    """What decides beside whom a member keeps copies (diversity.py); addresses inside a prefix may come and go."""
    hosts = (host for host, _, _ in opened.heartbeat.endpoints)
    return opened.heartbeat.operator, *(host[:3] if len(host) == 4 else host[:6] for host in hosts)


def _differs(old: Opened, new: Opened) -> bool:
    """Leases are left out: they move often, and nobody acts on a peer's word about its leases."""
    a, b = old.heartbeat, new.heartbeat
    if (a.endpoints, a.ready) != (b.endpoints, b.ready):
        return True
    return (a.member, a.strategy_version, a.slot_bits) != (b.member, b.strategy_version, b.slot_bits)
