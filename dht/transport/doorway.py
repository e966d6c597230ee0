"""The doorway says who may stay connected at a port: members have places that strangers cannot take.

Anybody may connect, and who is a member is known only once a connection has proved its peer. So strangers share a
bounded number of places. Where these are taken, a stranger leaves: the one that came first, of the block of addresses
(/24 or /64) that has most. So a flood turns itself out, and a stranger that proves itself within a moment is served.
Addresses at which members are reached, and connections that proved a member, have all other places. On the web a caller
proves itself by a whole request header. There the reserved places are for this machine and for the owner's proxies.

Pure: times are arguments; who has to leave is told to do so.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address

PROVE_S = 15.0
FILES_SHARE = 4  # of the files that a process may open, one port has this part at most


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many connections one port has, of strangers, and from one address."""

    connections: int
    strangers: int
    of_one: int

    def within(self, open_files: int) -> "Bounds":
        """Return the bounds for a process that may open so many files, in the same proportions."""
        share = min(1.0, open_files / FILES_SHARE / self.connections)
        return Bounds(*(max(1, int(share * most)) for most in (self.connections, self.strangers, self.of_one)))


PEERS = Bounds(1024, 256, 128)  # a whole demo network shares 127.0.0.1
WEB = Bounds(1024, 768, 128)  # a campus may share one address


@dataclass(eq=False, slots=True)
class Visitor:
    """One connection.

    `leave` closes it.
    `is_gone` returns whether it is closed.
    `is_member`: whether it proved a member, or comes from an address of one.
    `has_proved`: whether it has proved its identity.
    `is_own`: whether it comes from this machine or from a proxy of its owner. No bound for one address holds for it,
    and it always finds a place."""

    host: str
    since: float
    leave: Callable[[], object]
    is_gone: Callable[[], bool]
    is_member: bool = False
    has_proved: bool = False
    is_own: bool = False
    block: bytes = b""  # of addresses that one subscriber or one small site has: /24 or /64

    def __post_init__(self) -> None:
        packed = ip_address(self.host.partition("%")[0]).packed
        self.block = packed[:3] if len(packed) == 4 else packed[:8]


class Doorway:
    """Keeps the connections of one port within their bounds."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._visitors: dict[Visitor, None] = {}  # who came first is first

    def __len__(self) -> int:
        return len(self._visitors)

    def enter(self, visitor: Visitor) -> bool:
        """Let a new connection in, for which another may have to leave; False where there is no place for it."""
        if self._has_room(visitor) or (self._forget() and self._has_room(visitor)) or self._turn_out(visitor):
            self._visitors[visitor] = None
            return True
        return False

    def left(self, visitor: Visitor) -> None:
        """Note that a connection has ended."""
        self._visitors.pop(visitor, None)

    def end_overdue(self, now: float) -> None:
        """Close the connections that have not said within PROVE_S who they are."""
        self._forget()
        for visitor in [v for v in self._visitors if not v.has_proved and now - v.since > PROVE_S]:
            self._close(visitor)

    def _has_room(self, visitor: Visitor) -> bool:
        if len(self._visitors) >= self._bounds.connections or self._is_crowded(visitor):
            return False
        return visitor.is_member or sum(not each.is_member for each in self._visitors) < self._bounds.strangers

    def _is_crowded(self, visitor: Visitor) -> bool:
        return not visitor.is_own and sum(v.host == visitor.host for v in self._visitors) >= self._bounds.of_one

    def _turn_out(self, visitor: Visitor) -> bool:
        """Make room for a visitor: close the stranger that came first, of the visitor's address where that has too
        many, else of the block that has most. Strangers that proved their identity go last. Where there is no stranger,
        a member displaces a visitor without proof, and a visitor from this machine any other. Return whether one was
        closed."""
        host = visitor.host if self._is_crowded(visitor) else ""
        near = [v for v in self._visitors if not host or v.host == host]
        strangers = [v for v in near if not v.is_member]
        silent = [v for v in near if not v.has_proved]
        leaving = [v for v in strangers if not v.has_proved] or strangers
        leaving = leaving or (silent if visitor.is_member else []) or (near if visitor.is_own else [])
        if not leaving:
            return False
        blocks = Counter(v.block for v in leaving)
        most = max(blocks.values())
        self._close(next(v for v in leaving if blocks[v.block] == most))
        return True

    def _close(self, visitor: Visitor) -> None:
        del self._visitors[visitor]
        visitor.leave()

    def _forget(self) -> bool:
        """Drop the connections that ended by themselves; tell whether there were any."""
        before = len(self._visitors)
        self._visitors = {visitor: None for visitor in self._visitors if not visitor.is_gone()}
        return len(self._visitors) < before
