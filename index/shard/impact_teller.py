"""Tells the keepers of rows what this node's documents say of their terms, where the strategy has a directory.

Each keeper hears something every ten minutes, be it that nothing changed: only then are its rows right of that moment.
Documents are read, and told of, so slowly that it takes a bounded part of a core and of the line.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from dht import Clock, MachineRefuses, NodeId, Overlay, RemoteError, Slot
from index.directory.impact_news import ImpactNews, SpokenSlots
from index.directory.messages import ImpactsTaken, SlotCounts, TellImpacts
from index.directory.own_impacts import OwnImpacts
from index.directory.row_keeper import EPOCH_S, Owners
from index.engine.index_files import IndexFiles
from index.errors import IndexCorrupt
from index.query.collection_statistics import SlotTotals, Statistics
from index.query.scoring import average_length
from index.query.search_rules import SearchRules
from index.shard.impact_follower import ImpactFollower
from index.shard.level_owners import is_enough
from index.shard.local_index import NOTHING, LocalIndex
from index.shard.question_server import Agree
from index.shard.row_server import RowServer
from index.text.forward_index import Counts

TELL_S = 600.0  # between two tellings of one keeper
RETRY_S = 60.0  # after a keeper did not answer, or did not take all
ROUND_S = 1.0
OFF_S = 10.0  # between two looks whether there is a directory by now
LOOK_S = 60.0  # between two looks whether a table is too old
REST = 8.0  # times what a round took
LINE_BYTES_S = 50_000  # that this node sends, in the mean
AT_ONCE = 8  # keepers that are told in one round
EXCHANGE_S = 20.0
REMAKE_S = 3600.0  # between two tables that are made anew
DRIFT = 1.1  # of the mean length, by which levels are too loose: then they are made anew


class ImpactTeller:
    """What one node tells of its terms. `run` until cancelled."""

    def __init__(self, overlay: Overlay, local: LocalIndex, agree: Agree, rows: RowServer, clock: Clock) -> None:
        """`agree` says of slots how their copies here compare with others."""
        self._overlay, self._local, self._agree, self._rows, self._clock = overlay, local, agree, rows, clock
        self._run = int(clock().wall * 1000) % (1 << 48)  # another one after each start
        self._rules: SearchRules | None = None
        self._bits = 0
        self._follower: ImpactFollower | None = None
        self._news = ImpactNews(self._run, 0, (0, 0))
        self._due_at: dict[NodeId, float] = {}
        self._owners: Owners = ()
        self._keepers: Mapping[NodeId, Sequence[Slot]] = {}
        self._made_at, self._made_in, self._looked_at = 0.0, 0, 0.0
        self.sent_bytes = 0

    @property
    def own(self) -> OwnImpacts | None:
        """What this node's documents say, None where that is not known."""
        return self._follower.now if self._follower else None

    @property
    def is_full(self) -> bool:
        """Whether the terms of this node's documents are too many to be told of."""
        return self._follower is not None and self._follower.is_full

    async def run(self) -> None:
        """Follow the index and tell, until cancelled."""
        while True:
            began_at, sent = self._clock().steady, self.sent_bytes
            await self.advance()
            took_s = self._clock().steady - began_at
            rest_s = ROUND_S if self._follower else OFF_S
            await asyncio.sleep(max(rest_s, REST * took_s, (self.sent_bytes - sent) / LINE_BYTES_S))

    async def advance(self) -> bool:
        """Read some documents and tell whom something is due; return whether anything was done."""
        try:
            if await self._rows.refresh() is None:
                await self._stop()
                return False
            follower = await self._follow()
            if is_making := follower.is_making:
                await self._local.write(lambda files: follower.step(files.table))
            return bool(follower.now and await self._tell()) or is_making
        except (MachineRefuses, IndexCorrupt):  # the index notes it, and mends itself
            return False

    async def _stop(self) -> None:
        if self._follower is not None:
            self._follower, self._rules = None, None
            self._due_at.clear()
            await self._local.write(_unwatch)

    async def _follow(self) -> ImpactFollower:
        """Watch the index that serves, and have a table made anew where it is time for that."""
        rules, bits, now = self._local.plan.now, self._overlay.view.strategy.slot_bits, self._clock()
        follower = self._follower
        if follower is None or (rules, bits) != (self._rules, self._bits):
            self._rules, self._bits = rules, bits
            follower = self._follower = ImpactFollower(rules.ranking, bits)
            self._news = ImpactNews(self._run, bits, rules.numbers)
            self._due_at, self._owners = {}, ()
        watched = follower
        is_new = await self._local.write(lambda files: _watch(files, watched))
        if not is_new and (follower.is_making or now.steady < self._looked_at + LOOK_S):
            return follower
        self._looked_at = now.steady
        told = await self._rows.average()
        known = await self._local.write(_average_of) if told is None else told
        epoch, by = int(now.wall // EPOCH_S), follower.now.average if follower.now else known
        is_old = epoch != self._made_in or max(known, by) > DRIFT * min(known, by)
        if is_new or (is_old and now.steady >= self._made_at + REMAKE_S):
            self._made_at, self._made_in = now.steady, epoch
            follower.begin(known)
        return follower

    async def _tell(self) -> bool:
        owners, steady = self._overlay.view.owners_by_slot(), self._clock().steady
        if owners is not self._owners:
            self._owners, self._keepers = owners, _keepers(owners)
            self._news.keep(self._keepers)
            self._due_at = {peer: at for peer, at in self._due_at.items() if peer in self._keepers}
        live = [peer for peer in self._keepers if self._overlay.view.is_live(peer)]
        due = sorted((self._due_at.get(peer, 0.0), peer) for peer in live if self._due_at.get(peer, 0.0) <= steady)
        for _, peer in due[:AT_ONCE]:
            is_told = await self._tell_one(peer)
            self._due_at[peer] = steady + (TELL_S if is_told else RETRY_S)
        return bool(due)

    async def _tell_one(self, peer: NodeId) -> bool:
        """Tell a keeper what is news to it; return whether it took all."""
        view, at = self._overlay.view, self._clock().wall
        slots = [slot for slot in sorted(view.owned()) if view.node_id in view.owners(slot)]
        slots = [slot for slot in slots if view.is_ready(view.node_id, slot)]
        masks, teams = self._agree(slots).level, map(view.owners, slots)
        level = tuple(
            slot
            for slot, mask, team in zip(slots, masks, teams, strict=True)
            if is_enough(mask, len(team), view.strategy.min_acks)
        )
        term_slots = self._keepers[peer]

        def write(files: IndexFiles) -> tuple[list[TellImpacts], int]:
            if (own := self.own) is None or files.watcher is not self._follower:
                return [], 0
            totals, change = files.totals.at(self._bits), own.change
            counts: dict[int, SlotCounts] = {
                slot: SlotCounts(slot, *_counted(totals.get(slot, NOTHING))) for slot in slots
            }
            found = self._news.messages(peer, term_slots, own, SpokenSlots(at, counts, level))
            own.change += 1
            return found, change

        messages, change = await self._local.write(write)
        is_told = bool(messages)
        for message in messages:
            self.sent_bytes += len(msgspec.msgpack.encode(message))
            try:
                taken = await self._overlay.ask(peer, message, ImpactsTaken, timeout_s=EXCHANGE_S)
            except RemoteError:
                return False
            is_told &= self._news.note_taken(peer, message, taken, change)
        return is_told


def _watch(files: IndexFiles, follower: ImpactFollower) -> bool:
    """Have an index followed; return whether it was not before."""
    is_new, files.watcher = files.watcher is not follower, follower
    return is_new


def _unwatch(files: IndexFiles) -> None:
    files.watcher = None


def _average_of(files: IndexFiles) -> float:
    cells = files.totals.at(0).values()
    return max((average_length(Statistics(each.documents, each.lengths, ())) for each in cells), default=1.0)


def _counted(totals: SlotTotals) -> tuple[int, Counts]:
    return totals.documents, totals.lengths


def _keepers(owners: Iterable[Sequence[NodeId]]) -> dict[NodeId, list[Slot]]:
    """Whose rows are of the terms of which slots."""
    found = dict[NodeId, list[Slot]]()
    for number, team in enumerate(owners):
        for peer in team:
            found.setdefault(peer, []).append(Slot(number))
    return found
