"""The farewell upkeep announces this node's farewell and its return, and keeps the farewells of all members on disk.

`dht/membership/farewell_book.py` decides which members count. Two rules of order keep a farewell from counting after
its end. A node writes its farewell to disk before it sends it. It votes again only after a member that goes on has
acknowledged the return, which that member writes to disk first.

The file keeps an ended farewell from counting again. One that does not decode counts as empty: that costs a log line,
never a start.
"""

import asyncio
import logging
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from dht.clock import Clock
from dht.errors import BadMessage, RemoteError
from dht.keys import NodeId
from dht.local_faults import FaultSite, LocalFaults, keep_file
from dht.membership.farewell_book import Parting
from dht.messages import Done, Message
from dht.overlay.messenger import Messenger
from dht.overlay.settings import OverlayFiles
from dht.ownership.view import OverlayView
from dht.protocol.engine import ProtocolEngine
from dht.wire.farewell import DECLARED, FEW_MEMBERS, Farewell
from dht.wire.heartbeat import HEARTBEAT_LIMIT_BYTES

log = logging.getLogger(__name__)

LOOK_S = 1.0
ASK_S = 2.0  # for one acknowledgement
TRIES = 2


class FarewellNews(Message, frozen=True):
    """Carries the signed heartbeats of all members, the sender's own last: it stops, or has its vote again. The
    receiver writes their farewells and returns to disk before it acknowledges."""

    heartbeats: Annotated[
        tuple[Annotated[bytes, Meta(max_length=HEARTBEAT_LIMIT_BYTES)], ...], Meta(max_length=FEW_MEMBERS)
    ]


class FarewellFile:
    """The file of one node; `path` None keeps nothing. Its calls block and belong on a thread."""

    def __init__(self, path: Path | None, faults: LocalFaults) -> None:
        self._path, self._faults = path, faults

    def load(self) -> tuple[Parting, ...]:
        """Return what was kept, nothing where there is none."""
        try:
            data = self._path.read_bytes() if self._path is not None else b"\x90"
            return msgspec.msgpack.decode(data, type=tuple[Parting, ...])
        except FileNotFoundError:
            return ()
        except (OSError, msgspec.DecodeError) as error:
            log.warning("farewells ignored path=%s reason=%s", self._path, error)
            return ()

    def write(self, partings: tuple[Parting, ...]) -> bool:
        """Keep these, and tell whether that is done, which it is not where the machine refuses."""
        return keep_file(self._path, msgspec.msgpack.encode(partings), FaultSite.FAREWELLS, self._faults)


