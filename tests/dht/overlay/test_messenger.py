"""A question goes by the next way where the one before fails or is silent for a moment; what is heard first counts."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from dht import PeerTimeout, RemoteError
from dht.overlay.messenger import first_answer
from dht.transport.transport import PeerRefused
from node.extras.simulation.loop import SimLoop

PATIENCE_S = 0.5


def way(after_s: float, outcome: bytes | RemoteError) -> Callable[[], Awaitable[bytes]]:
    async def ask() -> bytes:
        await asyncio.sleep(after_s)
        if isinstance(outcome, bytes):
            return outcome
        raise outcome

    return ask


@pytest.mark.parametrize(
    ("first", "second", "heard", "after_s"),
    [
        (way(0.2, b"first"), way(0.0, b"second"), (b"first", 0), 0.2),
        (way(60.0, b"frozen"), way(0.1, b"second"), (b"second", 1), 0.6),
        (way(0.7, b"slow"), way(0.9, b"slower"), (b"slow", 0), 0.7),
        (way(0.1, PeerTimeout("first", 0.1)), way(0.1, b"second"), (b"second", 1), 0.2),
        (way(0.1, PeerRefused("peer", "no")), way(0.1, b"second"), PeerRefused, 0.1),
        (way(0.1, PeerTimeout("first", 0.1)), way(0.1, PeerTimeout("second", 0.1)), PeerTimeout, 0.2),
    ],
)
def test_what_is_heard_first_counts(
    first: Callable[[], Awaitable[bytes]],
    second: Callable[[], Awaitable[bytes]],
    heard: tuple[bytes, int] | type[RemoteError],
    after_s: float,
) -> None:
    async def main() -> tuple[object, float]:
        try:
            answer: object = await first_answer([first, second], PATIENCE_S)
        except RemoteError as error:
            answer = type(error)
        return answer, asyncio.get_running_loop().time()

    assert SimLoop().run(main()) == (heard, pytest.approx(after_s))


def test_without_patience_a_slow_way_is_waited_for() -> None:
    async def main() -> tuple[tuple[bytes, int], float]:
        answer = await first_answer([way(9.0, b"slow"), way(0.1, b"second")], None)
        return answer, asyncio.get_running_loop().time()

    assert SimLoop().run(main()) == ((b"slow", 0), pytest.approx(9.0))
