"""Keeps this node's strategy the newest that peers have, and puts what it says into effect.

Tells those whom a strategy blocks that there is a newer strategy, so that they read it and stop by themselves.

Nobody speaks with them otherwise, so they would only see everybody fall silent. The few members nearest to the one that
is blocked tell it, once; whoever is asked for strategies, then or later, answers also those whom it blocks
(`messenger.py`).

Keeps what this node's heartbeats announce of its slots, its work and its machine up to date.
"""

import asyncio
from collections.abc import Callable, Iterable
from math import inf
from random import Random

from dht.admission.attester_order import nearest_attesters
from dht.admission.inviters import Inviters
from dht.clock import Clock
from dht.errors import RemoteError
from dht.identity.puzzle_solver import PuzzleSolver
from dht.keys import NodeId, Slot
from dht.messages import StrategyDigest
from dht.overlay.messenger import Messenger
from dht.overlay.point_records import PointRecords
from dht.overlay.strategy_dissemination import StrategyDissemination, StrategySync
from dht.ownership.view import OverlayView
from dht.protocol.engine import ProtocolEngine
from dht.protocol.network_rules import StrategyRules
from dht.slot_set import encode_positions, encode_slots
from dht.strategy.document import SignedStrategy, Strategy
from dht.strategy.history import StrategyHistory
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Contact
from dht.wire.heartbeat import Condition, Graces, Load
from dht.wire.invitation import MARK_BYTES
from dht.wire.room_step import RoomStep


class HeartbeatAnnouncer:
    """Keeps the heartbeats of a node true. `kick`: has the protocol engine send what it has."""

    def __init__(self, core: ProtocolEngine, view: OverlayView, kick: Callable[[], None]) -> None:
        self._core, self._view, self._kick = core, view, kick
        self._due = 0
        self.load, self.condition, self._room_step = Load(), Condition(), RoomStep()

    def set(self, ready: frozenset[Slot], due: int, load: Load | None, stored_only: frozenset[Slot]) -> None:
        """Announce for which slots this node is ready, how many URLs are due, how busy it is (None: as before), and
        which of the slots it does not index."""
        self._due, self.load = due, load or self.load
        if self._view.ready_peers.set_own(ready, self.load, stored_only):
            self._view.refresh()
        self.announce()

    def tell(self, condition: Condition) -> None:
        """Announce how this node is."""
        self.condition = condition
        self.announce()

    def take_part_with(self, room_step: RoomStep) -> None:
        """Announce how large a part of the records this node takes."""
        self._room_step = room_step
        self.announce()
        self._view.refresh()

    def announce(self) -> None:
        """Announce slots and leases as they are now, and the number of slots that they count by: all of one moment."""
        while True:
            bits, own, leased = self._view.strategy.slot_bits, self._view.ready_peers, self._view.leases()
            if self._view.strategy.slot_bits == bits:
                break
        ready = frozenset(slot for slot in own.own if slot < 1 << bits)
        words = (
            encode_slots(ready),
            encode_positions(leased, ready),
            encode_positions(own.own_stored_only & ready, ready),
        )
        self._core.own.announce(
            *words, due=self._due, load=self.load, condition=self.condition, slot_bits=bits, room_step=self._room_step
        )
        self._kick()


TELLERS = 4  # members, of which one may be away and others see other members
WAITING = 64  # told one after the other
WITHIN_S = 4.0


