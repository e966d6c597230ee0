"""A transport carries a node's messages: by TLS between machines, in memory in the simulator.

Pure: a protocol and the values it needs. `Messenger` (dht/overlay) decides whom to ask, by which way, and what an
answer means; a transport only moves bytes, proves who is at both ends, and says how it failed.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from dht.errors import BadMessage, PeerTimeout
from dht.keys import NodeId
from dht.wire.contact import Contact

MAX_BODY_BYTES = 8 << 20  # two packages of 4 MiB, the size at which TLS runs at full speed

Answerer = Callable[[NodeId, str, bytes, str], Awaitable[bytes]]
"""(verified asker, message name, body, address that it came from) → body of the answer. A RemoteError or InputError is
sent back as text; any other error is this machine's and stops the transport."""


MayRelay = Callable[[NodeId, str, int], bool]
"""(asker, host, TCP port) → whether this node passes bytes on for that asker to that endpoint."""


class PeerGone(PeerTimeout):
    """Nothing listens where the peer was, or it cut the connection: it is probably down."""

    def __str__(self) -> str:
        return f"peer {self.peer} is not there (connection refused or cut after {self.waited_s:.1f} s)"


@dataclass(eq=False)
class PeerRefused(BadMessage):
    """The peer understood and said no; `reason` is its text, `status` as in HTTP."""

    status: int = 422


@dataclass(frozen=True, slots=True)
class Route:
    """Names whom to ask, and through whom where no family is shared."""

    peer: Contact
    relay: Contact | None = None


class Transport(Protocol):
    """Asks and answers between nodes."""

    async def run(self, answerer: Answerer, may_relay: MayRelay) -> None:
        """Answer others until cancelled. Raises LocalError where the port cannot be used."""

    async def ask(self, route: Route, name: str, body: bytes, *, timeout_s: float) -> bytes:
        """Send one message; raises PeerTimeout, PeerGone, BadMessage or PeerRefused."""

    def clock_offset_s(self) -> float:
        """Return how far ahead of this node's wall clock those of its peers are; 0 where that is not known."""


class Driver(Protocol):
    """Drives the protocol engine: hands it what arrives, sends what it returns, polls it when it is due."""

    async def run(self) -> None:
        """Drive until cancelled. Raises LocalError where the port cannot be used."""

    def kick(self) -> None:
        """Let the engine act now on what it was told."""
