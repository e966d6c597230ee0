"""Shares work with other owners: gathers what the load balance goes by, from view, leases and crawler, and does it.

Once a minute, at a second of its own in each node. The work of others is read from their heartbeats.

Which leases move from a busy node to less busy live owners of the same slots: Li Wei's β, from local knowledge.

Pure: `now` is an argument. *Due work* is the number of URLs that politeness lets be fetched soon. A node compares
itself with those it shares slots with and some others. It moves work where it has more than N, and more than α times
the work of the least busy of them. Then the least busy live owner of its slots gets the share β = ½ − 1/(2K) of the
work, K = mine/theirs, so that both have the same. A minute later it compares again. Thus work flows on from node to
node, as far as it has to. Slots go whole: one that holds nearly everything cannot be balanced this way; such a site has
to be spread. A pair of nodes makes one move in PAIR_S, and nothing goes back to where it came from for MOVE_S. Source:
Li Wei 2006.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Protocol

from dht.amounts import counted
from dht.clock import Now
from dht.keys import NodeId, Slot
from dht.leases.lease_holder import LeaseHolder
from dht.messages import LeaseRelease
from dht.ownership.view import OverlayView

BALANCE_EVERY_S = 60.0  # between two comparisons: a move shows in everybody's heartbeats within half of it
PAIR_S = 600.0  # between two moves of one pair
MOVE_S = 1800.0  # how long a move holds; the slot's preferred owner gets it back then, unless it is still busier
STEP = 1.05  # K of a pair between which something moves at all, once the busiest and the least busy are α apart
MOST_SLOTS = 1024  # in one move; a quarter of what one message of leases may name
NOTED = 8  # moves kept for people to read
SHOWN = 4  # bytes of a node id


@dataclass(frozen=True, slots=True)
class BalanceRules:
    """When work is worth sharing: from N URLs on, and above α times what the least busy peer has."""

    queue: int
    ratio: float


@dataclass(frozen=True, slots=True)
class LeaseMove:
    """Slots that go to one peer, and why: the due work of both before, K and β."""

    peer: NodeId
    slots: tuple[Slot, ...]
    here: int
    there: int

    @property
    def k(self) -> float:
        """How many times the other's due work this node had."""
        return self.here / max(1, self.there)

    @property
    def beta(self) -> float:
        """The share of its due work that this node wanted to hand over."""
        return share(self.here, self.there)

    @property
    def reason(self) -> str:
        """The reason in one line, for people."""
        return (
            f"{counted(len(self.slots), 'slot')} lent to {self.peer.hex()[: 2 * SHOWN]}…: "
            f"{counted(self.here, 'URL')} due here, {self.there:,} there, K = {self.k:.1f}, beta = {self.beta:.2f}"
        )


@dataclass(frozen=True, slots=True)
class LoadSnapshot:
    """The values that one comparison goes by.

    `here`: due work by held slot.
    `there`: due work of the live peers compared, as they report it.
    `heirs(slot)`: ready live owners, without the one that lent the slot to this node a short while ago."""

    here: Mapping[Slot, int]
    there: Mapping[NodeId, int]
    heirs: Callable[[Slot], Sequence[NodeId]]

    @property
    def mine(self) -> int:
        """All due work of this node."""
        return sum(self.here.values())


@dataclass(frozen=True, slots=True)
class BalanceOutlook:
    """The last comparison, for people: due work here, its mean over the peers compared, why nothing moves (or what
    did)."""

    mine: int = 0
    mean: float = 0.0
    peers: int = 0
    reason: str = "not looked yet"


def share(mine: int, theirs: int) -> float:
    """Return β = ½ − 1/(2K) for K = mine/theirs; 0 where the other has as much or more."""
    return max(0.0, 0.5 - max(1, theirs) / (2 * max(1, mine)))


class LoadBalance:
    """Compares now and then, and remembers what moved to whom."""

    def __init__(self) -> None:
        self._paired_until: dict[NodeId, float] = {}
        self.moves: deque[tuple[float, LeaseMove]] = deque(maxlen=NOTED)  # (steady time, what moved), oldest first
        self.outlook = BalanceOutlook()

    def note_move(self, peer: NodeId, now: float) -> None:
        """Note that something moved between this node and a peer: no other move of the pair for PAIR_S."""
        self._paired_until[peer] = now + PAIR_S

    def step(self, now: float, load: LoadSnapshot, rules: BalanceRules) -> LeaseMove | None:
        """Return what to move now, if anything. `now`: steady seconds."""
        self._paired_until = {peer: until for peer, until in self._paired_until.items() if until > now}
        move = plan(load, rules, self._paired_until.keys())
        if move is not None:
            self.note_move(move.peer, now)
            self.moves.append((now, move))
        mean = sum(load.there.values()) / len(load.there) if load.there else 0.0
        reason = move.reason if move is not None else why_not(load, rules, self._paired_until.keys())
        self.outlook = BalanceOutlook(load.mine, mean, len(load.there), reason)
        return move


