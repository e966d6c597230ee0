"""The benchmark of trust says what a node's own code does, and theory says what a drawing says."""

from itertools import combinations

import pytest

from benchmarks.trust import flooder, price
from benchmarks.trust.shares import (
    MAJORITY,
    Seats,
    addresses,
    crowd_near_a_slot,
    days_to_own,
    made_up,
    owned_by_word,
    placement,
    share_in,
)
from benchmarks.trust.theory import at_least
from benchmarks.trust.town import Town
from dht import Identity
from dht.admission.neighbourhood import SMALL_NETWORK
from dht.ownership.failure_domains import YOUNG_MOST
from dht.wire.packets import decode_packet, is_from

HONEST = SMALL_NETWORK + 20


def test_chance_is_counted_as_a_drawing_of_all_hands_counts_it() -> None:
    for attackers, members, seats, least in ((3, 9, 3, 2), (1, 6, 4, 1), (4, 8, 5, 3)):
        hands = list(combinations(range(members), seats))
        hit = sum(sum(card < attackers for card in hand) >= least for hand in hands)
        assert at_least(least, seats, attackers, members) == pytest.approx(hit / len(hands))
    assert at_least(1, 3, 2, 2) == 1.0 and at_least(3, 3, 2, 2) == 0.0


def test_identities_without_machines_get_nothing_and_one_machine_keeps_one_copy_of_a_slot_at_most() -> None:
    town = Town(HONEST, 1)
    town.join(made_up(60, 1), addresses(1), are_reached=False)
    town.pass_days(1)
    assert not town.admitted
    town.join(made_up(60, 2), addresses(1))
    town.settle()
    assert len(town.admitted) >= 60, "those that answer are admitted, and may admit others"
    town.pass_days(7)
    found = share_in(town, 1)
    assert found.owned == 0.0 < found.seats <= 1 / 3


def test_newcomers_are_young_at_first_and_two_of_two_prefixes_own_a_slot_when_they_are_old() -> None:
    town = Town(HONEST, 3)
    days = [days_to_own(town, 3_000, 2, (2, 4)) for _ in range(3)]
    assert [3.0, 5.0] in days
    assert days_to_own(town, 3_000, 1, (2,)) != [3.0], "one prefix has one owner"
    assert len(placement(town, 1).owners(0)) == 3  # type: ignore[arg-type]


def test_a_crowd_near_one_slot_gets_one_owner_and_four_candidates_until_it_is_old() -> None:
    *young, old = crowd_near_a_slot(Town(4 * HONEST, 4), 3_000, 3, 2)
    assert young == [Seats(YOUNG_MOST, 1)] * 3
    assert old.candidates > YOUNG_MOST and old.owners >= MAJORITY, "patience is all that it takes"


def test_three_liars_are_believed_that_two_whom_nobody_reached_are_old_and_own_a_slot() -> None:
    """A stated risk (SECURITY.md, 1), which an age does not hinder; a change that mends it changes this test."""
    assert owned_by_word(Town(HONEST, 1), 5_000, 7).owners >= MAJORITY


def test_each_datagram_of_the_flood_is_of_a_key_of_its_own_and_proves_it() -> None:
    node = Identity(b"\5" * 32)
    flood = [decode_packet(data) for data in flooder.made(node.public_key, b"netw", 20)]
    assert len({packet.public_key for packet in flood}) == len(flood)
    assert all(is_from(packet, node.shared_key(packet.public_key)) for packet in flood)
    assert all(packet.network == b"netw" and packet.strategy_version == flooder.NEWEST for packet in flood)


def test_what_is_timed_of_grants_exists_counts_once_and_is_put_back() -> None:
    before = [vars(owner)[name] for owner, names in price.TIMED for name in names]
    watch = price.Stopwatch()
    with price.timed(watch):
        inner = watch.time(lambda: sum(range(100_000)))
        watch.time(lambda: (inner(), inner()))()
        once = watch.taken_s
    assert [vars(owner)[name] for owner, names in price.TIMED for name in names] == before
    assert 0 < once < 1.0
