"""The simulator's own promises: time jumps, order follows from the seed, lost things are lost."""

import asyncio

import pytest

from dht import Address, BadMessage, InputError, NodeId, PeerTimeout
from node.extras.simulation.loop import EPOCH, SimLoop
from node.extras.simulation.network import SimNetwork

A, B = NodeId(b"a" * 20), NodeId(b"b" * 20)


async def echo(asker: NodeId, name: str, body: bytes, host: str) -> bytes:
    if body == b"refuse me":
        raise InputError("no such thing")
    return name.encode() + b" " + body + b" for " + asker[:1]


def test_an_hour_passes_at_once_and_clocks_agree_with_it() -> None:
    loop = SimLoop()

    async def main() -> tuple[float, float]:
        await asyncio.sleep(3600.0)
        return loop.clock(5.0)()

    wall, steady = loop.run(main())
    assert (wall, steady) == (EPOCH + 3605.0, 3600.0)


def test_executors_run_inline_and_their_errors_arrive() -> None:
    async def main() -> int:
        loop = asyncio.get_running_loop()
        with pytest.raises(ZeroDivisionError):
            await loop.run_in_executor(None, lambda: 1 // 0)
        return await loop.run_in_executor(None, int, "7")

    assert SimLoop().run(main()) == 7


def test_waiting_for_nothing_is_a_deadlock_and_not_a_hang() -> None:
    async def main() -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(RuntimeError, match="deadlock"):
        SimLoop().run(main())


def test_a_message_is_answered_after_two_ways_and_a_refusal_is_told() -> None:
    loop = SimLoop()
    network = SimNetwork(loop, 1, latency_s=(0.05, 0.05))

    async def main() -> None:
        network.listen("a", A, echo)
        network.listen("b", B, echo)
        assert await network.ask("a", A, B, "Hello", b"x", 5.0) == b"Hello x for a"
        assert loop.time() == pytest.approx(0.1)
        with pytest.raises(BadMessage, match="no such thing"):
            await network.ask("a", A, B, "Hello", b"refuse me", 5.0)

    loop.run(main())


@pytest.mark.parametrize("trouble", ["dead", "cut", "lossy", "dies meanwhile"])
def test_what_does_not_arrive_is_a_timeout_after_the_whole_time(trouble: str) -> None:
    loop = SimLoop()
    network = SimNetwork(loop, 1, loss=1.0 if trouble == "lossy" else 0.0, latency_s=(0.5, 0.5))

    async def main() -> None:
        network.listen("a", A, echo)
        network.listen("b", B, echo)
        if trouble == "dead":
            network.kill("b")
        elif trouble == "cut":
            network.cut({"b": 1})
        elif trouble == "dies meanwhile":
            loop.call_later(0.2, network.kill, "b")
        with pytest.raises(PeerTimeout):
            await network.ask("a", A, B, "Hello", b"", 3.0)
        assert loop.time() == pytest.approx(3.0)

    loop.run(main())


def test_datagrams_arrive_late_or_never() -> None:
    loop = SimLoop()
    network = SimNetwork(loop, 1, latency_s=(0.1, 0.2))
    here, there, nobody = (Address(f"9.0.0.{n}", 1) for n in (1, 2, 3))
    got: list[tuple[float, bytes, Address]] = []

    async def main() -> None:
        network.attach("a", here, lambda data, source: None)
        network.attach("b", there, lambda data, source: got.append((loop.time(), data, source)))
        network.send("a", b"one", here, there)
        network.send("a", b"two", here, nobody)
        await asyncio.sleep(1.0)
        network.send("a", b"three", here, there)
        network.kill("b")
        await asyncio.sleep(1.0)

    loop.run(main())
    assert [(data, source) for _, data, source in got] == [(b"one", here)]
    assert 0.1 <= got[0][0] <= 0.2
    assert network.sent == 3
