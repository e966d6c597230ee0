"""Places of URLs by the rules in force and by those before."""

from random import Random

import msgspec

from dht.keys import MAX_SPREAD, placement_key
from dht.ownership.site_shards import SiteShards, shards, stray_range
from dht.strategy.document import Rule, Strategy

FIRST = Strategy(network="00", version=1, effective_at=0, expires_at=1 << 40, next_at=1 << 40)
URL, OTHER = "https://big.example/a?b", "https://small.example/a"


class View:
    strategy, before = FIRST, ()

    def former_strategies(self) -> tuple[Strategy, ...]:
        return self.before


def with_rules(*rules: Rule) -> Strategy:
    return msgspec.structs.replace(FIRST, version=2, rules=rules)


def test_a_site_lies_in_one_place_until_a_rule_spreads_it_and_is_looked_for_in_both() -> None:
    view = View()
    places = SiteShards(view)
    assert not places.spreads
    assert places.keys_of(URL) == (placement_key(URL),)
    mark = places.mark
    view.strategy, view.before = with_rules(Rule(action="spread", host="big.example", depth=3)), (FIRST,)
    assert places.spreads
    assert places.mark != mark
    assert (places.depth(URL), places.depth(OTHER)) == (3, 0)
    assert places.key_of(URL) == placement_key(URL, 3)
    assert places.keys_of(URL) == tuple(dict.fromkeys((placement_key(URL, 3), placement_key(URL))))
    assert places.keys_of(OTHER) == (placement_key(OTHER),)
    view.before = ()
    assert places.keys_of(URL) == (placement_key(URL, 3),)


def test_the_first_rule_that_matches_decides() -> None:
    view = View()
    view.strategy = with_rules(Rule(host="big.example"), Rule(action="spread", host="big.example", depth=3))
    assert SiteShards(view).depth(URL) == 0


def test_a_spread_site_has_as_many_places_as_its_depth_says() -> None:
    view = View()
    view.strategy = with_rules(Rule(action="spread", host="*.example", depth=2))
    sites = {SiteShards(view).key_of(f"https://big.example/{n}")[:10] for n in range(100)}
    assert len(sites) == 4


class Said:
    """Host records, as one node has read them."""

    spreads = True

    def __init__(self, **depths: tuple[int, ...]) -> None:
        self.known, self.wondered = {f"{name}.example": said for name, said in depths.items()}, list[str]()

    def depths(self, site: str) -> tuple[int, ...]:
        return self.known.get(site, (0,))

    def doubt(self, site: str) -> None:
        self.wondered.append(site)


def test_a_host_record_spreads_a_site_and_its_former_place_is_looked_at_too() -> None:
    places = SiteShards(View(), Said(big=(3, 1)))
    assert places.spreads and not places.by_rules
    assert places.key_of(URL) == placement_key(URL, 3)
    assert places.keys_of(URL) == tuple(dict.fromkeys((placement_key(URL, 3), placement_key(URL, 1))))
    assert places.keys_of(OTHER) == (placement_key(OTHER),)


def test_depths_never_shrink_whoever_says_less() -> None:
    view = View()
    view.strategy = with_rules(Rule(action="spread", host="big.example", depth=2))
    assert SiteShards(view, Said(big=(3,))).depth(URL) == 3
    assert SiteShards(view, Said(big=(1,))).depth(URL) == 2
    assert SiteShards(view, Said()).is_ruled(URL) and not SiteShards(view, Said()).is_ruled(OTHER)
    view.strategy = with_rules(Rule(action="spread", host="big.example", depth=0))
    assert SiteShards(view, Said()).is_ruled(URL), "a rule may say that a site is not to be spread"


def test_a_key_that_is_no_place_of_its_url_makes_one_ask() -> None:
    said = Said(big=(2, 0))
    places = SiteShards(View(), said)
    url = next(u for n in range(99) if len({placement_key(u := f"https://big.example/{n}", d) for d in (0, 2, 5)}) == 3)
    for depth in (2, 0):
        places.doubt(url, placement_key(url, depth))
    assert not said.wondered
    places.doubt(url, placement_key(url, 5))
    assert said.wondered == ["big.example"]


def test_stray_ranges_hold_just_the_keys_that_were_made_for_a_lesser_depth() -> None:
    rng, prefixes = Random(4), shards("big.example")
    for _ in range(3000):
        url, made, depth = f"https://big.example/{rng.random()}", rng.randint(0, 8), rng.randint(0, MAX_SPREAD)
        key = placement_key(url, made)
        part = stray_range(key[:10], prefixes.index(key[:10]), depth)
        is_astray = part is not None and part[0] <= key <= part[1]
        lesser = min(d for d in range(9) if placement_key(url, d) == key)
        assert is_astray == (lesser < depth and placement_key(url, depth) != key), (url, made, depth)
