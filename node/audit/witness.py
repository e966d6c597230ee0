"""Draws pages that others wrote and that lie here, looks at them again, and calls for others where they are unlike.

It follows the store's change log from when it starts. What is not looked at within some minutes is let go: by then the
page may have changed by itself. So is one that changes too often, by what is known of it.
"""

import asyncio
import logging
from collections import Counter, OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from crawl import FamilyMissing, change_rate, decode_visit, public_suffixes, signature
from dht import Clock, DocumentId, Identity, NodeId, Overlay, node_id_of, site_of, slot_of
from node.witness.call_queue import Call, Tell
from node.witness.draw import MAX_AUTHORS, Draw, WitnessBudget
from node.witness.hearing import Hearing
from node.witness.panel_view import PanelView
from node.witness.second_look import Look, SecondLook
from node.witness.statement import Statement
from node.witness.verdict import SITES_NEEDED
from store import Document, Kind, Record, RecordStore, Version, decode_document, url_of

log = logging.getLogger(__name__)

LOOK_EVERY_S = 1.0
BATCH = 256
MAX_DUE = 64  # pages drawn and not yet looked at; the oldest are let go
MAX_SUSPECTS = 64  # unlike pages remembered
MAX_OPEN = 4  # looked at at once
ENOUGH = SITES_NEEDED + 1  # sites where an author's pages are in doubt that this node saw to be unlike somewhere
ENOUGH_CALLED = 3  # where others only call for them: the rest is kept for these calls
WITHIN_S = 900.0  # from a page's fetch until a second one says something
USUAL_S = 86_400.0  # between two visits of a page of which nothing is known
MOST_CHANCE = 0.05  # that the page changed by itself in between


class DrawnPage(NamedTuple):
    """Names one version of a page that is to be looked at, its author and its site. `record`: of one that an owner
    handed on, which does not lie here."""

    id: DocumentId
    version: Version
    author: NodeId
    site: str
    record: Record | None = None


