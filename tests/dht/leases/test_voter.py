"""A voter's promises: whom it may miss, and what its vote is worth where a team has just changed."""

from random import Random

import pytest

from dht import NodeId, Slot
from dht.clock import Now
from dht.leases.quorum_round import Attempt
from dht.leases.voter import HOLD_S, LAG_S, UNKNOWN, VOTE_S, Team, Voter, team_digest
from dht.messages import Claim

WALL, SLOT = 1_700_000_000.0, Slot(1)


def at(steady: float) -> Now:
    return Now(WALL + steady, steady)


def team(*numbers: int) -> Team:
    return tuple(NodeId(bytes([n]) * 20) for n in sorted(numbers))


class Group:
    """The voters of one slot, each with its own view of the team, and who holds by the votes that were counted."""

    def __init__(self, *numbers: int) -> None:
        self.voters = {n: Voter(team(n)[0]) for n in numbers}
        self.held: dict[int, tuple[float, int, Team]] = {}  # until, epoch, by which team

    def see(self, now: float, found: Team, *numbers: int) -> None:
        for n in numbers:
            self.voters[n].set_teams(at(now), {SLOT: found})

    def ask(self, now: float, claimant: int, *asked: int, holding: bool = False) -> Attempt:
        """Have a claimant ask itself and others at one moment; it holds the slot where the votes are enough."""
        own, id = self.voters[claimant], team(claimant)[0]
        found = own.team(SLOT)
        epoch = self.held[claimant][1] if holding else own.next_epoch(at(now), SLOT)
        claim, attempt = Claim(SLOT, epoch, team_digest(found), holding), Attempt(epoch, found, holding, set())
        for n in (claimant, *asked):
            vote = self.voters[n].vote(at(now), id, claim, ())
            if vote.binds:
                attempt.take(team(n)[0], vote)
        if not attempt.lacks:
            self.held[claimant] = (now + HOLD_S, epoch, found)
        return attempt

    def release(self, claimant: int, epoch: int, *told: int) -> None:
        for n in (claimant, *told):
            self.voters[n].release(team(claimant)[0], SLOT, epoch)


def test_whom_a_latecomer_replaces_is_not_waited_for_where_most_of_the_old_team_vote() -> None:
    group = Group(1, 2, 3, 4)
    group.see(100.0, team(1, 2, 3), 1, 2, 3)
    group.see(101.0, team(1, 2, 4), 1, 2, 4)
    assert group.ask(101.0, 1, 4).lacks == 1, "2 and 3 could hold a majority of the old team"
    assert not group.ask(101.0, 1, 2, 4).lacks
    assert group.ask(102.0, 4, 2).lacks == 2, "2 is bound now"


def test_who_cannot_count_itself_gives_company_to_who_can() -> None:
    group = Group(1, 2, 3, 4, 5)
    group.see(100.0, team(1, 2, 3), 1, 2, 3)
    group.see(101.0, team(1, 3, 4), 1, 3, 4)
    group.see(102.0, team(1, 4, 5), 1, 4, 5)
    assert group.ask(102.0, 4, 5).lacks == 1, "1 and 3 could hold a majority that 4 may have missed"
    assert not group.ask(102.0, 4, 1, 5).lacks


def test_an_older_release_reads_a_vote_on_a_condition_as_refused() -> None:
    voter, now = Voter(team(1)[0]), at(110.0)
    voter.set_teams(at(100.0), {SLOT: team(1, 2, 3)})
    voter.set_teams(now, {SLOT: team(1, 4, 5)})
    claim = Claim(SLOT, int(WALL) + 110, team_digest(team(1, 4, 5)), holding=False)
    vote = voter.vote(now, team(4)[0], claim, ())
    assert (vote.granted, vote.binds, vote.company) == (False, True, (team(1, 2, 3),))
    assert not voter.vote(now, team(5)[0], claim, ()).binds
    again = voter.vote(at(112.0), team(4)[0], claim, ())
    assert again.company == vote.company, "the promise to the claimant itself lifts no condition"


def test_who_asked_in_vain_and_gives_up_says_nothing_about_an_older_holder() -> None:
    voter, asker, now = Voter(team(1)[0]), team(4)[0], at(110.0)
    voter.set_teams(at(100.0), {SLOT: team(1, 2, 3)})
    voter.set_teams(now, {SLOT: team(1, 4, 5)})
    claim = Claim(SLOT, int(WALL) + 110, team_digest(team(1, 4, 5)), holding=False)
    assert voter.vote(now, asker, claim, ()).company
    assert voter.release(asker, SLOT, claim.epoch)
    assert voter.company(now, SLOT) == (team(1, 2, 3),)


def test_a_slot_that_begins_to_concern_a_voter_has_a_past_that_it_does_not_know() -> None:
    voter, other = Voter(team(1)[0]), Slot(2)
    voter.set_teams(at(100.0), {SLOT: team(1, 2, 3)})
    assert voter.company(at(100.0), SLOT) == ()
    voter.set_teams(at(100.0), {SLOT: team(1, 2, 3), other: team(1, 2, 3)})
    assert voter.company(at(100.0), other) == (UNKNOWN,)
    assert voter.company(at(100.0), SLOT) == ()
    assert voter.company(at(100.0 + VOTE_S), other) == ()


@pytest.mark.parametrize("seed", range(40))
def test_whatever_teams_come_in_turn_no_two_hold_at_once(seed: int) -> None:
    """All see the same teams in the same order, each when it hears of them; who restarts abstains."""
    rng, now, heard = Random(seed), 100.0, dict.fromkeys(range(7), 0)
    group, teams, began = Group(*heard), [team(0, 1, 2)], [now]
    group.see(now, teams[0], *heard)
    for _ in range(1500):
        now += rng.uniform(0.0, 1.0)
        if rng.random() < 0.08:
            teams.append(team(*rng.sample(sorted(heard), rng.randint(1, 5))))
            began.append(now)
        for n, place in heard.items():
            if place + 1 < len(teams) and (rng.random() < 0.3 or now > began[place + 1] + LAG_S):
                heard[n] += 1
                group.see(now, teams[heard[n]], n)
        if rng.random() < 0.01:
            n = rng.choice([*heard])
            group.voters[n], restarted = Voter(team(n)[0], abstain_until=now + VOTE_S), teams[heard[n]]
            group.held.pop(n, None)
            group.see(now, restarted, n)
        _one_asks(group, rng, now)
        holders = [n for n, (until, *_) in group.held.items() if until > now]
        assert len(holders) <= 1, f"at {now:.1f}: {holders}"


def _one_asks(group: Group, rng: Random, now: float) -> None:
    """One node claims or renews at some of its team; who gets too little, or is an owner no more, gives back."""
    n = rng.choice([*group.voters])
    found = [peer[0] for peer in group.voters[n].team(SLOT)]
    until, epoch, _ = group.held.get(n, (0.0, 0, ()))
    others = [each for each in found if each != n and rng.random() < 0.8]
    if n not in found or (until > now and rng.random() < 0.1):
        if group.held.pop(n, None):
            group.release(n, epoch, *(each for each in group.voters if each != n and rng.random() < 0.8))
    elif group.ask(now, n, *others, holding=until > now).lacks and until <= now:
        group.release(n, group.voters[n].highest_epoch(SLOT), *others)