def slots_to_keep(
    load: LoadSnapshot, rules: BalanceRules, homes: Mapping[Slot, NodeId], work: Mapping[Slot, int]
) -> set[Slot]:
    """Return which lent slots whose time is over are better kept.

    That is where their preferred owner is busy, and this node is not α times as busy. `homes`: each such slot's
    preferred owner; `work`: what is due in it."""
    mine, there = load.mine, dict(load.there)
    kept = set()
    for slot, home in sorted(homes.items()):
        theirs = there.get(home, 0)
        if theirs > rules.queue and mine <= rules.ratio * theirs:
            kept.add(slot)
        else:
            mine, there[home] = mine - work.get(slot, 0), theirs + work.get(slot, 0)
    return kept


def plan(load: LoadSnapshot, rules: BalanceRules, recent: Collection[NodeId] = ()) -> LeaseMove | None:
    """Return what to move by β: to the least busy peer that can take anything, the largest slots that fit.

    One peer at a time: the next comparison sees what others moved to it meanwhile. `recent`: peers with which something
    moved lately."""
    if not _is_uneven(load, rules):
        return None
    offers = _offers(load)
    for peer in sorted(offers.keys() - set(recent), key=lambda p: (load.there[p], p)):
        if load.mine <= STEP * load.there[peer]:
            return None
        if slots := _fit(offers[peer], load.here, share(load.mine, load.there[peer]) * load.mine):
            return LeaseMove(peer, tuple(slots), load.mine, load.there[peer])
    return None


def why_not(load: LoadSnapshot, rules: BalanceRules, recent: Collection[NodeId] = ()) -> str:
    """Return why a comparison moved nothing, in one line."""
    here, offers = f"{counted(load.mine, 'URL')} due here", _offers(load)
    if load.mine <= rules.queue:
        return f"{here}, within the limit of {rules.queue:,}"
    if not load.there:
        return f"{here}, and no peer to share them with"
    if not _is_uneven(load, rules):
        least = min(load.there.values())
        return f"{here}, {least:,} at the least busy peer: {load.mine / max(1, least):.1f} times, limit {rules.ratio:g}"
    if not offers:
        return f"{here}, in slots without another ready live owner"
    least_busy = min(offers, key=lambda p: (load.there[p], p))
    if load.mine <= STEP * load.there[least_busy]:
        return f"{here}, and the other owners of these slots are as busy: {load.there[least_busy]:,} at the least"
    if least_busy in recent:
        return f"{here}; with {least_busy.hex()[: 2 * SHOWN]}… something moved within {PAIR_S / 60:.0f} minutes"
    largest = max(load.here.values())
    return f"{here}, and no slot fits: the largest has {largest:,}; a site as large as that has to be spread"


def _is_uneven(load: LoadSnapshot, rules: BalanceRules) -> bool:
    return load.mine > rules.queue and bool(load.there) and load.mine > rules.ratio * max(1, min(load.there.values()))


def _offers(load: LoadSnapshot) -> dict[NodeId, list[Slot]]:
    """Which of the slots with work each peer could take, most work first."""
    offers: dict[NodeId, list[Slot]] = {}
    for slot in sorted((s for s, count in load.here.items() if count), key=lambda s: (-load.here[s], s)):
        for peer in load.heirs(slot):
            if peer in load.there:
                offers.setdefault(peer, []).append(slot)
    return offers


def _fit(slots: Iterable[Slot], work: Mapping[Slot, int], room: float) -> list[Slot]:
    """Slots, in the order given, whose work together is at most `room`."""
    chosen: list[Slot] = []
    for slot in slots:
        if work[slot] <= room and len(chosen) < MOST_SLOTS:
            chosen.append(slot)
            room -= work[slot]
    return chosen


OTHERS = 8  # peers compared besides those that this node shares slots with


class CrawlWork(Protocol):
    """The work in the slots that this node holds, which the leases go by."""

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
        """Let others take all slots, a different one each as far as there are several. Slots that others lent to this
        node stay, or two paused nodes would hand them to and fro."""
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
