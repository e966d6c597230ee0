"""Small signed records at points of the key space, read and written by awaiting calls."""

import asyncio
from collections.abc import Callable

from dht.clock import Clock
from dht.keys import Key
from dht.protocol.engine import ProtocolEngine
from dht.wire.value_record import ValueRecord

WITHIN_S = 30.0


class PointRecords:
    """Waits for the engine's lookups. `kick`: has the protocol engine send what it has."""

    def __init__(self, core: ProtocolEngine, clock: Clock, kick: Callable[[], None]) -> None:
        self._core, self._clock, self._kick = core, clock, kick

    async def read(self, key: Key) -> list[ValueRecord]:
        """Return the records at a point, one an author; none where nobody answers within WITHIN_S."""
        found: asyncio.Future[list[ValueRecord]] = asyncio.get_running_loop().create_future()
        self._core.finder.get(
            self._clock(), key, lambda _, records: None if found.done() else found.set_result(records)
        )
        self._kick()
        try:
            async with asyncio.timeout(WITHIN_S):
                return await found
        except TimeoutError:
            return []

    async def write(self, key: Key, value: bytes, life_s: float) -> int:
        """Sign a record, store it at a point for so many seconds, and return at how many nodes it lies."""
        kept: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._core.finder.write(
            self._clock(), key, value, life_s, lambda _, n: None if kept.done() else kept.set_result(n)
        )
        self._kick()
        try:
            async with asyncio.timeout(WITHIN_S):
                return await kept
        except TimeoutError:
            return 0
