"""A service manager gets a process's notices over a real datagram socket, as in sd_notify(3)."""

import asyncio
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from node.process.service_manager import ServiceManager

PATIENCE_S = 20.0  # for what must come
QUIET_S = 0.3  # 30 signs of life that do not come


@pytest.fixture
def heard(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(str(tmp_path / "notify"))
        receiver.settimeout(PATIENCE_S)
        yield receiver


def manager(heard: socket.socket, **more: str) -> ServiceManager:
    return ServiceManager.of({"NOTIFY_SOCKET": heard.getsockname(), **more})


async def receive(heard: socket.socket) -> str:
    return (await asyncio.to_thread(heard.recv, 1000)).decode()


async def test_it_is_ready_when_it_is_up_and_its_watchdog_hears_of_a_living_loop_alone(heard: socket.socket) -> None:
    is_up = asyncio.Event()
    told = manager(heard, WATCHDOG_USEC="30000", WATCHDOG_PID=str(os.getpid()))
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(told.keep_told(is_up, "search page: here"))
        await asyncio.sleep(0)
        heard.setblocking(False)
        with pytest.raises(BlockingIOError):
            heard.recv(1000)
        heard.settimeout(PATIENCE_S)
        is_up.set()
        assert await receive(heard) == "READY=1\nSTATUS=search page: here"
        assert [await receive(heard) for _ in range(3)] == ["WATCHDOG=1"] * 3
        heard.settimeout(QUIET_S)
        with pytest.raises(TimeoutError):  # the loop stands still in here
            while True:
                heard.recv(1000)
        heard.settimeout(PATIENCE_S)
        assert await receive(heard) == "WATCHDOG=1"
        task.cancel()
    told.tell("STOPPING=1")
    while (last := await receive(heard)) == "WATCHDOG=1":
        pass
    assert last == "STOPPING=1"


async def test_without_a_watchdog_it_says_that_it_is_ready_and_no_more(heard: socket.socket) -> None:
    is_up = asyncio.Event()
    is_up.set()
    for odd in ({}, {"WATCHDOG_USEC": "-1"}, {"WATCHDOG_USEC": "x"}, {"WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"}):
        await manager(heard, **odd).keep_told(is_up, "")  # ends: nobody watches
        assert (await receive(heard)).startswith("READY=1")


def test_children_do_not_inherit_whom_to_tell(heard: socket.socket) -> None:
    environment = {"NOTIFY_SOCKET": heard.getsockname(), "WATCHDOG_USEC": "1", "WATCHDOG_PID": "1", "HOME": "/"}
    ServiceManager.of(environment).tell("READY=1")
    assert environment == {"HOME": "/"}


@pytest.mark.parametrize("address", ["", "relative", "vsock:2:1", "/nowhere/at/all", "@dse-nobody-listens"])
def test_where_nobody_listens_nothing_happens(address: str) -> None:
    ServiceManager.of({"NOTIFY_SOCKET": address}).tell("READY=1")


def test_names_without_a_file_are_told_too() -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        name = f"dse-test-{os.getpid()}"
        receiver.bind(f"\0{name}")
        ServiceManager.of({"NOTIFY_SOCKET": f"@{name}"}).tell("READY=1")
        receiver.settimeout(PATIENCE_S)
        assert receiver.recv(1000) == b"READY=1"
