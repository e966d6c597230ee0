"""Puts a page of results together: each is held to its signed document first, and who was wrong about one is noted."""

import asyncio
import logging
from collections.abc import Mapping, Sequence

from dht import Clock, DocumentId, NodeId, Overlay, PeerAudit, Topic
from index.asking.agreement import YOUNG_S
from index.asking.answer_page import AnswerPage, BoundedRequest, ShownResult
from index.asking.search_outcome import PeerQuery, SearchOutcome
from index.change_feed import Read, Text
from index.engine.matcher import matches
from index.query.scoring import Scored, score
from index.results.answer_checks import wrong_hit
from index.results.copy_proof import CopyProof
from index.results.near_copies import Sign
from index.results.page_cursor import PageCursor, statistics_digest
from index.results.result_picker import PickedHit, bounds_hosts
from index.results.shown_texts import true_copies, wanted
from index.text.forward_index import forward_of

log = logging.getLogger(__name__)

LIES = 3  # after so many a peer is asked no more for a while
SPARE = 8  # results beyond a page, for those that turn out not to be there
UNREADABLE = 3  # documents of one peer that nobody has: it made them up


class PageFiller:
    """Fills pages for one node."""

    def __init__(self, overlay: Overlay, clock: Clock, sign: Sign, audit: PeerAudit) -> None:
        """`sign` makes the signature of a main text, as the crawler does."""
        self._overlay, self._clock, self._sign, self._audit = overlay, clock, sign, audit
        self.lied: dict[NodeId, int] = {}  # how often a peer's answer did not fit the signed document

    async def fill(
        self, request: BoundedRequest, outcome: SearchOutcome, read: Read, is_early: bool = False
    ) -> AnswerPage:
        """Read and check documents down the order until the page is full."""
        page, after, limit = AnswerPage(is_early=is_early), request.after, request.limit
        page.stale = after is not None and after.statistics != statistics_digest(outcome.statistics, request.rules)
        picked: list[PickedHit] = []
        last, me = request.shown + limit, self._overlay.view.node_id
        left: list[PickedHit] = []
        proof, is_crowded = CopyProof(read, self._sign), bounds_hosts(request.peer_query.query)
        try:
            async with asyncio.timeout(max(request.deadline - self._clock().steady, 0.0)):
                picked = await proof.pick(outcome.order, last + SPARE, is_crowded, not outcome.more)
                for peer, reason in proof.liars.items():
                    self._note(page, peer, reason)
                page.unsure = not outcome.sites.are_enough(picked[:last], len(picked) >= last)
                left = _following(picked, after)
                left.reverse()  # the best is last, and taken first
                while left and len(page.shown) < limit:
                    batch = [left.pop() for _ in range(min(len(left), limit - len(page.shown)))]
                    texts = await read(wanted(batch))
                    for each in batch:
                        if each.found.peer != me:
                            await asyncio.sleep(0)  # checking takes a millisecond; others may go first
                        self._check(request.peer_query, outcome, each, texts, page)
        except TimeoutError:
            page.late = True
        page.rest = bool(left)
        page.more = outcome.sites.more(picked[: len(picked) - len(left)]) if is_crowded else {}
        return page

    def _check(
        self,
        asked: PeerQuery,
        outcome: SearchOutcome,
        picked: PickedHit,
        texts: Mapping[DocumentId, Text | None],
        page: AnswerPage,
    ) -> None:
        """Hold a hit to its signed document, and put what is true onto the page."""
        page.last = picked
        hit, peer = picked.found.hit, picked.found.peer
        text = texts.get(DocumentId(hit.id))
        if text is None:
            page.stale = True
            page.unreadable[peer] += DocumentId(hit.id) in texts
            if page.unreadable[peer] >= UNREADABLE:
                self._note(page, peer, "documents that nobody has")
        elif text.version == hit.version:
            if peer != self._overlay.view.node_id and (reason := wrong_hit(hit, text, asked.query)):
                self._note(page, peer, reason)
            else:
                scored = Scored(hit.score, hit.numbers)
                copies, similar = true_copies(picked, texts), len(picked.similar)
                page.shown.append(ShownResult(text, scored, copies, max(similar, len(copies))))
        else:  # it changed: what it says now counts
            page.stale |= text.written_at < self._clock().wall - YOUNG_S
            forward = forward_of(text, asked.query.rules.analyzer)
            if matches(asked.query.root, text, forward):
                page.shown.append(ShownResult(text, score(forward, asked.query, outcome.statistics)))

    def _note(self, page: AnswerPage, peer: NodeId, reason: str) -> None:
        if peer not in page.liars:
            page.liars.add(peer)
            if page.is_early:
                return
            if len(self.lied) < 1024 or peer in self.lied:
                self.lied[peer] = self.lied.get(peer, 0) + 1
                if self.lied[peer] % LIES == 0:
                    self._audit.refute(peer, Topic.HITS, reason)
            log.warning("peer lied in an answer peer=%s: %s", peer.hex(), reason)


def _following(picked: Sequence[PickedHit], after: PageCursor | None) -> list[PickedHit]:
    """The results after the last one of the page before; where that result is gone, its number says where to begin."""
    if after is None:
        return list(picked)
    ids = [each.found.hit.id for each in picked]
    return list(picked[ids.index(after.id) + 1 if after.id in ids else after.shown :])
