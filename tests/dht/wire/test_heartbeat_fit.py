"""Every heartbeat fits into 1,000 bytes: what goes first, and that peers read what is left."""

from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dht.clock import Now
from dht.config import NAME_BYTES, OPERATOR_BYTES
from dht.identity.node_key import Identity
from dht.keys import Slot
from dht.slot_set import encode_positions, encode_slots
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Endpoint
from dht.wire.farewell import sign_farewell
from dht.wire.heartbeat import (
    HEARTBEAT_LIMIT_BYTES,
    MARK_BYTES,
    MOST_ATTESTED,
    MOST_INTRODUCERS,
    MOST_NEEDS,
    REFUSES_BYTES,
    Condition,
    Heartbeat,
    Load,
    VerifiedHeartbeat,
    open_heartbeat,
    pack_endpoint,
    sign_heartbeat,
)
from dht.wire.heartbeat_fit import NAME, OPERATOR, OTHERS_BYTES, REFUSED, SLOTS, SPARE_BYTES, fit, why_left_out
from dht.wire.invitation import INVITED_BY_BYTES
from dht.wire.room_step import FULL_STEP, HIGHEST_STEP, HOURS_RING, RoomStep
from node.strategy.draft_checks import FEW_BITS, MANY_MEMBERS, most_bits

NODE, NETWORK = Identity(b"n" * 32), b"n" * 20
NOW = Now(1_000_000.0, 50.0)
FULLEST = 2.5  # slots of the fullest node over the mean; 2.44 was seen among 1,000