class BlockNotice:
    """Tells them for one node."""

    def __init__(self, strategies: StrategyHistory, view: OverlayView, messenger: Messenger) -> None:
        self._strategies, self._view, self._messenger = strategies, view, messenger
        self._to_tell: asyncio.Queue[Contact] = asyncio.Queue(WAITING)

    def note(self, blocked: Iterable[Contact]) -> None:
        """Take those in who were known and are blocked from now on, where it is this node's part to tell them."""
        members: set[NodeId] = set(self._view.live()) | {self._view.node_id}
        for contact in blocked:
            tellers = nearest_attesters(contact.node_id, members - {contact.node_id}, TELLERS)
            if self._view.node_id in tellers and not self._to_tell.full():
                self._to_tell.put_nowait(contact)

    async def run(self) -> None:
        """Tell one after the other, until cancelled."""
        while True:
            contact, newest = await self._to_tell.get(), self._strategies.newest
            ours = StrategyDigest(newest.version, bytes.fromhex(self._strategies.newest_digest))
            try:
                await self._messenger.ask_at(contact, ours, StrategyDigest, timeout_s=WITHIN_S)
            except RemoteError:
                continue  # it hears of it when it asks


class StrategyUpkeep:
    """Follows the strategies in everything that a running node does."""

    def __init__(
        self,
        strategies: StrategyHistory,
        core: ProtocolEngine,
        view: OverlayView,
        announcer: HeartbeatAnnouncer,
        messenger: Messenger,
        records: PointRecords,
        clock: Clock,
        solver: PuzzleSolver,
    ) -> None:
        self._strategies, self._core, self._clock = strategies, core, clock
        self._view, self._announcer, self._solver = view, announcer, solver
        self._allow_private, node_id = core.rules.policy.allow_private, core.node_id
        self.sync = StrategySync(strategies, messenger, self.apply)
        self.block_notice = BlockNotice(strategies, view, messenger)
        self.dissemination = StrategyDissemination(
            strategies,
            self.sync,
            messenger,
            records,
            lambda: sorted(view.live() - {node_id}),
            clock,
            Random(node_id),  # whom it compares strategies with needs to be no secret
        )
        self._in_force = self._read()

    def adopt(self, signed: SignedStrategy) -> Strategy:
        """Adopt a strategy that a publisher hands to this node; return the newest; raises BadStrategy."""
        if self._strategies.adopt(signed):
            self.apply()
        return self._strategies.newest

    def follow_clock(self) -> None:
        """Put into effect what came into force by the passing of time; call it about once a second."""
        self._strategies.write_what_waits()
        if self._in_force != self._read():
            self.apply()

    def apply(self) -> None:
        """Put the newest version into packets, and the one in force into effect."""
        self._in_force = self._read()
        newest, (current, bits) = self._strategies.newest, self._in_force
        policy = AddressPolicy(current.declared_prefixes, self._allow_private)
        digest = bytes.fromhex(self._strategies.newest_digest)
        blocked = frozenset(NodeId(bytes.fromhex(peer)) for peer in current.blocked)
        known = (self._core.members.find(peer) for peer in blocked - self._core.members.blocked)
        self.block_notice.note([each.opened.contact for each in known if each is not None])
        graces = Graces(current.stable_grace_s, current.laptop_grace_s)
        gone = {NodeId(bytes.fromhex(each.id)): float(each.at) for each in current.gone}
        put_out = blocked, graces, bits, inviters_by(current), gone, self._strategies.has
        self._core.set_strategy(StrategyRules(newest.version, digest, current.slot_bits, policy, *put_out))
        self._solver.want(max(newest.puzzle_bits, current.puzzle_bits))
        self._view.refresh()
        self._announcer.announce()

    def _read(self) -> tuple[Strategy, int]:
        """Read what depends on the clock: the strategy in force, and the work that identities must have behind them."""
        now = self._clock()
        return self._strategies.current(now), self._strategies.puzzle_bits(now)


def inviters_by(strategy: Strategy) -> Inviters:
    """Return who may invite by a strategy: its publishers and admitters; and what of that it takes back. Where this
    program does not know the admission, newcomers need an invitation: the strictest rule that it knows."""
    until = {bytes.fromhex(each.key): each.until or inf for each in strategy.admitters}
    until |= {bytes.fromhex(key): inf for key in strategy.publishers}
    revoked = {bytes.fromhex(each.id)[:MARK_BYTES]: float(each.from_at) for each in strategy.revoked}
    return Inviters(strategy.admission != "attested", until, revoked)
