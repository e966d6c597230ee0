"""A node says in heartbeats what fits, and nothing that it may say ends it."""

from random import Random
from types import SimpleNamespace

import pytest

from dht.clock import Now
from dht.config import OPERATOR_BYTES, DhtConfig
from dht.identity.node_key import Identity
from dht.keys import Slot
from dht.membership.member_table import MemberTable
from dht.membership.working_families import WorkingFamilies
from dht.ownership.member_domains import MemberDomains
from dht.protocol.network_rules import NetworkRules
from dht.protocol.self_heartbeat import SelfHeartbeat
from dht.slot_set import encode_positions, encode_slots
from dht.strategy.document import Strategy
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Endpoint
from dht.wire.heartbeat import Heartbeat, open_heartbeat
from dht.wire.heartbeat_fit import OPERATOR, REFUSED

NETWORK = b"n" * 20
NODE = Identity(b"o" * 32)
NAMES = "界" * (OPERATOR_BYTES // 3)
STRATEGY = Strategy(network="00", version=1, effective_at=0, expires_at=1 << 40, next_at=1 << 40)


def node_of(operator: str) -> SelfHeartbeat:
    rules = NetworkRules(NETWORK, NODE.public_key, AddressPolicy())
    listening = (Endpoint("9.9.9.9", 8091, 8091),)
    families = WorkingFamilies({4, 6})
    return SelfHeartbeat(NODE, rules, DhtConfig(operator=operator), listening, Random(1), families, member=True)


def heard(own: SelfHeartbeat, steady: float) -> Heartbeat:
    now = Now(1e6 + steady, steady)
    own.beat(now)
    return open_heartbeat(own.raw, now, NETWORK, AddressPolicy()).heartbeat


def say(own: SelfHeartbeat, bits: int, count: int) -> frozenset[Slot]:
    """Say that it is ready for so many scattered slots and leases every other one of them; return the former."""
    ready = frozenset(map(Slot, Random(1).sample(range(1 << bits), count)))
    own.announce(encode_slots(ready), encode_positions(sorted(ready)[::2], ready), due=1, slot_bits=bits)
    return ready


def test_a_node_that_says_all_it_may_is_heard_by_peers() -> None:
    """Beside 2**10 slots everything fits; beside many more operator and refused hosts give way, and come back."""
    own = node_of(NAMES)
    own.refuse(b"r" * 64)
    own.attest(b"a" * 128, b"d" * 32)
    own.introduced_by((NODE.node_id,) * 3)
    own.say_farewell(own.part(Now(1e6, 0.0)))
    for steady, bits, count, left_out in (
        (0.0, 10, 512, ()),
        (60.0, 13, 310, (OPERATOR, REFUSED)),
        (120.0, 10, 512, ()),
    ):
        ready = say(own, bits, count)
        said = heard(own, steady)
        assert said.ready_slots == ready and said.leased_slots == frozenset(sorted(ready)[::2])
        assert own.left_out == left_out
        assert (said.operator, own.operator) == (("", "") if left_out else (NAMES, NAMES))


def test_a_node_takes_part_by_the_name_that_its_peers_hear() -> None:
    """They choose owners by it, and this node has to choose alike."""
    own = node_of("us")
    strategies = SimpleNamespace(began_at=0)
    domains = MemberDomains(NODE.node_id, MemberTable(NODE.node_id), strategies, lambda: Now(1e6, 0.0), own)  # type: ignore[arg-type]
    assert domains.own(STRATEGY).operator == "us"
    say(own, 13, 600)
    assert heard(own, 0.0).operator == domains.own(STRATEGY).operator == ""


def test_a_name_that_comes_back_is_news() -> None:
    own = node_of("us")
    say(own, 13, 600)
    own.beat(Now(1e6, 0.0))
    say(own, 10, 9)
    assert own.beat(Now(1e6 + 60, 60.0)) and own.operator == "us"


@pytest.mark.parametrize("operator", ["名" * 25, "a" * 73, "two\nlines", "\ud800"])
def test_a_name_that_no_heartbeat_holds_is_refused_when_the_settings_are_read(operator: str) -> None:
    with pytest.raises(ValueError, match=r"operator: .*at most 72 bytes in UTF-8; choose a shorter one"):
        DhtConfig(operator=operator)
