"""What each peer was told, so that it is told only what is new to it.

Pure. A peer that started anew has another number of its run, and is told everything again.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from dht import NodeId, Slot
from index import InflowMessage, SlotStatement
from node.ranking.messages import MAX_INFLOWS, RankExchange, RankReply, word_of

MOST_BYTES = 1 << 21  # of what pages are given, in one message; the rest goes with the next


@dataclass(slots=True)
class _Told:
    run: int = 0
    begun: dict[Slot, int] = field(default_factory=dict)
    statements: dict[Slot, tuple[int, float]] = field(default_factory=dict)
    documents: dict[Slot, int] = field(default_factory=dict)


class PeerNews:
    """What this node has to tell. `run`: of this process."""

    def __init__(self, run: int, slot_bits: int) -> None:
        self.run, self._slot_bits = run, slot_bits
        self._told: dict[NodeId, _Told] = {}
        self.begun: dict[Slot, int] = {}
        self.statements: dict[Slot, SlotStatement] = {}
        self.documents: dict[Slot, int] = {}

    def keep(self, held: Mapping[Slot, int], peers: Collection[NodeId]) -> None:
        """Tell of no other slots than those that are held, with their epochs, and remember these peers alone."""
        self.begun = dict(held)
        self.statements = {slot: said for slot, said in self.statements.items() if slot in held}
        self._told = {peer: told for peer, told in self._told.items() if peer in peers}

    def note_run(self, peer: NodeId, run: int) -> None:
        """Note which run of a peer said something."""
        if (told := self._told.get(peer)) is None or told.run != run:
            self._told[peer] = _Told(run)

    def exchange(self, peer: NodeId, inflows: Iterable[InflowMessage]) -> RankExchange | None:
        """Return what a peer has to hear, None where that is nothing."""
        told = self._told.get(peer, _Told())
        taken, size = list[InflowMessage](), 0
        for message in inflows:
            if size >= MOST_BYTES or len(taken) == MAX_INFLOWS:
                break
            taken.append(message)
            size += len(message.names) + len(message.values)
        new = [said for slot, said in self.statements.items() if told.statements.get(slot) != (said.epoch, said.at)]
        begun = tuple((slot, epoch) for slot, epoch in self.begun.items() if told.begun.get(slot) != epoch)
        counts = tuple((slot, count) for slot, count in self.documents.items() if told.documents.get(slot) != count)
        if not (taken or new or begun or counts):
            return None
        return RankExchange(self._slot_bits, self.run, begun, tuple(taken), tuple(map(word_of, new)), counts)

    def note_reply(self, peer: NodeId, sent: RankExchange, reply: RankReply) -> None:
        """Note that a peer has what was sent, but for slots of which it does not know yet that they are held here."""
        self.note_run(peer, reply.run)
        told, unheard = self._told[peer], set(reply.unheard)
        told.begun |= {Slot(slot): epoch for slot, epoch in sent.begun if slot not in unheard}
        told.statements |= {Slot(w.slot): (w.epoch, w.at) for w in sent.statements if w.slot not in unheard}
        told.documents |= {Slot(slot): count for slot, count in sent.documents if slot not in unheard}
