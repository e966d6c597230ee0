"""Hosts that share an address, against an oracle that looks at every request."""

from itertools import pairwise
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from crawl.politeness.address_limits import AGAIN_S, AddressLimits


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6))
def test_an_address_has_few_requests_and_nobody_waits_for_ever(seed: int) -> None:
    rng = Random(seed)
    most, delay_s = rng.randrange(1, 5), rng.choice((0.0, 0.1, 2.0))
    turns, now = AddressLimits(most, delay_s), 0.0
    addresses = {site: f"192.0.2.{rng.randrange(3)}" for site in "abcdefghijkl"}
    racing, waiting = sorted(addresses), set[str]()
    open_at: dict[str, list[str]] = {}
    begun: dict[str, list[float]] = {}
    left = dict.fromkeys(addresses, 3)
    for _ in range(3_000):
        for site in turns.due(now):
            assert site in waiting
            waiting.remove(site)
            racing.append(site)
        for site in list(racing):
            racing.remove(site)
            address = addresses[site]
            if rng.random() < 0.1:  # it has nothing to ask after all, or asks elsewhere
                if rng.random() < 0.5:
                    turns.passed(address, now)
                left[site] = 0
            elif turns.wait_s(address, now) != 0.0:
                turns.line_up(address, site, now)
                waiting.add(site)
            else:
                turns.begin(address, now)
                open_at.setdefault(address, []).append(site)
                begun.setdefault(address, []).append(now)
        assert all(len(sites) <= most for sites in open_at.values())
        busy = [address for address, sites in open_at.items() if sites]
        if busy and rng.random() < 0.7:
            address = rng.choice(busy)
            site = open_at[address].pop()
            turns.end(address, now)
            left[site] -= 1
            racing += [site] if left[site] > 0 else []
        now += rng.choice((0.0, 0.01, 0.3))
        if not (racing or waiting or busy):
            break
    assert not waiting, "each came to its turn"
    for starts in begun.values():
        assert all(later - earlier >= delay_s for earlier, later in pairwise(starts))


def test_the_next_one_is_let_in_at_once_and_after_a_while_where_the_first_went_elsewhere() -> None:
    turns = AddressLimits(1, 0.0)
    turns.begin("x", 0.0)
    for site in ("a", "b"):
        assert turns.wait_s("x", 0.0) is None
        turns.line_up("x", site, 0.0)
    assert turns.due(5.0) == []
    turns.end("x", 5.0)
    assert turns.due(5.0) == ["a"]
    assert turns.due(5.0) == []
    assert turns.next_due() == 5.0 + AGAIN_S
    assert turns.due(5.0 + AGAIN_S) == ["b"]
