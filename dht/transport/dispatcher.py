"""The dispatcher finds the handler of each message by its name, and bounds its answer.

One question may come by several ways at once, in packets, directly and through relays, because its asker hedges. The
dispatcher then works once on a question that only reads, and gives each way the same answer.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from dht.errors import MALFORMED, BadMessage, InputError, LocalError, MachineRefuses, RemoteError
from dht.keys import NodeId
from dht.messages import Message
from dht.transport.bounded_log import BoundedLog
from dht.transport.transport import MAX_BODY_BYTES

log = logging.getLogger(__name__)
log.addFilter(BoundedLog())

HandlerFrom = Callable[[NodeId, Any, str], Awaitable[Message]]  # a Handler that is told the address, too


class Dispatcher:
    """Calls the handler of each message; one that breaks its handler costs its asker an error, and the node nothing."""

    def __init__(self) -> None:
        self._handlers: dict[str, tuple[msgspec.msgpack.Decoder[Any], HandlerFrom]] = {}
        self._reading: set[str] = set()
        self._under_way: dict[tuple[NodeId, str, bytes], asyncio.Future[bytes | RemoteError | InputError]] = {}
        self._encoder = msgspec.msgpack.Encoder()

    def serve(self, message: type[Message], handler: HandlerFrom, *, only_reads: bool = False) -> None:
        """Answer this type of message by `handler`."""
        self._handlers[message.__name__] = (msgspec.msgpack.Decoder(message), handler)
        if only_reads:
            self._reading.add(message.__name__)

    async def answer(self, asker: NodeId, name: str, body: bytes, host: str) -> bytes:
        """Decode one message, call its handler, encode the answer. Raises BadMessage, and the RemoteError, InputError
        or LocalError of the handler."""
        if name not in self._reading:
            return await self._answer(asker, name, body, host)
        question = asker, name, body
        while (same := self._under_way.get(question)) is not None:
            await asyncio.wait([same])
            if not same.cancelled():
                return _told(same.result())
        outcome = self._under_way[question] = asyncio.get_running_loop().create_future()
        try:
            outcome.set_result(await self._answer(asker, name, body, host))
        except (RemoteError, InputError) as error:
            outcome.set_result(error)
        finally:
            del self._under_way[question]
            outcome.cancel()  # where this way was given up, the next one asks anew
        return _told(outcome.result())

    async def _answer(self, asker: NodeId, name: str, body: bytes, host: str) -> bytes:
        if name not in self._handlers:
            raise BadMessage(asker.hex(), f"this node answers no {name}")
        decoder, handler = self._handlers[name]
        try:
            message = decoder.decode(body)
        except MALFORMED as error:
            raise BadMessage(asker.hex(), f"no {name}: {error}") from None
        try:
            answer = self._encoder.encode(await handler(asker, message, host))
        except MachineRefuses as error:
            log.debug("message not answered name=%s reason=%s", name, error)
            raise BadMessage(asker.hex(), f"this machine cannot answer {name} now; ask another node") from error
        except (RemoteError, InputError, LocalError):
            raise
        except Exception as error:  # one foreign message must not stop the node
            log.exception("message failed name=%s from=%s", name, asker.hex())
            raise BadMessage(asker.hex(), f"{name} failed here; it is logged") from error
        if len(answer) > MAX_BODY_BYTES:
            raise BadMessage(asker.hex(), f"the answer to {name} would have {len(answer)} bytes; ask for less at once")
        return answer


def _told(outcome: bytes | RemoteError | InputError) -> bytes:
    if isinstance(outcome, bytes):
        return outcome
    raise outcome
