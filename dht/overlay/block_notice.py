"""Sees to it that whom a strategy blocks hears of that, and stops by itself.

Nobody speaks with such a node otherwise, so it would only see everybody fall silent. The few members nearest to it tell
it, once, that there is a newer strategy; and a node to which nobody speaks asks one of those whom it knows, every half
minute. Who is asked for strategies answers also whom it blocks (`messenger.py`).
"""

import asyncio
from collections.abc import Iterable

from dht.errors import RemoteError
from dht.keys import NodeId
from dht.membership.attester_order import nearest_attesters
from dht.messages import StrategyDigest
from dht.overlay.messenger import Messenger
from dht.overlay.strategy_sync import StrategySync
from dht.ownership.view import OverlayView
from dht.rng import Rng
from dht.strategy.history import StrategyHistory
from dht.wire.contact import Contact

TELLERS = 4  # members, of which one may be away and others see other members
WAITING = 64  # told one after the other
WITHIN_S = 4.0
ALONE_S = 30.0


class BlockNotice:
    """Tells others, and asks for one node."""

    def __init__(
        self, strategies: StrategyHistory, sync: StrategySync, view: OverlayView, messenger: Messenger, rng: Rng
    ) -> None:
        self._strategies, self._sync, self._view, self._messenger, self._rng = strategies, sync, view, messenger, rng
        self._to_tell: asyncio.Queue[Contact] = asyncio.Queue(WAITING)

    def note(self, blocked: Iterable[Contact]) -> None:
        """Take those in who were known and are blocked from now on, where it is this node's part to tell them."""
        members: set[NodeId] = set(self._view.live()) | {self._view.node_id}
        for contact in blocked:
            tellers = nearest_attesters(contact.node_id, members - {contact.node_id}, TELLERS)
            if self._view.node_id in tellers and not self._to_tell.full():
                self._to_tell.put_nowait(contact)

    async def run(self) -> None:
        """Tell one after the other, and ask while nobody else lives, until cancelled."""
        while True:
            try:
                async with asyncio.timeout(ALONE_S):
                    contact: Contact | None = await self._to_tell.get()
            except TimeoutError:
                contact = self._somebody() if self._view.live() <= {self._view.node_id} else None
            if contact is not None:
                await self._compare(contact)

    async def _compare(self, contact: Contact) -> None:
        """Say which strategy is the newest here, and ask for that of the other side where it is newer."""
        ours, digest = self._strategies.newest.version, bytes.fromhex(self._strategies.newest_digest)
        try:
            theirs = await self._messenger.ask_at(
                contact, StrategyDigest(ours, digest), StrategyDigest, timeout_s=WITHIN_S
            )
        except RemoteError:
            return
        if theirs.version > ours:
            self._sync.is_ahead(contact.node_id)

    def _somebody(self) -> Contact | None:
        known = [self._view.contact(peer) for peer in self._view.members() if peer != self._view.node_id]
        able = [contact for contact in known if contact is not None]
        return self._rng.sample(able, 1)[0] if able else None
