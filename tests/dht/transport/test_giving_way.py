"""Long bodies fill no line, use what there is of it, and arrive as they were sent."""

import asyncio
from collections import deque

import pytest
import uvloop
from aiohttp import ClientSession, web

from dht.transport.giving_way import LEAST_BYTES, LONG_BYTES, TARGET_S, GivingWay, LineState, room_of, window_of
from tests.parameters import proved

STEP_S = 0.001


class Line:
    """A line of so many bytes a second with an endless queue, shared by connections that each send an endless body.
    Arrived bytes are acknowledged after the round trip; each connection measures as the kernel does."""

    def __init__(self, bytes_s: float, rtt_s: float, count: int) -> None:
        self.bytes_s, self.rtt_s, self.now, self.free_at, self.sent = bytes_s, rtt_s, 0.0, 0.0, 0
        self.flying: list[deque[tuple[float, float, int]]] = [deque() for _ in range(count)]  # arrives, left, bytes
        self.under_way, self.rates, self.smoothed = [0] * count, [0.0] * count, [rtt_s] * count

    def send(self, seconds: float) -> list[float]:
        """Return what waited in the queue, at each step."""
        queued = []
        while self.now < seconds:
            for n, flying in enumerate(self.flying):
                while flying and flying[0][0] <= self.now:
                    _, left, size = flying.popleft()
                    took_s = self.now - left
                    self.rates[n] = self.under_way[n] / took_s
                    self.smoothed[n] += (took_s - self.smoothed[n]) / 8
                    self.under_way[n] -= size
                room = room_of(LineState(self.under_way[n], self.rates[n], self.smoothed[n], self.rtt_s))
                if room:
                    self.free_at = max(self.free_at, self.now) + room / self.bytes_s
                    flying.append((self.free_at + self.rtt_s, self.now, room))
                    self.under_way[n] += room
                    self.sent += room
            queued.append(max(0.0, self.free_at - self.now))
            self.now += STEP_S
        return queued


@pytest.mark.parametrize("count", [4, *proved(1)])
@pytest.mark.parametrize("rtt_s", [0.01, 0.03, 0.16])
def test_a_slow_line_is_neither_filled_nor_left_unused(count: int, rtt_s: float) -> None:
    line = Line(125_000, rtt_s, count)
    queued = sorted(line.send(40)[5000:])
    assert queued[int(len(queued) * 0.95)] < 0.5
    assert line.sent / 40 > 0.5 * line.bytes_s


def test_a_fast_line_is_used_even_where_it_is_long() -> None:
    line = Line(12_500_000, 0.16, 1)
    line.send(20)
    assert line.sent / 20 > 0.3 * line.bytes_s


def test_the_window_follows_rate_and_queue_and_never_closes() -> None:
    idle = LineState(0, 1e6, 0.05, 0.05)
    assert window_of(idle) == pytest.approx(1e6 * (0.05 + TARGET_S), abs=1)
    assert window_of(idle._replace(rtt_s=0.05 + 4 * TARGET_S)) == pytest.approx(window_of(idle) / 4, abs=1)
    assert window_of(LineState(0, 1.0, 30.0, 0.05)) == LEAST_BYTES
    assert room_of(LineState(LEAST_BYTES, 1.0, 30.0, 0.05)) == 0 < room_of(LineState(LEAST_BYTES - 1, 1.0, 30.0, 0.05))


def test_bodies_arrive_on_the_loop_that_nodes_run_on() -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(test_bodies_of_any_length_arrive_both_ways(900_000))


@pytest.mark.parametrize("size", [0, 1, LONG_BYTES, LONG_BYTES + 1, 200_007, 900_000])
async def test_bodies_of_any_length_arrive_both_ways(size: int) -> None:
    body, moved = bytes(n % 251 for n in range(size)), list[None]()

    async def echo(request: web.BaseRequest) -> web.StreamResponse:
        assert request.content_length == size
        return web.Response(body=GivingWay().payload(await request.read()))

    server = web.Server(echo)
    listening = await asyncio.get_running_loop().create_server(server, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    async with ClientSession() as session:
        data = GivingWay().payload(body, lambda: moved.append(None))
        async with session.post(f"http://127.0.0.1:{port}/", data=data) as answer:
            assert await answer.read() == body
    assert bool(moved) == (size > LONG_BYTES)
    listening.close()
    await server.shutdown()
