"""The TLS channel over real loopback sockets: who is who, bounds, garbage, the relay."""

import asyncio
import os
import random
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import aiohttp
import pytest
import uvloop

from dht import Address, BadMessage, Contact, Endpoint, Identity, InputError, LocalError, NodeId, PeerTimeout
from dht import system_clock as clock
from dht.clock import Clock, Now
from dht.membership.working_families import WorkingFamilies
from dht.transport.relay import MAX_TUNNELS_OF_ONE
from dht.transport.request_auth import WINDOW_S, RequestTarget, sign_request
from dht.transport.tls_channel import TlsChannel
from dht.transport.tls_client import TUNNELS_TO_ONE, next_piece
from dht.transport.transport import MAX_BODY_BYTES, FindRelayed, NoConnection, PeerGone, PeerRefused, Route
from tests.loopback import free_port, needs_ipv6

NETWORK = "ab" * 20
ALICE, BOB, CAROL = (Identity(bytes([n]) * 32) for n in (11, 12, 13))


async def echo(asker: NodeId, name: str, body: bytes, host: str) -> bytes:
    if name == "Refuse":
        raise InputError("not today\nreally")
    if name == "Hang":
        await asyncio.sleep(60)
    if name == "Break":
        raise LocalError("disk is gone")
    return asker + name.encode() + body


def anything(asker: NodeId, host: str, port: int) -> Contact | None:
    return Contact(NodeId(bytes(20)), (Endpoint(host, port, port),))


def nobody(peer: Contact, port: int) -> bool:
    return False


def no_member(host: str, peer: NodeId | None) -> bool:
    return False


class Host:
    """A running channel with its contact."""

    def __init__(self, identity: Identity, hosts: tuple[str, ...], reads: Clock = clock) -> None:
        self.endpoints = tuple(Endpoint(host, port, port) for host in hosts for port in [free_port(host)])
        addresses = tuple(Address(e.host, e.tcp_port) for e in self.endpoints)
        self.identity = identity
        self.contact = Contact(identity.node_id, self.endpoints)
        self.times: dict[bytes, float] = {}  # what peers' clocks showed
        rng, hear_time = random.Random(identity.node_id), self.times.__setitem__
        families = WorkingFamilies(e.family for e in self.endpoints)
        self.channel = TlsChannel(identity, NETWORK, addresses, families, reads, rng, hear_time)
        self.heard: list[str] = []
        self.came = asyncio.Event()

    async def answer(self, asker: NodeId, name: str, body: bytes, host: str) -> bytes:
        self.heard.append(name)
        self.came.set()
        return await echo(asker, name, body, host)

    async def ask(self, route: Route, name: str = "Echo", body: bytes = b"", timeout_s: float = 5.0) -> bytes:
        return await self.channel.ask(route, name, body, timeout_s=timeout_s)


@asynccontextmanager
async def running(*hosts: Host, find_relayed: FindRelayed = anything) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(host.channel.run(host.answer, find_relayed, nobody, no_member)) for host in hosts]
        await asyncio.sleep(0)
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()


async def test_a_message_and_its_answer_cross_with_the_askers_true_id():
    alice, bob = Host(ALICE, ("127.0.0.1",)), Host(BOB, ("127.0.0.1",))
    async with running(alice, bob):
        answer = await alice.ask(Route(bob.contact), "Echo", b"hello")
        assert answer == ALICE.node_id + b"Echohello"
        big = bytes(MAX_BODY_BYTES - 64)
        assert len(await alice.ask(Route(bob.contact), "Echo", big)) == len(big) + 24


@pytest.mark.parametrize("off_s", [30.0, 3600.0, -86_400.0])
async def test_whoever_is_asked_tells_the_time_even_where_its_clock_refuses_the_request(off_s: float):
    def off() -> Now:
        now = clock()
        return Now(now.wall + off_s, now.steady)

    alice, other = Host(ALICE, ("127.0.0.1",)), Host(BOB, ("127.0.0.1",), off)
    async with running(alice, other):
        if abs(off_s) > WINDOW_S:
            with pytest.raises(PeerRefused, match="clock"):
                await alice.ask(Route(other.contact))
        else:
            await alice.ask(Route(other.contact))
    assert abs(alice.times[BOB.node_id] - clock().wall - off_s) < 5.0


