"""A round asks enough peers for a majority and few in all, or everybody where everybody has to know."""

import random
from itertools import combinations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from dht import NodeId, Slot
from dht.leases.quorum_round import Attempt, QuorumRound, voters
from dht.leases.voter import majority

ME, *OTHERS = (NodeId(bytes([n]) * 20) for n in range(12))


def attempt(*team: NodeId, asks_all: bool = False, friends: frozenset[NodeId] = frozenset()) -> Attempt:
    return Attempt(1, (ME, *team), True, {ME}, asks_all, friends)


def fewest(attempts: dict[Slot, Attempt]) -> int:
    """By trying all sets of voters, the small ones first."""
    for size in range(len(OTHERS) + 1):
        for chosen in map(set, combinations(OTHERS, size)):
            if all(len(chosen & set(a.team)) >= a.lacks for a in attempts.values()):
                return size
    raise AssertionError("some slot lacks more votes than its team has")


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9))
@example(322)  # two voters whom single slots cannot do without serve most others too: 4 are enough
@example(28_685)
def test_every_slot_gets_the_votes_that_it_lacks_from_hardly_more_peers_than_need_be(seed: int):
    rng = random.Random(seed)
    attempts = {Slot(n): attempt(*rng.sample(OTHERS[:8], rng.randint(0, 4))) for n in range(rng.randint(1, 12))}
    chosen = voters(attempts)
    for slot, peers in chosen.items():
        assert peers <= set(attempts[slot].team) - {ME}
        assert len(peers) == majority(len(attempts[slot].team)) - 1
    assert len(set().union(*chosen.values())) <= fewest(attempts) + 1


def test_of_two_who_would_do_the_one_is_asked_that_granted_the_last_time():
    a, b = OTHERS[:2]
    for friend in (a, b):
        assert voters({Slot(1): attempt(a, b, friends=frozenset({friend}))}) == {Slot(1): {friend}}


def test_who_is_asked_anyway_votes_on_what_else_it_can():
    a, b = OTHERS[:2]
    everybody, few = attempt(a, asks_all=True), attempt(a, b, friends=frozenset({b}))
    asked = QuorumRound(0.0, 4, attempts={Slot(1): everybody, Slot(2): few})
    asked.open()
    assert {peer: [claim.slot for claim in request.claims] for peer, request in asked.requests.items()} == {a: [1, 2]}


def test_those_left_out_are_asked_where_votes_are_missing_and_nobody_twice():
    a, b, c = OTHERS[:3]
    asked = QuorumRound(0.0, 4, attempts={Slot(1): attempt(a, b), Slot(2): attempt(a, c)})
    asked.open()
    assert list(asked.requests) == [a]
    asked.attempts[Slot(1)].granted.add(a)
    more = asked.fall_back()
    assert {peer: [claim.slot for claim in request.claims] for peer, request in more.items()} == {c: [2]}
    assert not asked.fall_back()
