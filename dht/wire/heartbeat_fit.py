"""Makes a heartbeat fit into its 1,000 bytes: a fixed order says what it goes without.

Pure: values in, values out. The fields of any length are the names of node and operator, the hashes of refused hosts,
and the slot sets. They share what all other fields leave at their longest. So a farewell, or one more attested peer,
never takes the operator away: members choose owners by the operators, and would move copies.

The name goes first, then the operator, then the refused hosts. They come back once there is room to spare. An operator
of 72 bytes, 16 refused hosts and the sets of 2**10 slots fit where every ready slot is indexed, beside a name of 20
bytes. In a network of more slots, the last slots are left out at worst.
"""

from bisect import bisect_left
from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

import msgspec

from dht.slot_set import decode_positions, decode_slots, encode_positions, encode_slots
from dht.wire.heartbeat import HEARTBEAT_LIMIT_BYTES, Heartbeat

OTHERS_BYTES = 595  # the signature and all fields but those of any length, at their longest
ROOM_BYTES = HEARTBEAT_LIMIT_BYTES - OTHERS_BYTES
SPARE_BYTES = 32  # free again, before what was left out comes back

NAME, OPERATOR, REFUSED, SLOTS = "name", "operator", "refuses", "ready"
OPTIONAL: dict[str, str | bytes] = {
    NAME: "",
    OPERATOR: "",
    REFUSED: b"",
}  # by their field of a heartbeat, first to go first

_SAYS = {
    NAME: "its name (dht.name)",
    OPERATOR: "who runs it (dht.operator)",
    REFUSED: "which hosts it refuses (crawl.refuse)",
    SLOTS: "of all the slots that it has",
}

_encoder = msgspec.msgpack.Encoder()


class FittedHeartbeat(NamedTuple):
    """Holds a heartbeat of at most 1,000 bytes, and the names of the fields of which something was left out."""

    heartbeat: Heartbeat
    left_out: tuple[str, ...] = ()


def fit(heartbeat: Heartbeat, left_out_before: Collection[str] = ()) -> FittedHeartbeat:
    """Leave out of a heartbeat what it has no room for; `left_out_before`: what the one before it went without."""
    left_out = list[str]()
    for name, nothing in OPTIONAL.items():
        spare = SPARE_BYTES if any(each in left_out_before for each in OPTIONAL if each not in left_out) else 0
        if _bytes_of(heartbeat) + spare <= ROOM_BYTES:
            break
        if getattr(heartbeat, name):
            heartbeat = msgspec.structs.replace(heartbeat, **{name: nothing})
            left_out.append(name)
    if _bytes_of(heartbeat) > ROOM_BYTES:
        sets = heartbeat.ready, heartbeat.leased, heartbeat.stored_only
        ready, leased, stored_only = _first_slots(*sets, heartbeat.slot_bits)
        heartbeat = msgspec.structs.replace(heartbeat, ready=ready, leased=leased, stored_only=stored_only)
        left_out.append(SLOTS)
    return FittedHeartbeat(heartbeat, tuple(left_out))


def why_left_out(left_out: Collection[str]) -> str:
    """Say what a node's heartbeats have no room for, and what helps; "" where nothing is left out."""
    if not left_out:
        return ""
    says = " nor ".join(_SAYS[name] for name in left_out)
    remedy = "a shorter dht.name or dht.operator, fewer hosts in crawl.refuse or more members make room"
    return f"this node's heartbeats are full, so peers do not hear {says}; {remedy}"


def _bytes_of(heartbeat: Heartbeat) -> int:
    """Count the bytes of the fields of any length."""
    slot_sets = heartbeat.ready, heartbeat.leased, heartbeat.stored_only
    return _sizes(heartbeat.name, heartbeat.operator, heartbeat.refuses, *slot_sets)


def _sizes(*fields: str | bytes) -> int:
    return sum(len(_encoder.encode(each)) for each in fields)


@lru_cache(maxsize=16)
def _first_slots(ready: bytes, leased: bytes, stored_only: bytes, slot_bits: int) -> tuple[bytes, bytes, bytes]:
    """Return the three sets without their last slots; as many of the first as fit beside no names and no hosts."""
    has = decode_slots(ready, slot_bits)
    holds, stores = (decode_positions(each, has, slot_bits) for each in (leased, stored_only))
    ordered = sorted(has | holds)

    def first(count: int) -> tuple[bytes, bytes, bytes]:
        told = frozenset(ordered[:count])
        ready = has & told
        return encode_slots(ready), encode_positions(holds & told, ready), encode_positions(stores & ready, ready)

    def is_too_long(count: int) -> bool:
        return _sizes("", "", b"", *first(count)) > ROOM_BYTES

    count = 1
    while count < len(ordered) and not is_too_long(count):
        count *= 2
    return first(bisect_left(range(count), True, lo=count // 2, key=is_too_long) - 1)
