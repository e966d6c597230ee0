"""Who keeps copies beside whom: against a slow oracle, and what a prefix, an operator or a gang can get."""

from itertools import combinations
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from dht.keys import NodeId, Slot, distance, slot_start
from dht.ownership.failure_domains import CROWD, NONE, Traits, owners_first, spread, traits_of
from dht.ownership.rendezvous import Placement
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Endpoint

IDS = [NodeId(Random(n).randbytes(20)) for n in range(200)]
TRAITS = st.builds(
    Traits,
    st.sampled_from(["", "", "ann", "bob", "cid"]),
    st.frozensets(st.sampled_from([b"a", b"b", b"c", b"d", b"e"]), max_size=2),
    st.booleans(),
)


def kin(a: Traits, b: Traits) -> bool:
    return bool((a.operator and a.operator == b.operator) or a.blocks & b.blocks)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(TRAITS, min_size=1, max_size=9), st.integers(1, 5))
def test_owners_are_the_heaviest_that_are_no_kin_with_a_dual_one_among_them(found: list[Traits], replicas: int) -> None:
    ranked = IDS[: len(found)]
    traits = dict(zip(ranked, found, strict=True))
    order = owners_first(ranked, replicas, traits)
    assert sorted(order) == sorted(ranked)
    owners = order[:replicas]
    assert list(order[replicas:]) == [m for m in ranked if m not in owners]
    if replicas > 1 and len(ranked) > 1 and any(t.is_dual for t in found):
        assert any(traits[m].is_dual for m in owners)
    elif not any(kin(traits[a], traits[b]) for a, b in combinations(ranked[:replicas], 2)):
        assert owners == tuple(ranked[:replicas]), "nothing to mend, nothing changed"
    if any(kin(traits[a], traits[b]) for a, b in combinations(owners, 2)):
        heaviest: list[NodeId] = []
        for m in ranked:
            if not any(kin(traits[m], traits[o]) for o in heaviest):
                heaviest.append(m)
        dual = [m for m in heaviest[:replicas] if traits[m].is_dual]
        assert len(heaviest) < replicas or not dual, "kin only where there are not enough others, or for a dual one"


def test_nobody_in_a_prefix_or_of_an_operator_keeps_two_copies_where_there_are_others() -> None:
    rng = Random(3)
    traits = {m: Traits(rng.choice(["", "ann", "bob"]), frozenset({bytes([rng.randrange(20)])})) for m in IDS[:60]}
    placement = Placement(sorted(traits), 8, 3, traits)
    for slot in range(256):
        owners = placement.owners(Slot(slot))
        assert len(owners) == 3
        assert not any(kin(traits[a], traits[b]) for a, b in combinations(owners, 2))


def test_a_gang_of_one_prefix_round_a_slot_gets_two_candidates_and_one_owner() -> None:
    start = slot_start(Slot(7), 8)
    gang = [NodeId(start[:18] + bytes([0, n])) for n in range(1, 31)]
    traits = {m: Traits(blocks=frozenset({m[:6]})) for m in IDS[:100]}
    traits |= {m: Traits(blocks=frozenset({b"rack"})) for m in gang}
    placement = Placement(sorted(traits), 8, 3, traits)
    assert len(set(placement.ranking(Slot(7))) & set(gang)) == CROWD
    assert len(set(placement.owners(Slot(7))) & set(gang)) <= 1
    honest = sorted(IDS[:100], key=lambda m: distance(m, start))[:14]
    assert set(placement.ranking(Slot(7))) - set(gang) == set(honest)
    assert set(Placement(sorted(traits), 8, 3).ranking(Slot(7))) <= set(gang), "without the rule all were theirs"


def test_without_others_kin_will_do_and_without_traits_nothing_changes() -> None:
    one = {m: Traits("ann", frozenset({b"a"})) for m in IDS[:20]}
    for slot in range(0, 256, 5):
        plain = Placement(sorted(one), 8, 3)
        assert Placement(sorted(one), 8, 3, one).ranking(Slot(slot)) == plain.ranking(Slot(slot))
        assert Placement(sorted(one), 8, 3, dict.fromkeys(one, NONE)).owners(Slot(slot)) == plain.owners(Slot(slot))


def test_one_join_still_moves_few_slots() -> None:
    rng = Random(5)
    traits = {m: Traits(blocks=frozenset({bytes([rng.randrange(40)])}), is_dual=rng.random() < 0.6) for m in IDS[:101]}
    before = Placement(sorted(IDS[:100]), 10, 3, {m: traits[m] for m in IDS[:100]})
    after = Placement(sorted(IDS[:101]), 10, 3, traits)
    moved = sum(len(set(after.owners(Slot(s))) - set(before.owners(Slot(s)))) for s in range(1024))
    assert moved <= 2 * 3 * 1024 / 100 * 2


def test_traits_are_what_the_endpoints_say_outside_declared_and_private_prefixes() -> None:
    v4, v6 = Endpoint("9.9.9.9", 1, 1), Endpoint("2606:4700:1:2::3", 1, 1)
    assert traits_of("ann", (v4, v6), AddressPolicy()) == Traits(
        "ann", frozenset({b"\x09\x09\x09", v6_block(v6)}), True
    )
    assert traits_of("", (v4,), AddressPolicy(("9.0.0.0/8",))) == NONE
    assert traits_of("", (Endpoint("127.0.0.1", 1, 1), Endpoint("::1", 1, 1)), AddressPolicy()) == Traits(is_dual=True)
    assert spread(IDS[:3], {}) == IDS[:3]


def v6_block(endpoint: Endpoint) -> bytes:
    found = AddressPolicy().block(endpoint.host)
    assert found is not None and len(found) == 6
    return found
