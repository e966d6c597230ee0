"""The panels of slots as this node's view of the members has them."""

from itertools import islice

from dht import Key, NodeId, Overlay, slot_of
from node.witness.panel import AGREEING, panel

LOOKED_AT = 8  # slots; others have nearly the same candidates


class PanelView:
    """Names the panel that may speak about an author's pages at a key."""

    def __init__(self, overlay: Overlay) -> None:
        self._overlay = overlay

    @property
    def is_any_large(self) -> bool:
        """Whether a panel of any of this node's slots is large enough to convict their first owner."""
        view = self._overlay.view
        slots = islice(sorted(view.owned()), LOOKED_AT)
        pairs = ((slot, owner) for slot in slots for owner in view.owners(slot)[:1])
        return any(len(panel(view.candidates(s), owner, view.failure_domains)) >= AGREEING for s, owner in pairs)

    def of(self, author: NodeId, key: bytes) -> tuple[NodeId, ...]:
        """Return the panel of a key's slot, by weight."""
        view = self._overlay.view
        slot = slot_of(Key(key), view.strategy.slot_bits)
        return panel(view.candidates(slot), author, view.failure_domains)
