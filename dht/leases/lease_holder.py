"""Which slots this node may crawl: it takes votes for them, renews, yields and gives back.

Pure: `step` says whom to ask for what, `fall_back` whom else, `hear` and `finish` take the answers; the lease service
moves the bytes. When to ask for a slot that nobody holds is the succession's business, whom to ask the quorum round's.
A holder renews all its slots together, as long as it is a live owner. It yields at once where most voters name another
holder, or one that comes before it, which heals two networks that meet. It hands a slot back when the preferred owner
has been there for HAND_BACK_S, or when it is a live owner no longer. While it drains the lease, it keeps the votes but
no longer shows the lease. So its fetches are written before the next holder begins. When slots are split, the holder of
one holds its parts, and its voters have promised them.

A lease transfer puts an heir first in a slot's order for a while. The holder hands the slot over as it hands one back,
but without waiting for HAND_BACK_S. The slot stays with the heir until the time is over.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from dht.clock import Now
from dht.keys import NodeId, Slot
from dht.leases.lease import DRAIN_S, IsBusy, Lease, LeaseTransfer, LeaseTransfers, ReleaseQueue, is_drained
from dht.leases.quorum_round import Attempt, QuorumRound
from dht.leases.succession import SlotView, Succession, preference
from dht.leases.voter import HOLD_S, Team, Voter, team_digest
from dht.messages import MAX_CLAIMS, Claim, Heir, LeaseRelease, LeaseReply, LeaseRequest, Vote
from dht.slot_set import children

RENEW_S = 12.0  # the hold has 8 s left then: time to fall back, and for two more tries that ask everybody
TOGETHER_S = RENEW_S / 2  # when one lease is due, those due within this are renewed with it: soon all are due at once
RETRY_S = 2.0
RENEW_RETRY_S = 1.0


class LeaseHolder:
    """Holds the leases of one node, as voter and as holder. `not_before`: steady time of its first claim."""

    def __init__(self, node_id: NodeId, slot_bits: int, *, abstain_until: float = 0.0, not_before: float = 0.0) -> None:
        self._node_id, self._slot_bits = node_id, slot_bits
        self.voter = Voter(node_id, abstain_until)
        self.transfers = LeaseTransfers(node_id)
        self.turns = Succession(node_id, slot_bits, self.voter, self.transfers, not_before)
        self._held: dict[Slot, Lease] = {}
        self._mine: list[Slot] = []
        self._releases = ReleaseQueue()
        self._leaving: dict[Slot, tuple[float, Lease]] = {}  # slots of others now, to be released at that time
        self._shown: tuple[float, Mapping[Slot, int]] = (0.0, MappingProxyType({}))

    def withhold_votes(self, peers: frozenset[NodeId]) -> None:
        """Give these nodes, and no others, no votes from now on; what they were promised runs out."""
        self.turns.without_votes = peers - {self._node_id}

    def split(self, slot_bits: int) -> None:
        """Go by 2**slot_bits slots from now on, more than before; `set_teams` follows, with their teams."""
        doublings = slot_bits - self._slot_bits
        self._slot_bits = slot_bits
        self.voter.split(doublings)
        self._held = {part: replace(held) for s, held in self._held.items() for part in children(s, doublings)}
        self._leaving = {part: leaving for s, leaving in self._leaving.items() for part in children(s, doublings)}
        self._releases.split(doublings)
        self.transfers.split(doublings)
        self.turns.split(slot_bits)
        self._show_anew()

    def set_teams(self, now: Now, teams: Mapping[Slot, Team]) -> None:
        """Take the live owners of every slot that may concern us.

        This node stops showing a slot that is no longer its own, and releases it DRAIN_S later at the earliest. By then
        its fetches there must be written, and the sites must have rested."""
        self.voter.set_teams(now, teams)
        self._mine = [slot for slot, team in teams.items() if self._node_id in team]
        mine = set(self._mine)
        for slot in [slot for slot in self._held if slot not in mine]:
            self._leaving[slot] = (now.steady + DRAIN_S, self._held.pop(slot))
        for slot in [slot for slot in self._leaving if slot in mine]:
            self._held.setdefault(slot, self._leaving.pop(slot)[1])
        self._show_anew()
        self.transfers.keep_only(mine)
        self.turns.keep_only(mine)

    def held(self, now: Now) -> Mapping[Slot, int]:
        """Return the slots that this node may crawl now, each with its epoch."""
        if now.steady >= self._shown[0]:
            fit = {s: h for s, h in self._held.items() if h.drained_at is None and not h.is_doubtful}
            shown = {s: h for s, h in sorted(fit.items()) if h.until > now.steady}
            until = min((h.until for h in shown.values()), default=now.steady)
            self._shown = (until, MappingProxyType({slot: held.epoch for slot, held in shown.items()}))
        return self._shown[1]

    def doubt(self, now: Now) -> None:
        """Show no lease until it has been renewed: this node's clock may have stood still."""
        for held in self._held.values():
            held.is_doubtful, held.renew_at = True, now.steady
        self._show_anew()

    def lend(self, now: Now, slot: Slot, heir: NodeId, lent_s: float) -> bool:
        """Hand a held slot to another live owner of it for so many seconds; return False where that cannot be."""
        held = self._held.get(slot)
        if held is None or held.drained_at is not None or heir == self._node_id or heir not in self.voter.team(slot):
            return False
        self.transfers.put(now, slot, heir, lent_s)
        held.renew_at = now.steady
        return True

    def prolong(self, now: Now, slot: Slot, lent_s: float) -> None:
        """Stay first in the order of a slot that was lent to this node, for so many seconds from now on."""
        if slot in self.borrowed(now):
            self.transfers.put(now, slot, self._node_id, lent_s)

    def borrowed(self, now: Now) -> Mapping[Slot, LeaseTransfer]:
        """Return the slots held here because they were lent to this node."""
        transfers = {slot: self.transfers.find(now, slot) for slot in self._held}
        return {slot: move for slot, move in transfers.items() if move is not None and move.heir == self._node_id}

    def heirs(self, slot: Slot, view: SlotView) -> list[NodeId]:
        """List to whom a slot that is held here may be lent: live owners that are ready and would get the votes."""
        others = [peer for peer in self.voter.team(slot) if peer != self._node_id and view.is_ready(peer, slot)]
        return [peer for peer in others if self.turns.may_ask(peer, slot, view)]

    def step(
        self,
        now: Now,
        view: SlotView,
        is_busy: IsBusy,
        ask_more: Callable[[Mapping[Slot, Attempt]], None] = lambda attempts: None,
        *,
        is_waiting: bool = False,
    ) -> QuorumRound:
        """Return what to ask at this moment; call it about once a second. `ask_more` may add what its attempts ask.
        While too few members live (`is_waiting`), give back each slot in which nothing waits to be recorded."""
        wanted: list[tuple[Slot, bool]] = []
        self._leave(now, is_busy)
        urgent = any(held.renew_at <= now.steady for held in self._held.values())
        horizon = now.steady + (TOGETHER_S if urgent else 0.0)
        for slot in self._mine:
            held = self._held.get(slot)
            if held and not is_waiting and held.rests(horizon, self.voter.team(slot)) and not view.announced(slot):
                continue
            if held is not None and (held.until <= now.steady or self.turns.meets_better(now, slot, view)):
                self._drop(slot)
                held = None
            if is_waiting and not (held is not None and is_busy(slot)):
                if held is not None:
                    self._drop(slot)
            elif held is not None:
                if held.drained_at is not None and is_drained(now.steady, slot, held.drained_at, is_busy):
                    self._hand_over(now, slot)
                elif self._renews(now, slot, held, view, horizon):
                    wanted.append((slot, True))
            elif self.turns.is_due(now, slot, view):
                wanted.append((slot, False))
        attempts = {slot: self._attempt(now, slot, holding) for slot, holding in wanted[:MAX_CLAIMS]}
        begun = {slot: attempt for slot, attempt in attempts.items() if attempt}
        ask_more(begun)
        asked = QuorumRound(now.steady, self._slot_bits, attempts=begun)
        asked.open()
        for slot in list(asked.attempts):
            self._count(now, asked, slot)
        return asked

    def fall_back(self, asked: QuorumRound) -> Mapping[NodeId, LeaseRequest]:
        """Return whom else to ask, once those asked first have answered or had their time; `hear` takes the answers."""
        return asked.fall_back() if asked.slot_bits == self._slot_bits else {}

    def hear(self, now: Now, asked: QuorumRound, peer: NodeId, reply: LeaseReply) -> None:
        """Take one peer's votes; what it was not asked is ignored."""
        if asked.slot_bits != self._slot_bits:
            return
        for vote in reply.votes:
            attempt = asked.attempts.get(Slot(vote.slot))
            if attempt is not None and peer in attempt.asked:
                self._take(now, asked, peer, vote)

    def finish(self, now: Now, asked: QuorumRound) -> Mapping[NodeId, LeaseRelease]:
        """Close a round when all have answered or time is up; return what to tell whom, which needs no answer."""
        if asked.slot_bits != self._slot_bits:
            self._give_up_round(asked)
        else:
            for slot, attempt in asked.attempts.items():
                if attempt.lacks:
                    self._failed(now, slot, attempt)
        return self._take_releases(now)

    def answer(self, now: Now, peer: NodeId, request: LeaseRequest, view: SlotView) -> LeaseReply:
        """Vote on another node's claims; no vote where the two count by different numbers of slots."""
        if request.slot_bits != self._slot_bits:
            return LeaseReply(())
        votes = [
            self.voter.vote(now, peer, claim, () if claim.holding else self._holders(now, Slot(claim.slot), view))
            for claim in request.claims
            if 0 <= claim.slot < 1 << self._slot_bits
            and (
                (claim.holding and peer not in self.turns.without_votes)
                or self.turns.may_ask(peer, Slot(claim.slot), view)
            )
        ]
        return LeaseReply(tuple(votes))

    def hear_release(self, now: Now, peer: NodeId, release: LeaseRelease) -> None:
        """Take another node's word that it holds some slots no longer."""
        if release.slot_bits != self._slot_bits:
            return
        self._inherit(now, peer, release.heirs)
        for slot, epoch in release.slots:
            if self.voter.release(peer, slot, epoch) or peer in self.voter.team(slot):
                self.turns.note_release(now, Slot(slot), peer)

    def give_up(self, now: Now) -> Mapping[NodeId, LeaseRelease]:
        """Stop holding everything, because the node stops; return what to tell whom."""
        for slot in list(self._held):
            self._drop(slot)
        self._leave(now, None)
        return self._take_releases(now)

    def _inherit(self, now: Now, peer: NodeId, heirs: Sequence[Heir]) -> None:
        """Remember the lease transfers that a peer reports: (slot, id of the heir, seconds that the transfer lasts). A
        transfer counts only where this node's vote for the slot is the peer's, and the heir is another live owner."""
        for slot, heir, lent_s in heirs:
            promise = self.voter.promise(now, slot)
            if promise is not None and promise.holder == peer and heir in self.voter.team(slot) and heir != peer:
                self.transfers.put(now, Slot(slot), NodeId(heir), lent_s, peer)

    def _holders(self, now: Now, slot: Slot, view: SlotView) -> Sequence[NodeId]:
        """The holders of the slot, as far as this node can tell without its votes."""
        held = self._held.get(slot)
        if held is not None and held.until > now.steady:
            return (self._node_id,)
        return self.turns.holders(now, slot, view)

    def _renews(self, now: Now, slot: Slot, held: Lease, view: SlotView, horizon: float) -> bool:
        """Tell whether to renew now: it is due before the horizon, or the team is another one."""
        if horizon < held.renew_at and self.voter.team(slot) == held.team:
            return False
        best = self.turns.successor(now, slot, view)
        if best is None:
            held.stay()
            self.transfers.note_holders(now, slot, [self._node_id])  # an heir that is not there: the slot stays here
        else:
            held.outrank(now.steady, by_heir=self.transfers.heir(now, slot) == best)
        self._show_anew()
        return not self.turns.is_postponed(now, slot)

    def _hand_over(self, now: Now, slot: Slot) -> None:
        """Release a drained slot, and say who comes next where a move is in force."""
        move = self.transfers.find(now, slot)
        self._drop(slot)
        self.turns.note_vacant(now, slot)
        if move is not None and move.heir != self._node_id:
            self.transfers.name_heir(slot, move)

    def _attempt(self, now: Now, slot: Slot, holding: bool) -> Attempt | None:
        """Begin an attempt with this node's own vote; return None where it may not vote for itself.

        A renewal asks few voters. An attempt asks all of them where the slot or its team is new here, after a failed
        renewal, and before the slot goes to another. A voter believes who comes next only from the holder to which it
        promised the slot."""
        team, held = self.voter.team(slot), self._held.get(slot)
        epoch = self._raised(now, self._held[slot], slot) if holding else self.voter.next_epoch(now, slot)
        claim = Claim(slot, epoch, team_digest(team), holding)
        vote = self.voter.vote(now, self._node_id, claim, ())
        if not vote.binds:
            self.turns.postpone(slot, now.steady + RETRY_S)
            return None
        attempt = Attempt(epoch, team, holding, set())
        attempt.take(self._node_id, vote)
        if held is not None:
            attempt.asks_all = held.team != team or held.is_strained or held.drained_at is not None
            attempt.friends = held.voters
        return attempt

    def _raised(self, now: Now, held: Lease, slot: Slot) -> int:
        """The epoch to renew with: above another holder's, if one was met when two networks joined."""
        if self.voter.highest_epoch(slot) > held.asked:
            held.asked = self.voter.next_epoch(now, slot)
        return held.asked

    def _take(self, now: Now, asked: QuorumRound, peer: NodeId, vote: Vote) -> None:
        attempt = asked.attempts[Slot(vote.slot)]
        if not vote.binds:
            self.voter.saw_epoch(now, vote.slot, vote.epoch)
            attempt.others[peer] = NodeId(vote.holder)
        elif vote.epoch == attempt.epoch:
            attempt.take(peer, vote)
            self._count(now, asked, Slot(vote.slot))

    def _count(self, now: Now, asked: QuorumRound, slot: Slot) -> None:
        """Hold the slot once a majority of the team as it still is has granted it."""
        attempt = asked.attempts[slot]
        until = asked.sent_at + HOLD_S
        promise = self.voter.promise(now, slot)
        ours = promise is not None and promise.holder == self._node_id and promise.epoch == attempt.epoch
        if not ours or attempt.team != self.voter.team(slot) or until <= now.steady or attempt.lacks:
            return
        old, voters = self._held.get(slot), frozenset(attempt.granted)
        renewed = Lease(attempt.epoch, until, asked.sent_at + RENEW_S, attempt.team, attempt.epoch, voters)
        if old is not None:
            renewed.outranked_since, renewed.drained_at = old.outranked_since, old.drained_at
            if old.drained_at is not None and voters != {*attempt.team}:
                renewed.renew_at = asked.sent_at + RETRY_S  # everybody should know before it goes
        else:
            self.transfers.note_holders(now, slot, [self._node_id])
        if attempt.company:
            renewed.renew_at = asked.sent_at + RENEW_RETRY_S  # for votes without conditions, which bring grants, too
        self._held[slot] = renewed
        self.turns.note_taken(slot)
        self._show_anew()

    def _failed(self, now: Now, slot: Slot, attempt: Attempt) -> None:
        """A round brought no majority: give the votes back, or renew again soon while the hold lasts."""
        held = self._held.get(slot)
        self.turns.postpone(slot, now.steady + (RENEW_RETRY_S if attempt.holding else RETRY_S))
        if not attempt.holding:
            self._give_back(slot, attempt.epoch, attempt.team)
            if any(holder not in (b"", self._node_id) for holder in attempt.others.values()):
                self.turns.note_taken(slot)  # nobody announces it, but some have promised it still
        elif held is not None:
            held.renew_at, held.is_strained = now.steady + RENEW_RETRY_S, True
            if attempt.belongs_to_another(preference(slot, self._slot_bits, attempt.team), self._node_id):
                self._drop(slot)

    def _drop(self, slot: Slot) -> None:
        """Hold a slot no longer; its voters hear of it in the next releases. A move ends with its holder's lease."""
        held = self._held.pop(slot)
        self.transfers.end(slot)
        self._show_anew()
        self._give_back(slot, held.asked, held.team)

    def _leave(self, now: Now, is_busy: IsBusy | None) -> None:
        """Release the slots of others that have been drained; without `is_busy` all of them."""
        leaving = self._leaving.items()
        for slot in [s for s, (at, _) in leaving if is_busy is None or is_drained(now.steady, s, at, is_busy)]:
            _, held = self._leaving.pop(slot)
            self._give_back(slot, held.asked, held.team)

    def _give_up_round(self, asked: QuorumRound) -> None:
        """Give up what a round asked for before the slots were split: it is asked for again, part by part."""
        for slot, attempt in asked.attempts.items():
            if not attempt.holding and asked.slot_bits < self._slot_bits:
                for part in children(slot, self._slot_bits - asked.slot_bits):
                    self._give_back(part, attempt.epoch, attempt.team)

    def _give_back(self, slot: Slot, epoch: int, team: Team) -> None:
        self.voter.release(self._node_id, slot, epoch)
        self._releases.add(slot, epoch, tuple(sorted({*team, *self.voter.team(slot)} - {self._node_id})))

    def _take_releases(self, now: Now) -> Mapping[NodeId, LeaseRelease]:
        return self._releases.take(self._slot_bits, self.transfers.take_named(now))

    def _show_anew(self) -> None:
        """Have `held` look again: something that it shows may have changed."""
        self._shown = (0.0, self._shown[1])
