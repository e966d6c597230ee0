"""The map of the network: no lack is hidden where slots are drawn together, and it is as large for any network."""

from random import Random

import pytest

from node.owner.network_map import (
    MOST_COPIES,
    PREFIXES,
    SECTORS,
    WORST,
    HeardPeer,
    HeardSlot,
    network_map,
    place_of,
    prefix_of,
)

WELL = HeardSlot(3, 3, True, False, False, False)


@pytest.mark.parametrize("slots", [1, 16, 256, 4096, 65_536])
def test_one_slot_without_copies_is_seen_in_any_network(slots: int) -> None:
    where = Random(slots).randrange(slots)
    heard = [WELL] * slots
    heard[where] = HeardSlot(0, 3, False, False, False, False)
    found = network_map(heard, [])
    assert len(found.copies) == min(slots, SECTORS)
    sector = where * len(found.copies) // slots
    assert [n for n, copies in enumerate(found.copies) if copies < MOST_COPIES] == [sector]
    assert [n for n, crawled in enumerate(found.crawled) if not crawled] == [sector]
    assert found.worst == ((where, 0, 3),) and found.lacking == found.uncrawled == 1
    assert dict(found.by_copies) == {0: 1, 3: slots - 1} if slots > 1 else {0: 1}


def test_the_worst_slots_are_named_first_and_few_of_them() -> None:
    found = network_map([HeardSlot(n % 3, 3, True, False, False, False) for n in range(4096)], [])
    assert [ready for _, ready, _ in found.worst] == [0] * WORST and found.lacking == 4096


def test_what_is_this_nodes_is_drawn_by_the_most_that_it_does() -> None:
    heard = [HeardSlot(1, 1, True, *mine) for mine in ((False,) * 3, (True, False, False), (True, True, False))]
    assert network_map([*heard, HeardSlot(1, 1, True, True, True, True)], []).mine == (0, 1, 2, 3)


def test_live_peers_are_counted_by_families_and_prefixes() -> None:
    both = ("198.51.100.7", "2001:db8:1:2::3")
    peers = [
        HeardPeer(0.0, True, both),
        HeardPeer(0.999, True, ("198.51.100.200",)),
        HeardPeer(0.5, False, ("192.0.2.1",)),
        HeardPeer(0.25, True, ()),
    ]
    found = network_map([WELL] * 4, peers)
    assert (found.members, found.live, found.nodes) == (4, 3, (True, True, False, True))
    assert found.families == (("ipv4", 1), ("both", 1), ("none", 1))
    assert found.prefixes == (("198.51.100.0/24", 2), ("2001:db8:1::/48", 1))
    many = [HeardPeer(n / 1000, True, (f"10.{n % 250}.{n // 250}.1",)) for n in range(1000)]
    found = network_map([WELL], many)
    assert len(found.prefixes) == PREFIXES and found.other_prefixes == 1000 - PREFIXES


def test_places_and_prefixes_of_what_strangers_say() -> None:
    assert place_of(b"\x00" * 20) == 0.0 and place_of(b"\x80" + b"\x00" * 19) == 0.5 and place_of(b"\xff" * 20) < 1.0
    assert [prefix_of(host) for host in ("nonsense", "", "1.2.3.4.5")] == ["", "", ""]
