"""The name servers of the benchmark of look-ups answer as such servers do, and late."""

import asyncio

import pytest
from dns import asyncquery, message, rdatatype

from benchmarks.crawl.names import LATENCY_S, _aiodns, _Answerer


async def test_a_name_has_one_address_and_only_after_a_while() -> None:
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(_Answerer, local_addr=("127.0.0.1", 0))
    port = transport.get_extra_info("sockname")[1]
    try:
        for kind, count in ((rdatatype.A, 1), (rdatatype.AAAA, 0)):
            asked, began_at = message.make_query("site1.bench.test", kind, use_edns=False), loop.time()
            answer = await asyncquery.udp(asked, "127.0.0.1", 2, port)
            assert len(answer.answer) == count and answer.question == asked.question
            assert loop.time() - began_at >= LATENCY_S
    finally:
        transport.close()


async def test_the_client_beside_getaddrinfo_finds_what_the_servers_say() -> None:
    pytest.importorskip("aiodns")
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(_Answerer, local_addr=("127.0.0.1", 0))
    try:
        look = _aiodns(["127.0.0.1"], transport.get_extra_info("sockname")[1])
        assert await look("site1.bench.test") == ["10.1.2.3"]
    finally:
        transport.close()
