"""Storms: whatever peers shout, a node sends at its own pace and keeps what it may keep."""

from random import Random

from dht.keys import Slot
from dht.protocol.events import StrategyAhead
from dht.slot_set import encode_slots
from dht.wire.contact import Address
from dht.wire.packets import Find, Ping
from tests.dht.attacks.town import PORT, Attacker, Town, address_of, host, identity

LIAR = Attacker(identity(99), Address("12.0.0.1", PORT))


def sent_by(town: Town, address: Address, since: int) -> int:
    return sum(f.source == address for f in town.flights[since:])


def test_news_by_the_hundred_do_not_make_a_node_shout() -> None:
    """Twenty members change what they say four times a second; everybody else goes on exchanging at its own pace."""
    town, rng = Town(), Random(1)
    cores = town.settle(6, 20.0)
    gang = [Attacker(identity(300 + n), Address(f"12.0.{n}.1", PORT)) for n in range(20)]
    since, begun = len(town.flights), town.steady
    for step in range(60):
        for liar in gang:
            ready = encode_slots(Slot(s) for s in rng.sample(range(256), 9))
            raw = liar.heartbeat(town.now, sequence=int(town.now.wall) + step, ready=ready)
            hello = liar.packet(identity(1).public_key, Ping(0, 0, b"", (raw,)))
            town.throw(hello, liar.address, Address(host(1), PORT))
        town.run(0.25)
    for core in cores[1:]:
        assert sent_by(town, address_of(core), since) / (town.steady - begun) <= 8.0


def test_questions_beyond_a_peers_rate_are_not_answered_and_other_peers_are() -> None:
    town = Town()
    first, second = town.settle(3, 5.0)[:2]
    question = LIAR.packet(town.keys[first.node_id], Find(bytes(20)))
    answers = 0
    for n in range(1000):
        source = Address(f"12.{n % 100}.0.1", PORT)  # from a hundred addresses: the key counts
        answers += len(first.receive(town.now, question, source))
    assert answers <= 200
    assert first.refused["peer over its rate"] == 1000 - answers
    friend = Attacker(identity(2), address_of(second))
    assert first.receive(town.now, friend.packet(town.keys[first.node_id], Find(bytes(20))), friend.address)


def test_a_strategy_said_to_be_newer_is_asked_for_seldom() -> None:
    town = Town()
    node = town.settle(3, 5.0)[0]
    node.take_events()
    boaster = Attacker(LIAR.identity, LIAR.address, version=999)
    for _ in range(300):
        node.receive(town.now, boaster.packet(town.keys[node.node_id], Ping(0, 0, b"", ())), LIAR.address)
        town.steady += 0.1
    alerts = [e for e in node.take_events() if isinstance(e, StrategyAhead)]
    assert 1 <= len(alerts) <= 7


def test_a_flood_of_identities_fills_a_bounded_memory_and_evicts_no_live_friend() -> None:
    town = Town()
    cores = town.settle(5, 10.0)
    node = cores[0]
    node.members._limit = limit = 300  # of 4,096: the same, sooner
    raws = [
        Attacker(identity(20_000 + n), Address(f"12.{n // 250}.{n % 250}.1", PORT)).heartbeat(town.now)
        for n in range(limit + 100)
    ]
    for n in range(0, len(raws), 5):
        town.steady += 0.02
        node.receive(
            town.now, LIAR.packet(town.keys[node.node_id], Ping(0, 0, b"", tuple(raws[n : n + 5]))), LIAR.address
        )
    assert len(node.members) == limit
    assert all(node.members.is_live(c.node_id, town.now) for c in cores[1:])
    assert len(node.routing) <= 16, "a table holds those who answered, not those of whom it was told"


def test_lookups_for_all_the_world_stay_within_the_open_questions() -> None:
    town = Town()
    node = town.settle(10, 10.0)[0]
    ended: list[int] = []
    for n in range(400):
        node.finder.find(town.now, identity(n).node_id, lambda *_: ended.append(1))
    town.run(20.0)
    assert len(ended) == 400
    assert node.refused["too many open requests"] > 0


def test_a_flood_of_keys_never_seen_costs_little_arithmetic_and_holds_no_member_up() -> None:
    """Most packets that claim a newer strategy, each under a new key, are not even read."""
    town = Town()
    first, second = town.settle(3, 5.0)[:2]
    first.take_events()
    friend = Attacker(identity(2), address_of(second))
    answered = 0
    for n in range(1500):
        source = Address(f"12.{n // 200}.{n % 200}.1", PORT)
        stranger = Attacker(identity(10_000 + n), source, version=999)
        first.receive(town.now, stranger.packet(town.keys[first.node_id], Find(bytes(20))), source)
        if n % 100 == 0:
            question = friend.packet(town.keys[first.node_id], Find(bytes(20)), transaction=n.to_bytes(8, "big"))
            answered += len(first.receive(town.now, question, friend.address))
    assert first.refused["strangers over their rate"] == 1500 - 600
    assert answered == 15
    assert len([e for e in first.take_events() if isinstance(e, StrategyAhead)]) == 1
