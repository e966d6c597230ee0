"""Owners of a slot lie in different failure domains, checked against a slow oracle. A prefix, an operator or a gang
gets few seats."""

from itertools import combinations
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from dht.keys import NodeId, Slot, distance, slot_start
from dht.ownership.failure_domains import (
    CROWD,
    NO_DOMAINS,
    YOUNG_MOST,
    FailureDomains,
    domains_of,
    owners_first,
    spread,
)
from dht.ownership.rendezvous import Placement
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Endpoint
from dht.wire.room_step import HIGHEST_STEP, LOWEST_STEP

IDS = [NodeId(Random(n).randbytes(20)) for n in range(200)]
DOMAINS = st.builds(
    FailureDomains,
    st.sampled_from(["", "", "ann", "bob", "cid"]),
    st.frozensets(st.sampled_from([b"a", b"b", b"c", b"d", b"e"]), max_size=2),
    st.booleans(),
    is_stable=st.just(False),
    is_young=st.just(False),
    step=st.integers(LOWEST_STEP, HIGHEST_STEP),
)
YOUNG_OR_OLD = st.builds(
    lambda domains, is_young: domains._replace(is_dual=False, is_young=is_young), DOMAINS, st.booleans()
)


def kin(a: FailureDomains, b: FailureDomains) -> bool:
    return bool((a.operator and a.operator == b.operator) or a.blocks & b.blocks)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(DOMAINS, min_size=1, max_size=9), st.integers(1, 5))
def test_owners_are_the_heaviest_that_are_no_kin_with_a_dual_one_among_them(
    found: list[FailureDomains], replicas: int
) -> None:
    ranked = IDS[: len(found)]
    domains = dict(zip(ranked, found, strict=True))
    order = owners_first(ranked, replicas, domains)
    assert sorted(order) == sorted(ranked)
    owners = order[:replicas]
    assert list(order[replicas:]) == [m for m in ranked if m not in owners]
    if replicas > 1 and len(ranked) > 1 and any(t.is_dual for t in found):
        assert any(domains[m].is_dual for m in owners)
    elif not any(kin(domains[a], domains[b]) for a, b in combinations(ranked[:replicas], 2)):
        assert owners == tuple(ranked[:replicas]), "nothing to mend, nothing changed"
    if any(kin(domains[a], domains[b]) for a, b in combinations(owners, 2)):
        heaviest: list[NodeId] = []
        for m in ranked:
            if not any(kin(domains[m], domains[o]) for o in heaviest):
                heaviest.append(m)
        dual = [m for m in heaviest[:replicas] if domains[m].is_dual]
        assert len(heaviest) < replicas or not dual, "kin only where there are not enough others, or for a dual one"


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(st.tuples(DOMAINS, st.booleans()), min_size=1, max_size=9), st.integers(1, 5))
def test_one_of_several_owners_is_stable_where_a_candidate_is_and_one_owner_at_most_is_another(
    found: list[tuple[FailureDomains, bool]], replicas: int
) -> None:
    domains = {m: each._replace(is_stable=is_stable) for m, (each, is_stable) in zip(IDS, found, strict=False)}
    without = {m: each._replace(is_stable=False) for m, each in domains.items()}
    owners, before = (owners_first(list(domains), replicas, d)[:replicas] for d in (domains, without))
    assert len(set(owners)) == min(replicas, len(domains)) and len(set(before) - set(owners)) <= 1
    if any(domains[m].is_stable for m in before) or not any(each.is_stable for each in domains.values()):
        assert owners == before, "nothing to mend, nothing changed"
    elif len(owners) > 1:
        assert any(domains[m].is_stable for m in owners)
        assert any(domains[m].is_dual for m in owners) or not any(domains[m].is_dual for m in domains)


def moved_by_a_join(seed: int, members: int, stable: int, *, comes_stable: bool) -> float:
    """The share of all copies that get another owner."""
    ids = [NodeId(Random(f"{seed} {n}").randbytes(20)) for n in range(members + 1)]
    domains = {m: FailureDomains(is_stable=n < stable) for n, m in enumerate(ids[:members])}
    later = {**domains, ids[-1]: FailureDomains(is_stable=comes_stable)}
    before, after = (Placement(sorted(each), 8, 3, each) for each in (domains, later))
    return sum(len(set(after.owners(Slot(s))) - set(before.owners(Slot(s)))) for s in range(256)) / (3 * 256)


def test_a_join_moves_two_of_n_copies_at_most_where_a_quarter_of_the_machines_are_stable() -> None:
    for stable in (4, 8, 12):
        for comes_stable in (False, True):
            moved = [moved_by_a_join(seed, 15, stable, comes_stable=comes_stable) for seed in range(12)]
            assert sum(moved) / len(moved) <= 2 / 16, f"{stable} of 15 stable: {moved}"


