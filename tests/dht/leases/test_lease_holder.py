"""Leases: never two holders in a connected network, and never long without one."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dht import NodeId, Now, Slot
from dht.leases.lease_holder import RENEW_S, LeaseHolder
from dht.leases.quorum_round import QuorumRound
from dht.leases.voter import Team, majority, may_miss, team_digest
from dht.messages import Claim, LeaseRelease, LeaseReply, LeaseRequest
from tests.parameters import proved

SLOT_BITS = 4
SLOTS = range(1 << SLOT_BITS)
WALL = 1_700_000_000.0


@dataclass
class Peer:
    """One node: what it believes, and its leases. Nothing here is part of the code under test."""

    id: NodeId
    leases: LeaseHolder
    sees: set[NodeId]
    knows: set[NodeId] = field(default_factory=set)
    up: bool = True
    heard_at: dict[NodeId, float] = field(default_factory=dict)
    told: dict[NodeId, frozenset[Slot]] = field(default_factory=dict)
    next_step: float = 0.0
    last_vote: float = -1e9
    open: QuorumRound | None = None  # asked and not yet finished
    fell_back: bool = False
    busy: set[Slot] = field(default_factory=set)


class Town:
    """Nodes, views that lag, messages that are lost, and late by up to `late` seconds a way; time advances by events of
    a seeded random."""

    def __init__(
        self, seed: int, count: int, *, replicas: int = 3, loss: float = 0.0, late: float = 0.0, settle: float = 3.0
    ) -> None:
        self.rng = random.Random(seed)
        self.now = 0.0
        self.replicas = replicas
        self.loss = loss
        self.late = late
        self.deaf = False  # whether nobody learns from heartbeats who holds what
        self.mail: list[tuple[float, Callable[[], None]]] = []
        self.settle = settle
        self.peers: dict[NodeId, Peer] = {}
        self.cut: set[NodeId] = set()
        self.old: set[NodeId] = set()  # who has been here for long enough to decide; nobody: no such rule
        self.doubles: list[tuple[float, Slot]] = []
        self.asked = 0  # requests sent
        self.chosen: dict[NodeId, list[NodeId]] = {}  # whom each asked first, the last time that it asked anybody
        self.agreed_since = 0.0
        for _ in range(count):
            self.start(NodeId(self.rng.randbytes(20)))

    def clock(self) -> Now:
        return Now(WALL + self.now, self.now)

    def start(self, node_id: NodeId, abstain_until: float = 0.0) -> Peer:
        leases = LeaseHolder(node_id, SLOT_BITS, abstain_until=abstain_until, not_before=self.now + self.settle)
        peer = Peer(node_id, leases, {node_id})
        peer.next_step = self.now + self.rng.random()
        self.peers[node_id] = peer
        self.look(peer)
        return peer

    def kill(self, peer: Peer) -> None:
        peer.up = False

    def restart(self, peer: Peer) -> Peer:
        """Kill -9 and start again: votes are forgotten, so it abstains until the last one has run out."""
        self.kill(peer)
        reborn = self.start(peer.id, abstain_until=peer.last_vote + 30.0)
        reborn.last_vote = peer.last_vote  # noted on disk
        return reborn

    def teams(self, peer: Peer) -> dict[Slot, Team]:
        """The live ones of the sticky owners, and stand-ins while fewer than two are live."""
        known = peer.sees | peer.knows
        teams: list[Team] = []
        for slot in SLOTS:
            order = sorted(known, key=lambda i: blake2b(i, digest_size=8, salt=bytes([slot])).digest())
            live = [i for i in order[: self.replicas] if i in peer.sees]
            stand_ins = [i for i in order[self.replicas :] if i in peer.sees]
            teams.append(tuple(live + stand_ins[: max(0, min(2, self.replicas) - len(live))]))
        return dict(zip(map(Slot, SLOTS), teams, strict=True))

    def look(self, peer: Peer) -> None:
        peer.leases.set_teams(self.clock(), self.teams(peer))

    def linked(self, a: Peer, b: Peer) -> bool:
        return a.up and b.up and ((a.id in self.cut) == (b.id in self.cut))

    def is_ready(self, viewer: Peer, peer: NodeId) -> bool:
        return peer == viewer.id or peer in viewer.sees

    def run(self, seconds: float, step: float = 0.25) -> None:
        end = self.now + seconds
        while self.now < end:
            self.now += step
            self.gossip()
            self.deliver()
            for peer in list(self.peers.values()):
                if peer.up and peer.next_step <= self.now:
                    peer.next_step = self.now + 0.75 + self.rng.random() / 2
                    self.turn(peer)
            self.watch()

    def gossip(self) -> None:
        """Heartbeats every 2.5 s on average, at most 2 s late; silence for 30 s means not live."""
        before = {p.id: (frozenset(p.sees), frozenset(p.knows)) for p in self.peers.values() if p.up}
        for viewer in self.peers.values():
            if not viewer.up:
                continue
            for other in self.peers.values():
                if other is viewer:
                    continue
                fresh = viewer.heard_at.get(other.id, -1e9)
                if self.linked(viewer, other) and self.rng.random() < (0.1 if fresh > 0 else 0.5):
                    viewer.heard_at[other.id] = self.now
                    viewer.knows |= other.knows | {other.id}
                    viewer.told[other.id] = frozenset(other.leases.held(self.clock()))
                alive = self.now - viewer.heard_at.get(other.id, -1e9) <= 30.0
                if alive != (other.id in viewer.sees):
                    (viewer.sees.add if alive else viewer.sees.discard)(other.id)
            if (frozenset(viewer.sees), frozenset(viewer.knows)) != before[viewer.id]:
                self.look(viewer)
        up = [p for p in self.peers.values() if p.up]
        if len({(frozenset(p.sees), frozenset(p.knows | {p.id})) for p in up}) > 1:
            self.agreed_since = self.now

    def eyes(self, peer: Peer) -> "Eyes":
        return Eyes(self, peer)

    def turn(self, peer: Peer) -> None:
        """Ask; where that did not do, ask those who were left out, later by all that messages may be late; finish."""
        if peer.open is None:
            peer.open, peer.fell_back = peer.leases.step(self.clock(), self.eyes(peer), peer.busy.__contains__), False
            self.ask_all(peer, peer.open, peer.open.requests)
            self.chosen[peer.id] = list(peer.open.requests) or self.chosen.get(peer.id, [])
            if peer.open.requests and self.late:
                return
        if not peer.fell_back:
            peer.fell_back = True
            more = peer.leases.fall_back(peer.open)
            self.ask_all(peer, peer.open, more)
            if more and self.late:
                return
        asked, peer.open = peer.open, None
        self.tell(peer, peer.leases.finish(self.clock(), asked))

    def ask_all(self, peer: Peer, asked: QuorumRound, requests: Mapping[NodeId, LeaseRequest]) -> None:
        for target, request in requests.items():
            self.asked += 1
            self.exchange(peer, asked, target, request)

    def tell(self, peer: Peer, releases: Mapping[NodeId, LeaseRelease]) -> None:
        for target, release in releases.items():
            other = self.peers[target]
            if self.linked(peer, other) and self.rng.random() >= self.loss:
                self.post(partial(self.hear_release, peer.id, other, release))

    def exchange(self, peer: Peer, asked: QuorumRound, target: NodeId, request: LeaseRequest) -> None:
        other = self.peers[target]
        if self.linked(peer, other) and self.rng.random() >= self.loss:
            self.post(partial(self.vote, peer, asked, other, request))

    def vote(self, peer: Peer, asked: QuorumRound, other: Peer, request: LeaseRequest) -> None:
        if not other.up:
            return
        reply = other.leases.answer(self.clock(), peer.id, request, self.eyes(other))
        if any(vote.binds for vote in reply.votes):
            other.last_vote = self.now
        if self.linked(peer, other) and self.rng.random() >= self.loss:
            self.post(partial(self.hear, peer, asked, other.id, LeaseReply(reply.votes)))

    def hear(self, peer: Peer, asked: QuorumRound, voter: NodeId, reply: LeaseReply) -> None:
        if peer.up and peer.open is asked:
            peer.leases.hear(self.clock(), asked, voter, reply)

    def hear_release(self, peer: NodeId, other: Peer, release: LeaseRelease) -> None:
        other.leases.hear_release(self.clock(), peer, release)

    def post(self, message: Callable[[], None]) -> None:
        """Deliver at once, or later where messages are late."""
        if self.late:
            self.mail.append((self.now + self.rng.uniform(0.0, self.late), message))
        else:
            message()

    def deliver(self) -> None:
        due = sorted(((at, n) for n, (at, _) in enumerate(self.mail) if at <= self.now))
        messages, self.mail = self.mail, [letter for letter in self.mail if letter[0] > self.now]
        for _, n in due:
            messages[n][1]()

    def holders(self) -> dict[Slot, list[NodeId]]:
        found: dict[Slot, list[NodeId]] = {Slot(slot): [] for slot in SLOTS}
        for peer in self.peers.values():
            if peer.up:
                for slot in peer.leases.held(self.clock()):
                    found[slot].append(peer.id)
        return found

    def watch(self) -> None:
        if self.now - self.agreed_since >= 10.0:
            self.doubles += [(self.now, slot) for slot, who in self.holders().items() if len(who) > 1]

    def vacant_throughout(self, seconds: float) -> set[Slot]:
        """Slots that nobody holds for so long; a slot that is handed over is nobody's for some seconds."""
        vacant = set(self.holders())
        for _ in range(int(seconds)):
            self.run(1.0)
            vacant -= {slot for slot, who in self.holders().items() if who}
        return vacant

    def complete(self) -> bool:
        return all(len(who) == 1 for who in self.holders().values())


