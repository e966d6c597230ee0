"""Strangers' traffic at the peers' port, and how they leave, is logged at most for debugging."""

import asyncio
import logging
import socket
import ssl
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from random import Random

import pytest
import uvloop

from dht import library_log
from dht import system_clock as clock
from dht.transport.request_auth import NONCE_BYTES, RequestTarget, sign_request
from dht.transport.transport import Route
from tests.dht.transport.test_tls_channel import ALICE, BOB, NETWORK, Host, running

RNG = Random(7)
CUT = struct.pack("ii", 1, 0)


class RawTls:
    """A TLS client that may send anything beside its records."""

    def __init__(self, port: int) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=2)
        self._read, self._written = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self._read, self._written)
        while True:
            try:
                self.tls.do_handshake()
                return self.flush()
            except ssl.SSLWantReadError:
                self.flush()
                self._read.write(self.sock.recv(65_536))

    def flush(self) -> None:
        self.sock.sendall(self._written.read())

    def send(self, data: bytes) -> None:
        self.tls.write(data)
        self.flush()

    def ask(self, body: bytes, *headers: bytes) -> None:
        """Send a request that is signed for the body `part`."""
        target, nonce = RequestTarget(NETWORK, BOB.node_id, "POST", "/v1/Echo"), RNG.randbytes(NONCE_BYTES)
        head = sign_request(ALICE, target, b"part", clock(), nonce).encode()
        self.send(b"\r\n".join([b"POST /v1/Echo HTTP/1.1", b"Host: x", b"Authorization: " + head, *headers, b"", body]))
        time.sleep(0.1)


def cut(sock: socket.socket) -> None:
    """Leave by a reset."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, CUT)
    sock.close()


def hear_and_leave(sock: socket.socket) -> None:
    sock.settimeout(0.3)
    with suppress(OSError):
        while sock.recv(65_536):
            pass
    sock.close()


def garbled_hello(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as sock:
        sock.sendall(b"\x16\x03\x01\x00\x80" + RNG.randbytes(200))
        hear_and_leave(sock)


def half_a_hello(port: int) -> None:
    sock = socket.create_connection(("127.0.0.1", port))
    sock.sendall(b"\x16\x03\x01\x02\x00\x01")
    cut(sock)


def cut_after_the_handshake(port: int) -> None:
    cut(RawTls(port).sock)


def wrong_record(port: int) -> None:
    tls = RawTls(port)
    tls.send(b"POST /v1/Echo HTTP/1.1\r\n")
    tls.sock.sendall(b"\x17\x03\x03\x00\x40" + RNG.randbytes(64))
    hear_and_leave(tls.sock)


def no_http(port: int) -> None:
    tls = RawTls(port)
    tls.send(b"\x00\xff garbage\r\n\r\n")
    hear_and_leave(tls.sock)


def cut_amid_a_body(port: int) -> None:
    tls = RawTls(port)
    tls.ask(b"part", b"Content-Length: 1000")
    cut(tls.sock)


def a_body_that_ends_early(port: int) -> None:
    tls = RawTls(port)
    tls.ask(b"part", b"Content-Length: 1000")
    with suppress(ssl.SSLWantReadError):
        tls.tls.unwrap()
    tls.flush()
    hear_and_leave(tls.sock)


def wrong_chunks(port: int) -> None:
    tls = RawTls(port)
    tls.ask(b"zz\r\npart", b"Transfer-Encoding: chunked")
    hear_and_leave(tls.sock)


def wrong_gzip(port: int) -> None:
    tls = RawTls(port)
    tls.ask(b"no gzip", b"Content-Encoding: gzip", b"Content-Length: 7")
    hear_and_leave(tls.sock)


def data_after_a_refusal(port: int) -> None:
    tls = RawTls(port)
    tls.send(b"POST /v1/Echo HTTP/1.1\r\nHost: x\r\nAuthorization: none\r\nContent-Length: 80000000\r\n\r\n")
    with suppress(OSError):
        for _ in range(60):
            tls.send(bytes(1000))
            time.sleep(0.025)
    tls.sock.close()


STRANGERS = [
    garbled_hello,
    half_a_hello,
    cut_after_the_handshake,
    wrong_record,
    no_http,
    cut_amid_a_body,
    a_body_that_ends_early,
    wrong_chunks,
    wrong_gzip,
    data_after_a_refusal,
]


@pytest.mark.parametrize("stranger", STRANGERS)
def test_strangers_leave_no_error_and_no_traceback_in_the_log(
    stranger: Callable[[int], None], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    async def serve() -> None:
        alice, bob = Host(ALICE, ("127.0.0.1",)), Host(BOB, ("127.0.0.1",))
        async with running(alice, bob):
            await asyncio.to_thread(stranger, bob.endpoints[0].tcp_port)
            await asyncio.sleep(0.2)
            assert await alice.ask(Route(bob.contact), "Echo", b"still") == ALICE.node_id + b"Echostill"

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve())
    told = [record for record in caplog.records if record.levelno > logging.DEBUG or record.exc_info]
    assert not told, [record.getMessage() for record in told]


async def test_what_the_loop_says_of_broken_connections_is_not_told_and_of_anything_else_is(
    caplog: pytest.LogCaptureFixture,
) -> None:
    loop, logger = asyncio.get_running_loop(), library_log("asyncio")
    caplog.set_level(logging.WARNING, logger="asyncio")
    try:
        for error in (ssl.SSLError(1, "application data after close notify"), ConnectionResetError(104, "reset")):
            loop.call_exception_handler({"message": "Fatal error on SSL transport", "exception": error})
        logger.warning("socket.send() raised exception.")
        assert not caplog.records
        loop.call_exception_handler({"message": "a mistake", "exception": KeyError("row")})
        assert [record.levelname for record in caplog.records] == ["ERROR"]
    finally:
        logger.filters = []
