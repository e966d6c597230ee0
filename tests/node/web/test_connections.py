"""Connections to the web are bounded: whoever fills them with silence keeps no caller out, and is closed soon."""

import socket
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from dht.transport import doorway, listener

PLACES = 24
FILES = Path("/proc/self/fd")


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """So few files that the web has PLACES connections; a silent one is closed after half a second."""
    monkeypatch.setattr(listener, "_open_files", lambda: PLACES * doorway.FILES_SHARE)
    monkeypatch.setattr(doorway, "PROVE_S", 0.5)
    monkeypatch.setattr(listener, "SWEEP_S", 0.1)


def connect(stack: ExitStack, port: int, first: bytes) -> socket.socket:
    caller = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=5))
    caller.sendall(first)
    return caller


def is_closed(caller: socket.socket, within_s: float) -> bool:
    """Whether the other end closes a connection in time."""
    caller.settimeout(within_s)
    try:
        while caller.recv(65_536):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        return True
    return True


def count_open(callers: list[socket.socket]) -> int:
    return sum(not is_closed(caller, 0.02) for caller in callers)


@pytest.mark.parametrize("first", [b"", b"GET / HTTP/1.1\r\nHost: localhost\r\nX: "], ids=["silent", "half a header"])
def test_a_flood_that_says_nothing_turns_itself_out_and_ends(few: None, start: Any, first: bytes) -> None:
    site = start()
    with ExitStack() as stack:
        flood = [connect(stack, site.port, first) for _ in range(5 * PLACES)]
        assert site.get("/healthz").status == 200
        assert count_open(flood) <= PLACES
        began = time.monotonic()
        while count_open(flood):
            assert time.monotonic() - began < 5, "silence is closed"
        assert site.get("/healthz").status == 200


def test_callers_that_asked_once_and_stay_keep_this_machine_no_place(few: None, start: Any) -> None:
    site = start()
    with ExitStack() as stack:
        idle = []
        for _ in range(3 * PLACES):
            idle.append(connect(stack, site.port, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"))
            assert idle[-1].recv(65_536).startswith(b"HTTP/1.1 200 ")
        assert site.get("/healthz").status == 200
        assert count_open(idle) <= PLACES


@pytest.mark.skipif(not FILES.exists(), reason="counts open files")
def test_who_reads_no_answer_gives_up_its_handle_when_others_need_the_place(few: None, start: Any) -> None:
    site = start()
    ask = b"GET /style.css HTTP/1.1\r\nHost: localhost\r\n\r\n" * 500
    with ExitStack() as stack:
        before = len(list(FILES.iterdir()))
        deaf = connect(stack, site.port, b"")
        deaf.setblocking(False)
        blocked = 0
        while blocked < 20:  # until the server cannot write, and so does not read
            try:
                deaf.send(ask)
                blocked = 0
            except BlockingIOError:
                blocked += 1
                time.sleep(0.02)
        for _ in range(3 * PLACES):
            caller = connect(stack, site.port, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert caller.recv(65_536).startswith(b"HTTP/1.1 200 ")
        assert len(list(FILES.iterdir())) - before <= 1 + 3 * PLACES + PLACES, "the callers' and the server's"


def test_a_caller_who_begins_at_once_is_served_however_long_it_takes(few: None, start: Any) -> None:
    site = start()
    with ExitStack() as stack:
        caller = connect(stack, site.port, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert caller.recv(65_536).startswith(b"HTTP/1.1 200 ")
        time.sleep(1.0)
        caller.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert caller.recv(65_536).startswith(b"HTTP/1.1 200 "), "a connection is kept between two requests"