class Eyes:
    """A node's view, as the leases look at it."""

    def __init__(self, town: Town, peer: Peer) -> None:
        self.town, self.peer = town, peer

    def is_ready(self, peer: NodeId, slot: Slot) -> bool:
        return self.town.is_ready(self.peer, peer)

    def ready(self, slot: Slot) -> Sequence[NodeId]:
        return [peer for peer in sorted(self.peer.sees) if self.town.is_ready(self.peer, peer)]

    def announced(self, slot: Slot) -> Sequence[NodeId]:
        if self.town.deaf:
            return ()
        return [other for other in sorted(self.peer.sees - {self.peer.id}) if slot in self.peer.told.get(other, ())]

    def seasoned(self, peers: Sequence[NodeId]) -> Sequence[NodeId]:
        """A newcomer takes all whom it found for older than itself."""
        old, me = self.town.old, self.peer.id
        return [peer for peer in peers if peer in old or (old and me not in old and peer != me)]


@pytest.mark.parametrize("seed", [0, *proved(1, 2)])
def test_a_newcomer_among_older_owners_gets_no_slot_until_it_is_one_of_them(seed: int):
    town = Town(seed, 4)
    town.run(60.0)
    town.old = set(town.peers)
    newcomer = town.start(NodeId(town.rng.randbytes(20)))
    town.run(60.0)  # teams have changed, and some voters abstain for a while
    for _ in range(10):
        town.run(12.0)
        assert town.complete()
        assert not newcomer.leases.held(town.clock())
    town.old |= {newcomer.id}  # the day has passed
    town.run(60.0)
    assert town.complete()
    assert newcomer.leases.held(town.clock())
    assert not town.doubles


