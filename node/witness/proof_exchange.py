"""Convicts authors by proofs, found here or told by others, and passes them on: once to each who owns slots beside this
node, also to those who come later. So all hear of a proof, since slots have several owners."""

import asyncio
import logging
from collections import OrderedDict
from math import inf
from typing import Annotated, NamedTuple

from msgspec import Meta

from dht import BadMessage, Clock, Done, Message, NodeId, Overlay, RateLimiter, RemoteError, node_id_of
from node.witness.anchor_proof import MAX_PROOF_BYTES, decode_proof, encode_proof, verdict_of
from node.witness.evidence_board import EvidenceBoard, neighbours
from store import BadReplica, Record, RecordCheck, decode_anchor

log = logging.getLogger(__name__)

MAX_PROOFS = 8  # kept to be passed on while their authors are barred
TOLD_AT_ONCE = 8  # peers
AGAIN_S = 600.0  # until a peer is told that did not answer
SEND_S = 20.0
PROOFS_S, PROOFS = 0.1, 4.0  # taken of one peer, a second and at once


class AnchorInvented(Message, frozen=True, array_like=True):
    """Proves that an author made up an anchor: the anchor, and its page of the same instant, in a package without
    contents."""

    package: Annotated[bytes, Meta(max_length=MAX_PROOF_BYTES)]


class _Proof(NamedTuple):
    package: bytes
    due_at: dict[NodeId, float]  # when to tell each peer (steady); inf: it knows


class ProofExchange:
    """Keeps and tells the proofs of one node."""

    def __init__(self, overlay: Overlay, check: RecordCheck, board: EvidenceBoard, clock: Clock) -> None:
        self._overlay, self._check, self._board, self._clock = overlay, check, board, clock
        self._proofs, self._taken = OrderedDict[NodeId, _Proof](), RateLimiter(PROOFS_S, PROOFS)
        overlay.serve(AnchorInvented, self._take_proof)

    async def convict(self, anchor: Record, page: Record) -> None:
        """Convict an author, and have others do so; raises BadReplica where nothing is proved."""
        verdict = verdict_of(anchor, page, self._check)
        package = encode_proof(anchor, page)
        if verdict.author not in self._board.convicts() and len(package) <= MAX_PROOF_BYTES:
            self._proofs[verdict.author] = _Proof(package, {})
            if len(self._proofs) > MAX_PROOFS:
                self._proofs.popitem(last=False)
            said = decode_anchor(anchor.body)
            log.info("anchor made up url=%s source=%s author=%s", said.url, said.source, verdict.author.hex())
        await self._board.convict(verdict)

    async def pass_on(self) -> None:
        """Tell some of those who do not know a proof yet."""
        for author in list(self._proofs):
            if author not in self._board.convicts():
                self._proofs.pop(author, None)
            elif (proof := self._proofs.get(author)) is not None:
                await self._tell_some(author, proof)

    async def _tell_some(self, author: NodeId, proof: _Proof) -> None:
        now = self._clock().steady
        peers = sorted(neighbours(self._overlay) & self._overlay.view.live() - {author})
        async with asyncio.TaskGroup() as tasks:
            for peer in [peer for peer in peers if proof.due_at.get(peer, now) <= now][:TOLD_AT_ONCE]:
                tasks.create_task(self._tell(peer, proof), name="anchor-proof")

    async def _tell(self, peer: NodeId, proof: _Proof) -> None:
        proof.due_at[peer] = self._clock().steady + AGAIN_S
        try:
            await self._overlay.ask(peer, AnchorInvented(proof.package), Done, timeout_s=SEND_S)
            proof.due_at[peer] = inf
        except RemoteError as error:
            log.debug("proof not told peer=%s reason=%s", peer.hex(), error)

    async def _take_proof(self, peer: NodeId, told: AnchorInvented) -> Done:
        view = self._overlay.view
        if not view.strategy.witness_permille or not self._taken.take(peer, self._clock().steady):
            raise BadMessage(peer.hex(), "tells of an anchor where the strategy wants no witnesses, or too often")
        try:
            anchor, page = decode_proof(told.package)
            author = node_id_of(anchor.proof.author)
            if author not in view.members():  # anybody makes up authors
                raise BadMessage(peer.hex(), "tells of an anchor by an author that is no member")
            if author != view.node_id and author not in self._board.convicts():
                await self.convict(anchor, page)
            if author in self._proofs:
                self._proofs[author].due_at[peer] = inf
        except BadReplica as error:
            raise BadMessage(peer.hex(), f"tells of an invented anchor without proof: {error}") from error
        return Done()
