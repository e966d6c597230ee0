"""One round of asking for votes: whom to ask for which slots, and what they said.

Pure: values in, values out. Votes for a new lease are asked of everybody, so that all know of it. A renewal needs no
more than a majority: the holder and, of three live owners, one other. A greedy set cover chooses the others, so that
the slots of a round need few voters altogether. It begins where there is least choice, and prefers voters that granted
the last time. When one of the chosen refuses or is silent, the rest are asked. A voter that is never asked has promised
nothing: it knows the holder from its heartbeats, and any majority against the holder needs one that has promised.
Source: Chvátal 1979 (greedy set cover); Gray & Cheriton 1989 (renewals batched by who is asked).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dht.keys import NodeId, Slot
from dht.leases.voter import Team, has_of_every_majority, majority, team_digest
from dht.messages import Claim, LeaseRequest, Vote

WHOLE = 720_720  # a slot's need of votes, parted among its voters: 1 … 16 of them divide it without a rest


@dataclass(slots=True)
class Attempt:
    """One slot of a round: who was asked, who granted, who refused in whose favour.

    `asks_all`: whether everybody has to hear of it; `friends`: who granted it the last time; `company`: the teams on
    whose members the vote of one who granted depends."""

    epoch: int
    team: Team
    holding: bool
    granted: set[NodeId]
    asks_all: bool = True
    friends: frozenset[NodeId] = frozenset()
    asked: set[NodeId] = field(default_factory=set)
    others: dict[NodeId, NodeId] = field(default_factory=dict)  # voter → holder it named, b"" for none
    grant_from: int = 0  # Unix second of the grant that is asked for with it, 0 for none
    company: dict[NodeId, Sequence[Team]] = field(default_factory=dict)

    @property
    def lacks(self) -> int:
        """How many votes are missing to a majority of votes that count."""
        counted = len(self.granted)
        for teams in self.company.values():
            counted -= not all(has_of_every_majority(self.granted, team) for team in teams)
        return max(0, majority(len(self.team)) - counted)

    def take(self, voter: NodeId, vote: Vote) -> None:
        """Note a vote that was given, be it on a condition."""
        self.granted.add(voter)
        if not vote.granted:
            self.company[voter] = tuple(tuple(map(NodeId, team)) for team in vote.company)

    def is_for(self, holder: NodeId) -> bool:
        """Tell whether most of the team named this other holder."""
        return list(self.others.values()).count(holder) >= majority(len(self.team))

    def belongs_to_another(self, order: Sequence[NodeId], own: NodeId) -> bool:
        """Tell whether most voters name another holder, or one that comes before this node in the slot's order."""
        rank = {peer: place for place, peer in enumerate(order)}
        named = [holder for holder in self.others.values() if holder in rank and holder != own]
        return any(self.is_for(holder) or rank[holder] < rank[own] for holder in named)


@dataclass(slots=True)
class QuorumRound:
    """The requests to send now, and what came of them slot by slot."""

    sent_at: float
    slot_bits: int
    requests: dict[NodeId, LeaseRequest] = field(default_factory=dict)
    attempts: dict[Slot, Attempt] = field(default_factory=dict)

    def open(self) -> None:
        """Write the first requests: to everybody where everybody is to be asked, to the fewest that do elsewhere."""
        if not self.attempts:
            return
        wanted = {slot: set(attempt.team) - attempt.granted for slot, attempt in self.attempts.items()}
        everybody = sorted({peer for slot, a in self.attempts.items() if a.asks_all for peer in wanted[slot]})
        chosen = voters({slot: a for slot, a in self.attempts.items() if not a.asks_all}, everybody)
        self.requests = self._address({s: wanted[s] if a.asks_all else chosen[s] for s, a in self.attempts.items()})

    def fall_back(self) -> Mapping[NodeId, LeaseRequest]:
        """Return requests to all who were not asked yet, for the slots that still lack votes."""
        short = {slot: attempt for slot, attempt in self.attempts.items() if attempt.lacks}
        return self._address({slot: set(a.team) - a.granted - a.asked for slot, a in short.items()})

    def _address(self, wanted: Mapping[Slot, Iterable[NodeId]]) -> dict[NodeId, LeaseRequest]:
        """One request a peer for all its claims."""
        claims: dict[NodeId, list[Claim]] = {}
        for slot, peers in wanted.items():
            attempt = self.attempts[slot]
            claim = Claim(slot, attempt.epoch, team_digest(attempt.team), attempt.holding, attempt.grant_from)
            attempt.asked.update(peers)
            for peer in peers:
                claims.setdefault(peer, []).append(claim)
        return {peer: LeaseRequest(self.slot_bits, tuple(chosen)) for peer, chosen in sorted(claims.items())}


def voters(attempts: Mapping[Slot, Attempt], asked_anyway: Iterable[NodeId] = ()) -> dict[Slot, set[NodeId]]:
    """Choose whom to ask for each slot, so that each gets the votes that it lacks and few peers are asked in all.

    `asked_anyway` get a request in any case, so they cost nothing."""
    fit = {slot: set(attempt.team) - attempt.granted for slot, attempt in attempts.items()}
    chosen = _cover(attempts, fit, dict.fromkeys(asked_anyway))
    for peer in [*chosen]:  # what was chosen early may have become needless
        rest = chosen.keys() - {peer}
        if all(len(fit[slot] & rest) >= attempts[slot].lacks for slot in fit if peer in fit[slot]):
            del chosen[peer]
    order = {peer: place for place, peer in enumerate(chosen)}
    ranked = {slot: sorted(peers & order.keys(), key=order.__getitem__) for slot, peers in fit.items()}
    return {slot: set(peers[: attempts[slot].lacks]) for slot, peers in ranked.items()}


def _cover(
    attempts: Mapping[Slot, Attempt], fit: Mapping[Slot, set[NodeId]], chosen: dict[NodeId, None]
) -> dict[NodeId, None]:
    """Add to `chosen`, one by one, the peer that the slots need most: one with few others to ask needs each of them
    more."""
    free = {slot: peers - chosen.keys() for slot, peers in fit.items()}
    lacking = {slot: attempts[slot].lacks - len(peers) + len(free[slot]) for slot, peers in fit.items()}
    left = {slot for slot, lacks in lacking.items() if lacks > 0}
    need, known = Counter[NodeId](), Counter[NodeId]()

    def weigh(slot: Slot, sign: int) -> None:
        weight = sign * (WHOLE * lacking[slot] // len(free[slot]))
        for peer in free[slot]:
            need[peer] += weight
        for peer in attempts[slot].friends:
            known[peer] += sign

    for slot in left:
        weigh(slot, 1)
    while left:
        best = max(need, key=lambda peer: (need[peer], known[peer], peer))
        chosen[best] = None
        for slot in [slot for slot in left if best in free[slot]]:
            weigh(slot, -1)
            free[slot].remove(best)
            lacking[slot] -= 1
            if lacking[slot]:
                weigh(slot, 1)
            else:
                left.remove(slot)
        del need[best]
    return chosen
