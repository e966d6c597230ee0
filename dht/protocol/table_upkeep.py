"""Keeps the tables of a node useful: far buckets are filled by lookups, small records are stored where they belong.

Pure: `now` and `rng` are arguments.
"""

from collections.abc import Callable, Collection

from dht.clock import Now
from dht.keys import NodeId
from dht.protocol.value_finder import ValueFinder
from dht.rng import Rng
from dht.wire.value_record import ValueStore

RESTORE_S = 900.0  # to twice that: until a small record that lies here is stored again where it belongs
RESTORE_EACH_S = 5.0  # between two of them: a full store costs some 15 packets a second at most
WELCOMED_S = 1.0  # after first contact, until the own neighbourhood is looked up


class TableUpkeep:
    """Refreshes the tables of one node by its finder, which is there before the first `poll`; `refresh_s`: about the
    time between two lookups. `joined_on`: the day since which a node is a member, None where it is none."""

    def __init__(
        self,
        node_id: NodeId,
        stored_records: int,
        refresh_s: float,
        rng: Rng,
        joined_on: Callable[[NodeId], int | None],
        evidence_points: Collection[bytes],
    ) -> None:
        self._node_id, self._refresh_s, self._rng = node_id, refresh_s, rng
        rest_s = lambda: RESTORE_S * rng.uniform(1.0, 2.0)  # noqa: E731
        self.store = ValueStore(node_id, stored_records, rest_s, joined_on, evidence_points)
        self._restore_at = float("-inf")
        self.next_due = float("-inf")

    def poll(self, now: Now, finder: ValueFinder) -> None:
        """Look up this node's own neighbourhood or a random point, and store records again, as is due."""
        if now.steady >= self.next_due:
            self.next_due = now.steady + self._refresh_s * self._rng.uniform(0.75, 1.25)
            self.store.expire(now)
            target = self._node_id if self._rng.random() < 0.5 else self._rng.randbytes(len(self._node_id))
            finder.find(now, target, lambda _now, _contacts: None)
        if now.steady >= self._restore_at:
            self._restore_at = now.steady + RESTORE_EACH_S
            finder.restore(now)

    def welcomed(self, now: Now) -> None:
        """Look around soon: first contact was made."""
        self.next_due = min(self.next_due, now.steady + WELCOMED_S)