class Witness:
    """Looks at pages of others. `fetched`: how many pages this node has fetched for itself."""

    def __init__(
        self,
        overlay: Overlay,
        store: RecordStore,
        identity: Identity,
        panels: PanelView,
        look: SecondLook,
        hearing: Hearing,
        budget: WitnessBudget,
        fetched: Callable[[], int],
        clock: Clock,
    ) -> None:
        self._overlay, self._store, self._panels, self._look = overlay, store, panels, look
        self._hearing, self._budget, self._fetched, self._clock = hearing, budget, fetched, clock
        self._draw, self._due = Draw(identity), OrderedDict[DocumentId, DrawnPage]()
        self._suspects: OrderedDict[tuple[NodeId, str], None] = OrderedDict()  # authors of unlike pages, at which sites
        self._looks = Counter[NodeId]()  # of this node's own choice, by author
        self._open, self._sequence = 0, store.log.sequence
        self.compared = self.unlike = 0

    async def run(self) -> None:
        """Witness until cancelled."""
        self._open = 0
        await asyncio.to_thread(public_suffixes)  # read once; too slow for the loop
        async with asyncio.TaskGroup() as tasks:
            while True:
                is_behind = self._follow()
                self._budget.earn(self._fetched(), self._overlay.view.strategy.witness_permille / 1000)
                self._start(tasks)
                await asyncio.sleep(0 if is_behind else LOOK_EVERY_S)

    def _follow(self) -> bool:
        """Draw from a batch of changes; return whether there may be more."""
        newest = self._store.log.sequence
        if newest == self._sequence:
            return False
        if not self._overlay.view.strategy.witness_permille:
            self._sequence = newest
            return False
        changes = self._store.log.changes(self._sequence, BATCH)
        for change in changes:
            if change.kind == Kind.DOCUMENT and not change.removed:
                self._consider(change.id)
        last = changes[-1].sequence if changes else 0
        self._sequence = last if len(changes) == BATCH else max(newest, last)
        return len(changes) == BATCH

    def _consider(self, id: DocumentId) -> None:
        record = self._store.find(Kind.DOCUMENT, id, content=False)
        view = self._overlay.view
        if record is None or not record.version.epoch or not self._is_fresh(record):
            return
        author = node_id_of(record.proof.author)
        is_own = slot_of(record.key, view.strategy.slot_bits) in view.owned()
        if author == view.node_id or not is_own or not self._panels.beside(author, record.signed_key):
            return
        if self._hearing.is_heard(author, url_of(record)):
            return
        if self._draw.takes(author, record.version.digest):
            self._due[id] = _drawn(record)
            if len(self._due) > MAX_DUE:
                self._due.popitem(last=False)

    def _is_fresh(self, record: Record) -> bool:
        return abs(self._clock().wall - record.version.at_ms / 1000) < WITHIN_S

    def _start(self, tasks: asyncio.TaskGroup) -> None:
        """Look at what was drawn, as far as the budget goes; whom others call for comes first."""
        calls = self._hearing.calls
        while self._open < MAX_OPEN:
            if (called := calls.next(self._clock().steady, {author for author, _ in self._suspects})) is not None:
                if not self._budget.take(asked=True):
                    return  # it waits until there is so much
                calls.take_up(called)
                self._open += 1
                tasks.create_task(self._answer_call(called), name="witness-called")
                continue
            page, is_suspect = self._next_due()
            if page is None or not self._budget.take(asked=is_suspect):
                return
            self._due.pop(page.id, None)
            calls.take_handed(page.id)
            record = page.record or self._store.find(Kind.DOCUMENT, page.id, content=False)
            if record is None or record.version != page.version or not self._tells(record):
                self._budget.settle(0)
                continue
            self._open += 1
            self._note_look(page.author)
            tasks.create_task(self._look_first(record, is_handed=page.record is not None), name="witness-look")

    def _next_due(self) -> tuple[DrawnPage | None, bool]:
        """Return the page to look at next, and whether its author is in doubt. Pages of whoever wrote one lately, by
        what this node or others of a panel saw, at another site, come before all others, until they are in doubt at
        enough sites: the hearings want those looks. Then whose pages were looked at least; the newest, which had the
        least time to change."""
        handed = (_drawn(record, record) for record in self._hearing.calls.handed())
        newest_first = [*handed, *reversed(self._due.values())]
        if not newest_first:
            return None, False
        mine = {author for author, _ in self._suspects}
        doubted = {*self._suspects, *self._hearing.doubted(mine)}
        sites = Counter(author for author, _ in doubted)
        for authors, enough in ((mine, ENOUGH), (sites.keys() - mine, ENOUGH_CALLED)):
            wanted = {author for author in authors if sites[author] < enough}
            news = (p for p in newest_first if p.author in wanted and (p.author, p.site) not in doubted)
            if suspect := min(news, key=lambda page: self._looks[page.author], default=None):
                return suspect, True
        return min(newest_first, key=lambda page: self._looks[page.author], default=None), False

    def _note_look(self, author: NodeId) -> None:
        if len(self._looks) >= MAX_AUTHORS and author not in self._looks:
            self._looks.clear()
        self._looks[author] += 1

    def _suspect(self, author: NodeId, site: str) -> None:
        self._suspects[author, site] = None
        if len(self._suspects) > MAX_SUSPECTS:
            self._suspects.popitem(last=False)

    def _tells(self, record: Record) -> bool:
        """Whether a second look would say anything: the page has hardly changed by itself since, by its history."""
        visited = self._store.find(Kind.VISIT, record.id, content=False, proven=False)
        if not self._is_fresh(record):
            return False
        if visited is None:
            return True
        elapsed_s = self._clock().wall - decode_document(record.body).fetched_at
        return change_rate(decode_visit(visited.body).history, USUAL_S) * elapsed_s <= MOST_CHANCE

    async def _look_first(self, record: Record, *, is_handed: bool) -> None:
        """Look at a page that nobody called for; one that this machine cannot reach is handed on, once, and counts as
        one that it looked at, so that it hands on no more than it would look at."""
        try:
            await self._look_at(record, self._hearing.call)
        except FamilyMissing as missing:
            if not is_handed:
                self._budget.take(asked=True)
                await self._hearing.hand_on(record, missing.family)

    async def _answer_call(self, call: Call) -> None:
        with suppress(FamilyMissing):  # others of the panel reach it
            if await self._look_at(call.record, call.answer) is False:
                self._hearing.calls.note_idle(call.caller, self._clock().steady)

    async def _look_at(self, record: Record, tell: Tell) -> bool | None:
        """Look at a page, and tell where it is unlike; return whether it is, None where its site was asked for nothing.
        Raises FamilyMissing."""
        try:
            document = decode_document(record.body)
            if document.gone or document.status != 200:
                self._budget.settle(0)
                return None
            look = await self._look.observe(document.url)
        finally:
            self._open -= 1
        if look is None or not look.text:
            return None if look is None else False
        self.compared += 1
        statement, author = statement_of(record, document, look), node_id_of(record.proof.author)
        if statement.is_unlike:
            self.unlike += 1
            self._suspect(author, statement.site)
            log.info("page says something else url=%s author=%s", document.url, author.hex())
            await tell(record, statement)
        else:
            self._hearing.calls.note_true(author, self._clock().steady)
        return statement.is_unlike


def _drawn(record: Record, handed: Record | None = None) -> DrawnPage:
    author, site = node_id_of(record.proof.author), site_of(url_of(record))
    return DrawnPage(record.id, record.version, author, site, handed)


def statement_of(record: Record, document: Document, look: Look) -> Statement:
    """Return what a look at a page says of a version of it; the author's text is signed anew, whatever it claims."""
    version = record.version.short
    return Statement(
        key=record.signed_key,
        epoch=version.epoch,
        at_ms=version.at_ms,
        digest=version.digest,
        site=site_of(document.url),
        block=look.block,
        claimed=signature(document.text),
        text=look.text,
        at=int(look.at),
    )
