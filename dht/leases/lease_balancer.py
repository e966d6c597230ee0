"""Shares work with other owners: what balance.py goes by is gathered from view, leases and crawler, and done.

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
    LOOK_S,
    MOVE_S,
    BalanceOutlook,
    BalanceRules,
    LeaseMove,
    LoadBalance,
    LoadSnapshot,
    staying,
)
from dht.messages import LeaseRelease
from dht.ownership.view import OverlayView

OTHERS = 8  # peers compared besides those that this node shares slots with


class CrawlWork(Protocol):
    """What the leases go by: the work in the slots that this node holds."""

    def due(self) -> Mapping[Slot, int]:
        """URLs that politeness lets be fetched soon, by held slot."""

    @property
    def is_long_paused(self) -> bool:
        """Whether nothing will be crawled here for a while: whoever else can had better hold the slots."""

    def is_busy(self, slot: Slot) -> bool:
        """Whether something begun under the slot's lease is still going on."""


@dataclass(frozen=True, slots=True)
class BalanceReport:
    """The state of sharing, for people. `moves`: (Unix seconds, what moved), oldest first; `lent`: slots that are with
    others because of a move that this node heard of, `borrowed`: that are here because of one."""

    outlook: BalanceOutlook
    moves: tuple[tuple[float, LeaseMove], ...] = ()
    lent: int = 0
    borrowed: int = 0


class LeaseBalancer:
    """Moves leases for one node; does nothing until it is given the `work` to go by."""

    def __init__(self, view: OverlayView) -> None:
        self._view = view
        self._balancer = LoadBalance()
        self._looks = 0
        self._look_at: float | None = None
        self.work: CrawlWork | None = None

    def step(self, now: Now, leases: LeaseHolder) -> None:
        """Look if it is time to."""
        if self._look_at is None:
            self._look_at = now.steady + LOOK_S * (1 + self._view.node_id[-1] / 256)
        if self.work is not None and self.work.is_long_paused:
            self._lend_all(now, leases)
        if self.work is None or self.work.is_long_paused or now.steady < self._look_at:
            return
        self._look_at = now.steady + LOOK_S
        self._looks += 1
        strategy = self._view.strategy
        rules = BalanceRules(strategy.balance_queue, strategy.balance_ratio)
        due = self._due(now, leases, self.work)
        self._keep(now, leases, due, rules)
        lot = self._balancer.look(now.steady, due, rules)
        for slot in lot.slots if lot is not None else ():
            assert lot is not None
            leases.lend(now, slot, lot.peer, MOVE_S)

    def _lend_all(self, now: Now, leases: LeaseHolder) -> None:
        """This node rests: others take its slots, a different one each as far as there are several. What was lent to it
        stays, or two that rest would hand it to and fro."""
        borrowed = leases.borrowed(now)
        for slot in leases.held(now):
            others = [peer for peer in leases.team(slot) if peer != self._view.node_id]
            heirs = [peer for peer in others if self._view.is_ready(peer, slot)]
            if heirs and slot not in borrowed:
                leases.lend(now, slot, heirs[slot % len(heirs)], MOVE_S)

    def heard(self, now: Now, peer: NodeId, release: LeaseRelease) -> None:
        """A peer moved slots to somebody; to us, that is a move of our pair."""
        if any(heir == self._view.node_id for _, heir, _ in release.heirs):
            self._balancer.met(peer, now.steady)

    def report(self, now: Now, leases: LeaseHolder | None) -> BalanceReport:
        """As of now."""
        if leases is None:
            return BalanceReport(BalanceOutlook())
        moves = tuple((now.wall - (now.steady - at), lot) for at, lot in self._balancer.moves)
        return BalanceReport(self._balancer.outlook, moves, len(leases.lent(now)), len(leases.borrowed(now)))

    def _due(self, now: Now, leases: LeaseHolder, work: CrawlWork) -> LoadSnapshot:
        view, held, due = self._view, leases.held(now), work.due()
        givers = {slot: move.giver for slot, move in leases.borrowed(now).items()}

        def heirs(slot: Slot) -> list[NodeId]:
            return [peer for peer in leases.heirs(slot, view) if peer != givers.get(slot)]

        siblings = {peer for slot in held for peer in leases.team(slot)} - {view.node_id}
        beats = {peer: view.heartbeat(peer) for peer in siblings | self._some(siblings)}
        there = {peer: beat.due for peer, beat in sorted(beats.items()) if beat is not None and beat.member}
        return LoadSnapshot({slot: due.get(slot, 0) for slot in held}, there, heirs)

    def _some(self, siblings: set[NodeId]) -> set[NodeId]:
        """A few other live peers, others at each look."""
        salt = self._looks.to_bytes(8, "big")
        rest = self._view.live() - siblings - {self._view.node_id}
        return set(sorted(rest, key=lambda peer: blake2b(peer, digest_size=8, salt=salt).digest())[:OTHERS])

    def _keep(self, now: Now, leases: LeaseHolder, due: LoadSnapshot, rules: BalanceRules) -> None:
        """Prolong the moves that end before the next look, where their slots are better kept."""
        ending = [s for s, move in leases.borrowed(now).items() if move.until <= now.steady + 2 * LOOK_S]
        homes = {slot: leases.preferred(slot, self._view) for slot in ending}
        known = {slot: home for slot, home in homes.items() if home is not None}
        for slot in sorted(staying(due, rules, known, due.here)):
            leases.keep(now, slot, MOVE_S)
