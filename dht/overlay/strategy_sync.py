"""Fetches strategies from peers that are ahead, and hands ours to those that are behind.

Every packet names its sender's newest strategy; whoever sees a newer one, or another one of the same version, asks
its sender for the chain from our newest on, and checks each version before it is adopted.
"""

import asyncio
import logging
from collections.abc import Callable

from dht.errors import BadStrategy, RemoteError
from dht.keys import NodeId
from dht.messages import GetStrategy, PeerClient, StrategyChain
from dht.strategy.document import decode_signed
from dht.strategy.history import StrategyHistory

log = logging.getLogger(__name__)

PULL_S = 4.0  # for a peer's chain
PULLS_WAITING = 16  # peers ahead of us that are remembered; whoever still is says so again


class StrategySync:
    """Keeps this node's chain of strategies as long as its peers'. `changed` is called after each adoption."""

    def __init__(self, strategies: StrategyHistory, asks: PeerClient, changed: Callable[[], None]) -> None:
        self._strategies = strategies
        self._asks = asks
        self._changed = changed
        self._ahead: asyncio.Queue[NodeId] = asyncio.Queue(PULLS_WAITING)

    def is_ahead(self, peer: NodeId) -> None:
        """Note that a peer has a strategy that we have not. A full queue loses it; the peer's next packet says it
        again."""
        if not self._ahead.full():
            self._ahead.put_nowait(peer)

    async def run(self) -> None:
        """Ask one peer after the other for its strategies until cancelled."""
        while True:
            peer = await self._ahead.get()
            try:
                if not await self._pull(peer, self._strategies.newest.version):
                    await self._pull(peer, 1)
            except (RemoteError, BadStrategy) as error:
                log.info("strategy not taken from=%s reason=%s", peer.hex(), error)

    async def answer(self, asker: NodeId, message: GetStrategy) -> StrategyChain:
        """Return our accepted versions from one on."""
        return StrategyChain(self._strategies.chain(message.from_version))

    async def _pull(self, peer: NodeId, from_version: int) -> bool:
        """Take a peer's versions from one on; False where the first does not fit: the fork lies further back."""
        chain = await self._asks.ask(peer, GetStrategy(from_version), StrategyChain, timeout_s=PULL_S)
        for number, version in enumerate(chain.versions):
            try:
                adopted = self._strategies.adopt(decode_signed(version))
            except BadStrategy as error:
                if number == 0 and error.field == "previous" and from_version > 1:
                    return False
                raise
            if adopted:
                self._changed()
        return True