async def test_a_peer_with_another_key_gets_no_byte():
    alice, bob = Host(ALICE, ("127.0.0.1",)), Host(BOB, ("127.0.0.1",))
    async with running(alice, bob):
        with pytest.raises(BadMessage, match="another key"):
            await alice.ask(Route(Contact(CAROL.node_id, bob.endpoints)))
        assert await alice.ask(Route(bob.contact))


async def test_refusals_come_back_as_one_line_of_text():
    alice, bob = Host(ALICE, ("127.0.0.1",)), Host(BOB, ("127.0.0.1",))
    async with running(alice, bob):
        with pytest.raises(PeerRefused, match="not today really"):
            await alice.ask(Route(bob.contact), "Refuse")
        with pytest.raises(PeerRefused):
            await alice.ask(Route(bob.contact), "no/such")


async def test_silence_and_absence_are_told_apart():
    alice, bob = Host(ALICE, ("127.0.0.1",)), Host(BOB, ("127.0.0.1",))
    async with running(alice, bob):
        with pytest.raises(PeerTimeout) as slow:
            await alice.ask(Route(bob.contact), "Hang", timeout_s=0.2)
        assert not isinstance(slow.value, PeerGone)
        with pytest.raises(PeerGone):
            await alice.ask(Route(Contact(CAROL.node_id, (Endpoint("127.0.0.1", 1, free_port()),))))


async def test_a_restarted_peer_is_reached_over_a_new_connection():
    alice, bob = Host(ALICE, ("127.0.0.1",)), Host(BOB, ("127.0.0.1",))
    async with running(alice):
        async with running(bob):
            assert await alice.ask(Route(bob.contact))
        async with running(bob):
            assert await alice.ask(Route(bob.contact))


