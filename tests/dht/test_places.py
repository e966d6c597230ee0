"""Places of URLs by the rules in force and by those before."""

import msgspec

from dht.keys import placement_key
from dht.places import Places
from dht.strategy import Rule, Strategy

FIRST = Strategy(network="00", version=1, effective_at=0, expires_at=1 << 40, next_at=1 << 40)
URL, OTHER = "https://big.example/a?b", "https://small.example/a"


class View:
    strategy, before = FIRST, ()

    def formers(self) -> tuple[Strategy, ...]:
        return self.before


def with_rules(*rules: Rule) -> Strategy:
    return msgspec.structs.replace(FIRST, version=2, rules=rules)


def test_a_site_lies_in_one_place_until_a_rule_spreads_it_and_is_looked_for_in_both() -> None:
    view = View()
    places = Places(view)
    assert not places.spreads
    assert places.of(URL) == (placement_key(URL),)
    mark = places.mark
    view.strategy, view.before = with_rules(Rule(action="spread", host="big.example", depth=3)), (FIRST,)
    assert places.spreads
    assert places.mark != mark
    assert (places.depth(URL), places.depth(OTHER)) == (3, 0)
    assert places.place(URL) == placement_key(URL, 3)
    assert places.of(URL) == tuple(dict.fromkeys((placement_key(URL, 3), placement_key(URL))))
    assert places.of(OTHER) == (placement_key(OTHER),)
    view.before = ()
    assert places.of(URL) == (placement_key(URL, 3),)


def test_the_first_rule_that_matches_decides() -> None:
    view = View()
    view.strategy = with_rules(Rule(host="big.example"), Rule(action="spread", host="big.example", depth=3))
    assert Places(view).depth(URL) == 0


def test_a_spread_site_has_as_many_places_as_its_depth_says() -> None:
    view = View()
    view.strategy = with_rules(Rule(action="spread", host="*.example", depth=2))
    sites = {Places(view).place(f"https://big.example/{n}")[:10] for n in range(100)}
    assert len(sites) == 4
