"""Decides which slots this node indexes: of a slot's holders as many do as the strategy's `index_copies` says.

Pure: a view and instants in, slots out. All holders of a slot store it. The first `index_copies` owners index it at
once. Where fewer than that answer queries, the next ready holder begins to: at once where nobody answers, otherwise
after WAIT_S. It goes on until enough others have answered for SPARE_S.
"""

from collections.abc import Collection, Iterable

from dht import NodeId, Slot, View, resize_inside
from index.indexed_slots import IndexedSlots

WAIT_S = 30.0  # a silent peer leaves the view after 30 s: so the next one begins after a minute of silence
SPARE_S = 3600.0


class IndexDuty:
    """Keeps one node's list of the slots that it indexes."""

    def __init__(self) -> None:
        self._indexed: frozenset[Slot] | None = None  # not looked yet
        self._slot_bits = 0
        self._lacking_since: dict[Slot, float] = {}  # too few others answer
        self._spare_since: dict[Slot, float] = {}  # enough others do

    def refresh(self, view: View, now: float, begun: Collection[Slot]) -> IndexedSlots:
        """Return what to index from the steady instant `now` on. `begun`: slots of which anything is indexed here."""
        strategy, bits = view.strategy, view.strategy.slot_bits
        if strategy.index_copies >= strategy.replicas:
            self._indexed = None
            return IndexedSlots()
        if self._indexed is None:
            self._indexed = frozenset(begun)
        elif self._slot_bits != bits:
            self._indexed = resize_inside(self._indexed, self._slot_bits, bits)
            self._lacking_since, self._spare_since = {}, {}
        self._slot_bits = bits
        held = view.owned() | view.kept() | self._indexed
        self._indexed = frozenset(slot for slot in held if self._is_due(view, slot, now, slot in begun))
        return IndexedSlots(self._indexed, bits)

    def _is_due(self, view: View, slot: Slot, now: float, is_begun: bool) -> bool:
        me, copies = view.node_id, view.strategy.index_copies
        if me in view.owners(slot)[:copies]:
            return True
        others = [peer for peer in view.ready(slot, answering=True) if peer != me]
        if self._indexed is not None and slot in self._indexed:
            if len(others) < copies:
                self._spare_since.pop(slot, None)
                return True
            return is_begun and now - self._spare_since.setdefault(slot, now) < SPARE_S
        self._spare_since.pop(slot, None)
        if not view.is_ready(me, slot) or copies - len(others) <= _come_before(view, slot, others):
            self._lacking_since.pop(slot, None)
            return False
        return not others or now - self._lacking_since.setdefault(slot, now) >= WAIT_S


def _come_before(view: View, slot: Slot, answering: Iterable[NodeId]) -> int:
    """Count the ready holders that begin to index a slot before this node does."""
    order = [peer for peer in view.candidates(slot) if view.is_ready(peer, slot) and peer not in answering]
    return order.index(view.node_id) if view.node_id in order else len(order)
