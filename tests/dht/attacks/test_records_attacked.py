"""Small records under attack: nobody overwrites, revives, extends or forges what another wrote."""

from random import Random

import pytest

from dht.keys import Key, distance
from dht.protocol.engine import ProtocolEngine
from dht.wire.contact import Address
from dht.wire.packets import Found, Get, Got, PackedContact, Put, Stored, decode_body, decode_packet
from dht.wire.value_record import LIFE_LIMIT_S, ValueRecord, sign_record
from tests.dht.attacks.town import NETWORK, PORT, Attacker, Town, address_of, identity

AUTHOR = identity(50)
KEY = Key(Random(4).randbytes(20))
LIAR = Attacker(identity(99), Address("12.0.0.1", PORT))
FORGER = Attacker(identity(98), Address("12.0.1.1", PORT))


def record(
    town: Town, sequence: int, value: bytes, *, life_s: float = 9000.0, author: int = 50, key: Key = KEY
) -> bytes:
    return sign_record(
        identity(author), NETWORK, key=key, sequence=sequence, expires_at=town.now.wall + life_s, value=value
    )


def put(town: Town, node: ProtocolEngine, raw: bytes) -> int:
    counts: list[int] = []
    node.finder.put(town.now, raw, lambda _, count: counts.append(count))
    town.run(8.0)
    return counts[0]


def get(town: Town, node: ProtocolEngine) -> list[ValueRecord]:
    found: list[list[ValueRecord]] = []
    node.finder.get(town.now, KEY, lambda _, records: found.append(records))
    town.run(8.0)
    return found[0]


def token_of(town: Town, node: ProtocolEngine, key: bytes, attacker: Attacker) -> bytes:
    (reply,) = ask(town, node, attacker, Get(key))
    assert isinstance(reply, Got)
    return reply.token


def ask(
    town: Town, node: ProtocolEngine, attacker: Attacker, body: object, source: Address | None = None
) -> list[object]:
    raw = attacker.packet(town.keys[node.node_id], body)
    answers = node.receive(town.now, raw, source or attacker.address)
    return [decode_body(decode_packet(d)) for d, _ in answers]


def nearest(town: Town) -> ProtocolEngine:
    return min(town.nodes.values(), key=lambda c: distance(c.node_id, KEY))


@pytest.fixture
def town() -> Town:
    town = Town()
    town.settle(12, 15.0)
    return town


def test_one_datagram_overwrites_nothing(town: Town) -> None:
    cores = list(town.nodes.values())
    assert put(town, cores[0], record(town, 1, b"mine")) >= 8
    forged = record(town, 9, b"theirs")
    bent = forged[:-6] + b"ahahah"
    victim = nearest(town)
    for raw in (bent, forged[:64] + record(town, 9, b"theirs", author=98)[64:]):
        token = token_of(town, victim, KEY, LIAR)
        assert ask(town, victim, LIAR, Put(token, raw)) in ([], [Stored(False)])
    assert [r.value for r in get(town, cores[5])] == [b"mine"]


def test_a_put_needs_the_token_of_its_own_address_key_and_time(town: Town) -> None:
    victim, raw = nearest(town), record(town, 1, b"v", author=99)
    token = token_of(town, victim, KEY, LIAR)
    elsewhere = Address("12.9.9.9", PORT)
    assert ask(town, victim, LIAR, Put(token, raw), elsewhere) == [Stored(False)]
    assert ask(town, victim, FORGER, Put(token, raw), LIAR.address) == [Stored(False)]
    assert ask(town, victim, LIAR, Put(bytes(8), raw)) == [Stored(False)]
    assert ask(town, victim, LIAR, Put(token, raw)) == [Stored(True)]
    town.steady += 601.0
    assert ask(town, victim, LIAR, Put(token, record(town, 2, b"w", author=99))) == [Stored(False)]


def test_another_authors_value_stands_beside_and_never_instead(town: Town) -> None:
    cores = list(town.nodes.values())
    put(town, cores[0], record(town, 1, b"mine"))
    put(town, cores[3], record(town, 1 << 62, b"theirs", author=98))
    assert {(r.public_key, r.value) for r in get(town, cores[7])} == {
        (AUTHOR.public_key, b"mine"),
        (identity(98).public_key, b"theirs"),
    }


def test_an_old_value_neither_beats_nor_outlives_a_new_one(town: Town) -> None:
    """The attacker kept version 1, writes it again for ever, and answers readers with it."""
    cores = list(town.nodes.values())
    old = record(town, 1, b"old", life_s=LIFE_LIMIT_S - 1)
    put(town, cores[0], old)
    town.hire(LIAR, records=(old,))
    put(town, cores[1], record(town, 2, b"new", life_s=60.0))
    victim = nearest(town)
    for _ in range(3):
        assert ask(town, victim, LIAR, Put(token_of(town, victim, KEY, LIAR), old)) == [Stored(False)]
    assert [r.value for r in get(town, cores[6])] == [b"new"]
    town.run(70.0)  # the new one is over; the old one was the author's word until its own end, and never longer
    assert b"new" not in [r.value for r in get(town, cores[6])]


def test_a_record_cannot_live_longer_than_its_author_said(town: Town) -> None:
    cores, raw = list(town.nodes.values()), record(town, 1, b"short", life_s=50.0)
    put(town, cores[0], raw)
    town.hire(LIAR, records=(raw,))
    town.run(60.0)
    assert get(town, cores[4]) == []
    victim = nearest(town)
    assert ask(town, victim, LIAR, Put(token_of(town, victim, KEY, LIAR), raw)) == []
    assert victim.refused["malformed"] == 1


def test_a_record_for_another_point_or_network_is_not_read_here(town: Town) -> None:
    strayed = record(town, 5, b"strayed", key=Key(bytes(20)))
    foreign = sign_record(AUTHOR, b"another", key=KEY, sequence=5, expires_at=town.now.wall + 99, value=b"foreign")
    town.hire(LIAR, records=(strayed, foreign, b"", b"x" * 500))
    town.run(3.0)
    reader = list(town.nodes.values())[2]
    assert get(town, reader) == []
    assert reader.refused["record"] >= 3


def test_authors_by_the_dozen_do_not_crowd_out_who_was_there(town: Town) -> None:
    """Writers are free; the first sixteen at a point stay, until they end."""
    cores = list(town.nodes.values())
    put(town, cores[0], record(town, 1, b"mine"))
    for n in range(200, 240):
        put(town, cores[1], record(town, 1, b"spam", author=n))
    assert b"mine" in [r.value for r in get(town, cores[8])]
    assert sum(len(list(c.store.at(KEY, town.now))) for c in cores) <= 16 * len(cores)


def test_a_forged_id_answers_for_nobody(town: Town) -> None:
    """An answer under another's key is refused: the id follows from the key, the MAC needs its other half."""
    node, peer = list(town.nodes.values())[:2]
    node.finder.find(town.now, peer.node_id, lambda *_: None)
    out = node.poll(town.now)
    for data, target in out:
        question = decode_packet(data)
        body = Found((PackedContact(bytes(32), ((bytes((13, 0, 0, 1)), 53, 53),)),), bytes(8))
        answer = LIAR.packet(town.keys[node.node_id], body, transaction=question.transaction)
        claimed = answer[:14] + town.keys[peer.node_id] + answer[46:]
        assert node.receive(town.now, answer, target) == []
        assert node.receive(town.now, claimed, address_of(peer)) == []
    assert node.refused["answer that nobody asked for"] == node.refused["wrong MAC"] == len(out) > 0
