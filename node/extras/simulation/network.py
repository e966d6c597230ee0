"""Joins simulated nodes in memory: datagrams and messages with delay, loss, cuts and dead nodes, from one seed.

Nodes are known by a name of the caller's choice. The delay is drawn per packet. `trace_hash` runs over all that was
sent, when and between whom: two runs with equal hashes went alike. A node behind a NAT is reached by answers only.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextvars import Context, copy_context
from functools import partial
from hashlib import blake2b
from random import Random

from dht import (
    STRICT,
    Address,
    BadMessage,
    Clock,
    EngineDriver,
    Event,
    Family,
    HearTime,
    InputError,
    NodeId,
    PeerTimeout,
    ProtocolEngine,
    RemoteError,
    Supervisor,
    check_window,
)
from node.extras.simulation.loop import SimLoop

NAT_S = 120.0  # for how long a NAT lets answers through after the last packet out; RFC 4787 asks for as much

Answerer = Callable[[NodeId, str, bytes, str], Awaitable[bytes]]


class SimNetwork:
    """Carries all that the nodes of one simulation send. `latency_s`: least and most one-way delay."""

    def __init__(
        self, loop: SimLoop, seed: int, *, latency_s: tuple[float, float] = (0.01, 0.06), loss: float = 0.0
    ) -> None:
        self.loop = loop
        self.loss = loss
        self.sent = 0  # datagrams and messages
        self.carried: Counter[str] = Counter()  # bytes of messages and their answers, by the message's name
        self.received: Counter[tuple[str, str]] = (
            Counter()
        )  # the same, by the node that got them and the message's name
        self._rng = Random(seed)
        self._latency_s = latency_s
        self._sockets: dict[Address, tuple[str, Callable[[bytes, Address], None]]] = {}
        self._answerers: dict[NodeId, tuple[str, Answerer]] = {}
        self._clocks: dict[NodeId, tuple[Clock, HearTime]] = {}
        self._groups: Mapping[str, int] = {}
        self._held_back: dict[tuple[str, str], float] = {}
        self._hosts: dict[str, dict[Family, str]] = {}
        self._broken: set[tuple[str, str, Family]] = set()
        self._behind: dict[tuple[str, Family], dict[Address, float]] = {}  # behind a NAT: where it sent to, and when
        self._context = Context()  # what is on its way belongs to no place
        self._trace = blake2b(digest_size=16)

    @property
    def trace_hash(self) -> str:
        """Return the hash of everything sent so far, hex."""
        return self._trace.copy().hexdigest()

    def cut(self, groups: Mapping[str, int]) -> None:
        """Part nodes of different groups from now on; who is not named is in group 0."""
        self._groups = groups

    def slow_down(self, latency_s: tuple[float, float]) -> None:
        """Let packets take from now on between so many seconds and so many, one way."""
        self._latency_s = latency_s

    def hold_back(self, name: str, message: str, seconds: float) -> None:
        """Let a node's answers to messages of a kind leave so much later from now on, as if it were busy."""
        self._held_back[name, message] = seconds

    def heal(self) -> None:
        """Make one network of all groups again."""
        self._groups = {}

    def hide(self, name: str, families: tuple[Family, ...] = (4, 6)) -> None:
        """Put a node behind a NAT, for good: nothing reaches it but from where it sent to."""
        for family in families:
            self._behind.setdefault((name, family), {})

    def attach(self, name: str, address: Address, receive: Callable[[bytes, Address], None]) -> None:
        """Deliver datagrams for an address to `receive` from now on."""
        self._sockets[address] = name, receive
        self._hosts.setdefault(name, {}).setdefault(address.family, address.host)

    def detach(self, address: Address) -> None:
        """Deliver no more datagrams to an address."""
        name, _ = self._sockets.pop(address, ("", None))
        if not any(s[0] == name and a.family == address.family for a, s in self._sockets.items()):
            self._hosts.get(name, {}).pop(address.family, None)

    def listen(self, name: str, node_id: NodeId, answerer: Answerer) -> None:
        """Deliver messages for a node to `answerer` from now on."""
        self._answerers[node_id] = name, answerer

    def keep_time(self, node_id: NodeId, clock: Clock, hear_time: HearTime) -> None:
        """Sign a node's messages by this clock from now on, and tell it the clocks of those who answer."""
        self._clocks[node_id] = clock, hear_time

    def leave(self, node_id: NodeId, answerer: Answerer) -> None:
        """Deliver no more messages to this answerer."""
        if self._answerers.get(node_id, ("", None))[1] is answerer:
            del self._answerers[node_id]

    def kill(self, name: str) -> None:
        """Deliver nothing more to or from a node, what is on its way included."""
        self._sockets = {a: s for a, s in self._sockets.items() if s[0] != name}
        self._answerers = {n: s for n, s in self._answerers.items() if s[0] != name}

    def send(self, name: str, data: bytes, source: Address, target: Address) -> None:
        """Send a datagram; it arrives later or never."""
        delay_s = self._depart("datagram", name, target.host)
        there = self._sockets.get(target)
        opened = self._behind.get((name, target.family))
        if opened is not None:
            opened[target] = self.loop.time()
        is_broken = there is not None and (name, there[0], target.family) in self._broken
        if delay_s is None or there is None or is_broken or not self._joined(name, there[0]):
            return
        self.loop.call_later(delay_s, self._deliver, name, data, source, target, context=self._context)

    def break_way(self, source: str, target: str, families: tuple[Family, ...] = (4, 6)) -> None:
        """Let nothing through from one node to another in these families, for good, though others reach both."""
        self._broken.update((source, target, family) for family in families)

    def connect(self, source: str, peer: NodeId, families: frozenset[Family]) -> str:
        """Return the address from which a node's connection to a peer comes, "" where none comes about. `families`:
        those in which the peer is said to be reached."""
        target, hosts = self.name_of(peer), self._hosts.get(source, {})
        if not target or not self._joined(source, target):
            return ""
        both = [f for f in sorted(families) if f in hosts and f in self._hosts.get(target, {})]
        broken = self._broken
        free = [f for f in both if (source, target, f) not in broken and (target, source, f) not in broken]
        return next((hosts[f] for f in free if (target, f) not in self._behind), "")

    def name_of(self, peer: NodeId) -> str:
        """Return the name of the node that answers as this peer, "" where none does."""
        return self._answerers.get(peer, ("",))[0]

    def source_towards(self, name: str, host: str) -> str:
        """Return the address from which a node sends to another, "" where it has none of that family. A machine behind
        a NAT does not know its public address for its own."""
        family = Address(host, 0).family
        found = self._hosts.get(name, {}).get(family, "")
        return "" if found == host and (name, family) in self._behind else found

    async def ask(
        self, name: str, own: NodeId, peer: NodeId, message: str, body: bytes, timeout_s: float, host: str = ""
    ) -> bytes:
        """Send a message and wait for its answer; raises PeerTimeout, or BadMessage with the peer's refusal. `host`:
        the asker's address, as the peer sees it."""
        try:
            async with asyncio.timeout(timeout_s):
                there, answerer = await self._pass(message, name, own, peer, peer, timeout_s)
                answer, refusal = b"", None
                try:
                    self._compare_clocks(own, peer)
                    answer = await answerer(own, message, body, host)
                except (RemoteError, InputError) as error:
                    refusal = error
                await asyncio.sleep(self._held_back.get((there, message), 0.0))
                self.carried[message] += len(body) + len(answer)
                self.received[there, message] += len(body)
                self.received[name, message] += len(answer)
                await self._pass(message, there, peer, own, peer, timeout_s)
                if own in self._clocks and peer in self._clocks:
                    self._clocks[own][1](peer, self._clocks[peer][0]().wall)
        except TimeoutError:
            raise PeerTimeout(peer.hex(), timeout_s) from None
        if refusal:
            raise BadMessage(peer.hex(), str(refusal)) from refusal
        return answer

    def _compare_clocks(self, asker: NodeId, peer: NodeId) -> None:
        """Refuse what a real node refuses by its signature's time; raises BadMessage."""
        if asker in self._clocks and peer in self._clocks:
            check_window(asker, self._clocks[asker][0]().wall, self._clocks[peer][0]())

    async def _pass(
        self, message: str, name: str, source: NodeId, target: NodeId, peer: NodeId, timeout_s: float
    ) -> tuple[str, Answerer]:
        """Carry a message one way; raises PeerTimeout after `timeout_s` where it is lost."""
        delay_s = self._depart(message, name, target.hex())
        there = self._answerers.get(target)
        if delay_s is not None and there and self._joined(name, there[0]):
            await asyncio.sleep(delay_s)
            if self._answerers.get(target) is there and source in self._answerers:
                return there
        await asyncio.sleep(timeout_s)
        raise PeerTimeout(peer.hex(), timeout_s)

    def _depart(self, kind: str, name: str, target: str) -> float | None:
        """Note that something is sent; return its delay, or None where it is lost."""
        self.sent += 1
        self._trace.update(f"{self.loop.time():.9f} {kind} {name} {target}\n".encode())
        delay_s = self._rng.uniform(*self._latency_s)
        return None if self.loss and self._rng.random() < self.loss else delay_s

    def _lets_in(self, name: str, source: Address) -> bool:
        opened = self._behind.get((name, source.family))
        return opened is None or self.loop.time() - opened.get(source, -NAT_S) < NAT_S

    def _joined(self, a: str, b: str) -> bool:
        return self._groups.get(a, 0) == self._groups.get(b, 0)

    def _deliver(self, name: str, data: bytes, source: Address, target: Address) -> None:
        there = self._sockets.get(target)
        if there is not None and not self._lets_in(there[0], source):
            there = None
        if there is None or source not in self._sockets or not self._joined(name, there[0]):
            return
        there[1](data, source)