@pytest.mark.parametrize("seed", [0, *proved(1, 2)])
def test_many_newcomers_at_once_leave_no_slot_without_a_holder_and_none_with_two(seed: int):
    town = Town(seed, 3)
    town.run(60.0)
    town.old = set(town.peers)
    for _ in range(4):
        town.start(NodeId(town.rng.randbytes(20)))
    town.run(90.0)
    for _ in range(10):
        town.run(12.0)
        assert town.complete()
    assert not town.doubles


@pytest.mark.parametrize("count", [2, 9, *proved(3, 5)])
def test_a_young_network_soon_has_one_holder_a_slot(count: int):
    town = Town(count, count)
    town.run(40.0)
    assert town.complete()
    assert not town.doubles


def test_leases_spread_evenly():
    town = Town(3, 4, replicas=4)
    town.run(60.0)
    shares = sorted(len(p.leases.held(town.clock())) for p in town.peers.values())
    assert shares[-1] <= 3 * len(SLOTS) // 4


@pytest.mark.parametrize("victim", [0, *proved(1, 2, 3, 4)])
def test_a_killed_holder_is_replaced_within_35_seconds(victim: int):
    town = Town(7, 5)
    town.run(60.0)
    town.kill(list(town.peers.values())[victim])
    town.run(35.0)
    assert town.complete()
    assert not town.doubles


