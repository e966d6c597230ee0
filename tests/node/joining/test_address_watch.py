"""A router and a LAN that were not there at the start are tried again when the machine's addresses change."""

import asyncio

import pytest

from node.joining.address_watch import nets_of_machine, while_addresses_stay
from tests.dht.overlay.test_service import until


async def test_what_depends_on_the_network_begins_anew_when_addresses_change_and_only_then() -> None:
    nets, begun, ended = {"127.0.0.1"}, list[frozenset[str]](), list[frozenset[str]]()

    async def run() -> None:
        here = frozenset(nets)
        begun.append(here)
        try:
            if len(nets) > 1:  # without a link there is nothing to do
                await asyncio.Event().wait()
        finally:
            ended.append(here)

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(while_addresses_stay(run, lambda: frozenset(nets), 0.001))
        for links in (("192.0.2.1",), ("192.0.2.1", "2001:db8::/64"), ()):
            await until(lambda: len(begun) > 0 and begun[-1] == frozenset(nets), 5)
            before = len(begun)
            await asyncio.sleep(0)
            assert len(begun) == before
            nets.clear()
            nets.update(("127.0.0.1", *links))
        await until(lambda: len(begun) == 4, 5)
        task.cancel()
    assert begun == ended


async def test_a_fault_is_no_change() -> None:
    async def fail() -> None:
        raise TimeoutError("of its own")

    with pytest.raises(TimeoutError, match="of its own"):
        await while_addresses_stay(fail, lambda: frozenset({"127.0.0.1"}), 10)


def test_this_machine_has_nets() -> None:
    assert "127.0.0.1" in nets_of_machine()
