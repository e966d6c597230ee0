"""Thirty identities of one rack round a target or a victim: the true nearest honest nodes are still found."""

from random import Random

import pytest

from dht.keys import Key, NodeId, distance
from dht.wire.contact import Address
from dht.wire.packets import PackedContact
from dht.wire.value_record import ValueRecord, sign_record
from tests.dht.attacks.town import NETWORK, PORT, Attacker, Town, address_of, identity

TARGET = NodeId(Random(8).randbytes(20))


def sybils(point: bytes, count: int = 30) -> list[Attacker]:
    """Identities ground until they lie nearest to a point, all in one /24."""
    near = sorted(range(10_000, 14_000), key=lambda n: distance(identity(n).node_id, point))[:count]
    return [Attacker(identity(n), Address(f"66.6.6.{place}", PORT)) for place, n in enumerate(near, 1)]


def besieged(point: bytes) -> tuple[Town, list[Attacker]]:
    town = Town()
    town.settle(24, 15.0)
    gang = sybils(point)
    everybody: tuple[PackedContact, ...] = tuple(a.packed for a in gang)
    for n, attacker in enumerate(gang):
        town.hire(attacker, contacts=everybody[n % 14 : n % 14 + 16])
    town.run(60.0)
    return town, gang


@pytest.fixture(scope="module")
def siege() -> tuple[Town, list[Attacker]]:
    return besieged(TARGET)


def honest(town: Town) -> list[bytes]:
    return sorted((c.node_id for c in town.nodes.values()), key=lambda n: distance(n, TARGET))


def test_lookups_find_the_true_nearest_honest_nodes(siege: tuple[Town, list[Attacker]]) -> None:
    town, gang = siege
    bad = {a.identity.node_id for a in gang}
    nearer = [b for b in bad if distance(b, TARGET) < distance(honest(town)[0], TARGET)]
    assert len(nearer) > 16, "without the rule, they would be all that is found"
    for node in list(town.nodes.values())[::4]:
        found: list[list[bytes]] = []
        node.finder.find(town.now, TARGET, lambda _, contacts, to=found: to.append([c.node_id for c in contacts]))
        town.run(10.0)
        true = [n for n in honest(town) if n != node.node_id]
        assert len(bad & set(found[0])) <= 2
        assert [n for n in found[0] if n not in bad][:12] == true[:12]


def test_a_record_between_them_is_stored_and_read(siege: tuple[Town, list[Attacker]]) -> None:
    """They say that they keep it, and give nothing back."""
    town, _ = siege
    writer, reader = list(town.nodes.values())[1:3]
    raw = sign_record(
        identity(50), NETWORK, key=Key(TARGET), sequence=1, expires_at=town.now.wall + 900, value=b"found"
    )
    read: list[list[ValueRecord]] = []
    writer.finder.put(town.now, raw, lambda *_: None)
    town.run(10.0)
    reader.finder.get(town.now, Key(TARGET), lambda _, records: read.append(records))
    town.run(10.0)
    assert [r.value for r in read[0]] == [b"found"]


def test_no_table_holds_more_than_a_few_of_them(siege: tuple[Town, list[Attacker]]) -> None:
    town, gang = siege
    bad = {a.identity.node_id for a in gang}
    for node in town.nodes.values():
        theirs = [e for e in node.routing.entries() if e.contact.node_id in bad]
        assert len(theirs) <= 10
        assert len([e for e in node.routing.closest(TARGET, 16) if e.contact.node_id in bad]) <= 10


def test_a_victim_in_the_midst_of_them_stays_one_of_the_network() -> None:
    victim_id = identity(7).node_id
    town, gang = besieged(victim_id)
    victim = next(c for c in town.nodes.values() if c.node_id == victim_id)
    others = [c for c in town.nodes.values() if c is not victim]
    assert all(victim.members.is_live(c.node_id, town.now) and c.members.is_live(victim_id, town.now) for c in others)
    bad = {a.identity.node_id for a in gang}
    assert len({e.contact.node_id for e in victim.routing.entries()} - bad) >= 16
    found: list[list[bytes]] = []
    other = others[3]
    other.finder.find(town.now, victim_id, lambda _, contacts: found.append([c.node_id for c in contacts]))
    town.run(10.0)
    assert victim_id in found[0]
    assert address_of(victim).host