def test_who_stops_hands_over_at_once():
    town = Town(8, 3)
    town.run(60.0)
    leaving = next(iter(town.peers.values()))
    town.tell(leaving, leaving.leases.give_up(town.clock()))
    town.kill(leaving)
    for peer in town.peers.values():
        peer.heard_at[leaving.id] = -1e9
    town.run(15.0)
    assert town.complete()


def moved(town: Town) -> tuple[Slot, NodeId, NodeId]:
    """Let a holder lend one of its slots to another live owner; the slot, the holder and the heir."""
    for peer in town.peers.values():
        for slot in peer.leases.held(town.clock()):
            heirs = [heir for heir in peer.leases.voter.team(slot) if heir != peer.id]
            if heirs and peer.leases.lend(town.clock(), slot, heirs[-1], 600.0):
                return slot, peer.id, heirs[-1]
    raise AssertionError("nobody holds anything that could be lent")


def test_a_moved_slot_stays_with_its_heir_until_the_time_is_over_and_then_goes_home():
    town = Town(21, 4)
    town.run(60.0)
    slot, giver, heir = moved(town)
    town.run(20.0)
    for _ in range(27):
        assert town.holders()[slot] == [heir]
        town.run(20.0)
    assert town.peers[heir].leases.borrowed(town.clock())[slot].giver == giver
    town.run(80.0)
    assert town.holders()[slot] == [giver]
    assert not town.doubles


def test_who_keeps_a_moved_slot_keeps_it_longer():
    town = Town(21, 4)
    town.run(60.0)
    slot, _, heir = moved(town)
    town.run(500.0)
    town.peers[heir].leases.prolong(town.clock(), slot, 600.0)
    town.run(300.0)
    assert town.holders()[slot] == [heir]


def test_a_move_ends_when_its_heir_dies_and_a_returning_heir_does_not_get_it_again():
    town = Town(22, 5)
    town.run(60.0)
    slot, giver, heir = moved(town)
    town.run(20.0)
    town.kill(town.peers[heir])
    town.run(60.0)
    assert town.holders()[slot] == [giver]
    town.restart(town.peers[heir])
    town.run(200.0)
    assert town.holders()[slot] == [giver]
    assert not town.doubles


def test_an_heir_that_is_not_there_gets_nothing_and_the_slot_stays():
    town = Town(23, 4)
    town.run(60.0)
    slot, giver, heir = moved(town)
    town.kill(town.peers[heir])
    town.run(100.0)
    assert town.complete()
    assert town.holders()[slot] == [giver]


def test_a_newcomer_is_nobodys_heir_beside_an_older_owner_and_an_heir_among_newcomers():
    """It would get no votes, and the slot would be nobody's until the move is forgotten."""
    town = Town(26, 3, replicas=4)
    town.run(60.0)
    older = set(town.peers)
    newcomer = town.start(NodeId(town.rng.randbytes(20)))
    town.run(60.0)
    for old, wanted in ((older, older), (set(), {*older, newcomer.id})):
        town.old = old
        for peer in [town.peers[p] for p in sorted(older)]:
            for slot in peer.leases.held(town.clock()):
                assert {*peer.leases.heirs(slot, town.eyes(peer))} == wanted - {peer.id}


def test_only_the_holder_names_heirs():
    town = Town(24, 4)
    town.run(60.0)
    slot, holder, _ = moved(town)
    stranger = next(p for p in town.peers[holder].leases.voter.team(slot) if p != holder)
    voter = next(p for p in town.peers.values() if p.id not in (holder, stranger))
    release = LeaseRelease(SLOT_BITS, (), ((slot, stranger, 600),))
    voter.leases.hear_release(town.clock(), stranger, release)
    assert slot not in voter.leases.transfers.lent(town.clock())


