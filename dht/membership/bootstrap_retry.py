"""This schedule says which bootstrap addresses to try, and when.

Pure: `now` and `rng` are arguments. While nobody is live the pauses are an eighth of the time since the first try, 1 to
60 s: whoever comes a little later is met a little later. With live peers an address that none of them has is tried
each minute, which joins two networks that started apart. While nobody is live, the
addresses of former members are tried too, for ever: a node that slept through a holiday finds its network again.
A strategy may make members drop each other by mistake. The addresses of such members are tried each minute for 30 days,
even while others are live and whatever prefixes are declared. Any of them may have the corrected version.
"""

from collections.abc import Iterable
from random import Random

from dht.clock import Now
from dht.keys import NodeId
from dht.membership.vanished_members import REMEMBERED_S
from dht.membership.working_families import WorkingFamilies
from dht.wire.contact import Address
from dht.wire.heartbeat import VerifiedHeartbeat

ADDRESS_LIMIT = 64
DROPPED_LIMIT = 64  # members; a random choice of more, so that each of many is remembered by others
AT_ONCE = 4  # addresses tried in one go
PAUSE_SHARE, PAUSE_FIRST_S, PAUSE_MOST_S = 1 / 8, 1.0, 60.0


class BootstrapRetry:
    """Chooses where to make first contact."""

    def __init__(self, families: WorkingFamilies, rng: Random) -> None:
        self._families = families
        self._rng = rng
        self._addresses: list[Address] = []
        self._former: list[Address] = []
        self._dropped: dict[NodeId, VerifiedHeartbeat] = {}  # by a strategy
        self._dropped_due = float("-inf")
        self._trusted: set[Address] = set()
        self._alone_since: float | None = None  # the first try since somebody was live; steady
        self.next_due = float("inf")

    def add(self, addresses: Iterable[Address], now: Now, *, is_trusted: bool = True) -> None:
        """Try these addresses too, starting now; the newest 64 are kept. `is_trusted`: the network file or the operator
        names them."""
        usable = [a for a in addresses if a.family in self._families.bound]
        self._addresses = list(dict.fromkeys(self._addresses + usable))[-ADDRESS_LIMIT:]
        self._trusted = (self._trusted | set(usable if is_trusted else ())).intersection(self._addresses)
        self._alone_since = None
        if self._addresses:
            self.next_due = now.steady

    def remember(self, addresses: Iterable[Address], now: Now) -> None:
        """Remember where members were reached that are forgotten now; the newest 64 addresses are kept."""
        usable = [a for a in addresses if a.family in self._families.bound]
        self._former = list(dict.fromkeys(self._former + usable))[-ADDRESS_LIMIT:]
        if self._former:
            self.next_due = min(self.next_due, now.steady + PAUSE_FIRST_S)

    def keep(self, dropped: Iterable[VerifiedHeartbeat]) -> None:
        """Remember the members that a strategy makes this node drop; a random choice of 64 is kept. All are tried at
        once: the next strategy may have come."""
        self._dropped |= {opened.contact.node_id: opened for opened in dropped}
        kept = self._rng.sample(list(self._dropped), min(DROPPED_LIMIT, len(self._dropped)))
        self._dropped = {peer: self._dropped[peer] for peer in kept}
        if self._dropped:
            self.next_due = self._dropped_due = float("-inf")

    def found(self, peer: NodeId) -> None:
        """Note that a peer's heartbeats are taken again."""
        self._dropped.pop(peer, None)

    def find_dropped(self, peer: NodeId) -> VerifiedHeartbeat | None:
        """Return the last heartbeat of a member that a strategy made this node drop."""
        return self._dropped.get(peer)

    def all_dropped(self) -> Iterable[tuple[NodeId, VerifiedHeartbeat]]:
        """Return the members that a strategy made this node drop."""
        return self._dropped.items()

    def dropped(self, now: Now) -> list[VerifiedHeartbeat]:
        """Return the last heartbeats of the members that a strategy made this node drop within the last 30 days."""
        old = [peer for peer, each in self._dropped.items() if each.heartbeat.sent_at <= now.wall - REMEMBERED_S]
        for peer in old:
            del self._dropped[peer]
        return list(self._dropped.values())

    def is_trusted(self, address: Address) -> bool:
        """Tell whether whoever answers at an address is the one that was meant."""
        return address in self._trusted

    @property
    def hosts(self) -> list[str]:
        """Where first contact was or will be made."""
        return [address.host for address in self._addresses]

    def choose(self, known: set[Address], now: Now, *, alone: bool) -> list[Address]:
        """Return the addresses to try now; `known`: those of live peers and our own. `alone`: nobody is live."""
        self._alone_since = (now.steady if self._alone_since is None else self._alone_since) if alone else None
        alone_s = float("inf") if self._alone_since is None else now.steady - self._alone_since
        self.next_due = now.steady + min(PAUSE_MOST_S, max(PAUSE_FIRST_S, PAUSE_SHARE * alone_s))
        usable = list(dict.fromkeys(self._addresses + self._former)) if alone else self._addresses
        silent = self._untried(usable, known)
        return list(dict.fromkeys(self._rng.sample(silent, min(AT_ONCE, len(silent))) + self._dropped_ones(known, now)))

    def _dropped_ones(self, known: set[Address], now: Now) -> list[Address]:
        """All addresses of dropped members once a minute: few of them may have the corrected strategy yet."""
        if now.steady < self._dropped_due:
            return []
        self._dropped_due = now.steady + PAUSE_MOST_S
        return self._untried([e.udp for opened in self.dropped(now) for e in opened.contact.endpoints], known)

    def _untried(self, addresses: Iterable[Address], known: set[Address]) -> list[Address]:
        return [a for a in addresses if a not in known and a.family in self._families.towards_peers]
