"""The dispatcher finds the handler of each message by its name, and bounds its answer."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from dht.errors import MALFORMED, BadMessage, InputError, LocalError, MachineRefuses, RemoteError
from dht.keys import NodeId
from dht.messages import Message
from dht.transport.transport import MAX_BODY_BYTES

log = logging.getLogger(__name__)

HandlerFrom = Callable[[NodeId, Any, str], Awaitable[Message]]  # a Handler that is told the address, too


class Dispatcher:
    """Calls the handler of each message; one that breaks its handler costs its asker an error, and the node nothing."""

    def __init__(self) -> None:
        self._handlers: dict[str, tuple[msgspec.msgpack.Decoder[Any], HandlerFrom]] = {}
        self._encoder = msgspec.msgpack.Encoder()

    def serve(self, message: type[Message], handler: HandlerFrom) -> None:
        """Answer this type of message by `handler`."""
        self._handlers[message.__name__] = (msgspec.msgpack.Decoder(message), handler)

    async def answer(self, asker: NodeId, name: str, body: bytes, host: str) -> bytes:
        """Decode one message, call its handler, encode the answer. Raises BadMessage, and the RemoteError, InputError
        or LocalError of the handler."""
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
