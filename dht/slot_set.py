"""A set of slots in few bytes, for heartbeats.

Pure: sets in, bytes out. After one tag byte comes the shortest of three forms. A node with a few slots writes the gaps
between them, one with nearly all the lengths of alternating runs, and any other a bitmap. Numbers are LEB128 varints.
Decoding is strict: bounded, ascending, nothing left over.

A set that mostly lies within another is encoded as positions: those of the slots in the other set, ascending, and then
those of all other slots. So the slots that a node leases cost a bit for each slot that it is ready for, at most.

Sets of slots are resized: told in another number of slots, each slot being a range of keys.

Pure: sets in, sets out. Doubling splits every slot into an even and an odd child; halving joins them again.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Set

from dht.errors import BadMessage
from dht.keys import MAX_SLOT_BITS, Slot

GAPS, RUNS, BITMAP = 0, 1, 2
SLOT_LIMIT = 1 << MAX_SLOT_BITS


def encode_slots(slots: Iterable[Slot]) -> bytes:
    """Return the shortest encoding of a set of slots below 65,536; the empty set is b""."""
    ordered = sorted(set(slots))
    if not ordered:
        return b""
    if not 0 <= ordered[0] <= ordered[-1] < SLOT_LIMIT:
        raise ValueError(f"slots must lie in 0 … {SLOT_LIMIT - 1}: {ordered[0]} … {ordered[-1]}")
    candidates = (
        bytes([GAPS]) + _varints(_gaps(ordered)),
        bytes([RUNS]) + _varints(_runs(ordered)),
        bytes([BITMAP]) + _bitmap(ordered),
    )
    return min(candidates, key=len)


def decode_slots(data: bytes, slot_bits: int) -> frozenset[Slot]:
    """Read a set of slots of a key space with 2**slot_bits slots; raises BadMessage where it is none."""
    return frozenset(Slot(slot) for part in _parts(data, 1 << slot_bits) for slot in part)


def encode_positions(slots: Iterable[Slot], within: Set[Slot]) -> bytes:
    """Return the encoding of a set of slots by their positions in `within`; the positions of others follow."""
    first = sorted(within)
    places = ((slot, bisect_left(first, slot)) for slot in slots)
    return encode_slots(Slot(place if slot in within else len(first) + slot - place) for slot, place in places)


def decode_positions(data: bytes, within: Set[Slot], slot_bits: int) -> frozenset[Slot]:
    """Read a set of slots of which the positions in `within` were encoded; raises BadMessage where it is none."""
    order = sorted(within)
    positions = decode_slots(data, slot_bits)
    if any(position >= len(order) for position in positions):
        order += [slot for slot in map(Slot, range(1 << slot_bits)) if slot not in within]
    return frozenset(order[position] for position in positions)


def check_slots(data: bytes, slot_bits: int) -> None:
    """Raise BadMessage where `decode_slots` would, without building the set: four bytes may name 65,536 slots."""
    for _ in _parts(data, 1 << slot_bits):
        pass


def _parts(data: bytes, limit: int) -> Iterator[range]:
    """The slots as ascending ranges; raises BadMessage where the bytes are none."""
    if not data:
        return iter(())
    if data[0] == GAPS:
        return _from_gaps(data[1:], limit)
    if data[0] == RUNS:
        return _from_runs(data[1:], limit)
    if data[0] == BITMAP:
        return _from_bitmap(data[1:], limit)
    raise BadMessage("", f"slot set of unknown form {data[0]}")


def _gaps(ordered: list[Slot]) -> list[int]:
    return [b - a - 1 for a, b in zip([-1, *ordered], ordered, strict=False)]


def _runs(ordered: list[Slot]) -> list[int]:
    """Lengths of the runs: absent, present, absent, … ; ends with a present one."""
    lengths: list[int] = []
    end = 0
    for slot in ordered:
        if lengths and slot == end:
            lengths[-1] += 1
        else:
            lengths += [slot - end, 1]
        end = slot + 1
    return lengths


def _bitmap(ordered: list[Slot]) -> bytes:
    bits = 0
    for slot in ordered:
        bits |= 1 << slot
    return bits.to_bytes(ordered[-1] // 8 + 1, "little")


def _from_gaps(data: bytes, limit: int) -> Iterator[range]:
    slot = -1
    for gap in _read_varints(data):
        slot += gap + 1
        if slot >= limit:
            raise BadMessage("", f"slot {slot} in a key space of {limit} slots")
        yield range(slot, slot + 1)


def _from_runs(data: bytes, limit: int) -> Iterator[range]:
    slot, present = 0, False
    for length in _read_varints(data):
        if slot + length > limit:
            raise BadMessage("", f"slots up to {slot + length} in a key space of {limit} slots")
        if present:
            yield range(slot, slot + length)
        slot, present = slot + length, not present


def _from_bitmap(data: bytes, limit: int) -> Iterator[range]:
    bits = int.from_bytes(data, "little")
    if len(data) > limit // 8 + 1 or bits.bit_length() > limit:
        raise BadMessage("", f"bitmap of {len(data)} bytes in a key space of {limit} slots")
    return (range(i, i + 1) for i in range(bits.bit_length()) if data[i // 8] >> i % 8 & 1)


def _varints(numbers: list[int]) -> bytes:
    out = bytearray()
    for number in numbers:
        while number > 0x7F:
            out.append(number & 0x7F | 0x80)
            number >>= 7
        out.append(number)
    return bytes(out)


def _read_varints(data: bytes) -> Iterator[int]:
    number, shift = 0, 0
    for byte in data:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield number
            number, shift = 0, 0
        elif shift > 14:  # three groups hold 65,535
            raise BadMessage("", "slot set with an overlong number")
    if shift:
        raise BadMessage("", "slot set is cut off")


def resize_inside(slots: Set[Slot], bits: int, new_bits: int) -> frozenset[Slot]:
    """Return the slots of 2**new_bits that lie wholly inside slots of 2**bits: for what is true of every key."""
    if new_bits >= bits:
        return _split(slots, new_bits - bits)
    ratio = 1 << (bits - new_bits)
    parents = {Slot(slot // ratio) for slot in slots}
    return frozenset(p for p in parents if all(p * ratio + n in slots for n in range(ratio)))


def resize_overlapping(slots: Set[Slot], bits: int, new_bits: int) -> frozenset[Slot]:
    """Return the slots of 2**new_bits that share a key with slots of 2**bits: for what is true of some key."""
    if new_bits >= bits:
        return _split(slots, new_bits - bits)
    return frozenset(Slot(slot >> (bits - new_bits)) for slot in slots)


def children(slot: Slot, doublings: int) -> list[Slot]:
    """Return the slots that a slot is split into when the number of slots is doubled so many times."""
    return [Slot((slot << doublings) + n) for n in range(1 << doublings)]


def _split(slots: Set[Slot], doublings: int) -> frozenset[Slot]:
    if not doublings:
        return frozenset(slots)
    return frozenset(child for slot in slots for child in children(slot, doublings))
