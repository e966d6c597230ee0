"""Small signed records at points of the key space, read and written by awaiting calls."""

import asyncio
from collections.abc import Callable
from math import inf
from typing import TypeVar

from dht.clock import Clock, Now
from dht.identity.node_key import node_id_of
from dht.keys import Key
from dht.protocol.engine import ProtocolEngine
from dht.wire.value_record import ValueRecord

WITHIN_S = 30.0

Found = TypeVar("Found")


class PointRecords:
    """Waits for the engine's lookups. `kick`: has the protocol engine send what it has."""

    def __init__(self, core: ProtocolEngine, clock: Clock, kick: Callable[[], None]) -> None:
        self._finder, self._joined_on, self._clock, self._kick = core.finder, core.joined_on, clock, kick

    async def read(self, key: Key, most: int = 1) -> list[ValueRecord]:
        """Return the records at a point, one an author, those of older members first; none where nobody answers within
        WITHIN_S. At most `most` lookups are made, and each brings a few records, so there may be more than `most`."""
        found: dict[bytes, ValueRecord] = {}
        for skip in range(most):
            page = await self._page(key, skip)
            if not page:
                break
            for record in page:
                found.setdefault(record.public_key, record)
        return sorted(found.values(), key=self._age)

    async def write(self, key: Key, value: bytes, life_s: float) -> int:
        """Sign a record, store it at a point for so many seconds, and return at how many nodes it lies."""
        return await self._wait(lambda done: self._finder.write(self._clock(), key, value, life_s, done), 0)

    async def _page(self, key: Key, skip: int) -> list[ValueRecord]:
        return await self._wait(lambda done: self._finder.get(self._clock(), key, done, skip), [])

    def _age(self, record: ValueRecord) -> tuple[float, bytes]:
        day = self._joined_on(node_id_of(record.public_key))
        return (inf if day is None else day), record.public_key

    async def _wait(self, begin: Callable[[Callable[[Now, Found], None]], None], otherwise: Found) -> Found:
        found: asyncio.Future[Found] = asyncio.get_running_loop().create_future()
        begin(lambda _, result: None if found.done() else found.set_result(result))
        self._kick()
        try:
            async with asyncio.timeout(WITHIN_S):
                return await found
        except TimeoutError:
            return otherwise
