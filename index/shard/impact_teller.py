"""Tells the keepers of rows what this node's documents say of their terms, where the strategy has a directory.

Each keeper hears something every ten minutes, be it that nothing changed: only then are its rows right of that moment.
The table of the next epoch is made and told ahead of it, so that all have it when it begins; who has it hears of it
again just before. Documents are read, and told of, so slowly that it takes a bounded part of a core and of the line.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TypeVar, cast

import msgspec

from dht import BrokenFile, Clock, MachineRefuses, NodeId, Now, Overlay, RemoteError, Slot
from index.directory.impact_news import ImpactNews, SpokenSlots
from index.directory.messages import LevelsTaken, SlotCounts, TellLevels
from index.directory.own_impacts import NOT_YET
from index.directory.told_epoch import EPOCH_S, MADE_AHEAD_S
from index.directory.weighed_owners import Owners
from index.engine.forward_table import ForwardRow
from index.engine.index_files import IndexFiles
from index.errors import IndexCorrupt
from index.query.collection_statistics import Statistics
from index.query.scoring import average_length
from index.query.search_rules import SearchRules
from index.shard.block_file import BlockFile
from index.shard.impact_follower import FollowedTable, ImpactFollower
from index.shard.level_owners import is_enough, places_of
from index.shard.local_index import NOTHING, LocalIndex
from index.shard.question_server import Agree
from index.shard.row_server import RowServer

FILE = "own.sqlite"
TELL_S = 600.0  # between two tellings of one keeper
RETRY_S = 60.0  # after a keeper did not answer, or did not take all
SETTLE_S = 300.0  # between two times that what came is joined in: a second for a million entries
ROUND_S = 1.0
OFF_S = 10.0  # between two looks whether there is a directory by now
REST = 8.0  # times what a round took
LINE_BYTES_S = 50_000  # that this node sends, in the mean
AT_ONCE = 8  # keepers that are told in one round
EXCHANGE_S = 20.0
AHEAD_S = MADE_AHEAD_S  # so long before an epoch begins its table is made, at the latest half of it, as it falls
REMAKE_S = 600.0  # between two tables of one epoch
_Result = TypeVar("_Result")
GROWN = 1.5  # times the documents that it was made of: then the epoch's numbers are no use any more


class ImpactTeller:
    """What one node tells of its terms. `run` until cancelled, then `close`."""

    def __init__(self, overlay: Overlay, local: LocalIndex, agree: Agree, rows: RowServer, clock: Clock) -> None:
        """`agree` says of slots how their copies here compare with others."""
        self._overlay, self._local, self._agree, self._rows, self._clock = overlay, local, agree, rows, clock
        self._rules: SearchRules | None = None
        self._bits = 0
        self._file: BlockFile | None = None
        self._follower: ImpactFollower | None = None
        self._news = ImpactNews(0, (0, 0))
        self._due_at: dict[NodeId, float] = {}
        self._owners: Owners = ()
        self._keepers: Mapping[NodeId, Sequence[Slot]] = {}
        self._begun_at, self._settled_at = -REMAKE_S, -SETTLE_S
        share = int.from_bytes(overlay.view.node_id[-2:], "big") / (1 << 16)
        self._ahead_s = AHEAD_S * (1 + share) / 2
        self.sent_bytes = 0

    @property
    def entries(self) -> int:
        """How many entries the tables of this node's own terms have."""
        return sum(len(each.impacts) for each in self._follower.tables) if self._follower else 0

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
            await self._rows.keep_on_disk()
            follower = await self._follow()
            if is_reading := follower.is_reading:
                slots, now = self._spoken(), self._clock().wall
                await self._write(lambda files: follower.step(files, slots, now))
            return bool(follower.made and await self._tell(follower)) or is_reading
        except MachineRefuses:
            self._forget()
        except IndexCorrupt:  # what this node's documents say can be made anew
            self._erase()
        return False

    async def witness(self, run: int, slot: Slot, term: int) -> ForwardRow | None:
        """Return the document of a term's greatest level in a slot by one of the tables that are told, None where there
        is none; raises MachineRefuses or IndexCorrupt."""
        if (follower := self._follower) is None:
            return None
        return await self._write(lambda files: follower.witness(files, run, slot, term))

    async def close(self) -> None:
        """Keep on disk what this node's documents say and what it was told, and close both files."""
        if (follower := self._follower) is not None:
            epoch, wall = self._epoch(), self._clock().wall
            with suppress(MachineRefuses, IndexCorrupt):
                await self._write(lambda files: follower.settle(files, epoch, wall))
        self._forget()
        await self._rows.close()

    async def _write(self, work: Callable[[IndexFiles], _Result]) -> _Result:
        """Work on the thread that writes the index; what fails of the file beside it is no failure of the index."""
        found, error = await self._local.write(lambda files: _tried(work, files))
        if error is not None:
            raise error
        return cast(_Result, found)

    def _epoch(self) -> int:
        return int(self._clock().wall // EPOCH_S)

    def _forget(self) -> None:
        """Begin with what is on disk, the next time."""
        self._follower, self._rules = None, None
        self._due_at.clear()
        if self._file is not None:
            with suppress(MachineRefuses, IndexCorrupt):
                self._file.close()
            self._file = None

    def _erase(self) -> None:
        self._forget()
        if (path := self._local.directory_file(FILE)) is not None:
            BlockFile.erase(path)

    async def _stop(self) -> None:
        if self._follower is not None:
            await self._write(_unwatch)
            self._erase()

    async def _follow(self) -> ImpactFollower:
        """Watch the index that serves, and have a table made where it is time for one."""
        rules, bits, now = self._local.plan.now, self._overlay.view.strategy.slot_bits, self._clock()
        follower = self._follower
        if follower is None or follower.has_failed or (rules, bits) != (self._rules, self._bits):
            self._forget()
            self._rules, self._bits = rules, bits
            self._file = BlockFile(self._local.directory_file(FILE))
            follower = self._follower = ImpactFollower(rules, bits, self._file)
            self._news = ImpactNews(bits, rules.numbers)
            self._owners, self._begun_at = (), now.steady - REMAKE_S
            fresh = follower
            await self._write(lambda files: fresh.load(files))
        watched = follower
        await self._write(lambda files: _watch(files, watched))
        if not follower.is_reading and (epoch := await self._wanted(follower, now)) is not None:
            told = await self._rows.average()
            known = await self._write(_average_of) if told is None else told
            self._begun_at = now.steady
            last = max((each.impacts.made.run for each in follower.tables), default=0)
            run = max(int(now.wall * 1000) % (1 << 48), last + 1)
            await self._write(lambda files: watched.begin(run, epoch, known))
        return follower

    async def _wanted(self, follower: ImpactFollower, now: Now) -> int | None:
        """Return the epoch of which a table is to be made now, None where none is."""
        epoch = int(now.wall // EPOCH_S)
        present = follower.now(epoch)
        if present is None or present.impacts.made.epoch < epoch:
            return epoch
        if now.wall >= (epoch + 1) * EPOCH_S - self._ahead_s and not follower.is_coming(epoch + 1):
            return epoch + 1
        documents = self._local.documents
        is_grown = documents > GROWN * present.impacts.made.documents
        return epoch if is_grown and now.steady >= self._begun_at + REMAKE_S else None

    async def _tell(self, follower: ImpactFollower) -> bool:
        owners, steady = self._overlay.view.owners_by_slot(), self._clock().steady
        runs = [each.impacts.made.run for each in follower.made]
        if owners is not self._owners:
            self._owners, self._keepers = owners, _keepers(owners)
            self._due_at = {peer: at for peer, at in self._due_at.items() if peer in self._keepers}
        self._news.keep(self._keepers, runs)
        live = [peer for peer in self._keepers if self._overlay.view.is_live(peer)]
        due = sorted((self._due_at.get(peer, 0.0), peer) for peer in live if self._due_at.get(peer, 0.0) <= steady)
        if due:
            await self._settle(follower, steady)
        says = [(each, self._says(each)) for each in follower.made] if due else []
        for _, peer in due[:AT_ONCE]:
            told = [await self._tell_one(peer, *each) for each in says if self._is_wanted(peer, each[0])]
            self._due_at[peer] = steady + (TELL_S if all(told) else RETRY_S)
        return bool(due)

    def _is_wanted(self, peer: NodeId, table: FollowedTable) -> bool:
        """Whether a keeper is to hear of a table now: of one whose epoch has begun, or does in two tellings, or of
        which it lacks something."""
        made = table.impacts.made
        return made.epoch * EPOCH_S <= self._clock().wall + 2 * TELL_S or not self._news.has_all(peer, made.run)

    async def _settle(self, follower: ImpactFollower, steady: float) -> None:
        """Join in what came, now and then, or where a table has never been told of."""
        if steady >= self._settled_at + SETTLE_S or any(each.as_of == NOT_YET for each in follower.made):
            epoch, wall = self._epoch(), self._clock().wall
            await self._write(lambda files: follower.settle(files, epoch, wall))
            self._settled_at = steady

    async def _tell_one(self, peer: NodeId, table: FollowedTable, spoken: SpokenSlots) -> bool:
        """Tell a keeper what is news to it of a table, and once it said that it lacks more, that, too; return whether
        it took all."""
        lacks = await self._exchange(peer, table, spoken)
        return (await self._exchange(peer, table, spoken) if lacks else lacks) is False

    async def _exchange(self, peer: NodeId, table: FollowedTable, spoken: SpokenSlots) -> bool | None:
        """Tell a keeper what it is thought to lack; return whether it lacks more, None where it did not answer."""
        run, taken = table.impacts.made.run, LevelsTaken()
        messages, sent = self._news.messages(peer, self._keepers[peer], table.impacts, spoken), list[TellLevels]()
        while (message := await self._write(lambda files: next(messages, None))) is not None:
            self.sent_bytes += len(msgspec.msgpack.encode(message))
            try:
                taken = await self._overlay.ask(peer, message, LevelsTaken, timeout_s=EXCHANGE_S)
            except RemoteError:
                return None
            sent.append(msgspec.structs.replace(message, entries=b""))
        return not self._news.note_taken(peer, run, sent, taken) if taken.is_taken else None

    def _spoken(self) -> list[Slot]:
        """Return the slots of which this node can speak."""
        view = self._overlay.view
        slots = [slot for slot in sorted(view.owned()) if view.node_id in view.owners(slot)]
        return [slot for slot in slots if view.is_ready(view.node_id, slot)]

    def _says(self, table: FollowedTable) -> SpokenSlots:
        view, slots, totals = self._overlay.view, self._spoken(), self._local.totals_by_slot()
        masks, teams = self._agree(slots).level, map(view.owners, slots)
        behind = tuple(
            slot
            for slot, mask, team in zip(slots, masks, teams, strict=True)
            if not is_enough(mask, len(team), view.strategy.min_acks, places_of(team, view.away()))
        )
        young = (slot for slot in slots if slot not in table.impacts.made.counts)
        counts = ((slot, totals.get(slot, NOTHING)) for slot in young)
        told = tuple(SlotCounts(slot, each.documents, each.lengths) for slot, each in counts)
        return SpokenSlots(table.as_of, tuple(slots), behind, told)


def _tried(work: Callable[[IndexFiles], _Result], files: IndexFiles) -> tuple[_Result | None, BrokenFile | None]:
    try:
        return work(files), None
    except BrokenFile as error:
        files.watcher = None
        return None, error


def _watch(files: IndexFiles, follower: ImpactFollower) -> None:
    files.watcher = follower


def _unwatch(files: IndexFiles) -> None:
    files.watcher = None


def _average_of(files: IndexFiles) -> float:
    cells = files.totals.at(0).values()
    return max((average_length(Statistics(each.documents, each.lengths, ())) for each in cells), default=1.0)


def _keepers(owners: Iterable[Sequence[NodeId]]) -> dict[NodeId, list[Slot]]:
    """Whose rows are of the terms of which slots."""
    found = dict[NodeId, list[Slot]]()
    for number, team in enumerate(owners):
        for peer in team:
            found.setdefault(peer, []).append(Slot(number))
    return found