def test_a_hand_over_waits_for_open_fetches_but_not_for_ever():
    town = Town(25, 4)
    town.run(60.0)
    slot, giver, heir = moved(town)
    town.peers[giver].busy = {slot}
    town.run(40.0)
    assert town.holders()[slot] == []
    assert town.peers[giver].leases.voter.promise(town.clock(), slot).holder == giver
    town.peers[giver].busy = set()
    town.run(6.0)
    assert town.holders()[slot] == [heir]
    slot, giver, heir = moved(town)
    town.peers[giver].busy = {slot}
    town.run(75.0)
    assert town.holders()[slot] == [heir]
    assert not town.doubles


def test_epochs_grow_with_every_holder():
    town = Town(10, 3)
    town.run(60.0)
    before = {slot: epoch for p in town.peers.values() for slot, epoch in p.leases.held(town.clock()).items()}
    victim = next(iter(town.peers.values()))
    lost = set(victim.leases.held(town.clock()))
    town.kill(victim)
    town.run(60.0)
    after = {slot: e for p in town.peers.values() if p.up for slot, e in p.leases.held(town.clock()).items()}
    assert lost
    assert all(after[slot] > before[slot] for slot in lost)


def test_a_holder_without_answers_stops_after_20_seconds():
    town = Town(12, 3)
    town.run(60.0)
    lonely = next(iter(town.peers.values()))
    assert lonely.leases.held(town.clock())
    town.cut = {lonely.id}
    town.run(20.5)
    assert not lonely.leases.held(town.clock())


def test_renewals_ask_half_of_the_other_owners_at_most():
    town = Town(13, 9)
    town.run(100.0)
    before, pairs = town.asked, set[tuple[NodeId, NodeId]]()
    for peer in town.peers.values():
        pairs |= {(peer.id, other) for slot in peer.leases.held(town.clock()) for other in peer.leases.voter.team(slot)}
    town.run(120.0)
    assert town.complete()
    assert town.asked - before <= (len(pairs) - len(town.peers)) / 2 * 120.0 / RENEW_S


@pytest.mark.parametrize("seed", [0, 1, *proved(2, 3)])
def test_a_holder_whose_chosen_voters_die_or_forget_holds_on_without_a_break(seed: int):
    """Of three owners two live on: the one that was never asked since the first time votes then."""
    town = Town(seed, 3, late=0.5)
    town.run(80.0)
    assert town.complete()
    holder = max(town.peers.values(), key=lambda peer: len(peer.leases.held(town.clock())))
    held, (chosen, *_) = set(holder.leases.held(town.clock())), town.chosen[holder.id]
    town.kill(town.peers[chosen]) if seed % 2 else town.restart(town.peers[chosen])
    for _ in range(60):
        town.run(1.0)
        assert held <= set(holder.leases.held(town.clock()))
    assert not town.doubles


@pytest.mark.parametrize("seed", [0, *proved(1, 2)])
def test_who_was_never_asked_takes_the_slots_of_a_dead_holder_after_its_votes_have_run_out(seed: int):
    town = Town(seed, 6, loss=0.1, late=0.5)
    town.run(100.0)
    holder = max(town.peers.values(), key=lambda peer: len(peer.leases.held(town.clock())))
    held = set(holder.leases.held(town.clock()))
    town.kill(holder)
    town.run(45.0)
    found = town.holders()
    assert all(found[slot] for slot in held)
    assert not town.doubles


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**9))
def test_never_two_holders_once_views_agree(seed: int):
    live_through_acts(seed)


@pytest.mark.prove
@settings(max_examples=300, deadline=None)
@given(st.integers(0, 10**9))
def test_never_two_holders_in_many_more_towns(seed: int):
    live_through_acts(seed)


