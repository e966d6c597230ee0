"""Says of this node's slots how far its copies agree with those of others, for the answers that it gives to queries."""

from collections.abc import Sequence

from dht import Clock, NodeId, Overlay, Slot
from index import Agreement, is_remnant, owners_digest
from node.crawling.slot_levels import SlotLevels


class SlotAgreement:
    """Puts what is known of other copies into the words of an answer."""

    def __init__(self, overlay: Overlay, levels: SlotLevels, clock: Clock) -> None:
        self._overlay, self._levels, self._clock = overlay, levels, clock

    def of(self, slots: Sequence[Slot]) -> Agreement:
        """Describe the agreement of slots, as the strategy in force numbers them."""
        view, now, me = self._overlay.view, self._clock(), self._overlay.view.node_id
        owners = view.owners_by_slot()
        return Agreement(
            strategy=view.strategy.version,
            owners=owners_digest(owners, slots),
            level=self._levels.masks(now, slots, owners, me),
            unlike=self._levels.unlike(now, slots, self._counts),
            vanished=is_remnant(view),
        )

    def _counts(self, slot: Slot, peer: NodeId) -> bool:
        """Whether a peer's copy is live and served, or one that an owner has yet to be given; a copy that is still
        being made differs by its nature."""
        view = self._overlay.view
        return view.is_live(peer) and (view.is_ready(peer, slot) or peer not in view.owners(slot))
