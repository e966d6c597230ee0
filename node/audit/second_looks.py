"""Samples pages of other authors that lie here, looks at each twice, and reports those that differ both times.

It hears of the store's changes from when it starts (`node/crawling/change_follower.py`). A page whose first look is not
made within some minutes is left out, and so is a page that changes often: it may have changed by itself. Where the
first look shows a text that has nothing in common with the author's, a second one follows ten minutes later. Only if
both looks show the same text is that evidence: a page that changes with each visit accuses nobody.
"""

import asyncio
import logging
from collections import Counter, OrderedDict
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from crawl import FamilyMissing, change_rate, decode_visit, different_bits, public_suffixes, signature
from dht import (
    ALIKE_BITS,
    LOOK_AGAIN_S,
    UNLIKE_BITS,
    Clock,
    DocumentId,
    Evidence,
    Identity,
    Look,
    NodeId,
    Overlay,
    PeerAudit,
    Topic,
    node_id_of,
    site_of,
    slot_of,
)
from node.audit.evidence_keeper import EvidenceKeeper
from node.audit.second_look import LookBudget, SecondLook
from node.crawling.change_follower import ChangedRecord
from store import Kind, Record, RecordStore, Version, decode_document, encode_signed_head, url_of

log = logging.getLogger(__name__)

STEP_S = 1.0
MAX_DUE = 64  # sampled pages that wait for their first look; the oldest are let go
MAX_DOUBTED = 64  # pages that wait for their second look
MAX_OPEN = 4  # looks at once
MAX_AUTHORS = 4096  # whose looks are counted
ENOUGH = 4  # sites at which an author's pages were unlike: more looks tell nothing new
WITHIN_S = 900.0  # from a page's fetch to the first look
USUAL_S = 86_400.0  # between two visits of a page of which nothing is known
MOST_CHANCE = 0.05  # that the page changed by itself in between
DOMAIN = b"dse-node sample 1"


class SampledPage(NamedTuple):
    """One version of a page that waits for its first look."""

    id: DocumentId
    version: Version
    author: NodeId
    site: str


class DoubtedPage(NamedTuple):
    """A page whose first look was unlike its author's text; the second is due at `due_at` (steady seconds)."""

    record: Record
    first: Look
    due_at: float


