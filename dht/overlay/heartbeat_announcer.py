"""Keeps what this node's heartbeats announce of its slots, its work and its machine up to date."""

from collections.abc import Callable

from dht.keys import Slot
from dht.ownership.view import OverlayView
from dht.protocol.engine import ProtocolEngine
from dht.slot_set import encode_slots
from dht.wire.heartbeat import Load


class HeartbeatAnnouncer:
    """Keeps the heartbeats of a node true. `kick`: has the protocol engine send what it has."""

    def __init__(self, core: ProtocolEngine, view: OverlayView, kick: Callable[[], None]) -> None:
        self._core, self._view, self._kick = core, view, kick
        self._due = 0
        self.load = Load()

    def set(self, ready: frozenset[Slot], due: int, load: Load | None) -> None:
        """Announce for which slots this node is ready, how many URLs are due, and how busy it is (None: as before)."""
        self._due, self.load = due, load or self.load
        if self._view.ready_peers.set_own(ready, self.load):
            self._view.refresh()
        self.announce()

    def announce(self) -> None:
        """Announce slots and leases as they are now, and the number of slots that they count by: all of one moment."""
        while True:
            bits, ready, leased = self._view.strategy.slot_bits, self._view.ready_peers.own, self._view.leases()
            if self._view.strategy.slot_bits == bits:
                break
        said = encode_slots(slot for slot in ready if slot < 1 << bits)
        self._core.own.announce(ready=said, leased=encode_slots(leased), due=self._due, load=self.load, slot_bits=bits)
        self._kick()
