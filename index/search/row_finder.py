"""Finds the rows of a query's terms: asks their keepers, three of each, and remembers for a minute what they say."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from dht import BadMessage, Clock, InputError, NodeId, Overlay, RemoteError, Slot
from index.directory.impact import DirectoryEpoch
from index.directory.impact_table import term_slot
from index.directory.known_row import KnownRow, agreed, median_epoch, raised
from index.directory.messages import AskRows, ToldRows
from index.directory.row_keeper import AHEAD_S
from index.directory.row_page import unpack_page
from index.directory.term_row import TermRow, hash_of
from index.text.analyzer_rules import NEWEST_ANALYZER

log = logging.getLogger(__name__)

KEEPERS = 3  # of a term that are asked: a single liar among them hides nothing, and moves no number
ROW_S = 60.0  # for which a row is remembered
MOST_CACHED = 1024  # rows, of at most some 30 kB
CONFIRM_S = 0.05  # and as long as the first answers took, for the others

Numbers = tuple[int, int, int]  # bits of slots, analyzer, ranking


@dataclass(frozen=True, slots=True)
class FoundRows:
    """The rows of a query's terms. `unknown`: slots that may hold anything; `as_of`: Unix seconds."""

    rows: Mapping[str, TermRow]
    epoch: DirectoryEpoch
    unknown: frozenset[Slot]
    as_of: float


class RowFinder:
    """Asks keepers of rows, and remembers what they said."""

    def __init__(self, overlay: Overlay, clock: Clock) -> None:
        self._overlay, self._clock = overlay, clock
        self._known = OrderedDict[tuple[bytes, Numbers], tuple[float, KnownRow]]()
        self.asked = 0  # questions

    async def find(
        self, terms: Iterable[str], numbers: tuple[int, int], until: float
    ) -> tuple[FoundRows | None, set[NodeId]]:
        """Return the rows of some terms by an analyzer and a ranking, None where some are not to be had until the
        steady instant `until`; and who was asked."""
        names, wanted = {term: hash_of(term) for term in terms}, (self._overlay.view.strategy.slot_bits, *numbers)
        found = {each: known for each in names.values() if (known := self._remembered(each, wanted))}
        missing = sorted(set(names.values()) - found.keys())
        told, asked = await self._ask(missing, wanted, until) if missing else ({}, set[NodeId]())
        for each in missing:
            if each not in told:
                return None, asked
            found[each] = agreed(told[each])
            self._remember(each, wanted, found[each])
        if not found:
            return None, asked
        epoch = median_epoch(each.epoch for each in found.values())
        rows = {term: raised(found[each], epoch) for term, each in names.items()}
        unknown = frozenset[Slot]().union(*(each.unknown for each in found.values()))
        return FoundRows(rows, epoch, unknown, min(each.as_of for each in found.values())), asked

    def keepers_of(self, term_hash: bytes) -> list[NodeId]:
        """Return which keepers of a term's row are asked for it."""
        return list(self._keepers([term_hash], self._overlay.view.strategy.slot_bits))

    async def _ask(
        self, hashes: Sequence[bytes], numbers: Numbers, until: float
    ) -> tuple[dict[bytes, list[KnownRow]], set[NodeId]]:
        """Ask the keepers of these terms. Once most have answered, the others have as long again."""
        by_peer, told = self._keepers(hashes, numbers[0]), dict[bytes, list[KnownRow]]()
        wanted = {each: sum(each in own for own in by_peer.values()) // 2 + 1 for each in hashes}
        began, replies = self._clock().steady, asyncio.Queue[None]()
        self.asked += len(by_peer)

        async def ask(peer: NodeId, own: tuple[bytes, ...]) -> None:
            try:
                message = AskRows(*numbers, own)
                answer = await self._overlay.ask(peer, message, ToldRows, timeout_s=max(until - began, 0.0))
                for each, known in self._read(peer, message, answer).items():
                    told.setdefault(each, []).append(known)
            except (RemoteError, InputError) as error:
                log.debug("rows dropped peer=%s: %s", peer.hex()[:8], error)
            replies.put_nowait(None)

        try:
            async with asyncio.timeout(max(until - began, 0.0)) as deadline, asyncio.TaskGroup() as tasks:
                started = [tasks.create_task(ask(*each), name="ask-rows") for each in by_peer.items()]
                is_enough = False
                for _ in started:
                    await replies.get()
                    if not is_enough and all(len(told.get(each, ())) >= wanted[each] for each in hashes):
                        is_enough, took_s = True, self._clock().steady - began
                        soon = asyncio.get_running_loop().time() + max(CONFIRM_S, took_s)
                        deadline.reschedule(min(soon, deadline.when() or soon))
        except TimeoutError:
            pass
        return told, set(by_peer)

    def _keepers(self, hashes: Sequence[bytes], slot_bits: int) -> dict[NodeId, tuple[bytes, ...]]:
        """Whom to ask for which rows: live owners of a term's slot, those first who are not late."""
        view, late, by_peer = self._overlay.view, self._overlay.late.is_late, dict[NodeId, list[bytes]]()
        for each in hashes:
            live = [peer for peer in view.owners(term_slot(each, slot_bits)) if view.is_live(peer)]
            for peer in sorted(live, key=late)[:KEEPERS]:
                by_peer.setdefault(peer, []).append(each)
        return {peer: tuple(own) for peer, own in by_peer.items()}

    def _read(self, peer: NodeId, ask: AskRows, answer: ToldRows) -> dict[bytes, KnownRow]:
        """Read a keeper's answer; raises BadMessage where it cannot be true."""
        page, name = unpack_page(answer.page, peer.hex()), peer.hex()
        epoch = page.epoch
        if page.rows.keys() != set(ask.hashes):
            raise BadMessage(name, "rows that were not asked for, or not all")
        if (epoch.slot_bits, epoch.analyzer, epoch.ranking) != (ask.slot_bits, ask.analyzer, ask.ranking):
            raise BadMessage(name, "rows by other rules than were asked for")
        if any(
            length > epoch.documents * most for length, most in zip(epoch.lengths, NEWEST_ANALYZER.limits, strict=True)
        ):
            raise BadMessage(name, "documents longer than the analyzer allows")
        if any(a >= b for a, b in pairwise(answer.unknown)) or any(s >= 1 << ask.slot_bits for s in answer.unknown):
            raise BadMessage(name, "slots out of order, or that are none")
        unknown = frozenset(map(Slot, answer.unknown))
        as_of = min(answer.as_of, self._clock().wall + AHEAD_S)
        return {each: KnownRow(row, epoch, unknown, as_of) for each, row in page.rows.items()}

    def _remembered(self, term_hash: bytes, numbers: Numbers) -> KnownRow | None:
        at, known = self._known.get((term_hash, numbers), (0.0, None))
        return known if known and self._clock().steady < at + ROW_S else None

    def _remember(self, term_hash: bytes, numbers: Numbers, known: KnownRow) -> None:
        self._known[term_hash, numbers] = self._clock().steady, known
        self._known.move_to_end((term_hash, numbers))
        while len(self._known) > MOST_CACHED:
            self._known.popitem(last=False)
