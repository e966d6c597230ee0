"""Says of this node's slots how far its copies agree with those of others, for the answers that it gives to queries."""

from collections.abc import Sequence

from dht import Clock, NodeId, Now, Overlay, Slot
from index import Agreement, is_remnant, owners_digest
from node.crawling.slot_levels import SlotLevels


class SlotAgreement:
    """Puts what is known of other copies into the words of an answer."""

    def __init__(self, overlay: Overlay, levels: SlotLevels, clock: Clock) -> None:
        self._overlay, self._levels, self._clock = overlay, levels, clock

    def of(self, slots: Sequence[Slot]) -> Agreement:
        """Describe the agreement of slots, as the strategy in force numbers them."""
        view, now, me = self._overlay.view, self._clock(), self._overlay.view.node_id
        return Agreement(
            strategy=view.strategy.version,
            owners=owners_digest(view, slots),
            level=tuple(self._levels.mask(now, slot, view.owners(slot), me) for slot in slots),
            unlike=tuple(slot for slot in slots if self._is_unlike(now, slot)),
            vanished=is_remnant(view),
        )

    def _is_unlike(self, now: Now, slot: Slot) -> bool:
        """Whether another live copy differs that is served, or that an owner has yet to be given; a copy that is still
        being made differs by its nature."""
        view = self._overlay.view

        def counts(peer: NodeId) -> bool:
            return view.is_live(peer) and (view.is_ready(peer, slot) or peer not in view.owners(slot))

        return self._levels.is_unlike(now, slot, counts)
