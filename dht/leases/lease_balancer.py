"""Shares work with other owners: gathers what the load balance goes by, from view, leases and crawler, and does it.

Once a minute, at a second of its own in each node. What others have to do is what their heartbeats say.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Protocol

from dht.clock import Now
from dht.keys import NodeId, Slot
from dht.leases.lease_holder import LeaseHolder
from dht.leases.load_balance import (
    BALANCE_EVERY_S,
    MOVE_S,
    BalanceOutlook,
    BalanceRules,
    LeaseMove,
    LoadBalance,
    LoadSnapshot,
    slots_to_keep,
)
from dht.messages import LeaseRelease
from dht.ownership.view import OverlayView

OTHERS = 8  # peers compared besides those that this node shares slots with


class CrawlWork(Protocol):
    """What the leases go by: the work in the slots that this node holds."""

    def due(self) -> Mapping[Slot, int]:
        """Return how many URLs politeness lets be fetched soon, by held slot."""

    @property
    def is_long_paused(self) -> bool:
        """Whether nothing will be crawled here for a while: whoever else can had better hold the slots."""

    def is_busy(self, slot: Slot) -> bool:
        """Tell whether something begun under the slot's lease is still going on."""


class NoWork:
    """The work of a node that does not crawl."""

    is_long_paused = False

    def due(self) -> Mapping[Slot, int]:
        return {}

    def is_busy(self, slot: Slot) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class BalanceReport:
    """How this node shares work, for people.

    `moves`: (Unix seconds, what moved), oldest first; `lent`: slots that are with others because of a transfer that
    this node heard of; `borrowed`: slots that are here because of one."""

    outlook: BalanceOutlook
    moves: tuple[tuple[float, LeaseMove], ...] = ()
    lent: int = 0
    borrowed: int = 0


class LeaseBalancer:
    """Moves leases for one node, by what is due here and elsewhere."""

    def __init__(self, view: OverlayView) -> None:
        self._view = view
        self._balance = LoadBalance()
        self._rounds = 0
        self._due_at: float | None = None

    def step(self, now: Now, leases: LeaseHolder, work: CrawlWork) -> None:
        """Compare once a minute, and lend what should move; while the crawl is paused for long, lend everything."""
        if self._due_at is None:
            self._due_at = now.steady + BALANCE_EVERY_S * (1 + self._view.node_id[-1] / 256)
        if work.is_long_paused:
            self._lend_all(now, leases)
        elif now.steady >= self._due_at:
            self._due_at = now.steady + BALANCE_EVERY_S
            self._rounds += 1
            self._compare(now, leases, work)

    def hear_release(self, now: Now, peer: NodeId, release: LeaseRelease) -> None:
        """Take a peer's word that it moved slots to somebody; to this node, that is a move of the pair."""
        if any(heir == self._view.node_id for _, heir, _ in release.heirs):
            self._balance.note_move(peer, now.steady)

    def report(self, now: Now, leases: LeaseHolder) -> BalanceReport:
        """Describe the last comparison, what moved, and what is lent and borrowed now."""
        moves = tuple((now.wall - (now.steady - at), move) for at, move in self._balance.moves)
        return BalanceReport(self._balance.outlook, moves, len(leases.transfers.lent(now)), len(leases.borrowed(now)))

    def _compare(self, now: Now, leases: LeaseHolder, work: CrawlWork) -> None:
        strategy = self._view.strategy
        rules = BalanceRules(strategy.balance_queue, strategy.balance_ratio)
        load = self._snapshot(now, leases, work)
        self._prolong(now, leases, load, rules)
        move = self._balance.step(now.steady, load, rules)
        if move is not None:
            for slot in move.slots:
                leases.lend(now, slot, move.peer, MOVE_S)

    def _lend_all(self, now: Now, leases: LeaseHolder) -> None:
        """Let others take all slots, a different one each as far as there are several. What was lent to this node
        stays, or two that are paused would hand it to and fro."""
        borrowed = leases.borrowed(now)
        for slot in leases.held(now):
            heirs = leases.heirs(slot, self._view)
            if heirs and slot not in borrowed:
                leases.lend(now, slot, heirs[slot % len(heirs)], MOVE_S)

    def _snapshot(self, now: Now, leases: LeaseHolder, work: CrawlWork) -> LoadSnapshot:
        view, held, due = self._view, leases.held(now), work.due()
        givers = {slot: transfer.giver for slot, transfer in leases.borrowed(now).items()}

        def heirs(slot: Slot) -> list[NodeId]:
            return [peer for peer in leases.heirs(slot, view) if peer != givers.get(slot)]

        siblings = {peer for slot in held for peer in leases.voter.team(slot)} - {view.node_id}
        beats = {peer: view.peers.heartbeat(peer) for peer in siblings | self._some(siblings)}
        there = {peer: beat.due for peer, beat in sorted(beats.items()) if beat is not None and beat.member}
        return LoadSnapshot({slot: due.get(slot, 0) for slot in held}, there, heirs)

    def _some(self, siblings: set[NodeId]) -> set[NodeId]:
        """A few other live peers, different ones each minute."""
        salt = self._rounds.to_bytes(8, "big")
        rest = self._view.live() - siblings - {self._view.node_id}
        return set(sorted(rest, key=lambda peer: blake2b(peer, digest_size=8, salt=salt).digest())[:OTHERS])

    def _prolong(self, now: Now, leases: LeaseHolder, load: LoadSnapshot, rules: BalanceRules) -> None:
        """Prolong the loans that end before the next comparison, where their slots are better kept."""
        soon = now.steady + 2 * BALANCE_EVERY_S
        ending = [slot for slot, transfer in leases.borrowed(now).items() if transfer.until <= soon]
        homes = {slot: leases.turns.preferred(slot, self._view) for slot in ending}
        known = {slot: home for slot, home in homes.items() if home is not None}
        for slot in sorted(slots_to_keep(load, rules, known, load.here)):
            leases.prolong(now, slot, MOVE_S)
