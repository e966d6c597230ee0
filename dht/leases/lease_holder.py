"""Which slots this node may crawl: it takes votes for them, renews, yields and gives back.

Pure: `step` says what to ask, `fall_back` whom else, `heard` and `finish` take the answers; `leasekeeper.py` moves the
bytes. When to ask for a slot that nobody holds, succession.py says; whom, ballot.py. A holder renews as long as it is a
live owner, all its slots together; it yields at once where a majority or the preferred one holds, which heals two
networks that meet. When its preferred owner has been there for HAND_BACK_S, it hands the slot back: for DRAIN_S, and
for as long as a fetch is open there, it keeps the votes but no longer shows the lease, so that what it began to fetch
is written before the next holder looks; so too when it is a live owner no longer. When slots are split, who holds one
holds its parts, and its voters have promised them.

A move (heirs.py) puts an heir before everybody else in a slot's order for a while: the slot is handed over to it as
slots are handed back, without waiting for HAND_BACK_S, and stays there until the time is over.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from dht.clock import Now
from dht.keys import NodeId, Slot
from dht.leases.lease_transfer import LeaseTransfer, LeaseTransfers
from dht.leases.quorum_round import Attempt, QuorumRound
from dht.leases.succession import SlotView, Succession, preference
from dht.leases.voter import HOLD_S, Team, Voter, team_digest
from dht.messages import MAX_CLAIMS, Claim, Heir, LeaseRelease, LeaseReply, LeaseRequest, Vote

RENEW_S = 12.0  # the hold has 8 s left then: time to fall back, and for two more tries that ask everybody
TOGETHER_S = RENEW_S / 2  # when one lease is due, those due within this are renewed with it: soon all are due at once
RETRY_S = 2.0
RENEW_RETRY_S = 1.0
HAND_BACK_S = 20.0  # long enough that a peer that comes and goes does not move leases with every breath
DRAIN_S = 5.0
DRAIN_MOST_S = 60.0  # as long as a fetch may take; what is still not written then may be fetched again


@dataclass(slots=True)
class _Held:
    epoch: int
    until: float
    renew_at: float
    team: Team
    asked: int  # the highest epoch asked for
    voters: frozenset[NodeId] = frozenset()  # who granted it the last time
    is_strained: bool = False  # the last renewal failed
    outranked_since: float | None = None
    drained_at: float | None = None


class LeaseHolder:
    """The leases of one node, as voter and as holder. `not_before`: steady time of its first claim."""

    def __init__(self, node_id: NodeId, slot_bits: int, *, abstain_until: float = 0.0, not_before: float = 0.0) -> None:
        self._node_id = node_id
        self._slot_bits = slot_bits
        self.voter = Voter(node_id, abstain_until)
        self._moves = LeaseTransfers(node_id)
        self._turns = Succession(node_id, slot_bits, self.voter, self._moves, not_before)
        self._held: dict[Slot, _Held] = {}
        self._mine: list[Slot] = []
        self._gone: list[tuple[Slot, int, Team]] = []
        self._leaving: dict[Slot, tuple[float, _Held]] = {}  # slots of others now, to be released at that time
        self._shown: tuple[float, Mapping[Slot, int]] = (0.0, MappingProxyType({}))

    def wait(self, until: float) -> None:
        """Claim nothing before this steady time; what is held stays so for as long as it lasts."""
        self._turns.wait(until)

    def split(self, slot_bits: int) -> None:
        """The strategy has 2**slot_bits slots now, more than before; `look` follows, with their teams."""
        doublings = slot_bits - self._slot_bits
        self._slot_bits = slot_bits
        self.voter.split(doublings)
        self._held = {part: replace(held) for s, held in self._held.items() for part in _parts(s, doublings)}
        self._leaving = {part: leaving for s, leaving in self._leaving.items() for part in _parts(s, doublings)}
        self._gone = [(part, epoch, team) for s, epoch, team in self._gone for part in _parts(s, doublings)]
        self._moves.split(lambda slot: _parts(slot, doublings))
        self._turns.split(slot_bits)
        self._shown = (0.0, self._shown[1])

    def look(self, now: Now, teams: Mapping[Slot, Team]) -> None:
        """Take the live owners of every slot that may concern us; one that is no longer ours is shown no more, and
        released DRAIN_S later: when the next holder looks, what was being fetched there must be written, and its sites
        must have rested."""
        self.voter.look(now, teams)
        self._mine = [slot for slot, team in teams.items() if self._node_id in team]
        mine = set(self._mine)
        for slot in [slot for slot in self._held if slot not in mine]:
            self._leaving[slot] = (now.steady + DRAIN_S, self._held.pop(slot))
        for slot in [slot for slot in self._leaving if slot in mine]:
            self._held.setdefault(slot, self._leaving.pop(slot)[1])
        self._shown = (0.0, self._shown[1])
        self._moves.keep_only(mine)
        self._turns.keep_only(mine)

    def held(self, now: Now) -> Mapping[Slot, int]:
        """Slots that this node may crawl now, each with its epoch."""
        if now.steady >= self._shown[0]:
            shown = {s: h for s, h in sorted(self._held.items()) if h.until > now.steady and h.drained_at is None}
            until = min((h.until for h in shown.values()), default=now.steady)
            self._shown = (until, MappingProxyType({slot: held.epoch for slot, held in shown.items()}))
        return self._shown[1]

    def lend(self, now: Now, slot: Slot, heir: NodeId, lent_s: float) -> bool:
        """Hand a held slot to another live owner of it, for so long; False where that cannot be."""
        held = self._held.get(slot)
        if held is None or held.drained_at is not None or heir == self._node_id or heir not in self.voter.team(slot):
            return False
        self._moves.put(now, slot, heir, lent_s)
        held.renew_at = now.steady
        return True

    def keep(self, now: Now, slot: Slot, lent_s: float) -> None:
        """Stay first in the order of a slot that was moved here, for so long from now on."""
        if slot in self.borrowed(now):
            self._moves.put(now, slot, self._node_id, lent_s)

    def borrowed(self, now: Now) -> Mapping[Slot, LeaseTransfer]:
        """Slots held here because they were moved here."""
        moves = {slot: self._moves.find(now, slot) for slot in self._held}
        return {slot: move for slot, move in moves.items() if move is not None and move.heir == self._node_id}

    def lent(self, now: Now) -> Mapping[Slot, NodeId]:
        """Slots that were moved to others as far as this node was told, each with its heir."""
        return self._moves.lent(now)

    def team(self, slot: Slot) -> Team:
        """The live owners of a slot as the last look showed them."""
        return self.voter.team(slot)

    def preferred(self, slot: Slot, sight: SlotView) -> NodeId | None:
        """Who comes first in the slot's own order, moves aside."""
        return self._turns.preferred(slot, sight)

    def heirs(self, slot: Slot, sight: SlotView) -> list[NodeId]:
        """To whom a slot that is held here may be moved: live owners that are ready and would get the votes."""
        others = [peer for peer in self.voter.team(slot) if peer != self._node_id and sight.is_ready(peer, slot)]
        return [peer for peer in others if self._turns.may_ask(peer, slot, sight)]

    def step(self, now: Now, sight: SlotView) -> QuorumRound:
        """What to send at this moment; call it about once a second."""
        wanted: list[tuple[Slot, bool]] = []
        self._leave(now, sight)
        urgent = any(held.renew_at <= now.steady for held in self._held.values())
        horizon = now.steady + (TOGETHER_S if urgent else 0.0)
        for slot in self._mine:
            held = self._held.get(slot)
            if held is not None and (held.until <= now.steady or self._turns.meets_better(now, slot, sight)):
                self._drop(slot)
                held = None
            if held is not None:
                if self._renews(now, slot, held, sight, horizon):
                    wanted.append((slot, True))
            elif self._turns.is_due(now, slot, sight):
                wanted.append((slot, False))
        attempts = {slot: self._attempt(now, slot, holding) for slot, holding in wanted[:MAX_CLAIMS]}
        begun = {slot: attempt for slot, attempt in attempts.items() if attempt}
        asked = QuorumRound(now.steady, self._slot_bits, attempts=begun)
        asked.open()
        for slot in list(asked.attempts):
            self._count(now, asked, slot)
        return asked

    def fall_back(self, asked: QuorumRound) -> Mapping[NodeId, LeaseRequest]:
        """Whom else to ask, once those asked first have answered or had their time; `heard` takes their answers."""
        return asked.fall_back() if asked.slot_bits == self._slot_bits else {}

    def heard(self, now: Now, asked: QuorumRound, peer: NodeId, reply: LeaseReply) -> None:
        """Take one peer's votes; what it was not asked is ignored."""
        if asked.slot_bits != self._slot_bits:
            return
        for vote in reply.votes:
            attempt = asked.attempts.get(Slot(vote.slot))
            if attempt is not None and peer in attempt.asked:
                self._take(now, asked, peer, vote)

    def finish(self, now: Now, asked: QuorumRound) -> QuorumRound:
        """Close a round when all have answered or time is up; returns what must be released."""
        if asked.slot_bits != self._slot_bits:
            self._give_up_round(asked)
            return self._releases(now)
        for slot, attempt in asked.attempts.items():
            if attempt.lacks:
                self._failed(now, slot, attempt)
        return self._releases(now)

    def answer(self, now: Now, peer: NodeId, request: LeaseRequest, sight: SlotView) -> LeaseReply:
        """Vote on another node's claims."""
        if request.slot_bits != self._slot_bits:
            return LeaseReply(())
        votes = [
            self.voter.vote(now, peer, claim, () if claim.holding else self._holders(now, Slot(claim.slot), sight))
            for claim in request.claims
            if 0 <= claim.slot < 1 << self._slot_bits
            and (claim.holding or self._turns.may_ask(peer, Slot(claim.slot), sight))
        ]
        return LeaseReply(tuple(votes))

    def released(self, now: Now, peer: NodeId, release: LeaseRelease) -> None:
        """Another node holds these no longer."""
        if release.slot_bits != self._slot_bits:
            return
        self._inherit(now, peer, release.heirs)
        for slot, epoch in release.slots:
            if peer in self.voter.team(slot):
                self.voter.release(peer, slot, epoch)
                self._turns.freed(now, Slot(slot), peer)

    def give_up(self, now: Now) -> QuorumRound:
        """Stop holding everything (the node stops): what to tell the others."""
        for slot in list(self._held):
            self._drop(slot)
        self._leave(now, None)
        return self._releases(now)

    def _inherit(self, now: Now, peer: NodeId, heirs: Sequence[Heir]) -> None:
        """Take the moves that a peer names for slots of which it has this node's vote."""
        for slot, heir, lent_s in heirs:
            promise = self.voter.promise(now, slot)
            if promise is not None and promise.holder == peer and heir in self.voter.team(slot) and heir != peer:
                self._moves.put(now, Slot(slot), NodeId(heir), lent_s, peer)

    def _holders(self, now: Now, slot: Slot, sight: SlotView) -> Sequence[NodeId]:
        """Who holds the slot as far as this node can tell without its votes."""
        held = self._held.get(slot)
        if held is not None and held.until > now.steady:
            return (self._node_id,)
        return self._turns.holders(now, slot, sight)

    def _renews(self, now: Now, slot: Slot, held: _Held, sight: SlotView, horizon: float) -> bool:
        """Whether to renew now: it is due before the horizon, or the team is another one."""
        team = self.voter.team(slot)
        if held.drained_at is not None and _is_drained(now, slot, held.drained_at, sight):
            self._hand_over(now, slot)
            return False
        if horizon < held.renew_at and team == held.team:
            return False
        self._compare(now, slot, held, sight)
        return not self._turns.rests(now, slot)

    def _hand_over(self, now: Now, slot: Slot) -> None:
        """Release a drained slot, and say who comes next where a move is in force."""
        move = self._moves.find(now, slot)
        self._drop(slot)
        self._turns.vacant(now, slot)
        if move is not None and move.heir != self._node_id:
            self._moves.tell(slot, move)

    def _compare(self, now: Now, slot: Slot, held: _Held, sight: SlotView) -> None:
        """Begin to hand the slot over when another owner has been the preferred one for long enough, or a move says
        so."""
        best = self._turns.successor(now, slot, sight)
        if best is None:
            held.outranked_since = held.drained_at = None
            self._moves.held(now, slot, [self._node_id])  # an heir that is not there: the slot stays here
        elif held.drained_at is None and self._moves.heir(now, slot) == best:
            held.drained_at = now.steady + DRAIN_S
        elif held.outranked_since is None:
            held.outranked_since = now.steady
        elif now.steady - held.outranked_since >= HAND_BACK_S and held.drained_at is None:
            held.drained_at = now.steady + DRAIN_S
        self._shown = (0.0, self._shown[1])

    def _attempt(self, now: Now, slot: Slot, holding: bool) -> Attempt | None:
        """Begin an attempt with this node's own vote; None where it may not vote for itself.

        Few are asked to renew. Everybody is, where a slot is new here or its team is, where a renewal has failed, and
        before the slot goes to another: only who has promised it to us believes us who comes next."""
        team, held = self.voter.team(slot), self._held.get(slot)
        epoch = self._raised(now, self._held[slot], slot) if holding else self.voter.next_epoch(now, slot)
        claim = Claim(slot, epoch, team_digest(team), holding)
        if not self.voter.vote(now, self._node_id, claim, ()).granted:
            self._turns.rest(slot, now.steady + RETRY_S)
            return None
        attempt = Attempt(epoch, team, holding, {self._node_id})
        if held is not None:
            attempt.asks_all = held.team != team or held.is_strained or held.drained_at is not None
            attempt.friends = held.voters
        return attempt

    def _raised(self, now: Now, held: _Held, slot: Slot) -> int:
        """The epoch to renew with: above another holder's, if one was met when two networks joined."""
        if self.voter.highest_epoch(slot) > held.asked:
            held.asked = self.voter.next_epoch(now, slot)
        return held.asked

    def _take(self, now: Now, asked: QuorumRound, peer: NodeId, vote: Vote) -> None:
        attempt = asked.attempts[Slot(vote.slot)]
        if not vote.granted:
            self.voter.saw_epoch(now, vote.slot, vote.epoch)
            attempt.others[peer] = NodeId(vote.holder)
        elif vote.epoch == attempt.epoch:
            attempt.granted.add(peer)
            self._count(now, asked, Slot(vote.slot))

    def _count(self, now: Now, asked: QuorumRound, slot: Slot) -> None:
        """Hold the slot once a majority of the team as it still is has granted it."""
        attempt = asked.attempts[slot]
        until = asked.sent_at + HOLD_S
        promise = self.voter.promise(now, slot)
        ours = promise is not None and promise.holder == self._node_id and promise.epoch == attempt.epoch
        if not ours or attempt.team != self.voter.team(slot) or until <= now.steady:
            return
        if attempt.lacks:
            return
        old, voters = self._held.get(slot), frozenset(attempt.granted)
        renewed = _Held(attempt.epoch, until, asked.sent_at + RENEW_S, attempt.team, attempt.epoch, voters)
        if old is not None:
            renewed.outranked_since, renewed.drained_at = old.outranked_since, old.drained_at
            if old.drained_at is not None and voters != {*attempt.team}:
                renewed.renew_at = asked.sent_at + RETRY_S  # everybody should know before it goes
        else:
            self._moves.held(now, slot, [self._node_id])
        self._held[slot] = renewed
        self._turns.taken(slot)
        self._shown = (0.0, self._shown[1])

    def _failed(self, now: Now, slot: Slot, attempt: Attempt) -> None:
        """A round brought no majority: give the votes back, or renew again soon while the hold lasts."""
        held = self._held.get(slot)
        self._turns.rest(slot, now.steady + (RENEW_RETRY_S if attempt.holding else RETRY_S))
        if not attempt.holding:
            self._give_back(slot, attempt.epoch, attempt.team)
            if any(holder not in (b"", self._node_id) for holder in attempt.others.values()):
                self._turns.taken(slot)  # nobody announces it, but some have promised it still
        elif held is not None:
            held.renew_at, held.is_strained = now.steady + RENEW_RETRY_S, True
            if self._yields(slot, attempt):
                self._drop(slot)

    def _yields(self, slot: Slot, attempt: Attempt) -> bool:
        """Whether the slot belongs to another: most voters name it, or it comes before us in the order."""
        order = preference(slot, self._slot_bits, attempt.team)
        rank = {peer: place for place, peer in enumerate(order)}
        named = [holder for holder in attempt.others.values() if holder in rank and holder != self._node_id]
        return any(attempt.is_for(holder) or rank[holder] < rank[self._node_id] for holder in named)

    def _drop(self, slot: Slot) -> None:
        """Hold a slot no longer; its voters hear of it in the next releases. A move ends with its holder's lease."""
        held = self._held.pop(slot)
        self._moves.end(slot)
        self._shown = (0.0, self._shown[1])
        self._give_back(slot, held.asked, held.team)

    def _leave(self, now: Now, sight: SlotView | None) -> None:
        """Release the slots of others that have been drained; without `sight` all of them."""
        for slot in [s for s, (at, _) in self._leaving.items() if not sight or _is_drained(now, s, at, sight)]:
            _, held = self._leaving.pop(slot)
            self._give_back(slot, held.asked, held.team)

    def _give_up_round(self, asked: QuorumRound) -> None:
        """The slots were split while this round was under way: what it asked for is asked for again, part by part."""
        for slot, attempt in asked.attempts.items():
            if not attempt.holding:
                for part in _parts(slot, self._slot_bits - asked.slot_bits):
                    self._give_back(part, attempt.epoch, attempt.team)

    def _give_back(self, slot: Slot, epoch: int, team: Team) -> None:
        self.voter.release(self._node_id, slot, epoch)
        told = sorted({*team, *self.voter.team(slot)} - {self._node_id})
        self._gone.append((slot, epoch, tuple(told)))

    def _releases(self, now: Now) -> QuorumRound:
        lists: dict[NodeId, list[tuple[int, int]]] = {}
        for slot, epoch, told in self._gone:
            for peer in told:
                lists.setdefault(peer, []).append((slot, epoch))
        heirs = self._moves.take_told(now)
        self._gone.clear()
        releases = {
            peer: LeaseRelease(self._slot_bits, tuple(gone), tuple(heirs[s] for s, _ in gone if s in heirs))
            for peer, gone in ((peer, [(Slot(s), e) for s, e in lists[peer]]) for peer in sorted(lists))
        }
        return QuorumRound(now.steady, self._slot_bits, releases=releases)


def _is_drained(now: Now, slot: Slot, at: float, sight: SlotView) -> bool:
    """Whether what began under a lease that goes to another has come to its end, or had its time."""
    return now.steady >= at and (not sight.is_busy(slot) or now.steady >= at - DRAIN_S + DRAIN_MOST_S)


def _parts(slot: Slot, doublings: int) -> list[Slot]:
    """The slots that a slot was split into."""
    return [Slot((slot << doublings) + n) for n in range(1 << max(0, doublings))] if doublings >= 0 else []
