"""A live owner's votes: for every slot at most one holder at a time.

Pure: claims in, votes out. A vote binds for VOTE_S from its giving; its holder stops HOLD_S after its asking, so
clocks may differ by the ten seconds between. Two majorities of one team share a voter, which remembers. When a team
changes, a majority of the old and one of the new may share nobody. Until the old team's last votes have run out, a
voter for which that is possible votes on a condition. Its vote counts once every majority of the old team has a member
that votes for the same claim. Such a member is bound to no other node now, and to this claimant from now on. So no
lease by the old team is left, and none can come. Whether the member's own vote counts does not matter for that. A voter
that does not know its own promises, after a restart, abstains. A holder that renews has won its lease by these rules,
so votes for renewals need no condition. A release by one that won by conditions alone says nothing about older holders.

An epoch is the wall clock's second, or one more than the highest seen: it grows also when a whole network restarts.
Source: Gray & Cheriton 1989 (leases); the majority rule as in Paxos, Lamport 1998; of two teams as in Raft's joint
consensus, Ongaro 2014, section 4.3.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from dht.clock import Now
from dht.keys import NodeId, Slot
from dht.messages import MAX_PAST_TEAMS, Claim, Vote
from dht.wire.grant import CLOCKS_S

VOTE_S = 30.0
HOLD_S = 20.0
LAG_S = 8.0  # a renewal by a team that was ours so shortly ago counts: a death is not noticed by all at once
MAX_EPOCH_AHEAD = 86400  # a claim further ahead of our clock is refused, so nobody can use up the epochs

Team = tuple[NodeId, ...]
UNKNOWN: Team = (NodeId(b""),)  # a team of strangers: no majority of another shares a voter with it


@dataclass(frozen=True, slots=True)
class Promise:
    """Names the peer that has this voter's vote for a slot, and until when (steady seconds)."""

    holder: NodeId
    epoch: int
    until: float
    company: Sequence[Team]  # past teams whose holder may be there, unless their members voted alike