class SecondLooks:
    """The second looks of one node. `fetched`: how many pages this node has fetched for itself."""

    def __init__(
        self,
        overlay: Overlay,
        store: RecordStore,
        identity: Identity,
        audit: PeerAudit,
        look: SecondLook,
        evidence: EvidenceKeeper,
        fetched: Callable[[], int],
        clock: Clock,
    ) -> None:
        self._overlay, self._store, self._identity, self._audit = overlay, store, identity, audit
        self._look, self._evidence, self._fetched, self._clock = look, evidence, fetched, clock
        self._due, self._doubted = OrderedDict[DocumentId, SampledPage](), OrderedDict[DocumentId, DoubtedPage]()
        self._looks = Counter[NodeId]()  # first looks, by author
        self.compared = self.unlike = self.confirmed = 0

    @property
    def _budget(self) -> LookBudget:
        return self._look.budget

    async def step(self) -> float:
        """Offer the looks that are due; return the seconds to rest."""
        share = self._overlay.view.strategy.second_look_permille / 1000
        self._budget.earn(self._fetched(), share)
        if share:
            await asyncio.to_thread(public_suffixes)  # read once; too slow for the loop
            self._offer()
        return STEP_S

    def hear(self, changed: ChangedRecord) -> None:
        """Perhaps sample a page that came in."""
        view = self._overlay.view
        if changed.kind != Kind.DOCUMENT or not view.strategy.second_look_permille:
            return
        record = changed.proven
        if record is None or not record.version.epoch or not self._is_fresh(record):
            return
        author, site = node_id_of(record.proof.author), site_of(changed.url)
        is_owned = slot_of(record.key, view.strategy.slot_bits) in view.owned()
        if author == view.node_id or not is_owned or self._evidence.has(author, site):
            return
        is_due = self._audit.sampling.is_due(author, Topic.PAGES, self._chance(record.version.digest))
        self._audit.sampling.count(author, Topic.PAGES)
        if is_due:
            self._due[changed.id] = SampledPage(changed.id, record.version, author, site)
            if len(self._due) > MAX_DUE:
                self._due.popitem(last=False)

    def _chance(self, digest: bytes) -> float:
        """A number from 0 to 1 that follows from a version and this node's key: its author cannot foresee it."""
        return int.from_bytes(self._identity.sign(DOMAIN, digest)[:4], "big") / 2**32

    def _is_fresh(self, record: Record) -> bool:
        return abs(self._clock().wall - record.version.at_ms / 1000) < WITHIN_S

    def _offer(self) -> None:
        """Offer looks to the queue of checks, as far as the budget goes; those that confirm another come first."""
        checks, now = self._audit.checks, self._clock().steady
        while checks.running(Topic.PAGES) < MAX_OPEN:
            doubted = next((page for page in self._doubted.values() if page.due_at <= now), None)
            if doubted is not None:
                del self._doubted[doubted.record.id]
                checks.offer(Topic.PAGES, partial(self._look_again, doubted))
                continue
            page = self._next_due()
            if page is None or not self._budget.take_page():
                return
            del self._due[page.id]
            record = self._store.find(Kind.DOCUMENT, page.id, content=False)
            if record is None or record.version != page.version or not self._is_telling(record):
                self._give_back(2)
                continue
            self._count_look(page.author)
            checks.offer(Topic.PAGES, partial(self._look_first, record))

    def _give_back(self, looks: int) -> None:
        """Settle looks that were paid for and are not made."""
        for _ in range(looks):
            self._budget.settle(0)

    def _next_due(self) -> SampledPage | None:
        """Return the page to look at next.

        Pages of suspects at further sites come first, until there is enough against them. Then come pages of the
        author whose pages were looked at least. Of equal ones the newest, which had the least time to change."""
        newest_first = list(reversed(self._due.values()))
        found = {*self._evidence.sites(), *self._doubted_sites()}
        sites = Counter(author for author, _ in found)
        wanted = [p for p in newest_first if 0 < sites[p.author] < ENOUGH and (p.author, p.site) not in found]
        others = [p for p in newest_first if not sites[p.author]]
        return min(wanted or others, key=lambda p: self._looks[p.author], default=None)

    def _doubted_sites(self) -> set[tuple[NodeId, str]]:
        return {(node_id_of(p.record.proof.author), site_of(url_of(p.record))) for p in self._doubted.values()}

    def _count_look(self, author: NodeId) -> None:
        if len(self._looks) >= MAX_AUTHORS and author not in self._looks:
            self._looks.clear()
        self._looks[author] += 1

    def _is_telling(self, record: Record) -> bool:
        """Whether a look would tell anything: by its history, the page has hardly changed by itself since."""
        visited = self._store.find(Kind.VISIT, record.id, content=False, proven=False)
        if not self._is_fresh(record):
            return False
        if visited is None:
            return True
        elapsed_s = self._clock().wall - decode_document(record.body).fetched_at
        return change_rate(decode_visit(visited.body).history, USUAL_S) * elapsed_s <= MOST_CHANCE

    async def _look_first(self, record: Record) -> None:
        """Look at a page; where it is unlike its author's text, it is looked at again."""
        look = await self._unlike_look(record)
        if look is None:
            self._give_back(1)
            return
        self.unlike += 1
        log.info("page differs url=%s author=%s", url_of(record), node_id_of(record.proof.author).hex())
        self._doubted[record.id] = DoubtedPage(record, look, self._clock().steady + LOOK_AGAIN_S)
        if len(self._doubted) > MAX_DOUBTED:
            self._doubted.popitem(last=False)
            self._give_back(1)

    async def _look_again(self, page: DoubtedPage) -> None:
        """Look at a page for the second time; where both looks show the same text, keep them as evidence."""
        second = await self._unlike_look(page.record)
        if second is None or different_bits(page.first.text, second.text) > ALIKE_BITS:
            return
        self.confirmed += 1
        head, site = encode_signed_head(page.record), site_of(url_of(page.record))
        await self._evidence.add(Evidence(head, site, page.first, second))

    async def _unlike_look(self, record: Record) -> Look | None:
        """Look at a page; return the look where its text has nothing in common with its author's, None where it has or
        nothing can be told. The author's text is signed anew, whatever its version claims."""
        document = decode_document(record.body)
        if document.gone or document.status != 200:
            self._give_back(1)
            return None
        try:
            text = await self._look.observe(document.url)
        except FamilyMissing:  # other owners reach the site
            return None
        if not text:
            return None
        self.compared += 1
        if different_bits(signature(document.text), text) <= UNLIKE_BITS:
            return None
        return Look(text, int(self._clock().wall))
