"""Messages meet their handlers; one that breaks anything costs its asker an error."""

import asyncio

import msgspec
import pytest

from dht.errors import BadMessage, InputError
from dht.keys import NodeId
from dht.transport.dispatcher import Dispatcher
from dht.transport.transport import MAX_BODY_BYTES

ASKER = NodeId(b"a" * 20)


class Echo(msgspec.Struct, frozen=True):
    text: str
    times: int = 1


async def echo(asker: NodeId, message: Echo, host: str) -> Echo:
    if message.text == "bug":
        raise ZeroDivisionError
    if message.text == "no":
        raise InputError("not this")
    return Echo(f"{asker.decode()[:1]}@{host}: {message.text * message.times}")


def ask(name: str, body: bytes) -> bytes:
    handlers = Dispatcher()
    handlers.serve(Echo, echo)
    return asyncio.run(handlers.answer(ASKER, name, body, "192.0.2.7"))


def test_a_message_is_answered_by_its_handler_with_who_asked_from_where() -> None:
    answer = msgspec.msgpack.decode(ask("Echo", msgspec.msgpack.encode(Echo("hello"))), type=Echo)
    assert answer.text == "a@192.0.2.7: hello"


@pytest.mark.parametrize(
    ("name", "body", "said"),
    [
        ("Unheard", b"", "answers no Unheard"),
        ("Echo", b"\xc1", "no Echo"),
        ("Echo", msgspec.msgpack.encode({"text": 7}), "no Echo"),
        ("Echo", msgspec.msgpack.encode(Echo("bug")), "failed here"),
        ("Echo", msgspec.msgpack.encode(Echo("xxxxxxxx", MAX_BODY_BYTES // 8)), "ask for less"),
    ],
)
def test_whatever_is_wrong_with_a_message_is_its_askers_error(name: str, body: bytes, said: str) -> None:
    with pytest.raises(BadMessage, match=said):
        ask(name, body)


def test_a_handlers_own_refusal_goes_on() -> None:
    with pytest.raises(InputError, match="not this"):
        ask("Echo", msgspec.msgpack.encode(Echo("no")))
