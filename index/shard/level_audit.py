"""Holds what owners of slots told of their levels against signed pages, at a keeper of rows.

Claims that the keeper doubts are checked one by one: the owner is asked for the page that has the level, and that page
is read. What others call better than a row is read, too. Both are done so seldom that they take some hundred bytes a
second at most, whoever asks for it; a peer whose pages were not better is not heard for a while.
"""

import asyncio
import logging
from collections import OrderedDict, deque

from dht import BadMessage, Clock, DocumentId, Done, Key, NodeId, Overlay, RateLimiter, RemoteError, Slot, slot_of
from index.change_feed import Read, Text
from index.directory.impact_table import number_of
from index.directory.level_doubts import DISBELIEVED_S
from index.directory.messages import AskWitness, BetterPage, PageName, WitnessPage
from index.directory.term_row import HASH_BYTES
from index.directory.witness_check import LevelClaim, SeenPage, judge
from index.query.search_rules import SearchRules
from index.shard.row_server import RowServer

log = logging.getLogger(__name__)

CHECK_S = 10.0  # between two pages that are read
WITNESS_S = 10.0  # for an owner to answer
MOST_WAITING, OF_ONE = 16, 4  # pages that wait to be read; and so many a minute of one peer
WORTHLESS = 3  # pages of a peer that were not better, before it is not heard for an hour
REMEMBERED, MOST_BETTER = 4096, 64  # peers; pages that were better


class LevelAudit:
    """The checks of one node. `run` until cancelled."""

    def __init__(self, overlay: Overlay, rows: RowServer, read: Read, clock: Clock) -> None:
        self._overlay, self._rows, self._read, self._clock = overlay, rows, read, clock
        self._line = deque[tuple[NodeId, BetterPage]]()
        self._better = deque[BetterPage](maxlen=MOST_BETTER)
        self._limit = RateLimiter(OF_ONE / 60.0, OF_ONE)
        self._strikes = OrderedDict[NodeId, tuple[int, float]]()
        self.checked = self.raised = self.worthless = 0  # claims; levels; pages that were not better
        overlay.serve(BetterPage, self._hear)

    async def run(self) -> None:
        """Check, until cancelled."""
        while True:
            await self.step()
            await asyncio.sleep(CHECK_S)

    async def step(self) -> bool:
        """Read one page, where one is to be read; return whether one was."""
        if (rules := self._rows.rules) is None:
            return False
        if self._line:
            await self._weigh(*self._line.popleft(), rules)
            return True
        if (claim := await self._rows.ask_keeper(lambda keeper: keeper.next_claim())) is None:
            return False
        await self._check(claim, rules)
        return True

    async def _check(self, claim: LevelClaim, rules: SearchRules) -> None:
        """Ask an owner for the page of a level, and judge; of one that is not there nothing can be said."""
        ask = AskWitness(claim.run, claim.slot, claim.term.to_bytes(HASH_BYTES, "big"))
        if not self._overlay.view.is_live(claim.owner):
            return
        try:
            named = await self._overlay.ask(claim.owner, ask, WitnessPage, timeout_s=WITNESS_S)
        except RemoteError as error:
            log.debug("witness not named peer=%s: %s", claim.owner.hex()[:8], error)
            named = WitnessPage()
        is_sure, text, id, now = True, None, b"", self._clock().wall
        if named.pages:
            (page,) = named.pages
            id, (is_sure, text) = page.id, await self._page(PageName(page.id, page.key))
            text = text if text is not None and text.version == page.version else None
        if not is_sure:
            return
        self.checked += 1
        verdict = judge(claim, text, rules, self._overlay.view.strategy.slot_bits)
        if await self._rows.ask_keeper(lambda keeper: keeper.judged(claim, verdict, id, now)):
            log.warning("levels not believed, signed pages do not bear them out peer=%s", claim.owner.hex())

    async def _weigh(self, peer: NodeId, told: BetterPage, rules: SearchRules) -> None:
        """Read a page that a peer calls better than a row, and take what it has."""
        is_sure, text = await self._page(told.page)
        if not is_sure:
            return
        is_better, slot, now = False, Slot(0), self._clock().wall
        if text is not None:
            page, slot = SeenPage(text, number_of(told.hash), rules), slot_of(text.key, told.slot_bits)
            is_better = bool(await self._rows.ask_keeper(lambda keeper: keeper.see(told.hash, slot, page, now)))
        before, _ = self._strikes.pop(peer, (0, 0.0))
        if is_better:
            self.raised += 1
            self._better.append(told)
            log.info("level raised by a page that no owner told of slot=%d page=%s", slot, told.page.id.hex())
            return
        self.worthless += 1
        self._strikes[peer] = before + 1, now
        if len(self._strikes) > REMEMBERED:
            self._strikes.popitem(last=False)

    async def _page(self, name: PageName) -> tuple[bool, Text | None]:
        """Read a page: whether anybody could tell, and what it says."""
        id = DocumentId(name.id)
        texts = await self._read([(id, Key(name.key))])
        return id in texts, texts.get(id)

    async def _hear(self, peer: NodeId, told: BetterPage) -> Done:
        """Let a page wait, where there is room and its sender is worth it."""
        rules, now = self._rows.rules, self._clock()
        bits = self._overlay.view.strategy.slot_bits
        if rules is None or (told.slot_bits, told.analyzer, told.ranking) != (bits, *rules.numbers):
            raise BadMessage(peer.hex(), "no rows by such rules are kept here")
        if told in self._better or any(told == each for _, each in self._line):  # many may meet it at once
            return Done()
        count, at = self._strikes.get(peer, (0, 0.0))
        if count >= WORTHLESS and now.wall < at + DISBELIEVED_S:
            raise BadMessage(peer.hex(), "pages of yours were not better than rows")
        if len(self._line) >= MOST_WAITING or not self._limit.take(peer, now.steady):
            raise BadMessage(peer.hex(), "busy: too many pages wait to be read")
        self._line.append((peer, told))
        return Done()
