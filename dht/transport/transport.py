"""A transport carries a node's messages: by TLS between machines, in memory in the simulator.

Pure: a protocol and the values it needs. `Messenger` (dht/overlay) decides which peer to ask, by which way, and what an
answer means. A transport only moves bytes, proves both ends' identities, and reports how it failed.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from dht.errors import BadMessage, PeerTimeout
from dht.keys import NodeId
from dht.supervisor import STRICT, Supervisor
from dht.wire.contact import Contact, Endpoint

MAX_REASON_BYTES = 1000  # of a refusal
CONNECT_S = 3.0  # until a connection that did not come about is given up
MAX_BODY_BYTES = 8 << 20  # two packages of 4 MiB, the size at which TLS runs at full speed

Answerer = Callable[[NodeId, str, bytes, str], Awaitable[bytes]]
"""(verified asker, message name, body, address that it came from) → body of the answer. A RemoteError or InputError is
sent back as text; any other error is this machine's and stops the transport."""


FindRelayed = Callable[[NodeId, str, int], Contact | None]
"""(asker, host, TCP port) → the peer at that endpoint, where this node passes bytes on to it for that asker."""


Reach = Callable[[Contact, int], bool]
"""(peer behind a NAT, TCP port) → whether somebody was asked to have the peer dial that port of this node."""


IsMember = Callable[[str, NodeId | None], bool]
"""(address, peer that was proved, None where none was) → whether that peer is a member, or one is reached there."""


class NoConnection(PeerTimeout):
    """No connection to the peer came about, for want of a way or of time; the peer may be well."""

    def __str__(self) -> str:
        return f"no connection to peer {self.peer} came about within {self.waited_s:.1f} s"


class PeerGone(PeerTimeout):
    """Nothing listens where the peer was, or it cut the connection: it is probably down."""

    def __str__(self) -> str:
        return f"peer {self.peer} is not there (connection refused or cut after {self.waited_s:.1f} s)"


@dataclass(eq=False)
class PeerRefused(BadMessage):
    """The peer understood and said no; `reason` is its text, `status` as in HTTP."""

    status: int = 422


HearTime = Callable[[NodeId, float], None]
"""Takes what a peer's wall clock showed when it answered, be it with a refusal."""


@dataclass(frozen=True, slots=True)
class Route:
    """Names whom to ask, and through whom where the direct way does not work. `connect_s`: how long a connection may
    take to come about, since there may be another way."""

    peer: Contact
    relay: Contact | None = None
    connect_s: float = CONNECT_S


class Transport(Protocol):
    """Asks and answers between nodes."""

    async def run(
        self,
        answerer: Answerer,
        find_relayed: FindRelayed,
        reach: Reach,
        is_member: IsMember,
        supervisor: Supervisor = STRICT,
    ) -> None:
        """Answer others until cancelled. Raises LocalError where the port cannot be used."""

    def dial(self, peer: NodeId, endpoint: Endpoint, any_port: bool) -> None:
        """Dial a peer that dials this node at this moment; from any port where it lets everybody in."""

    async def ask(self, route: Route, name: str, body: bytes, *, timeout_s: float) -> bytes:
        """Send one message; raises PeerTimeout, NoConnection, PeerGone, BadMessage or PeerRefused."""

    async def renew(self) -> None:
        """Make new connections from now on: this machine has other addresses than before."""


def printable(body: bytes) -> str:
    """Return a peer's text, safe to show in one line."""
    text = body.decode("utf-8", "replace")
    return "".join(c if c.isprintable() else " " for c in text)


class Driver(Protocol):
    """Drives the protocol engine: hands it what arrives, sends what it returns, polls it when it is due."""

    async def run(self, supervisor: Supervisor = STRICT) -> None:
        """Drive until cancelled. Raises LocalError where the port cannot be used. `supervisor`: bears what one packet
        costs."""

    def kick(self) -> None:
        """Let the engine act now on what it was told."""
