"""Fetches strategies from peers that are ahead, and hands ours to those that are behind.

Every packet names its sender's newest strategy; whoever sees a newer one, or another one of the same version, asks
its sender for the chain from our newest on, and checks each version before it is adopted. A sender that is no live
member here is asked at the address where it answered: a mistaken strategy may have made both forget each other.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

from dht.errors import BadStrategy, RemoteError
from dht.keys import NodeId
from dht.messages import Answer, GetStrategy, Message, PeerClient, StrategyChain
from dht.strategy.document import decode_signed
from dht.strategy.history import StrategyHistory
from dht.wire.contact import Contact

log = logging.getLogger(__name__)

PULL_S = 4.0  # for a peer's chain
PULLS_WAITING = 16  # peers ahead of us that are remembered; whoever still is says so again


class StrategyPeers(PeerClient, Protocol):
    """Can ask a peer that it knows, and whoever is at a contact."""

    async def ask_at(self, contact: Contact, message: Message, answer: type[Answer], *, timeout_s: float) -> Answer: ...


class StrategySync:
    """Keeps this node's chain of strategies as long as its peers'. `changed` is called after each adoption."""

    def __init__(self, strategies: StrategyHistory, asks: StrategyPeers, changed: Callable[[], None]) -> None:
        self._strategies = strategies
        self._asks = asks
        self._changed = changed
        self._ahead: asyncio.Queue[tuple[NodeId, Contact | None]] = asyncio.Queue(PULLS_WAITING)

    def is_ahead(self, peer: NodeId, contact: Contact | None = None) -> None:
        """Note that a peer has a strategy that we have not; `contact`: where it is asked if it is no live member. A
        full queue loses it; the peer's next packet says it again."""
        if not self._ahead.full():
            self._ahead.put_nowait((peer, contact))

    async def run(self) -> None:
        """Ask one peer after the other for its strategies until cancelled."""
        while True:
            peer, contact = await self._ahead.get()
            try:
                if not await self._pull(peer, contact, self._strategies.newest.version):
                    await self._pull(peer, contact, 1)
            except (RemoteError, BadStrategy) as error:
                log.info("strategy not taken from=%s reason=%s", peer.hex(), error)

    async def answer(self, asker: NodeId, message: GetStrategy) -> StrategyChain:
        """Return our accepted versions from one on."""
        return StrategyChain(self._strategies.chain(message.from_version))

    async def _pull(self, peer: NodeId, contact: Contact | None, from_version: int) -> bool:
        """Take a peer's versions from one on; False where the first does not fit: the fork lies further back."""
        question = GetStrategy(from_version)
        if contact is not None:
            chain = await self._asks.ask_at(contact, question, StrategyChain, timeout_s=PULL_S)
        else:
            chain = await self._asks.ask(peer, question, StrategyChain, timeout_s=PULL_S)
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
