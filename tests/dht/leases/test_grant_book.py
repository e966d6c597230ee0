"""A holder collects signatures for its slots, and a voter signs only what it grants and sees just now."""

from dataclasses import dataclass, field

from dht import Identity, NodeId, Now, Slot
from dht.leases.grant_book import KEPT_S, RENEW_S, GrantBook, GrantTerms
from dht.leases.quorum_round import Attempt, QuorumRound
from dht.leases.voter import CLOCKS_S, MAX_EPOCH_AHEAD, Team, Voter, team_digest
from dht.messages import Claim, LeaseReply, LeaseRequest
from dht.wire.farewell import Farewell, sign_farewell
from dht.wire.grant import GRANT_S, grant_flaw, signers_needed

NETWORK, BITS, SLOT = b"n" * 20, 4, Slot(5)
NODES = [Identity(bytes([n]) * 32) for n in range(1, 4)]
TEAM: Team = tuple(node.node_id for node in NODES)
WALL = 1_700_000_000.0


@dataclass
class Place:
    """A holder with its voters; `now` goes on by hand."""

    owners: int = 3
    farewell: Farewell | None = None
    now: Now = field(default_factory=lambda: Now(WALL, 0.0))
    books: list[GrantBook] = field(default_factory=lambda: [GrantBook(node.node_id, node) for node in NODES])
    voters: list[Voter] = field(default_factory=lambda: [Voter(node.node_id) for node in NODES])

    def __post_init__(self) -> None:
        for voter in self.voters:
            voter.set_teams(self.now, {SLOT: TEAM})

    def wait(self, seconds: float) -> None:
        self.now = Now(self.now.wall + seconds, self.now.steady + seconds)

    def ask(self, epoch: int, *, team: Team = TEAM) -> QuorumRound:
        attempt = Attempt(epoch, team, True, {TEAM[0]}, asks_all=False, friends=frozenset([TEAM[1]]))
        asked = QuorumRound(self.now.steady, BITS, attempts={SLOT: attempt})
        self.books[0].ask(self.now, NETWORK, BITS, asked.attempts, self.terms)
        asked.open()
        return asked

    def terms(self, slot: Slot, team: Team) -> GrantTerms:
        """Those of a slot with so many owners, whoever of them is live; of one who said farewell, if there is one."""
        voters = len(team) // 2 + 1
        if self.farewell is not None:
            return GrantTerms((*team, self.farewell.author), (self.farewell,), voters)
        return GrantTerms(team, (), max(voters, signers_needed(self.owners)))

    def reply(self, n: int, request: LeaseRequest) -> LeaseReply:
        """Return a voter's signed reply, as the lease service builds it."""
        claims = {c.slot: c for c in request.claims if self.voters[n].is_sound(self.now, c.slot, c.epoch)}
        votes = LeaseReply(tuple(self.voters[n].vote(self.now, TEAM[0], claim, ()) for claim in request.claims))
        return self.books[n].sign(self.now, NETWORK, TEAM[0], BITS, claims, votes, self.voters[n].team, self.terms)

    def grant(self, epoch: int) -> None:
        asked = self.ask(epoch)
        for peer, request in asked.requests.items():
            self.books[0].hear(BITS, peer, self.reply(TEAM.index(peer), request))


def test_a_grant_is_asked_of_everybody_and_proved_by_a_majority() -> None:
    place = Place()
    asked = place.ask(int(WALL))
    assert asked.requests.keys() == set(TEAM[1:])
    place.books[0].hear(BITS, TEAM[1], place.reply(1, asked.requests[TEAM[1]]))
    (grant,) = place.books[0].find(BITS, SLOT)
    assert grant_flaw(grant, NETWORK) == ""
    assert grant.signers == {TEAM[0], TEAM[1]}
    assert place.books[0].granted(place.now, BITS, {SLOT: int(WALL), Slot(6): 1})[0] == {SLOT: int(WALL)}
    assert place.books[0].find(BITS + 1, Slot(11)) == [grant], "a part of the slot is granted with it"
    assert not place.books[0].find(BITS, Slot(6))


