"""Tells the owners of a page that its author signed other terms for it than it has, and judges what others tell.

What an author signed names the version of a page, and owners have the page: so each computes the terms for itself, and
nobody's word is believed. From then on none of that author's terms are taken (`index/engine/terms_trust.py`).
"""

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated

import msgspec

from dht import Clock, Done, Message, NodeId, Overlay, RateLimiter, RemoteError, node_id_of, slot_of
from index import ANALYZERS, FalseTerms, TermsTrust, digest_of_terms
from node.crawling.store_change_feed import shown_text
from store import Kind, Record, RecordDenial, RecordStore, TermsBody, decode_head, proven_terms

log = logging.getLogger(__name__)

LOOK_S = 5.0
WITHIN_S = 5.0  # a peer has to take it
MOST_BYTES = 2048  # a record of a package of 1,024, without its content, takes some 700
PER_S, BURST = 0.1, 8.0  # of one peer: each takes a millisecond or two


class TermsEvidence(Message, frozen=True, array_like=True):
    """Shows what an author signed for a page that lies at the receiver's: a record of terms without its content."""

    terms: Annotated[bytes, msgspec.Meta(max_length=MOST_BYTES)]


class TermsEvidenceKeeper:
    """Passes evidence on between the owners of pages."""

    def __init__(self, overlay: Overlay, store: RecordStore, trust: TermsTrust, clock: Clock) -> None:
        self._overlay, self._store, self._trust, self._clock = overlay, store, trust, clock
        self._thread, self._rate = ThreadPoolExecutor(1, "terms-judge"), RateLimiter(PER_S, BURST)
        overlay.serve(TermsEvidence, self._on_evidence)

    async def run(self) -> None:
        """Tell of what the index finds out, until cancelled."""
        while True:
            while self._trust.lies:
                await self._tell(self._trust.lies.popleft())
            await asyncio.sleep(LOOK_S)

    async def _tell(self, lie: FalseTerms) -> None:
        record, view = decode_head(lie.proof), self._overlay.view
        log.warning("author signed false terms id=%s document=%s", node_id_of(lie.author).hex(), lie.id.hex())
        owners = view.owners(slot_of(record.key, view.strategy.slot_bits))
        for peer in sorted({*owners} - {view.node_id, node_id_of(lie.author)}):
            try:
                await self._overlay.ask(peer, TermsEvidence(lie.proof), Done, timeout_s=WITHIN_S)
            except RemoteError as error:  # it finds out for itself, or hears it of another
                log.debug("evidence not delivered peer=%s reason=%s", peer.hex(), error)

    async def _on_evidence(self, peer: NodeId, message: TermsEvidence) -> Done:
        if self._rate.take(peer, self._clock().steady):
            await self._judge(message.terms)
        return Done()

    async def _judge(self, proof: bytes) -> None:
        try:
            record = decode_head(proof)
        except ValueError:
            return
        said, author = proven_terms(record), record.proof.author
        page = self._store.find(Kind.DOCUMENT, record.id, content=False)
        if said is None or page is None or page.proof.author != author or author in self._trust.false_authors:
            return
        if await asyncio.get_running_loop().run_in_executor(self._thread, is_false, said, page):
            self._trust.note_false(FalseTerms(record.id, author, proof))


def is_false(said: TermsBody, page: Record) -> bool:
    """Tell whether what an author signed of a page's terms is surely not what the page gives."""
    text, rules = shown_text(page, None, RecordDenial()), ANALYZERS.get(said.analyzer)
    if text is None or rules is None or page.version.digest != said.version:
        return False
    return digest_of_terms(text, rules) != said.digest
