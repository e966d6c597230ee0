"""Dialling back: the right peer's answer counts, silence and a missing family do not, and every port is closed."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from dht.identity.node_key import Identity
from dht.reachability import dial_back
from dht.reachability.dial_back import TRIES, DialBack, Receive, Send
from dht.wire.contact import Address
from dht.wire.packets import PacketHeader, Pong, decode_packet, encode_packet

US, THEM, OTHER = (Identity(bytes([n]) * 32) for n in (1, 2, 3))
WHERE = Address("9.9.9.9", 8091)


class Ports:
    """Ports behind which `who` answers, or nobody."""

    def __init__(self, who: Identity | None) -> None:
        self.who, self.sent, self.closed = who, 0, 0

    @asynccontextmanager
    async def open(self, address: Address, receive: Receive) -> AsyncIterator[Send]:
        def send(data: bytes) -> None:
            self.sent += 1
            if self.who is not None:
                header = PacketHeader(bytes(4), self.who.public_key, 0, bytes(8))
                transaction = decode_packet(data).transaction
                pong = Pong((bytes([9, 9, 9, 9]), WHERE.port), ())
                receive(encode_packet(header, transaction, pong, self.who.shared_key(US.public_key)))

        yield send
        self.closed += 1


def dialer(ports: Ports) -> DialBack:
    return DialBack(US, bytes(20), random.Random(1), ports.open)


async def test_the_right_peer_s_answer_counts_at_once() -> None:
    ports = Ports(THEM)
    assert await dialer(ports).reaches(WHERE, THEM.node_id)
    assert (ports.sent, ports.closed) == (1, 1)


@pytest.mark.parametrize("who", [None, OTHER])
async def test_silence_and_another_s_answer_count_as_nobody(
    who: Identity | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dial_back, "WAIT_S", 0.01)
    ports = Ports(who)
    assert not await dialer(ports).reaches(WHERE, THEM.node_id)
    assert (ports.sent, ports.closed) == (TRIES, 1)


async def test_without_a_way_there_nobody_is_reached() -> None:
    @asynccontextmanager
    async def closed(address: Address, receive: Receive) -> AsyncIterator[Send]:
        raise OSError("no such family")
        yield

    assert not await DialBack(US, bytes(20), random.Random(1), closed).reaches(WHERE, THEM.node_id)
