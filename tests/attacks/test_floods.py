"""Strangers who flood a node's port with connections keep no member, and no newcomer, from being served."""

import asyncio
import resource
from contextlib import AsyncExitStack

from dht import NodeId
from dht.transport.transport import Route
from tests.dht.transport.test_tls_channel import ALICE, BOB, CAROL, Host, running

ADDRESSES, OF_EACH = 9, 140
MEMBERS = 20


async def test_idle_connections_by_the_thousand_shut_nobody_out() -> None:
    """Nine addresses open as many connections as they get, and say nothing; others ask over new ones."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    try:
        alice = Host(ALICE, ("127.0.0.1",))
        async with running(alice), AsyncExitStack() as flood:
            port = alice.endpoints[0].tcp_port
            for number in range(OF_EACH):
                for address in range(ADDRESSES):
                    source = (f"127.77.{address}.1", 0)
                    _, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=source)
                    flood.callback(writer.close)
                if number % 10 == 0:
                    await asyncio.sleep(0.01)
            for asker in (BOB, CAROL):
                other = Host(asker, ("127.0.0.1",))
                async with running(other):
                    for _ in range(MEMBERS):
                        answer = await other.channel.ask(Route(alice.contact), "Hello", b"", timeout_s=5.0)
                        assert answer.startswith(NodeId(asker.node_id))
                        await other.channel.renew()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