def test_it_is_asked_for_every_five_minutes_and_kept_for_an_hour() -> None:
    place, epoch = Place(), int(WALL)
    place.grant(epoch)
    assert not place.ask(epoch).attempts[SLOT].grant_from
    assert place.ask(epoch, team=TEAM[:2]).attempts[SLOT].grant_from, "another team"
    assert place.ask(epoch + 1).attempts[SLOT].grant_from, "another tenure"
    place.wait(RENEW_S)
    place.grant(epoch)
    assert [g.grant.not_before_s for g in place.books[0].find(BITS, SLOT)] == [WALL + RENEW_S, WALL]
    place.wait(GRANT_S)
    assert not place.books[0].granted(place.now, BITS, {SLOT: epoch})[0], "it is over"
    place.wait(KEPT_S + 1)
    place.ask(epoch)
    assert not place.books[0].find(BITS, SLOT)


def test_a_node_alone_grants_itself_its_slots() -> None:
    place = Place(owners=1)
    place.ask(int(WALL), team=TEAM[:1])
    (grant,) = place.books[0].find(BITS, SLOT)
    assert grant_flaw(grant, NETWORK) == ""
    while_others_sleep = Place(owners=3)
    while_others_sleep.ask(int(WALL), team=TEAM[:1])
    assert not while_others_sleep.books[0].find(BITS, SLOT)


def test_no_voter_signs_what_it_does_not_see_now() -> None:
    epoch = int(WALL)

    def signature(team: Team = TEAM, epoch: int = epoch, begin: int = int(WALL)) -> bytes:
        claim = Claim(SLOT, epoch, team_digest(team), False, begin)
        return Place().reply(1, LeaseRequest(BITS, (claim,))).votes[0].signature

    assert signature()
    assert not signature(begin=0), "none was asked for"
    assert not signature(team=TEAM[:2]), "another team"
    assert not signature(begin=int(WALL) + CLOCKS_S + 1)
    assert not signature(begin=int(WALL) - CLOCKS_S - 1)
    assert signature(epoch=epoch + CLOCKS_S)
    assert not signature(epoch=epoch + MAX_EPOCH_AHEAD - 10), "an epoch of tomorrow"


def test_an_epoch_far_ahead_is_no_more_signed_when_it_is_claimed_twice() -> None:
    voter, ahead = Place().voters[1], int(WALL) + MAX_EPOCH_AHEAD - 10
    voter.saw_epoch(Now(WALL, 0.0), SLOT, ahead)
    assert not voter.is_sound(Now(WALL, 0.0), SLOT, ahead)
    voter.vote(Now(WALL, 0.0), NodeId(b"x" * 20), Claim(SLOT, ahead, team_digest(TEAM), False), ())
    assert not voter.is_sound(Now(WALL, 0.0), SLOT, ahead)


def test_a_signature_of_another_grant_is_not_taken() -> None:
    place = Place()
    asked = place.ask(int(WALL))
    reply = place.reply(1, asked.requests[TEAM[1]])
    place.wait(5.0)
    place.ask(int(WALL))
    place.books[0].hear(BITS, TEAM[1], reply)
    assert not place.books[0].find(BITS, SLOT)


def test_who_is_alone_by_a_farewell_proves_it_by_that_and_asks_anew_when_it_has_ended() -> None:
    said = sign_farewell(NODES[1], NETWORK, int(WALL) - 60, int(WALL) - 60)
    place = Place(owners=2, farewell=said)
    place.voters[0].set_teams(place.now, {SLOT: TEAM[:1]})
    place.ask(int(WALL), team=TEAM[:1])
    (grant,) = place.books[0].find(BITS, SLOT)
    assert grant_flaw(grant, NETWORK) == "" and grant.signers == {TEAM[0]} and grant.farewells == (said,)
    assert not place.ask(int(WALL), team=TEAM[:1]).attempts[SLOT].grant_from
    place.farewell = None
    assert place.ask(int(WALL), team=TEAM[:2]).attempts[SLOT].grant_from
    assert place.books[0].find(BITS, SLOT) == [grant], "the other has to sign from now on"
