"""Tells those whom a strategy blocks that there is a newer strategy, so that they read it and stop by themselves.

Nobody speaks with them otherwise, so they would only see everybody fall silent. The few members nearest to the one that
is blocked tell it, once; whoever is asked for strategies, then or later, answers also those whom it blocks
(`messenger.py`).
"""

import asyncio
from collections.abc import Iterable

from dht.admission.attester_order import nearest_attesters
from dht.errors import RemoteError
from dht.keys import NodeId
from dht.messages import StrategyDigest
from dht.overlay.messenger import Messenger
from dht.ownership.view import OverlayView
from dht.strategy.history import StrategyHistory
from dht.wire.contact import Contact

TELLERS = 4  # members, of which one may be away and others see other members
WAITING = 64  # told one after the other
WITHIN_S = 4.0


class BlockNotice:
    """Tells them for one node."""

    def __init__(self, strategies: StrategyHistory, view: OverlayView, messenger: Messenger) -> None:
        self._strategies, self._view, self._messenger = strategies, view, messenger
        self._to_tell: asyncio.Queue[Contact] = asyncio.Queue(WAITING)

    def note(self, blocked: Iterable[Contact]) -> None:
        """Take those in who were known and are blocked from now on, where it is this node's part to tell them."""
        members: set[NodeId] = set(self._view.live()) | {self._view.node_id}
        for contact in blocked:
            tellers = nearest_attesters(contact.node_id, members - {contact.node_id}, TELLERS)
            if self._view.node_id in tellers and not self._to_tell.full():
                self._to_tell.put_nowait(contact)

    async def run(self) -> None:
        """Tell one after the other, until cancelled."""
        while True:
            contact, newest = await self._to_tell.get(), self._strategies.newest
            ours = StrategyDigest(newest.version, bytes.fromhex(self._strategies.newest_digest))
            try:
                await self._messenger.ask_at(contact, ours, StrategyDigest, timeout_s=WITHIN_S)
            except RemoteError:
                continue  # it hears of it when it asks