def test_a_gang_of_one_prefix_round_a_slot_gets_two_candidates_and_one_owner() -> None:
    start = slot_start(Slot(7), 8)
    gang = [NodeId(start[:18] + bytes([0, n])) for n in range(1, 31)]
    domains = {m: FailureDomains(blocks=frozenset({m[:6]})) for m in IDS[:100]}
    domains |= {m: FailureDomains(blocks=frozenset({b"rack"})) for m in gang}
    placement = Placement(sorted(domains), 8, 3, domains)
    assert len(set(placement.ranking(Slot(7))) & set(gang)) == CROWD
    assert len(set(placement.owners(Slot(7))) & set(gang)) <= 1
    honest = sorted(IDS[:100], key=lambda m: distance(m, start))[:14]
    assert set(placement.ranking(Slot(7))) - set(gang) == set(honest)
    assert set(Placement(sorted(domains), 8, 3).ranking(Slot(7))) <= set(gang), "without the rule all were theirs"


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(YOUNG_OR_OLD, min_size=1, max_size=12), st.integers(1, 5))
def test_two_owners_are_young_only_where_each_old_candidate_is_kin_of_one(
    found: list[FailureDomains], replicas: int
) -> None:
    domains = dict(zip(IDS, found, strict=False))
    owners = owners_first(list(domains), replicas, domains)[:replicas]
    assert len(owners) == min(replicas, len(domains))
    if sum(domains[owner].is_young for owner in owners) > 1:
        for other in domains.keys() - set(owners):
            assert domains[other].is_young or any(kin(domains[other], domains[owner]) for owner in owners)


def test_of_a_crowd_of_newcomers_four_are_candidates_and_one_is_an_owner_where_there_are_others() -> None:
    start = slot_start(Slot(7), 8)
    crowd = [NodeId(start[:18] + bytes([0, n])) for n in range(1, 13)]
    domains = {m: FailureDomains(blocks=frozenset({m[:6]})) for m in IDS[:60]}
    domains |= {m: FailureDomains(blocks=frozenset({m}), is_young=True) for m in crowd}
    placement = Placement(sorted(domains), 8, 3, domains)
    assert len(set(placement.ranking(Slot(7))) & set(crowd)) == YOUNG_MOST
    assert len(set(placement.owners(Slot(7))) & set(crowd)) <= 1
    old = {m: found._replace(is_young=False) for m, found in domains.items()}
    assert set(crowd) < set(Placement(sorted(old), 8, 3, old).ranking(Slot(7))), "else nearly all were theirs"


def test_where_all_are_young_the_same_own_as_where_nobody_is() -> None:
    young = {m: FailureDomains("", frozenset({m[:6]}), is_young=True) for m in IDS[:60]}
    old = {m: found._replace(is_young=False) for m, found in young.items()}
    for slot in range(0, 256, 5):
        placements = (Placement(sorted(young), 8, 3, domains) for domains in (young, old))
        assert len({placement.owners(Slot(slot)) for placement in placements}) == 1


def test_the_young_will_do_before_kin_will() -> None:
    ranked = IDS[:4]
    found = [
        FailureDomains("ann"),
        FailureDomains("bob", is_young=True),
        FailureDomains("ann"),
        FailureDomains("cid", is_young=True),
    ]
    domains = dict(zip(ranked, found, strict=True))
    assert owners_first(ranked, 3, domains)[:3] == (ranked[0], ranked[1], ranked[3])


def test_without_others_kin_will_do_and_without_declarations_nothing_changes() -> None:
    one = {m: FailureDomains("ann", frozenset({b"a"})) for m in IDS[:20]}
    for slot in range(0, 256, 5):
        plain = Placement(sorted(one), 8, 3)
        assert Placement(sorted(one), 8, 3, one).ranking(Slot(slot)) == plain.ranking(Slot(slot))
        assert Placement(sorted(one), 8, 3, dict.fromkeys(one, NO_DOMAINS)).owners(Slot(slot)) == plain.owners(
            Slot(slot)
        )


def test_failure_domains_are_what_the_endpoints_say_outside_declared_and_private_prefixes() -> None:
    v4, v6 = Endpoint("9.9.9.9", 1, 1), Endpoint("2606:4700:1:2::3", 1, 1)
    assert domains_of("ann", (v4, v6), AddressPolicy()) == FailureDomains(
        "ann", frozenset({b"\x09\x09\x09", v6_block(v6)}), is_dual=True, families=frozenset({4, 6})
    )
    assert domains_of("", (v4,), AddressPolicy(("9.0.0.0/8",))) == FailureDomains(families=frozenset({4}))
    assert domains_of("", (Endpoint("127.0.0.1", 1, 1), Endpoint("::1", 1, 1)), AddressPolicy()) == FailureDomains(
        is_dual=True, families=frozenset({4, 6})
    )
    assert spread(IDS[:3], {}) == IDS[:3]


def v6_block(endpoint: Endpoint) -> bytes:
    found = AddressPolicy().subnet(endpoint.host)
    assert found is not None and len(found) == 6
    return found
