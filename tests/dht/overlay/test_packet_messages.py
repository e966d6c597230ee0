"""Small messages of whole overlays travel in packets, over lines that lose some, and go over the channel where those
bring nothing. Simulated, on virtual time."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random

import pytest

from dht import BadMessage, LocalError, Message, NodeId
from dht.overlay.service import OverlayService
from dht.transport.transport import PeerRefused
from node.extras.simulation.loop import SimLoop
from tests.sim.overlays import World, grow, simulate


class Look(Message, frozen=True, array_like=True):
    in_packets = True

    number: int
    size: int = 10


class Seen(Message, frozen=True, array_like=True):
    what: bytes


class Say(Message, frozen=True, array_like=True):
    number: int


def served(overlay: OverlayService, looked: list[int]) -> None:
    async def look(asker: NodeId, message: Look) -> Seen:
        looked.append(message.number)
        if message.size < 0:
            raise BadMessage(asker.hex(), "no such size")
        return Seen(Random(message.number).randbytes(message.size))

    async def say(asker: NodeId, message: Say) -> Seen:
        return Seen(b"said")

    overlay.serve(Look, look)
    overlay.serve(Say, say)


def with_two(
    story: Callable[[World, OverlayService, OverlayService, list[int]], Awaitable[None]], loss: float = 0.0
) -> World:
    looked: list[int] = []

    async def scenario(world: World, group: asyncio.TaskGroup) -> None:
        await grow(world, group, 2)
        a, b = world.nodes
        served(b, looked)
        await asyncio.sleep(20)
        await story(world, a, b, looked)

    return simulate(World(SimLoop(), 5, loss=loss), scenario)


def test_small_ones_travel_in_packets_and_others_over_the_channel() -> None:
    async def story(world: World, a: OverlayService, b: OverlayService, looked: list[int]) -> None:
        for size in (0, 5000):
            answer = await a.ask(b.node_id, Look(7, size), Seen, timeout_s=3)
            assert answer.what == Random(7).randbytes(size)
        assert world.wire.carried["Look"] == 0
        assert (await a.ask(b.node_id, Say(1), Seen, timeout_s=3)).what == b"said"
        assert world.wire.carried["Say"] > 0

    with_two(story)


def test_an_answer_too_long_for_packets_comes_over_the_channel() -> None:
    async def story(world: World, a: OverlayService, b: OverlayService, looked: list[int]) -> None:
        assert len((await a.ask(b.node_id, Look(7, 100_000), Seen, timeout_s=3)).what) == 100_000
        assert world.wire.carried["Look"] > 100_000

    with_two(story)


def test_a_refusal_is_told_with_its_reason() -> None:
    async def story(world: World, a: OverlayService, b: OverlayService, looked: list[int]) -> None:
        with pytest.raises(PeerRefused, match="no such size"):
            await a.ask(b.node_id, Look(7, -1), Seen, timeout_s=3)

    with_two(story)


def test_where_packets_bring_nothing_the_channel_does_and_is_asked_first_from_then_on() -> None:
    async def story(world: World, a: OverlayService, b: OverlayService, looked: list[int]) -> None:
        b._messenger._packets._core.answers.serve = None  # type: ignore[union-attr]  # as a node of an older version
        began = world.loop.time()
        await a.ask(b.node_id, Look(1), Seen, timeout_s=3)
        first, began = world.loop.time() - began, world.loop.time()
        await a.ask(b.node_id, Look(2), Seen, timeout_s=3)
        assert first < 1.2 and world.loop.time() - began < 0.2
        assert looked == [1, 2]

    with_two(story)


def test_only_what_is_meant_for_packets_is_answered_in_them() -> None:
    class Sly(Message, frozen=True, array_like=True):
        in_packets = True

        number: int

    Sly.__name__ = "Say"  # the other side does not let it travel in packets: a recorded one could be repeated

    async def story(world: World, a: OverlayService, b: OverlayService, looked: list[int]) -> None:
        assert (await a.ask(b.node_id, Sly(1), Seen, timeout_s=3)).what == b"said"
        assert world.wire.carried["Say"] > 0

    with_two(story)


def test_a_fault_of_this_machine_ends_the_node() -> None:
    async def main() -> None:
        world = World(loop, 5)

        async def broken(asker: NodeId, message: Look) -> Seen:
            raise LocalError("the disk is gone")

        async with asyncio.TaskGroup() as group:
            await grow(world, group, 2)
            a, b = world.nodes
            b.serve(Look, broken)
            await asyncio.sleep(20)
            await a.ask(b.node_id, Look(1), Seen, timeout_s=30)

    loop = SimLoop()
    with pytest.raises(BaseExceptionGroup) as caught:
        loop.run(main())
    assert caught.group_contains(LocalError, match="disk is gone")
