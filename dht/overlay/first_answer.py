"""One question by several ways, the next one being tried as soon as the one before fails or stays silent for a moment.

A relay that froze takes questions and never brings an answer; nothing tells it from a slow one but another way.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from dht.errors import PeerTimeout, RemoteError

Way = Callable[[], Awaitable[bytes]]


async def first_answer(ways: Sequence[Way], patience_s: float | None) -> tuple[bytes, int]:
    """Return the answer that comes first and the number of its way, from 0; raises what the peer refused, or how the
    last of at least one way failed. Without `patience_s` the next way is tried where the one before has failed, and
    never beside it."""
    heard: asyncio.Queue[tuple[bytes | RemoteError, int]] = asyncio.Queue()

    async def ask(way: Way, number: int) -> None:
        try:
            heard.put_nowait((await way(), number))
        except RemoteError as error:
            heard.put_nowait((error, number))

    outcome: bytes | RemoteError | None = None
    by = 0
    async with asyncio.TaskGroup() as tasks:
        asked: list[asyncio.Task[None]] = []
        is_over, open_ = False, 0
        for number, way in enumerate(ways):
            asked.append(tasks.create_task(ask(way, number), name="one-way"))
            open_ += 1
            while open_ and not is_over:
                try:
                    async with asyncio.timeout(patience_s if number + 1 < len(ways) else None):
                        outcome, by = await heard.get()
                except TimeoutError:
                    break
                open_ -= 1
                is_over = not isinstance(outcome, PeerTimeout)
            if is_over:
                break
        for task in asked:
            task.cancel()
    if isinstance(outcome, bytes):
        return outcome, by
    assert outcome is not None
    raise outcome