GREATEST = Heartbeat(
    NODE.public_key,
    (1 << 32) - 1,
    NOW.wall,
    NOW.wall + 43_200,
    tuple(pack_endpoint(Endpoint(host, 65_535, 65_535)) for host in ("9.9.9.9", "2606:4700::1")),
    strategy_version=(1 << 32) - 1,
    slot_bits=16,
    due=(1 << 32) - 1,
    load=Load(100, 100, 100, 100),
    operator="名" * (OPERATOR_BYTES // 3) + "!" * (OPERATOR_BYTES % 3),
    nonce=(1 << 64) - 1,
    refuses=b"r" * REFUSES_BYTES,
    introducers=(b"i" * 20,) * MOST_INTRODUCERS,
    attests=b"a" * MARK_BYTES * MOST_ATTESTED,
    attested_days=b"d" * 2 * MOST_ATTESTED,
    invited_by=b"v" * INVITED_BY_BYTES,
    farewell=sign_farewell(NODE, NETWORK, (1 << 32) - 1, (1 << 40) - 1),
    name="名" * (NAME_BYTES // 3),
    condition=Condition(127, b"n" * MOST_NEEDS, (1 << 16) - 1),
    steps=RoomStep(HIGHEST_STEP, FULL_STEP).code[0],
    steps_hour=HOURS_RING - 1,
)


def greatest(
    bits: int,
    ready: frozenset[Slot],
    leased: frozenset[Slot],
    stored_only: frozenset[Slot] = frozenset(),
    **fields: object,
) -> Heartbeat:
    said = {"slot_bits": bits, "ready": encode_slots(ready), "leased": encode_positions(leased, ready)}
    said["stored_only"] = encode_positions(stored_only, ready)
    return msgspec.structs.replace(GREATEST, **said, **fields)


def read(heartbeat: Heartbeat) -> VerifiedHeartbeat:
    data = sign_heartbeat(NODE, heartbeat, NETWORK)
    assert len(data) <= HEARTBEAT_LIMIT_BYTES
    return open_heartbeat(data, NOW, NETWORK, AddressPolicy())


def some(bits: int, count: int, seed: object) -> frozenset[Slot]:
    """Scattered slots, with the last one of all: nothing shortens their encoding."""
    last = (1 << bits) - 1
    return frozenset([Slot(last), *map(Slot, Random(str(seed)).sample(range(last), min(last, count) - 1))])


def test_all_other_fields_take_no_more_than_is_kept_for_them() -> None:
    others = msgspec.structs.replace(GREATEST, name="", operator="", refuses=b"")
    empty = 2 * 1 + 4 * 2  # heads of two texts and of four byte strings
    assert len(sign_heartbeat(NODE, others, NETWORK)) - empty == OTHERS_BYTES


@pytest.mark.parametrize("replicas", [1, 3, 16])
def test_the_greatest_heartbeat_of_any_network_that_the_tool_makes_tells_all_slots(replicas: int) -> None:
    for members in range(1, 301):
        bits = most_bits(members, replicas)
        share = min(1.0, FULLEST * replicas / members)
        slots = (1 << bits) // 2 if members < MANY_MEMBERS else round(share * (1 << bits))
        ready = some(bits, slots, members)
        leased = frozenset(Random(members).sample(sorted(ready), len(ready) // 2)) | {max(ready)}
        stored = frozenset(Random(-members).sample(sorted(ready), len(ready) // 3))
        for stored_only in (frozenset(), stored):
            fitted = fit(greatest(bits, ready, leased, stored_only))
            heard = read(fitted.heartbeat).heartbeat
            assert (heard.ready_slots, heard.leased_slots, heard.stored_only_slots) == (ready, leased, stored_only)
            most = (NAME,) if members < MANY_MEMBERS and not stored_only else (NAME, OPERATOR, REFUSED)
            assert set(fitted.left_out) <= set(most)


@settings(max_examples=40, deadline=None)
@given(st.data(), st.integers(4, 13), st.integers(0, 100), st.integers(0, 100), st.booleans())
def test_no_slot_sets_make_a_heartbeat_too_long(
    data: st.DataObject, bits: int, ready_percent: int, leased_percent: int, is_inside: bool
) -> None:
    random = Random(data.draw(st.integers(0, 1000)))
    ready = frozenset(Slot(s) for s in range(1 << bits) if random.random() * 100 < ready_percent)
    where = sorted(ready) if is_inside else list(map(Slot, range(1 << bits)))
    leased = frozenset(slot for slot in where if random.random() * 100 < leased_percent)
    fitted = fit(greatest(bits, ready, leased))
    heard = read(fitted.heartbeat).heartbeat
    if bits <= FEW_BITS:
        assert not {OPERATOR, REFUSED, SLOTS}.intersection(fitted.left_out)
    if SLOTS not in fitted.left_out:
        assert (heard.ready_slots, heard.leased_slots) == (ready, leased)
        return
    told = heard.ready_slots | heard.leased_slots
    assert len(told) >= 100 and heard.ready_slots <= ready and heard.leased_slots <= leased
    assert told == {slot for slot in ready | leased if slot <= max(told)}, "the last ones are left out"


def test_the_name_goes_first_then_the_operator_the_refused_hosts_and_the_last_slots() -> None:
    gone = {}
    for count in (160, 200, 300, 380, 600):
        fitted = fit(greatest(13, some(13, count, 1), frozenset()))
        read(fitted.heartbeat)
        gone[count] = fitted.left_out
        assert fitted.heartbeat.name == ("" if NAME in fitted.left_out else GREATEST.name)
        assert fitted.heartbeat.operator == ("" if OPERATOR in fitted.left_out else GREATEST.operator)
        assert fitted.heartbeat.refuses == (b"" if REFUSED in fitted.left_out else GREATEST.refuses)
    order = NAME, OPERATOR, REFUSED, SLOTS
    assert list(gone.values()) == [order[:count] for count in range(5)]


def test_what_is_not_said_is_not_left_out() -> None:
    nameless = greatest(13, some(13, 380, 1), frozenset(), name="", operator="")
    assert fit(nameless).left_out == (REFUSED,)


def test_a_farewell_or_an_attested_peer_more_takes_no_operator_away() -> None:
    for count in range(200, 420, 10):
        long = greatest(13, some(13, count, 1), frozenset())
        short = msgspec.structs.replace(long, farewell=None, attests=b"", attested_days=b"", due=0, introducers=())
        assert fit(short).left_out == fit(long).left_out


def test_what_was_left_out_comes_back_only_where_there_is_room_to_spare() -> None:
    """A set that grows and shrinks by a slot must not let the owners change each time."""
    names = [fit(greatest(13, some(13, count, 1), frozenset())).left_out for count in range(120, 240)]
    first = 120 + next(n for n, left_out in enumerate(names) if left_out)
    just, roomy = (greatest(13, some(13, count, 1), frozenset()) for count in (first - 1, first - SPARE_BYTES - 8))
    assert (fit(just).left_out, fit(just, (NAME,)).left_out, fit(roomy, (NAME,)).left_out) == ((), (NAME,), ())


def test_the_owner_is_told_what_peers_do_not_hear_and_what_helps() -> None:
    assert why_left_out(()) == ""
    said = why_left_out((NAME, REFUSED, SLOTS))
    assert all(words in said for words in ("dht.operator", "crawl.refuse", "all the slots", "more members make room"))
