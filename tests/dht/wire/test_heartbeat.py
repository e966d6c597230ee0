import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dht.clock import Now
from dht.errors import BadMessage, BadSignature, RemoteError
from dht.identity.node_key import Identity
from dht.keys import Slot
from dht.slot_set import encode_slots
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Endpoint
from dht.wire.heartbeat import Graces, Heartbeat, Load, open_heartbeat, pack_endpoint, sign_heartbeat
from dht.wire.heartbeat_cache import HeartbeatCache

NODE = Identity(b"n" * 32)
NET = b"network"
NOW = Now(1_000_000.0, 50.0)
ANY = AddressPolicy(allow_private=True)
PUBLIC = pack_endpoint(Endpoint("9.9.9.9", 8091, 8091))


def beat(**fields: object) -> Heartbeat:
    usual = Heartbeat(NODE.public_key, 7, NOW.wall, NOW.wall + 43_200, (PUBLIC,), load=Load(1, 2, 3))
    return msgspec.structs.replace(usual, **fields)


def test_a_heartbeat_says_what_was_signed() -> None:
    ready = frozenset(Slot(s) for s in range(0, 256, 5))
    v6 = pack_endpoint(Endpoint("2606:4700::1", 1, 2))
    data = sign_heartbeat(NODE, beat(ready=encode_slots(ready), due=12, endpoints=(PUBLIC, v6)), NET)
    opened = open_heartbeat(data, NOW, NET, AddressPolicy())
    assert len(data) <= 250
    assert (opened.heartbeat.ready_slots, opened.heartbeat.leased_slots, opened.heartbeat.due) == (
        ready,
        frozenset(),
        12,
    )
    assert opened.contact.node_id == NODE.node_id
    assert [e.host for e in opened.contact.endpoints] == ["9.9.9.9", "2606:4700::1"]


def test_the_largest_slot_sets_fit() -> None:
    slots = encode_slots(Slot(s) for s in range(0, 3000, 2))
    assert len(sign_heartbeat(NODE, beat(slot_bits=16, ready=slots, leased=slots), NET)) <= 1000
    with pytest.raises(ValueError, match="1000 is the limit"):
        sign_heartbeat(NODE, beat(ready=bytes(900)), NET)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"sent_at": NOW.wall + 121, "expires_at": NOW.wall + 1000}, "ahead of this node's clock"),
        ({"sent_at": NOW.wall - 100, "expires_at": NOW.wall - 1}, "has expired"),
        ({"expires_at": NOW.wall + 31 * 86400}, "lives longer than any grace"),
        ({"sent_at": NOW.wall - 13 * 3600, "expires_at": NOW.wall + 3600}, "has expired"),
        ({"sequence": 0}, "sequence"),
        ({"sequence": 1 << 32}, "sequence"),
        ({"endpoints": ()}, "one endpoint a family"),
        ({"endpoints": (PUBLIC, PUBLIC)}, "one endpoint a family"),
        ({"endpoints": ((b"\x09" * 4, 0, 1),)}, "bad endpoint"),
        ({"endpoints": ((bytes(10) + b"\xff\xff\x7f\0\0\1", 1, 1),)}, "bad endpoint"),
        ({"endpoints": ((b"\x7f\0\0\1", 1, 1),)}, "127.0.0.1, which this network does not allow"),
        ({"ready": b"\x02" + bytes(99)}, "bitmap"),
        ({"load": Load(101)}, "load"),
    ],
)
def test_bounds(fields: dict[str, object], reason: str) -> None:
    with pytest.raises(BadMessage, match=reason):
        open_heartbeat(sign_heartbeat(NODE, beat(**fields), NET), NOW, NET, AddressPolicy())


def test_another_network_or_signer_does_not_count() -> None:
    with pytest.raises(BadSignature):
        open_heartbeat(sign_heartbeat(NODE, beat(), NET), NOW, b"other", ANY)
    with pytest.raises(BadSignature):
        open_heartbeat(sign_heartbeat(Identity.generate(), beat(), NET), NOW, NET, ANY)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_mutations_never_pass_and_only_raise_remote_errors(data: st.DataObject) -> None:
    good = bytearray(sign_heartbeat(NODE, beat(), NET))
    for _ in range(data.draw(st.integers(1, 4))):
        good[data.draw(st.integers(0, len(good) - 1))] ^= data.draw(st.integers(1, 255))
    if bytes(good) == sign_heartbeat(NODE, beat(), NET):
        return
    with pytest.raises(RemoteError):
        open_heartbeat(bytes(good), NOW, NET, ANY)


def test_a_heartbeat_that_names_all_slots_in_four_bytes_holds_no_more_than_its_bytes() -> None:
    everything = encode_slots(Slot(s) for s in range(1 << 16))
    data = sign_heartbeat(NODE, beat(slot_bits=16, ready=everything, leased=everything), NET)
    opened = open_heartbeat(data, NOW, NET, AddressPolicy())
    assert len(opened.heartbeat.ready_slots) == 1 << 16
    assert not any(isinstance(value, frozenset) and len(value) > 2 for value in msgspec.structs.astuple(opened))


def test_a_heartbeat_expires_when_the_readers_strategy_says_so_at_the_latest() -> None:
    data = sign_heartbeat(NODE, beat(sent_at=NOW.wall - 100, expires_at=NOW.wall + 86400, stable=False), NET)
    assert open_heartbeat(data, NOW, NET, AddressPolicy(), Graces(laptop_s=101.0))
    with pytest.raises(BadMessage, match="expired"):
        open_heartbeat(data, NOW, NET, AddressPolicy(), Graces(laptop_s=99.0))


def test_the_latest_of_each_author_are_found_however_long_it_goes_on() -> None:
    cache = HeartbeatCache[int](each=3, most=100)
    for number in range(1000):
        for author in (b"a", b"b"):
            assert cache.find(author, number) is None
            cache.add(author, number, number)
    assert len(cache) == 6, "a small network needs a small table"
    assert [cache.find(b"a", number) for number in (996, 997, 999)] == [None, 997, 999]


def test_a_crowd_has_room_for_some_of_each() -> None:
    cache = HeartbeatCache[int](each=3, most=100)
    for number in range(4):
        for author in range(90):
            cache.add(bytes([author]), number, number)
    assert len(cache) <= 100
    assert cache.find(bytes([89]), 3) == 3 and cache.find(bytes([0]), 0) is None
