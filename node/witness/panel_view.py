"""The panels of slots as this node's view of the members has them."""

from itertools import islice

from dht import Key, NodeId, Overlay, slot_of
from node.witness.panel import panels, reaches

LOOKED_AT = 8  # slots; others have nearly the same candidates
Panels = tuple[tuple[NodeId, ...], ...]


class PanelView:
    """Names the panels that may speak about an author's pages at a key."""

    def __init__(self, overlay: Overlay) -> None:
        self._overlay = overlay

    @property
    def is_any_large(self) -> bool:
        """Whether a panel of any of this node's slots is large enough to convict their first owner."""
        view = self._overlay.view
        slots = islice(sorted(view.owned()), LOOKED_AT)
        pairs = ((slot, owner) for slot in slots for owner in view.owners(slot)[:1])
        return any(panels(view.candidates(slot), owner, view.failure_domains) for slot, owner in pairs)

    def of(self, author: NodeId, key: bytes) -> Panels:
        """Return the panels of a key's slot, each by weight and large enough to convict an author."""
        view = self._overlay.view
        slot = slot_of(Key(key), view.strategy.slot_bits)
        return panels(view.candidates(slot), author, view.failure_domains)

    def beside(self, author: NodeId, key: bytes) -> frozenset[NodeId]:
        """Return who is on a panel of a key's slot with this node, itself apart."""
        me = self._overlay.view.node_id
        return frozenset(peer for panel in self.of(author, key) if me in panel for peer in panel) - {me}

    def reaches(self, peer: NodeId, family: int) -> bool:
        """Tell whether a member can look at sites of a family, as far as it says."""
        return reaches(self._overlay.view.failure_domains(peer), family)
