"""The view: whose word counts for what."""

import random
from types import SimpleNamespace

import msgspec
import pytest

from dht.admission.attester_order import nearest_attesters
from dht.admission.membership_claim import mark_of
from dht.clock import Now
from dht.identity.node_key import Identity
from dht.keys import NodeId, Slot
from dht.membership.member_table import MemberTable
from dht.ownership.failure_domains import YOUNG_MOST
from dht.ownership.ready_peers import FULL_PERCENT
from dht.ownership.rendezvous import NEAREST, Placement
from dht.ownership.view import OverlayView
from dht.slot_set import encode_slots
from dht.strategy.document import MemberRoom, Strategy
from dht.wire.contact import Endpoint
from dht.wire.heartbeat import MOST_ATTESTED, Heartbeat, Load, pack_endpoint, read_heartbeat
from dht.wire.room_step import RoomStep
from tests.dht.trusting import trusting

BITS = 4
SLOTS = [Slot(n) for n in range(1 << BITS)]
NODES = [Identity(bytes([n]) * 32) for n in range(1, 41)]
STRATEGY = Strategy(
    network="00",
    version=1,
    effective_at=0,
    expires_at=1 << 40,
    next_at=1 << 40,
    slot_bits=BITS,
    declared_prefixes=("9.9.9.0/24",),
)


OWN = SimpleNamespace(operator="", stable=True, room_step=RoomStep(), endpoints=lambda: ())  # says nothing of itself


def view_of(own: NodeId, members: MemberTable, clock: SimpleNamespace, strategies: object = None) -> OverlayView:
    strategies = strategies or SimpleNamespace(current=lambda now: STRATEGY, former_bits=lambda now: (), began_at=0)
    return OverlayView(own, members, strategies, lambda: Now(1e6 + clock.steady, clock.steady), OWN)  # type: ignore[arg-type]


def hear(members: MemberTable, node: Identity, sequence: int, ready: list[Slot], steady: float, **says: object) -> None:
    wall = 1e6 + steady
    beat = Heartbeat(node.public_key, sequence, wall, wall + 3600, (pack_endpoint(Endpoint("9.9.9.9", 1, 1)),))
    beat = msgspec.structs.replace(beat, slot_bits=BITS, ready=encode_slots(ready), **says)
    members.add(read_heartbeat(b"", beat), Now(wall, steady), direct=True)


def test_everybody_may_announce_every_slot_but_only_candidates_are_ready() -> None:
    clock, own = SimpleNamespace(steady=0.0), NODES[0].node_id
    members = trusting(MemberTable(own))
    for node in NODES[1:]:
        hear(members, node, 1, SLOTS, 0.0)
    view = view_of(own, members, clock)
    view.ready_peers.set_own(frozenset(SLOTS), Load())
    placement = Placement(sorted(n.node_id for n in NODES), BITS, STRATEGY.replicas)
    for slot in SLOTS:
        assert view.candidates(slot) == placement.ranking(slot)
        assert set(view.ready(slot)) == set(placement.ranking(slot))
        assert len(view.ready(slot)) == NEAREST
        assert all(view.is_ready(node.node_id, slot) for node in NODES)


def test_all_choose_other_owners_at_the_full_hour_that_a_member_named_and_not_before() -> None:
    hour, others = 278, NODES[1:9]  # the clock begins at 1e6 s, some 13 minutes before that hour
    clocks = [SimpleNamespace(steady=0.0) for _ in range(3)]
    tables = [trusting(MemberTable(NODES[9].node_id)) for _ in clocks]
    for members in tables:
        for node in others:
            said = RoomStep(-2, 0, hour) if node is NODES[1] else RoomStep()
            hear(members, node, 1, [], 0.0, steps=said.code[0], steps_hour=said.code[1])
    views = [view_of(m.own, members, clock) for m, members, clock in zip(tables, tables, clocks, strict=True)]

    def owned(at: float) -> list[int]:
        """How many slots each view gives to that member."""
        for clock in clocks:
            clock.steady = at
        return [sum(NODES[1].node_id in view.owners(slot) for slot in SLOTS) for view in views]

    before, after = (owned(hour * 3600.0 - 1e6 + shift) for shift in (-1.0, 1.0))
    assert len({*before}) == len({*after}) == 1 and after[0] < before[0]