class SimDatagrams:
    """Runs a core over the simulated network at one address a family, as `UdpDriver` does over sockets."""

    def __init__(
        self,
        core: ProtocolEngine,
        clock: Clock,
        network: SimNetwork,
        name: str,
        addresses: tuple[Address, ...],
        on_event: Callable[[Event], None],
    ) -> None:
        self._network = network
        self._name = name
        self._addresses = {a.family: a for a in addresses}
        self._driver = EngineDriver(core, clock, self._send, on_event)
        self.kick = self._driver.kick

    async def run(self, supervisor: Supervisor = STRICT) -> None:
        """Take part until cancelled or killed. `supervisor`: bears what one packet costs."""
        receive = partial(copy_context().run, self._driver.receive)  # type: ignore[call-arg]
        self._receive = receive
        for address in self._addresses.values():
            self._network.attach(self._name, address, receive)
        await self._driver.run(supervisor)

    def move(self, address: Address) -> None:
        """Give the node another address of a family, as IPv6's privacy addresses change; nothing arrives at the old one
        from now on."""
        self.lose(address.family)
        self._addresses[address.family] = address
        self._network.attach(self._name, address, self._receive)

    def lose(self, family: Family) -> None:
        """Take the node's address of a family away, as when a VPN ends."""
        if (address := self._addresses.pop(family, None)) is not None:
            self._network.detach(address)

    def _send(self, data: bytes, target: Address) -> None:
        source = self._addresses.get(target.family)
        if source:
            self._network.send(self._name, data, source, target)
