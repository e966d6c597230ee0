"""What a node says of itself: where peers see it, whatever it was told before."""

from random import Random

from dht.config import DhtConfig
from dht.identity.node_key import Identity
from dht.protocol.engine import ProtocolEngine
from dht.protocol.network_rules import StrategyRules
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Endpoint
from tests.dht.protocol.test_engine import HERE, NETWORK, THERE, at, core, talk


def test_a_node_on_all_addresses_learns_its_own_from_answers() -> None:
    a, b = core(1, HERE), core(2, THERE, host="0.0.0.0")
    nodes = {HERE: a, THERE: b}
    a.poll(at(0))
    b.join(at(0), [HERE])
    assert b.own.endpoints() == ()
    for n in range(4):
        talk(at(n), nodes, [(d, t, THERE) for d, t in b.poll(at(n))])
    assert [e.host for e in b.own.endpoints()] == [THERE.host]
    known = a.members.find(b.node_id)
    assert known
    assert known.opened.contact.endpoints[0].udp == THERE


def test_the_own_address_is_learned_within_the_prefixes_of_the_strategy_in_force() -> None:
    listening, declared = (Endpoint("0.0.0.0", 8091, 8091),), AddressPolicy(("10.1.0.0/16",))
    node = ProtocolEngine(
        Identity(b"\1" * 32), NETWORK, DhtConfig(), Random(1), listening=listening, policy=AddressPolicy()
    )
    node.own.seen_at("10.1.2.3", core(2).node_id)
    assert node.own.endpoints() == ()
    node.set_strategy(StrategyRules(2, bytes(32), 8, declared))
    node.own.seen_at("10.1.2.3", core(2).node_id)
    assert [e.host for e in node.own.endpoints()] == ["10.1.2.3"]