class FarewellUpkeep:
    """Sends and receives the farewells of one node.

    `is_asked`: the node's stop shall be a farewell.
    `compared`: the live members with which all copies here have been compared."""

    def __init__(
        self,
        core: ProtocolEngine,
        view: OverlayView,
        messenger: Messenger,
        clock: Clock,
        files: OverlayFiles,
        file: FarewellFile,
    ) -> None:
        self._core, self._clock, self._files = core, clock, files
        self._view, self._messenger, self._file = view, messenger, file
        self._book, self._kept_version = view.farewells, view.farewells.version
        core.own.say_farewell(self._book.proof(view.node_id))
        self.is_asked, self.compared = False, frozenset[NodeId]()
        messenger.serve(FarewellNews, self._answer)

    async def run(self) -> None:
        """Keep what changes, and return after a farewell, until cancelled."""
        while True:
            await self._keep()
            if self._book.proof(self._view.node_id) is not None:
                await self._come_back()
            await asyncio.sleep(LOOK_S)

    def going_on(self) -> frozenset[NodeId]:
        """Return the members of a small network that would go on without this node; none while it is away itself."""
        view, me, members = self._view, self._view.node_id, self._view.members()
        if me not in members or me in view.away() or len(members) > FEW_MEMBERS:
            return frozenset()
        return view.live().intersection(members) - view.away() - {me}

    async def say(self) -> bool:
        """Sign the last heartbeat with a farewell and send it to the members that go on; False where none is due."""
        now, going_on = self._clock(), self.going_on()
        if not (self.is_asked and going_on):
            return False
        said = self._core.own.part(now)
        self._book.part(said, (peer for peer in self._view.members() if peer != self._view.node_id))
        if not await self._keep():
            return False
        self._core.own.say_farewell(said)
        self._core.leave(now)
        heard = await self._tell(going_on)
        log.info("farewell said members=%d acknowledged=%d", len(going_on), len(heard))
        return True

    def why_not_declare(self) -> str:
        """Say why this node may not go on without silent members, "" where it may."""
        view = self._view
        if view.first_meeting.is_lost:
            return "this node has met nobody of its network: stop it, then run `dse-node network begin` again"
        if len(view.members()) > FEW_MEMBERS:
            return (
                f"this network has more than {FEW_MEMBERS} members: a publisher takes out those that will not be back"
            )
        is_breaker = view.strategy.tie_breaker == view.node_id.hex()
        return (
            "" if is_breaker else "only the node that breaks ties goes on alone; a publisher's key makes this node it"
        )

    async def declare(self, peers: Collection[NodeId]) -> None:
        """Count these members as if they had said farewell, until they are heard: this node's owner wants that."""
        for peer in peers:
            if (beat := self._view.peers.heartbeat(peer)) is not None:
                where = bytes.fromhex(self._view.strategy.network)
                self._book.part(Farewell(where, beat.public_key, beat.sequence, int(self._clock().wall), DECLARED))
        await self._keep()
        self._view.refresh()
        log.warning("goes on without silent members, as its owner wants count=%d", len(peers))

    async def _come_back(self) -> None:
        """Take the vote back where that is allowed, once a member that goes on, or else all others, acknowledged it."""
        view, me, now = self._view, self._view.node_id, self._clock()
        live, members, strategy = view.live(), view.members(), view.strategy
        gone = {NodeId(bytes.fromhex(peer)) for peer in (*strategy.blocked, *(each.id for each in strategy.gone))}
        is_few = len(members) <= FEW_MEMBERS
        others = live.intersection(members) - {me}
        breaker, going_on = self._breaker(me), frozenset(self._counting(others))
        going_on = going_on & breaker if breaker else going_on
        if is_few and not self._book.is_over(others, going_on, gone, self.compared):
            return
        if self._core.own.says.farewell is not None:
            self._core.own.come_back(now)
        heard = await self._tell(going_on & self.compared if going_on else others) if is_few else others
        if not (heard if going_on else heard >= others):
            return
        self._book.returned(me, now.wall)
        await self._keep()
        view.refresh()
        log.info("this node votes again after its farewell")

    def _counting(self, peers: Iterable[NodeId]) -> Iterator[NodeId]:
        """Leave out of some peers those that are away, by the book or by their own newest heartbeats."""
        away, heartbeat = self._view.away(), self._view.peers.heartbeat
        return (peer for peer in peers if peer not in away and not ((beat := heartbeat(peer)) and beat.farewell))

    def _breaker(self, returning: NodeId) -> frozenset[NodeId]:
        """Return the member that may have gone on alone, so that nobody may take a `returning` one back without it."""
        return self._view.votes.goes_alone({*self._counting(self._view.members())} - {returning})

    async def _answer(self, peer: NodeId, news: FarewellNews) -> Done:
        view = self._view
        if peer in view.members() and len(view.members()) <= FEW_MEMBERS:
            self._core.hear(self._clock(), news.heartbeats)
            view.refresh()
            for beat in map(view.peers.heartbeat, view.members()):
                if beat is not None and beat.farewell is not None:
                    self._book.part(beat.farewell)
            view.refresh()
            if next(self._counting([peer]), None) and not self._breaker(peer) <= {view.node_id}:
                raise BadMessage(peer.hex(), "the member that breaks ties has to hear of your return, and is not here")
        if not await self._keep():
            raise BadMessage(peer.hex(), "farewells cannot be kept here just now; say it again")
        return Done()

    async def _tell(self, peers: Collection[NodeId]) -> set[NodeId]:
        """Send peers the newest heartbeats of all members, this node's last; return those that have them on disk."""
        known = (self._core.members.find(peer) for peer in self._view.members())
        raws = (*(each.opened.raw for each in known if each is not None), self._core.own.raw)
        heard = set[NodeId]()
        async with asyncio.TaskGroup() as tasks:
            for peer in sorted(peers):
                tasks.create_task(self._ask(peer, FarewellNews(raws[-FEW_MEMBERS:]), heard), name="farewell-news")
        return heard

    async def _ask(self, peer: NodeId, news: FarewellNews, heard: set[NodeId]) -> None:
        for _ in range(TRIES):
            try:
                await self._messenger.ask(peer, news, Done, timeout_s=ASK_S)
                heard.add(peer)
                return
            except RemoteError as error:
                log.debug("farewell not heard by=%s reason=%s", peer.hex(), error)

    async def _keep(self) -> bool:
        """Write what changed, and tell whether all is on disk."""
        version = self._book.version
        if version != self._kept_version:
            if not await self._files.run(self._file.write, self._book.items()):
                return False
            self._kept_version = version
        return True
