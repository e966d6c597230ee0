"""Opens a node's files anew, in the same process, where the store's index turns out damaged: that rebuilds it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from dht import leaves_of
from store import StoreCorrupt

log = logging.getLogger(__name__)

REOPEN_S = 600.0  # an index that is damaged again so soon after it was rebuilt ends the process


async def reopening(serve: Callable[[], Awaitable[None]]) -> None:
    """Serve, and where nothing but damage of the store ended that, serve again; whatever else ends it goes on up."""
    loop, reopened_at = asyncio.get_running_loop(), float("-inf")
    while True:
        try:
            return await serve()
        except BaseExceptionGroup as group:
            damage, others = group.split(StoreCorrupt)
            if damage is None or others is not None or loop.time() - reopened_at < REOPEN_S:
                raise
            reopened_at = loop.time()
            log.warning("node opens its files anew reason=%s", next(leaves_of(damage)))
