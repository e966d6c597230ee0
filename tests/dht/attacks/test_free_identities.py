"""Identities cost work where the strategy asks for it: who has not done it is nobody's member."""

from dht.identity.puzzle import solve_all
from dht.protocol.network_rules import StrategyRules
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Address
from dht.wire.packets import Ping
from tests.dht.attacks.town import PORT, Attacker, Town, address_of, identity

BITS = 10
LIAR = Attacker(identity(99), Address("12.0.0.1", PORT))


def strict(town: Town, bits: int = BITS) -> None:
    """Every node solves, and after a while asks it of others."""
    for core in town.nodes.values():
        core.own.prove(solve_all(core.own.public_key, bits))
    town.run(15.0)
    for core in town.nodes.values():
        core.set_strategy(StrategyRules(2, bytes(32), 8, AddressPolicy(), puzzle_bits=bits))


def say(town: Town, attacker: Attacker, **fields: object) -> None:
    for address, core in town.nodes.items():
        hello = Ping(0, 0, b"", (attacker.heartbeat(town.now, **fields),))
        town.throw(attacker.packet(core.own.public_key, hello), attacker.address, address)
    town.run(1.0)


def test_identities_without_work_are_refused_and_counted_and_one_with_it_is_let_in() -> None:
    town = Town()
    nodes = town.settle(5, 5.0)
    strict(town)
    for n in range(300, 320):
        say(town, Attacker(identity(n), Address(f"12.0.{n % 250}.1", PORT)), nonce=n)
    assert all(len(core.members) == 4 for core in nodes)
    assert all(core.refused["too little work"] >= 20 for core in nodes)
    say(town, LIAR, nonce=solve_all(LIAR.identity.public_key, BITS))
    assert all(core.members.find(LIAR.identity.node_id) for core in nodes)


def test_when_a_strategy_asks_for_more_those_who_solve_stay_live_and_those_who_do_not_are_members_no_more() -> None:
    town = Town()
    nodes = town.settle(5, 5.0)
    say(town, LIAR)
    assert all(core.members.find(LIAR.identity.node_id) for core in nodes)
    epoch = nodes[0].members.epoch
    strict(town)
    assert nodes[0].members.epoch == epoch + 1, "the liar alone is gone"
    say(town, LIAR)
    town.run(60.0)
    assert not any(core.members.find(LIAR.identity.node_id) for core in nodes)
    assert all(a.members.is_live(b.node_id, town.now) for a in nodes for b in nodes)


def test_the_work_of_another_is_worth_nothing() -> None:
    town = Town()
    node = town.settle(3, 5.0)[0]
    strict(town)
    say(town, LIAR, nonce=solve_all(town.keys[node.node_id], BITS))
    assert node.members.find(LIAR.identity.node_id) is None
    assert address_of(node).host
