"""The drivers are the shell around the protocol engine: datagrams in and out, timers, events.

`EngineDriver` serves any network, the simulator's too; `UdpDriver` gives it sockets.
Two sockets, since a socket bound to :: cannot send to IPv4 addresses and reports them as ::ffff:. Callbacks, not tasks:
whatever the engine raises is a fault of ours. One packet's is shown and costs that packet, any other ends `run`.
"""

import asyncio
import logging
import socket
from collections.abc import Callable, Sequence
from functools import partial

from dht.clock import Clock
from dht.errors import LocalError, PortMissing
from dht.protocol.engine import ProtocolEngine
from dht.protocol.events import Event
from dht.protocol.requester import Datagram
from dht.supervisor import STRICT, Supervisor
from dht.wire.contact import Address

log = logging.getLogger(__name__)

LEAST_PAUSE_S = 0.001  # the loop's clock and the engine's may disagree by less

Send = Callable[[bytes, Address], None]


class EngineDriver:
    """Runs one engine on the loop; `send` takes each outgoing datagram, `on_event` each event."""

    def __init__(self, engine: ProtocolEngine, clock: Clock, send: Send, on_event: Callable[[Event], None]) -> None:
        self._engine = engine
        self._clock = clock
        self._send = send
        self._on_event = on_event
        self._timer: asyncio.TimerHandle | None = None
        self._armed = float("inf")
        self._failed: asyncio.Future[None] | None = None
        self._supervisor = STRICT

    async def run(self, supervisor: Supervisor = STRICT) -> None:
        """Drive until cancelled. `supervisor`: bears what one packet costs."""
        self._supervisor = supervisor
        self._failed = asyncio.get_running_loop().create_future()
        try:
            self.kick()
            await self._failed
        finally:
            self._failed = None
            self._disarm()

    def receive(self, data: bytes, source: Address) -> None:
        """Hand a datagram to the engine; it is lost while `run` does not run."""
        self._step(lambda: self._engine.receive(self._clock(), data, source), is_foreign=True)

    def kick(self) -> None:
        """Let the engine act now on what it was told."""
        self._step(lambda: self._engine.poll(self._clock()))

    def _step(self, call: Callable[[], Sequence[Datagram]], *, is_foreign: bool = False) -> None:
        failed = self._failed
        if failed is None or failed.done():
            return
        try:
            for data, address in call():
                self._send(data, address)
            for event in self._engine.take_events():
                self._on_event(event)
            self._arm()
        except Exception as error:  # raised again by `run`, where the node's task group sees it
            self._judge(failed, error, is_foreign)

    def _judge(self, failed: asyncio.Future[None], error: Exception, is_foreign: bool) -> None:
        try:
            if not is_foreign:
                raise error
            self._supervisor.bear("overlay-packet", error)
        except Exception as ending:
            failed.set_exception(ending)

    def _arm(self) -> None:
        due = self._engine.next_due
        if due >= self._armed:  # waking too early costs one poll
            return
        self._disarm()
        self._armed = due
        pause = max(LEAST_PAUSE_S, due - self._clock().steady)
        self._timer = asyncio.get_running_loop().call_later(pause, self._wake)

    def _wake(self) -> None:
        self._armed = float("inf")
        self.kick()

    def _disarm(self) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer, self._armed = None, float("inf")


def bind_udp(address: Address) -> socket.socket:
    """Return a bound socket of the address's family alone; port 0 takes a free one. Raises PortMissing."""
    family = socket.AF_INET6 if address.family == 6 else socket.AF_INET
    try:
        found = socket.socket(family, socket.SOCK_DGRAM)
    except OSError as error:
        raise PortMissing.of_peers("UDP", address.host, address.port, error) from error
    try:
        if address.family == 6:
            found.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        found.bind((address.host, address.port))
    except OSError as error:
        found.close()
        raise PortMissing.of_peers("UDP", address.host, address.port, error) from error
    found.setblocking(False)
    return found


class UdpDriver:
    """Carries an engine's datagrams over one or two bound UDP sockets. After a mistake of ours they stay open for the
    next run; they are closed when the last one ends."""

    def __init__(
        self, engine: ProtocolEngine, clock: Clock, sockets: Sequence[socket.socket], on_event: Callable[[Event], None]
    ) -> None:
        self._sockets = list(sockets)  # those that are not read yet
        self._receivers: dict[int, _Receiver] = {}
        self._driver = EngineDriver(engine, clock, self._send, on_event)
        self.kick = self._driver.kick

    async def run(self, supervisor: Supervisor = STRICT) -> None:
        """Send and receive until cancelled. `supervisor`: bears what one packet costs."""
        loop = asyncio.get_running_loop()
        try:
            while self._sockets:
                sock = self._sockets[0]
                _, receiver = await loop.create_datagram_endpoint(partial(_Receiver, self._driver), sock=sock)
                self._receivers[6 if sock.family == socket.AF_INET6 else 4] = receiver
                self._sockets.pop(0)
            await self._driver.run(supervisor)
        except (asyncio.CancelledError, LocalError):
            for receiver in self._receivers.values():
                if receiver.transport is not None:
                    receiver.transport.abort()
            raise

    def _send(self, data: bytes, address: Address) -> None:
        receiver = self._receivers.get(address.family)
        if receiver is not None and receiver.transport is not None and not receiver.is_full:
            receiver.transport.sendto(data, address)


class _Receiver(asyncio.DatagramProtocol):
    """One socket; while the kernel takes no more (`is_full`), packets are lost as on any full link."""

    def __init__(self, driver: EngineDriver) -> None:
        self._driver = driver
        self.transport: asyncio.DatagramTransport | None = None
        self.is_full = False

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:  # type: ignore[override]
        self.transport = transport

    def pause_writing(self) -> None:
        self.is_full = True

    def resume_writing(self) -> None:
        self.is_full = False

    def datagram_received(self, data: bytes, addr: tuple[str, int] | tuple[str, int, int, int]) -> None:
        host = addr[0]
        self._driver.receive(data, Address(host.partition("%")[0] if "%" in host else host, addr[1]))

    def error_received(self, exc: Exception) -> None:
        log.debug("datagram not delivered reason=%s", exc)  # ICMP; the engine's own timeouts decide
