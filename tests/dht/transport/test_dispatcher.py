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


@pytest.mark.parametrize(("only_reads", "times"), [(True, 1), (False, 2)])
def test_one_question_that_comes_by_two_ways_is_worked_on_once_where_it_only_reads(
    only_reads: bool, times: int
) -> None:
    began: list[NodeId] = []

    async def work(asker: NodeId, message: Echo, host: str) -> Echo:
        began.append(asker)
        await asyncio.sleep(0)
        return await echo(asker, message, "")

    async def main() -> None:
        handlers, other = Dispatcher(), NodeId(b"b" * 20)
        handlers.serve(Echo, work, only_reads=only_reads)
        body = msgspec.msgpack.encode(Echo("hello"))
        async with asyncio.TaskGroup() as tasks:
            ways = [tasks.create_task(handlers.answer(ASKER, "Echo", body, host)) for host in ("1.1.1.1", "9.9.9.9")]
            tasks.create_task(handlers.answer(other, "Echo", body, "1.1.1.1"))
        assert ways[0].result() == ways[1].result()
        await handlers.answer(ASKER, "Echo", body, "1.1.1.1")

    asyncio.run(main())
    assert began.count(ASKER) == times + 1, "what was answered is asked anew"
    assert len(began) == times + 2


def test_a_way_that_is_given_up_leaves_the_work_to_the_next() -> None:
    async def work(asker: NodeId, message: Echo, host: str) -> Echo:
        if host == "given up":
            await asyncio.get_running_loop().create_future()
        return Echo(host)

    async def main() -> bytes:
        handlers = Dispatcher()
        handlers.serve(Echo, work, only_reads=True)
        body = msgspec.msgpack.encode(Echo("hello"))
        async with asyncio.TaskGroup() as tasks:
            first = tasks.create_task(handlers.answer(ASKER, "Echo", body, "given up"))
            await asyncio.sleep(0)
            second = tasks.create_task(handlers.answer(ASKER, "Echo", body, "next"))
            await asyncio.sleep(0)
            first.cancel()
        return second.result()

    assert msgspec.msgpack.decode(asyncio.run(main()), type=Echo) == Echo("next")


def test_each_way_hears_the_same_refusal() -> None:
    async def main() -> list[str]:
        handlers = Dispatcher()
        handlers.serve(Echo, echo, only_reads=True)
        body = msgspec.msgpack.encode(Echo("bug"))

        async def refusal() -> str:
            with pytest.raises(BadMessage) as raised:
                await handlers.answer(ASKER, "Echo", body, "")
            return str(raised.value)

        async with asyncio.TaskGroup() as tasks:
            heard = [tasks.create_task(refusal()) for _ in range(2)]
        return [task.result() for task in heard]

    first, second = asyncio.run(main())
    assert first == second and "failed here" in first
