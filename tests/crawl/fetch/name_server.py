"""A little name server on loopback, by UDP and TCP, that answers for TXT records from a table."""

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from dns import flags, message, rcode, rdatatype, rrset
from dns.exception import DNSException


class NameServer(asyncio.DatagramProtocol):
    """Answers with `texts` by name; what is not there does not exist. `asked`: how, for which name."""

    def __init__(self) -> None:
        self.texts: dict[str, list[str]] = {}
        self.asked: list[tuple[str, str]] = []
        self.port = 0
        self.is_silent = self.is_broken = self.by_tcp_only = False
        self._transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, address: tuple[str, int]) -> None:
        if (answer := self._answer(data, "udp")) is not None:
            self._transport.sendto(answer, address)

    async def serve_stream(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        (size,) = struct.unpack("!H", await reader.readexactly(2))
        if (answer := self._answer(await reader.readexactly(size), "tcp")) is not None:
            writer.write(struct.pack("!H", len(answer)) + answer)
        writer.close()

    def _answer(self, data: bytes, way: str) -> bytes | None:
        try:
            query = message.from_wire(data)
        except DNSException:
            return None
        (question,) = query.question
        name = question.name.to_text(omit_final_dot=True)
        self.asked.append((way, name))
        if self.is_silent:
            return None
        reply = message.make_response(query)
        texts = self.texts.get(name)
        if self.is_broken:
            reply.set_rcode(rcode.SERVFAIL)
        elif way == "udp" and self.by_tcp_only:
            reply.flags |= flags.TC
        elif texts is None or question.rdtype != rdatatype.TXT:
            reply.set_rcode(rcode.NXDOMAIN)
        elif texts:
            reply.answer = [rrset.from_text_list(question.name, 60, "IN", "TXT", texts)]
        return reply.to_wire(max_size=65_535)


@asynccontextmanager
async def open_name_server() -> AsyncIterator[NameServer]:
    """Serve on a free port of loopback until the block ends."""
    loop, server = asyncio.get_running_loop(), NameServer()
    streams = await asyncio.start_server(server.serve_stream, "127.0.0.1", 0)
    server.port = streams.sockets[0].getsockname()[1]
    transport, _ = await loop.create_datagram_endpoint(lambda: server, local_addr=("127.0.0.1", server.port))
    try:
        yield server
    finally:
        transport.close()
        streams.close()