async def test_an_answer_whose_connection_is_given_up_in_its_middle_is_cut():
    async def half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")

    server = await asyncio.start_server(half, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    async with server, aiohttp.ClientSession() as session, session.get(url) as response:
        assert await next_piece(response) == b"half"
        await session.close()
        with pytest.raises(ConnectionAbortedError):
            await next_piece(response)


async def test_requests_for_others_replays_and_strangers_are_refused():
    bob = Host(BOB, ("127.0.0.1",))
    unverified = ssl.create_default_context()
    unverified.check_hostname, unverified.verify_mode = False, ssl.CERT_NONE
    url = f"https://127.0.0.1:{bob.endpoints[0].tcp_port}/v1/Echo"

    def header(recipient: NodeId = BOB.node_id, body: bytes = b"x", network: str = NETWORK) -> dict[str, str]:
        target = RequestTarget(network, recipient, "POST", "/v1/Echo")
        return {"Authorization": sign_request(ALICE, target, body, clock(), b"n" * 12)}

    async with running(bob), aiohttp.ClientSession() as session:

        async def status(headers: dict[str, str], body: bytes = b"x") -> int:
            async with session.post(url, data=body, headers=headers, ssl=unverified) as response:
                return response.status

        assert await status({}) == 401
        assert await status({"Authorization": "DSE1 a b c d e"}) == 401
        assert await status(header(recipient=CAROL.node_id)) == 401
        assert await status(header(network="cd" * 20)) == 401
        assert await status(header(), body=b"y") == 401
        fresh = header()
        assert await status({k: v.replace((b"n" * 12).hex(), (b"m" * 12).hex()) for k, v in fresh.items()}) == 401
        assert await status(fresh) == 401  # its nonce was used with the wrong body


async def test_garbage_does_no_harm():
    alice, bob = Host(ALICE, ("127.0.0.1",)), Host(BOB, ("127.0.0.1",))
    rng = random.Random(1)
    heads = [
        b"",
        b"\x16",
        b"\x16\x03\x01",
        b"C",
        b"CONNECT ",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x16" + b"A" * 9000,
        b"C" * 9000,
    ]
    async with running(alice, bob):
        for head in heads:
            reader, writer = await asyncio.open_connection("127.0.0.1", bob.endpoints[0].tcp_port)
            writer.write(head + rng.randbytes(200))
            writer.write_eof()
            with suppress(ConnectionError):
                await asyncio.wait_for(reader.read(), 5)
            writer.close()
        assert await alice.ask(Route(bob.contact))


def test_a_connection_whose_handle_was_closed_under_it_costs_no_other() -> None:
    """On the loop that nodes run on a handle may be closed twice, and then the next connection gets its number."""

    async def connect() -> None:
        alice, bob, loop = Host(ALICE, ("127.0.0.1",)), Host(BOB, ("127.0.0.1",)), asyncio.get_running_loop()
        elsewhere = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
        broken, _ = await loop.create_connection(asyncio.Protocol, *elsewhere.sockets[0].getsockname())
        async with elsewhere, running(alice, bob):
            with socket.socket() as caller:
                caller.setblocking(False)
                os.close(broken.get_extra_info("socket").fileno())
                await loop.sock_connect(caller, ("127.0.0.1", bob.endpoints[0].tcp_port))
                assert await alice.ask(Route(bob.contact), "Echo", b"hello") == ALICE.node_id + b"Echohello"
                broken.abort()
                assert await loop.sock_recv(caller, 1) == b"", "whose number it has closes it"
            assert await alice.ask(Route(bob.contact), "Echo", b"still") == ALICE.node_id + b"Echostill"

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(connect())


async def test_a_port_in_use_names_itself_and_the_remedy():
    alice = Host(ALICE, ("127.0.0.1",))
    taken = socket.create_server(("127.0.0.1", alice.endpoints[0].tcp_port))
    with taken, pytest.raises(LocalError, match=rf"TCP 127.0.0.1 port {alice.endpoints[0].tcp_port}.*node.peer_port"):
        alice.channel.bind()  # before the node does anything else


async def test_a_failure_of_this_machine_stops_it_loudly():
    alice, bob = Host(ALICE, ("127.0.0.1",)), Host(BOB, ("127.0.0.1",))
    async with running(alice):
        with pytest.raises(BaseExceptionGroup) as failed:
            async with asyncio.TaskGroup() as group:
                group.create_task(bob.channel.run(echo, anything, nobody, no_member))
                await asyncio.sleep(0)
                with pytest.raises((PeerRefused, PeerGone)):
                    await alice.ask(Route(bob.contact), "Break")
                await asyncio.sleep(60)
        assert failed.group_contains(LocalError, match="disk is gone")


@needs_ipv6
async def test_one_family_asks_the_other_through_a_dual_stack_peer():
    alice, carol = Host(ALICE, ("127.0.0.1",)), Host(CAROL, ("::1",))
    relay = Host(BOB, ("127.0.0.1", "::1"))
    async with running(alice, carol, relay):
        there = await alice.ask(Route(carol.contact, relay.contact), "Echo", b"six")
        back = await carol.ask(Route(alice.contact, relay.contact), "Echo", bytes(2_000_000))
        assert there == ALICE.node_id + b"Echosix"
        assert len(back) == 2_000_024
        with pytest.raises(BadMessage, match="another key"):  # a relay that connects to somebody else
            await alice.ask(Route(Contact(ALICE.node_id, carol.endpoints), relay.contact))


@needs_ipv6
async def test_a_relay_serves_members_endpoints_only():
    alice, carol = Host(ALICE, ("127.0.0.1",)), Host(CAROL, ("::1",))
    relay = Host(BOB, ("127.0.0.1", "::1"))
    async with running(alice, carol), running(relay, find_relayed=lambda asker, host, port: None):
        with pytest.raises(PeerTimeout):
            await alice.ask(Route(carol.contact, relay.contact))


async def test_tunnels_to_a_frozen_peer_end_with_those_who_asked_for_them(monkeypatch: pytest.MonkeyPatch):
    """Else a relay, which bears so many tunnels of one asker, would bring it to nobody for as long as they may idle."""
    monkeypatch.setattr("dht.transport.relay.ENDING_S", 0.05)
    monkeypatch.setattr("dht.transport.relay.QUIET_S", 60.0)  # none gives way to another
    alice, bob, carol = (Host(who, ("127.0.0.1",)) for who in (ALICE, BOB, CAROL))

    async def ask_in_vain(peer: Contact) -> None:
        with pytest.raises(PeerTimeout):
            await alice.ask(Route(peer, bob.contact), timeout_s=0.3)

    with socket.create_server(("127.0.0.1", 0)) as frozen:  # its machine takes connections, and nobody answers
        port = int(frozen.getsockname()[1])
        silent = Contact(NodeId(bytes(20)), (Endpoint("127.0.0.1", port, port),))
        async with running(alice, bob, carol):
            for _ in range(1 + MAX_TUNNELS_OF_ONE // TUNNELS_TO_ONE):
                async with asyncio.TaskGroup() as group:
                    for _ in range(TUNNELS_TO_ONE):
                        group.create_task(ask_in_vain(silent))
            await asyncio.sleep(0.5)
            assert await alice.ask(Route(carol.contact, bob.contact))


async def test_more_peers_than_a_relay_bears_tunnels_for_are_all_reached_at_once(monkeypatch: pytest.MonkeyPatch):
    """A node whose family one other alone shares with the peers asks them all at every query."""
    monkeypatch.setattr("dht.transport.relay.MAX_TUNNELS_OF_ONE", 2)
    alice, relay = Host(ALICE, ("127.0.0.1",)), Host(BOB, ("127.0.0.1",))
    others = [Host(Identity(bytes([n]) * 32), ("127.0.0.1",)) for n in (13, 14, 15, 16)]
    async with running(alice, relay, *others):
        for _ in range(3):
            async with asyncio.TaskGroup() as group:
                for other in others:
                    group.create_task(alice.ask(Route(other.contact, relay.contact), timeout_s=2.0))


async def test_a_relay_that_froze_is_given_up_before_the_question_is():
    alice, bob = Host(ALICE, ("127.0.0.1",)), Host(BOB, ("127.0.0.1",))
    with socket.create_server(("127.0.0.1", 0)) as frozen:
        port = int(frozen.getsockname()[1])
        relay = Contact(NodeId(bytes(20)), (Endpoint("127.0.0.1", port, port),))
        async with running(alice, bob):
            with pytest.raises(NoConnection):
                await alice.ask(Route(bob.contact, relay, connect_s=0.2), timeout_s=2.0)
    assert not bob.heard


async def test_a_lying_relay_is_refused():
    """The relay answers the TLS handshake itself, with its own key: the asker must not send its request."""
    alice, mallory, carol = Host(ALICE, ("127.0.0.1",)), Host(BOB, ("127.0.0.1",)), Host(CAROL, ("127.0.0.1",))

    async def lie(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
        inner, outer = await asyncio.open_connection("127.0.0.1", mallory.endpoints[0].tcp_port)

        async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            while data := await source.read(65536):
                sink.write(data)
            sink.close()

        async with asyncio.TaskGroup() as ways:
            ways.create_task(pump(reader, outer))
            ways.create_task(pump(inner, writer))

    port = free_port()
    liar = await asyncio.start_server(lie, "127.0.0.1", port)
    async with liar, running(alice, mallory):
        with pytest.raises(BadMessage, match="another key"):
            await alice.ask(Route(carol.contact, Contact(BOB.node_id, (Endpoint("127.0.0.1", port, port),))))
    assert not mallory.heard


async def test_one_peer_s_bodies_leave_room_for_the_others(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("dht.transport.tls_server.MAX_BYTES_HELD_OF_ONE", 1000)
    alice, bob, carol = (Host(who, ("127.0.0.1",)) for who in (ALICE, BOB, CAROL))
    async with running(alice, bob, carol), asyncio.TaskGroup() as group:
        hanging = group.create_task(alice.ask(Route(bob.contact), "Hang", bytes(900)))
        await bob.came.wait()
        with pytest.raises(PeerTimeout):
            await alice.ask(Route(bob.contact), "Echo", bytes(200))
        assert await carol.ask(Route(bob.contact), "Echo", bytes(900))
        hanging.cancel()


async def test_a_relay_passes_tls_only():
    bob = Host(BOB, ("127.0.0.1",))
    heard = bytearray()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.extend(await reader.read(100))
        writer.close()

    port = free_port()
    place = f"127.0.0.1:{port}"
    victim = await asyncio.start_server(listen, "127.0.0.1", port)

    async def tunnel(first: bytes) -> bytes:
        target = RequestTarget(NETWORK, BOB.node_id, "CONNECT", place)
        signed = sign_request(ALICE, target, b"", clock(), random.Random(first).randbytes(12))
        reader, writer = await asyncio.open_connection("127.0.0.1", bob.endpoints[0].tcp_port)
        writer.write(f"CONNECT {place} HTTP/1.1\r\nProxy-Authorization: {signed}\r\n\r\n".encode() + first)
        answer = await reader.read()
        writer.close()
        return answer

    async with victim, running(bob):
        assert (await tunnel(b"GET / HTTP/1.1\r\n\r\n")).startswith(b"HTTP/1.1 200")
        assert not heard
        await tunnel(b"\x16 hello")
        assert heard == b"\x16 hello"