@pytest.mark.parametrize(
    ("admission", "joined_days_ago", "named", "counts"),
    [
        ("attested", 10, (), 0),
        ("attested", 0, (("other", 2),), 0),
        ("attested", 0, (("liar", 1),), 1),
        ("invited", 6, (), 0),
        ("invited", 7, (), 2),
        ("invited", None, (), 0),
        ("invited", 0, (("liar", 2),), 2),
        ("invited", 10, (("liar", -1),), -1),
    ],
)
def test_much_room_counts_by_the_publisher_s_word_and_by_invitation_after_a_week(
    admission: str, joined_days_ago: int | None, named: tuple[tuple[str, int], ...], counts: int
) -> None:
    own, liar, modest = (node.node_id for node in NODES[:3])
    members, clock = trusting(MemberTable(own)), SimpleNamespace(steady=0.0)
    hear(members, NODES[1], 1, [], 0.0, steps=RoomStep(2, 2).code[0])
    day = b"" if joined_days_ago is None else (int(1e6 // 86_400) - joined_days_ago).to_bytes(2, "big")
    names = {"attests": mark_of(liar) if day else b"", "attested_days": day}
    for node in NODES[2:5]:
        hear(members, node, 1, [], 0.0, steps=RoomStep(-2, -2).code[0], **names)
    rooms = tuple(MemberRoom((liar if who == "liar" else bytes(20)).hex(), step) for who, step in named)
    strategy = msgspec.structs.replace(STRATEGY, admission=admission, rooms=rooms)
    domains = view_of(own, members, clock).domains
    found = domains.of([own, liar, modest], strategy)
    assert (found[liar].step, found[modest].step) == (counts, -2), "less room than usual is anybody's word"
    assert domains.step_of(liar, strategy) == counts and domains.coming_step(liar, strategy) is None


@pytest.mark.parametrize(("said", "coming"), [((-1, 0), -1), ((2, 1), None), ((0, -1), 0), ((0, 0), None)])
def test_a_step_that_a_member_announces_is_shown_with_its_hour_where_it_will_count(
    said: tuple[int, int], coming: int | None
) -> None:
    own, other = (node.node_id for node in NODES[:2])
    members, clock = trusting(MemberTable(own)), SimpleNamespace(steady=0.0)
    hour = int(1e6 // 3600) + 2
    steps, at = RoomStep(*said, hour).code
    hear(members, NODES[1], 1, [], 0.0, steps=steps, steps_hour=at)
    domains = view_of(own, members, clock).domains
    assert domains.coming_step(other, STRATEGY) == (None if coming is None else (coming, hour * 3600))
    clock.steady = hour * 3600 - 1e6
    assert domains.coming_step(other, STRATEGY) is None, "it is there"
    assert domains.coming_step(own, STRATEGY) is None and domains.coming_step(NODES[5].node_id, STRATEGY) is None


def test_readiness_follows_who_is_a_candidate() -> None:
    clock, own = SimpleNamespace(steady=0.0), NODES[0].node_id
    members = trusting(MemberTable(own))
    hear(members, NODES[1], 1, SLOTS, 0.0)
    view = view_of(own, members, clock)
    assert all(view.ready(slot) == (NODES[1].node_id,) for slot in SLOTS)
    for node in NODES[2:]:
        hear(members, node, 1, [], 0.0)
    clock.steady = 2.0
    lost = [slot for slot in SLOTS if NODES[1].node_id not in view.candidates(slot)]
    assert lost and all(view.ready(slot) == () for slot in lost)


def test_who_was_ready_for_a_slot_is_believed_of_its_parts_before_and_after_it_switches() -> None:
    clock, own = SimpleNamespace(steady=0.0), NODES[0].node_id
    members = trusting(MemberTable(own))
    for node in NODES[1:]:
        hear(members, node, 1, SLOTS[:5], 0.0)
    strategies = SimpleNamespace(strategy=STRATEGY, former=(), began_at=0)
    strategies.current, strategies.former_bits = lambda now: strategies.strategy, lambda now: strategies.former
    view = view_of(own, members, clock, strategies)
    view.ready_peers.set_own(frozenset(SLOTS[:3]), Load())
    before = {slot: set(view.ready(slot)) for slot in SLOTS}
    strategies.strategy, strategies.former = msgspec.structs.replace(STRATEGY, version=2, slot_bits=BITS + 1), (BITS,)
    clock.steady = 2.0
    assert len(view.owners_by_slot()) == len(view.ready_by_slot()) == 2 << BITS
    for part in range(2 << BITS):
        assert before[Slot(part // 2)] <= set(view.ready(Slot(part))), "nobody who has the data is left out"
        assert set(view.ready(Slot(part))) <= {n.node_id for n in NODES}
    assert view.ready_peers.own == {Slot(n) for n in range(6)}
    strategies.former = ()
    clock.steady = 4.0
    hear(members, NODES[1], 2, [], 4.0)
    assert any(not before[Slot(part // 2)] <= set(view.ready(Slot(part))) for part in range(2 << BITS)), "a day later"


@pytest.mark.parametrize("seed", range(6))
def test_what_is_kept_between_refreshes_is_what_a_new_view_would_say(seed: int) -> None:
    rng, clock, own = random.Random(seed), SimpleNamespace(steady=0.0), NODES[0].node_id
    members = trusting(MemberTable(own))
    view = view_of(own, members, clock)
    for sequence in range(1, 60):
        clock.steady += rng.choice([1.5, 4.0, 20.0])
        node = rng.choice(NODES[1:])
        if rng.random() < 0.2:
            members.suspect(node.node_id, clock.steady)
        else:
            hear(members, node, sequence, rng.sample(SLOTS, 5), clock.steady)
        if rng.random() < 0.3:
            view.ready_peers.set_own(frozenset(rng.sample(SLOTS, 3)), Load())
        fresh = view_of(own, members, clock)
        fresh.ready_peers.set_own(view.ready_peers.own, Load())
        assert view.live() == fresh.live()
        assert view.owned() == fresh.owned()
        assert view.teams() == fresh.teams()
        assert list(view.owners_by_slot()) == list(map(fresh.owners, SLOTS))
        assert list(view.ready_by_slot()) == list(map(fresh.ready, SLOTS))
        assert view.owners_by_slot() is view.owners_by_slot() and view.ready_by_slot() is view.ready_by_slot()
        for slot in SLOTS:
            assert view.ready(slot) == fresh.ready(slot)
            assert view.live_owners(slot) == fresh.live_owners(slot) == fresh.teams()[slot]


def test_who_was_found_to_have_no_room_is_no_keeper_and_stays_an_owner() -> None:
    clock, own = SimpleNamespace(steady=0.0), NODES[0].node_id
    members = trusting(MemberTable(own))
    for node in NODES[1:10]:
        hear(members, node, 1, SLOTS, 0.0)
    view = view_of(own, members, clock)
    members.suspect(NODES[1].node_id, clock.steady)
    clock.steady += 2.0
    before = {slot: view.keepers(slot) for slot in SLOTS}
    owners = [view.owners(slot) for slot in SLOTS]
    liar = next(peer for keepers in before.values() for peer in keepers)
    view.count_as_full(frozenset([liar]))
    assert all(liar not in view.keepers(slot) and len(view.keepers(slot)) == len(before[slot]) for slot in SLOTS)
    assert [view.owners(slot) for slot in SLOTS] == owners, "all nodes agree on these"
    view.count_as_full(frozenset())
    assert {slot: view.keepers(slot) for slot in SLOTS} == before


def test_a_keeper_has_room_and_one_whose_disk_fills_up_is_replaced() -> None:
    clock, own = SimpleNamespace(steady=0.0), NODES[0].node_id
    members = trusting(MemberTable(own))
    for node in NODES[1:10]:
        hear(members, node, 1, SLOTS, 0.0)
    view = view_of(own, members, clock)
    silent = view.owners(SLOTS[0])[0] if view.owners(SLOTS[0])[0] != own else view.owners(SLOTS[0])[1]
    members.suspect(silent, clock.steady)
    clock.steady += 2.0
    named = {slot: view.keepers(slot) for slot in SLOTS if silent in view.owners(slot)}
    assert all(len(keepers) == 1 for keepers in named.values())
    full = next(each for each in NODES[1:10] if any(each.node_id in keepers for keepers in named.values()))
    hear(members, full, 2, SLOTS[1:], clock.steady, load=Load(disk=FULL_PERCENT))
    assert view.ready_peers.set_own(frozenset(), Load(disk=100))
    view.refresh()
    clock.steady += 2.0
    for slot, (before,) in named.items():
        (keeper,) = view.keepers(slot)
        assert keeper not in (own, full.node_id)
        assert keeper == before or before in (own, full.node_id), "only who is full is passed over"
    assert not view.kept()
    assert all(view.owners(slot) == view_of(own, members, clock).owners(slot) for slot in SLOTS), (
        "owners are who they are"
    )


def test_all_compute_one_stable_owner() -> None:
    clock, own = SimpleNamespace(steady=0.0), NODES[0].node_id
    members = trusting(MemberTable(own))
    for n, node in enumerate(NODES[1:13]):
        hear(members, node, 1, SLOTS, 0.0, stable=n < 2)
    view, stable = view_of(own, members, clock), {node.node_id for node in NODES[:3]}
    assert all(stable & set(owners) for owners in view.owners_by_slot())
    by_weight = Placement(sorted(n.node_id for n in NODES[:13]), BITS, STRATEGY.replicas).owners_by_slot
    assert not all(stable & set(owners) for owners in by_weight)
    assert all(len(set(old) - set(new)) <= 1 for old, new in zip(by_weight, view.owners_by_slot(), strict=True))
    for n, node in enumerate(NODES[1:13]):
        hear(members, node, 2, SLOTS, clock.steady, stable=n > 9)
    clock.steady, stable = 4.0, {NODES[0].node_id, NODES[11].node_id, NODES[12].node_id}
    assert all(stable & set(owners) for owners in view.owners_by_slot()), "heartbeats say what a machine is now"


def test_in_a_large_network_only_the_neighbourhood_s_slots_are_gone_through() -> None:
    clock, crowd = SimpleNamespace(steady=0.0), [Identity(n.to_bytes(32, "big")) for n in range(1, 200)]
    own = crowd[0].node_id
    members = trusting(MemberTable(own))
    for node in crowd[1:]:
        hear(members, node, 1, [], 0.0)
    view = view_of(own, members, clock)
    placement = Placement(sorted(n.node_id for n in crowd), BITS, STRATEGY.replicas)
    teams = view.teams()
    assert 0 < len(teams) < len(SLOTS)
    assert view.owned() == {slot for slot in SLOTS if own in placement.owners(slot)} <= teams.keys()
    far = next(node for node in crowd if not members.is_near(node.node_id))
    members.suspect(far.node_id, 0.0)
    clock.steady = 2.0
    assert not view.is_live(far.node_id)
    assert view.teams() is teams, "a death elsewhere does not concern it"
    assert all(far.node_id not in view.live_owners(slot) for slot in SLOTS)


def test_who_came_lately_by_the_word_of_its_attesters_owns_a_slot_beside_older_ones_alone() -> None:
    clock, day, own = SimpleNamespace(steady=0.0), 11, NODES[0].node_id  # 1970-01-12
    rules = msgspec.structs.replace(STRATEGY, min_age_days=1, declared_prefixes=())
    strategies = SimpleNamespace(current=lambda now: rules, former_bits=lambda now: (), began_at=0)
    members, young = MemberTable(own), {node.node_id for node in NODES[20:]}
    members.trust([node.node_id for node in NODES[1:]])
    view = view_of(own, members, clock, strategies)
    ids = [node.node_id for node in NODES]

    def say(sequence: int, first_days: dict[NodeId, int]) -> None:
        for place, node in enumerate(NODES[1:], 1):
            named = [p for p in first_days if node.node_id in nearest_attesters(p, ids, MOST_ATTESTED // 2)][
                :MOST_ATTESTED
            ]
            days = b"".join(first_days[p].to_bytes(2, "big") for p in named)
            beat = Heartbeat(
                node.public_key, sequence, 1e6, 1e6 + 3600, (pack_endpoint(Endpoint(f"8.8.{place}.8", 1, 1)),)
            )
            beat = msgspec.structs.replace(beat, attests=b"".join(map(mark_of, named)), attested_days=days)
            members.add(read_heartbeat(b"", beat), Now(1e6 + clock.steady, clock.steady), direct=True)

    say(1, {peer: day if peer in young else day - 2 for peer in ids})
    aged = {peer for peer in ids if members.admission.first_day(peer) == day - 2}
    assert len(aged) >= 10 and not aged & young
    owners = [set(view.owners(slot)) for slot in SLOTS]
    assert max(len(each - aged) for each in owners) == 1
    assert all(len(set(view.candidates(slot)) - aged) <= max(YOUNG_MOST, NEAREST - len(aged)) for slot in SLOTS)
    clock.steady = 2.0
    say(2, dict.fromkeys(ids, day - 2))
    assert [set(view.owners(slot)) for slot in SLOTS] != owners, "all are as old now"


def test_a_node_knows_of_which_slots_it_is_a_keeper_and_what_a_silent_owner_said_last() -> None:
    clock, own = SimpleNamespace(steady=0.0), NODES[0].node_id
    members = trusting(MemberTable(own))
    for node in NODES[1:6]:
        hear(members, node, 1, SLOTS[:3], 0.0)
    view = view_of(own, members, clock)
    assert not view.kept() and not any(view.keepers(slot) for slot in SLOTS)
    clock.steady = 60.0
    for node in NODES[3:6]:
        hear(members, node, 2, SLOTS, 60.0)
    silent = {node.node_id for node in NODES[1:3]}
    assert view.kept() == {slot for slot in SLOTS if own in view.keepers(slot)} != frozenset()
    for slot in SLOTS:
        assert len(view.keepers(slot)) == len(silent & set(view.owners(slot)))
        assert not set(view.keepers(slot)) & (silent | set(view.owners(slot)))
    word = view.peers.last_word(NODES[1].node_id)
    assert word is not None and word.is_stable and word.ready == set(SLOTS[:3])
    assert view.peers.last_word(own) is None