def live_through_acts(seed: int) -> None:
    """Kill, restart, cut and move at random; nobody may ever hold what another holds, nor leave it vacant for long."""
    rng = random.Random(f"acts {seed}")  # not the ids that the town draws
    loss, late = rng.choice([0.0, 0.1, 0.3]), rng.choice([0.0, 0.0, 0.4, 1.0])
    town = Town(seed, rng.randint(2, 7), replicas=rng.randint(1, 5), loss=loss, late=late)
    for _ in range(6):
        peers = list(town.peers.values())
        peer = rng.choice(peers)
        for _ in range(rng.randrange(4)):
            lend_any(town, rng)
        chosen = [town.peers[p] for p in town.chosen.get(peer.id, []) if town.peers[p].up]
        match rng.randrange(8):
            case 6 if chosen and sum(p.up for p in peers) > 1:
                town.kill(rng.choice(chosen))
            case 7 if chosen:
                town.restart(rng.choice(chosen))
            case 0 if sum(p.up for p in peers) > 1:
                town.kill(peer)
            case 1:
                town.kill(peer)
                town.run(rng.uniform(0.25, 5.0))
                town.restart(peer)
            case 2:
                town.start(NodeId(rng.randbytes(20)))
            case 3:
                town.cut = {p.id for p in peers if rng.random() < 0.4}
            case 4:
                town.cut = set()
            case _:
                town.loss = rng.choice([0.0, 0.2, 0.5])
        town.run(rng.uniform(1.0, 45.0))
    town.cut, town.loss, town.late = set(), 0.0, 0.0
    for peer in town.peers.values():
        peer.busy = set()
    town.run(80.0)
    assert not town.vacant_throughout(20.0)
    assert not town.doubles


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**9))
def test_the_votes_alone_keep_two_from_holding_a_slot(seed: int):
    """A node that was not asked requests the slot itself, again and again, since nobody tells it who holds what."""
    rng = random.Random(f"acts {seed}")  # not the ids that the town draws
    town = Town(seed, rng.randint(3, 6), loss=rng.choice([0.0, 0.1]), late=rng.choice([0.0, 0.4, 1.0]))
    town.deaf = True
    town.run(60.0)
    for _ in range(5):
        peer = rng.choice([p for p in town.peers.values() if p.up])
        chosen = [town.peers[p] for p in town.chosen.get(peer.id, []) if town.peers[p].up]
        match rng.randrange(4):
            case 0 if sum(p.up for p in town.peers.values()) > 2:
                town.kill(peer)
            case 1 if chosen:
                town.kill(rng.choice(chosen))
            case 2 if chosen:
                town.restart(rng.choice(chosen))
            case _:
                town.start(NodeId(rng.randbytes(20)))
        town.run(rng.uniform(5.0, 45.0))
    assert not town.doubles


def lend_any(town: Town, rng: random.Random) -> None:
    """Somebody moves something to somebody, sensible or not, and is busy with something."""
    peer = rng.choice([p for p in town.peers.values() if p.up])
    for slot in peer.leases.held(town.clock()):
        if rng.random() < 0.5:
            peer.leases.lend(town.clock(), slot, rng.choice(list(town.peers)), rng.choice([5.0, 60.0, 600.0]))
    peer.busy = {Slot(slot) for slot in SLOTS if rng.random() < 0.2}


@settings(max_examples=300, deadline=None)
@given(st.sets(st.integers(0, 6), min_size=1, max_size=5), st.sets(st.integers(0, 6), min_size=1, max_size=5))
def test_may_miss_agrees_with_trying_all_majorities(old: set[int], new: set[int]):
    from itertools import combinations

    voter = min(new)
    first = [set(c) for c in combinations(sorted(old), majority(len(old))) if voter not in c]
    second = [set(c) for c in combinations(sorted(new), majority(len(new))) if voter in c]
    slow = any(not a & b for a in first for b in second)
    assert may_miss(team(voter)[0], team(*old), team(*new)) == slow


def team(*numbers: int) -> Team:
    return tuple(NodeId(bytes([n]) * 20) for n in sorted(numbers))


def test_who_is_a_live_owner_no_longer_gives_back_what_it_held() -> None:
    leases, now = LeaseHolder(team(1)[0], 4), Now(WALL, 100.0)
    leases.set_teams(now, {Slot(1): team(1, 2, 3)})
    leases.voter.vote(now, team(3)[0], Claim(1, int(WALL), team_digest(team(1, 2, 3)), holding=False), ())
    leases.set_teams(now, {Slot(1): team(1, 2, 4)})
    assert leases.voter.promise(now, 1) is not None
    leases.hear_release(now, team(3)[0], LeaseRelease(4, ((1, int(WALL)), (9, int(WALL)))))
    assert leases.voter.promise(now, 1) is None
