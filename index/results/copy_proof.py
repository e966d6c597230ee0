"""Picks what is shown, and reads the texts of pages of other hosts before they are folded.

A peer or an author may say that a page is a copy of another. Where both are of one host, that is believed; else both
signed documents are read and compared.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dht import DocumentId, Key, NodeId
from index.change_feed import Read
from index.results.answer_checks import wrong_marks
from index.results.near_copies import Sign, say_the_same
from index.results.result_picker import PickedHit, pick
from index.results.top_k_merge import MergedHit
from index.shard.messages import HitRow


def believe(one: HitRow, other: HitRow) -> bool:
    """Believe what marks say, for whoever needs to know only how many results there may be."""
    return True


@dataclass(slots=True)
class CopyProof:
    """The documents that were read and compared for one answer. `liars`: peers whose marks are not the signed
    documents'."""

    read: Read
    sign: Sign
    liars: dict[NodeId, str] = field(default_factory=dict)
    _verdicts: dict[tuple[bytes, bytes], bool] = field(default_factory=dict)
    _open: dict[tuple[bytes, bytes], tuple[HitRow, HitRow]] = field(default_factory=dict)

    async def pick(self, order: Sequence[MergedHit], enough: int, is_crowded: bool, is_whole: bool) -> list[PickedHit]:
        """Pick the first `enough` results, each fold between hosts proven."""
        peers = {found.hit.id: found.peer for found in order}
        while True:
            picked = pick(order, self._are_alike, enough, is_crowded, is_whole)
            if not self._open:
                return picked
            await self._compare(peers)

    def _are_alike(self, one: HitRow, other: HitRow) -> bool:
        if one.host == other.host:
            return True
        verdict = self._verdicts.get((one.id, other.id))
        if verdict is None:
            self._open[one.id, other.id] = one, other
        return verdict is not False

    async def _compare(self, peers: Mapping[bytes, NodeId]) -> None:
        pairs = list(self._open.values())
        self._open.clear()
        hits = {hit.id: hit for pair in pairs for hit in pair}
        texts = await self.read([(DocumentId(hit.id), Key(hit.key)) for hit in hits.values()])
        for hit in hits.values():
            text = texts.get(DocumentId(hit.id))
            if text is not None and text.version == hit.version and (reason := wrong_marks(hit, text)):
                self.liars[peers[hit.id]] = reason
        for one, other in pairs:
            first, second = texts.get(DocumentId(one.id)), texts.get(DocumentId(other.id))
            alike = first is not None and second is not None and say_the_same(first, second, self.sign)
            self._verdicts[one.id, other.id] = alike
