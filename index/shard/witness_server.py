"""Names the documents that have the levels which this node told, to those whom it told them.

A keeper that doubts a level asks which document has it.
"""

from dht import BadMessage, Clock, MachineRefuses, NodeId, Overlay, RateLimiter, Slot
from index.directory.impact_table import number_of, term_slot
from index.directory.messages import AskWitness, PageVersion, WitnessPage
from index.errors import IndexCorrupt
from index.shard.impact_teller import ImpactTeller
from index.shard.local_index import LocalIndex

MOST_WAITING = 8  # questions in line; one more is refused
RATE, BURST = 1.0, 16.0  # questions a second of one peer


class WitnessServer:
    """Answers for one node's levels."""

    def __init__(self, overlay: Overlay, local: LocalIndex, teller: ImpactTeller, clock: Clock) -> None:
        self._overlay, self._local, self._teller, self._clock = overlay, local, teller, clock
        self._limit, self._waiting = RateLimiter(RATE, BURST), 0
        overlay.serve(AskWitness, self._witness)

    async def _witness(self, peer: NodeId, ask: AskWitness) -> WitnessPage:
        view = self._overlay.view
        bits = view.strategy.slot_bits
        if ask.slot >= 1 << bits or peer not in view.owners(term_slot(ask.hash, bits)):
            raise BadMessage(peer.hex(), "of a term's witnesses those are told who keep its row")
        if self._waiting >= MOST_WAITING or not self._limit.take(peer, self._clock().steady):
            raise BadMessage(peer.hex(), "busy: too many questions about witnesses")
        self._waiting += 1
        try:
            row = await self._teller.witness(ask.run, Slot(ask.slot), number_of(ask.hash))
        except (MachineRefuses, IndexCorrupt) as error:
            raise BadMessage(peer.hex(), "the index here cannot be read now") from error
        finally:
            self._waiting -= 1
        return WitnessPage((PageVersion(row.id, row.key, row.version),)) if row else WitnessPage()