class Voter:
    """The votes of one node. `abstain_until`: steady time before which votes of an earlier run may still bind."""

    def __init__(self, node_id: NodeId, abstain_until: float = 0.0) -> None:
        self._node_id = node_id
        self._abstain_until = abstain_until
        self._teams: Mapping[Slot, Team] = {}
        self._past: dict[int, list[tuple[Team, float]]] = {}
        self._promises: dict[int, Promise] = {}
        self._epochs: dict[int, int] = {}

    def abstain(self, until: float) -> None:
        """Vote for nobody until this steady time: votes of an earlier run may still bind."""
        self._abstain_until = max(self._abstain_until, until)

    def split(self, doublings: int) -> None:
        """Keep what was voted, seen and promised of every slot for each of its 2**doublings parts."""
        if not doublings:
            return
        parts = range(1 << doublings)
        self._teams = {Slot((s << doublings) + n): team for s, team in self._teams.items() for n in parts}
        self._past = {(s << doublings) + n: list(past) for s, past in self._past.items() for n in parts}
        self._promises = {(s << doublings) + n: promise for s, promise in self._promises.items() for n in parts}
        self._epochs = {(s << doublings) + n: epoch for s, epoch in self._epochs.items() for n in parts}

    def set_teams(self, now: Now, teams: Mapping[Slot, Team]) -> list[Slot]:
        """Take the live owners of every slot that may concern this node; return the slots whose team changed.

        The teams that a slot had before it concerned this node are unknown, and this node votes accordingly."""
        before = self._teams
        changed = [slot for slot in {**before, **teams} if before.get(slot) != teams.get(slot)] if before else []
        for slot in changed:
            past = [(team, ended) for team, ended in self._past.get(slot, []) if ended + VOTE_S > now.steady]
            past.append((before.get(slot, UNKNOWN), now.steady))
            if len(past) > MAX_PAST_TEAMS:
                self._abstain_until = max(self._abstain_until, now.steady + VOTE_S)
            self._past[slot] = past[-MAX_PAST_TEAMS:]
        self._teams = teams
        return changed

    def team(self, slot: int) -> Team:
        """Return the live owners of a slot; empty for a slot that does not concern this node."""
        return self._teams.get(Slot(slot), ())

    def promise(self, now: Now, slot: int) -> Promise | None:
        """Return the promise for a slot that still binds, if there is one."""
        promise = self._promises.get(slot)
        return promise if promise is not None and promise.until > now.steady else None

    def next_epoch(self, now: Now, slot: int) -> int:
        """Return an epoch above every one seen for the slot, and note it as seen."""
        epoch = max(int(now.wall), self._epochs.get(slot, 0) + 1)
        self._epochs[slot] = epoch
        return epoch

    def highest_epoch(self, slot: int) -> int:
        """Return the highest epoch seen for a slot, 0 where none was."""
        return self._epochs.get(slot, 0)

    def saw_epoch(self, now: Now, slot: int, epoch: int) -> None:
        """Note an epoch that a peer mentions, if it can be true."""
        if slot in self._teams and 0 <= epoch <= now.wall + CLOCKS_S:
            self._epochs[slot] = max(self._epochs.get(slot, 0), epoch)

    def vote(self, now: Now, peer: NodeId, claim: Claim, announced: Sequence[NodeId]) -> Vote:
        """Vote on a peer's claim. `announced`: live peers whose heartbeat says that they hold the slot."""
        seen = self._epochs.get(claim.slot, 0)
        self.saw_epoch(now, claim.slot, claim.epoch)
        promise = self.promise(now, claim.slot)
        company = () if claim.holding else self.company(now, claim.slot)
        if company is None or not self._grants(now, peer, claim, promise, announced, seen):
            holder = promise.holder if promise is not None else next(iter(announced), b"")
            return Vote(claim.slot, False, self._epochs.get(claim.slot, 0), holder)
        self._promises[claim.slot] = Promise(peer, claim.epoch, now.steady + VOTE_S, company)
        self._epochs[claim.slot] = max(claim.epoch, self._epochs.get(claim.slot, 0))
        return Vote(claim.slot, not company, claim.epoch, peer, company=company)

    def is_sound(self, now: Now, slot: int, epoch: int) -> bool:
        """Tell whether an epoch may be signed: it follows the highest one seen, or is no further ahead than clocks
        are."""
        return epoch <= max(self._epochs.get(slot, 0) + 1, now.wall + CLOCKS_S)

    def company(self, now: Now, slot: int) -> tuple[Team, ...] | None:
        """Return the past teams that may have chosen a holder of the slot which this voter does not remember. None: it
        abstains, since it may have voted for one itself before a restart."""
        if now.steady < self._abstain_until:
            return None
        past, team = self._past.get(slot, []), self.team(slot)
        recent = dict.fromkeys(old for old, ended in past if ended + VOTE_S > now.steady)
        return tuple(old for old in recent if may_miss(self._node_id, old, team))

    def release(self, peer: NodeId, slot: int, epoch: int) -> bool:
        """Let a holder give a slot back, be it an owner still or not; return whether it had the vote. Where it was the
        newest holder known, no older one needs to be waited for."""
        promise = self._promises.get(slot)
        if promise is None or promise.holder != peer or promise.epoch > epoch:
            return False  # it held nothing that we know of: perhaps it only asked, and an older holder is still there
        del self._promises[slot]
        if epoch >= self._epochs.get(slot, 0) and not promise.company:
            self._past.pop(slot, None)
        return True

    def _grants(
        self, now: Now, peer: NodeId, claim: Claim, promise: Promise | None, announced: Sequence[NodeId], seen: int
    ) -> bool:
        team = self.team(claim.slot)
        in_team = peer in team and self._node_id in team and self._knows_team(now, claim, team)
        if not in_team or claim.epoch > now.wall + MAX_EPOCH_AHEAD:
            return False
        if promise is not None:
            return promise.holder == peer and claim.epoch >= promise.epoch
        if claim.holding:
            return True
        vacant = all(holder == peer for holder in announced)
        return vacant and claim.epoch > seen - (peer == self._node_id)

    def _knows_team(self, now: Now, claim: Claim, team: Team) -> bool:
        """Whether the claimant sees the live owners that this voter sees; for a renewal, or saw until just now.

        LAG_S + HOLD_S < VOTE_S: such a renewal ends before those who abstain because of the change vote again.
        """
        if claim.team == team_digest(team):
            return True
        past = self._past.get(claim.slot, [])
        return claim.holding and any(
            now.steady - ended < LAG_S and team_digest(old) == claim.team for old, ended in past
        )


def may_miss(voter: NodeId, old: Team, new: Team) -> bool:
    """Tell whether a majority of `old` without the voter and one of `new` with it can share nobody."""
    before, after = set(old) - {voter}, set(new) - {voter}
    shared = len(before & after)
    needed_old = majority(len(old))
    if needed_old > len(before):
        return False
    needed_new = majority(len(new)) - 1
    old_from_shared = max(0, needed_old - (len(before) - shared))
    new_from_shared = max(0, needed_new - (len(after) - shared))
    return old_from_shared + new_from_shared <= shared


def has_of_every_majority(voters: Collection[NodeId], team: Team) -> bool:
    """Tell whether every majority of a team has one of these voters."""
    return len(set(team).intersection(voters)) > len(team) - majority(len(team))


def majority(count: int) -> int:
    """Return the smallest number of voters that is more than half of so many."""
    return count // 2 + 1


def team_digest(team: Team) -> bytes:
    """Return 8 bytes by which two nodes see that they know the same live owners, in whatever order."""
    return blake2b(b"".join(sorted(team)), digest_size=8).digest()
