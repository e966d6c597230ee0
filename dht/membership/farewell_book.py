"""The farewell book says which members of a small network are away: they said farewell and have not returned.

Pure: heartbeats and instants in, answers out. Members that are away do not count in votes, copies and answers.

- Each heartbeat of a member that is away carries its farewell. The first heartbeat without it is the member's return.
- The book keeps the last farewells of each member, this node included, each with the return after it. So it recognises
  a grant that uses an ended farewell.
- A farewell lowers the number of members that must agree, so it must not be older than changes elsewhere. A node takes
  a farewell from gossip only while it hears every other member. Else it takes it from the author, who sends the newest
  heartbeats of all members along.
- After its own farewell a node has no vote until its copies have been compared with a member that went on. That is the
  member that breaks ties, where it counts, since it may have gone on without the others. Where all others are away,
  too, nobody went on, and the node must have been compared with all of them. It does not wait for members that the
  strategy declares gone, nor for those that its owner has it go on without.
"""

from collections.abc import Collection, Iterable, Set

import msgspec
from msgspec.structs import replace

from dht.keys import NodeId
from dht.wire.farewell import Farewell, Id
from dht.wire.heartbeat import Heartbeat

KEPT = 16  # farewells of one member, the last ones


class Parting(msgspec.Struct, frozen=True, array_like=True):
    """Holds a farewell and the Unix second of the return after it, 0 while there is none. `others`: the other members
    at that time, noted for this node's own farewells alone."""

    farewell: Farewell
    returned_s: int = 0
    others: tuple[Id, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether its author is still away."""
        return not self.returned_s


class FarewellBook:
    """The farewells that one node knows; `version` grows with each change."""

    def __init__(self, own: NodeId, kept: Iterable[Parting] = ()) -> None:
        self._own = own
        self._partings: dict[NodeId, list[Parting]] = {}  # the newest last
        self.version = 0
        self.away = frozenset[NodeId]()  # whose newest farewell is open, this node perhaps among them
        for parting in kept:
            self._partings.setdefault(parting.farewell.author, []).append(parting)
        self._changed()

    def items(self) -> tuple[Parting, ...]:
        """Return all that is kept."""
        return tuple(parting for partings in self._partings.values() for parting in partings)

    def proof(self, peer: NodeId) -> Farewell | None:
        """Return the farewell for which a member is not counted; None where it is."""
        newest = self._newest(peer)
        return newest.farewell if newest is not None and newest.is_open else None

    def part(self, said: Farewell, others: Iterable[NodeId] = ()) -> None:
        """Take a farewell that its author said just now, or says still; one that is known already changes nothing."""
        newest, kept = self._newest(said.author), self._partings.get(said.author, [])
        if newest is not None:
            if said.sequence <= newest.farewell.sequence:
                return
            if newest.is_open:
                kept[-1] = replace(newest, returned_s=max(1, said.at_s))
        self._partings[said.author] = [*kept, Parting(said, others=tuple(others))][-KEPT:]
        self._changed()

    def hear(self, peer: NodeId, beat: Heartbeat, *, is_whole: bool) -> None:
        """Take the newest heartbeat of a member. `is_whole`: whether all others are heard just now."""
        if beat.farewell is not None:
            if is_whole:
                self.part(beat.farewell)
        elif (said := self.proof(peer)) is not None and beat.sequence > said.sequence:
            self.returned(peer, beat.sent_at)

    def returned(self, peer: NodeId, at: float) -> None:
        """Note that a member has its vote again since a Unix second."""
        if self.proof(peer) is not None:
            self._partings[peer][-1] = replace(self._partings[peer][-1], returned_s=max(1, int(at)))
            self._changed()

    def counts(self, said: Farewell, not_before_s: int, beat: Heartbeat | None, at: float) -> bool:
        """Tell whether a grant from a Unix second on may use a farewell: its author had not returned by then. `beat`:
        its newest heartbeat, None where there is none here. `at`: the present Unix second. An old image of this node's
        disk lacks its later farewells, which are over by now."""
        if said.author == self._own and self.proof(self._own) is None:
            self.part(said)
            self.returned(self._own, at)
        for parting in self._partings.get(said.author, ()):
            if parting.farewell == said:
                return parting.is_open or not_before_s < parting.returned_s
        if said.author == self._own:
            return False
        return beat is None or beat.sequence < said.sequence or beat.farewell == said

    def is_over(
        self, others: Set[NodeId], going_on: Set[NodeId], gone: Collection[NodeId], compared: Set[NodeId]
    ) -> bool:
        """Tell whether this node may have its vote again. `others`: the other live members; `going_on`: those of them
        whose word is enough; `compared`: those with which all copies were compared."""
        newest = self._newest(self._own)
        if newest is None or not newest.is_open:
            return True
        if going_on:
            return not going_on.isdisjoint(compared)
        declared = [peer for peer in self.away if (said := self.proof(peer)) is not None and said.is_declared]
        return {NodeId(peer) for peer in newest.others}.difference(gone, declared) <= others & compared

    def _newest(self, peer: NodeId) -> Parting | None:
        kept = self._partings.get(peer)
        return kept[-1] if kept else None

    def _changed(self) -> None:
        self.version += 1
        self.away = frozenset([peer for peer, kept in self._partings.items() if kept[-1].is_open])
